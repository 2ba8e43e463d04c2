"""``--fix``: a text is mended until nothing is left that can be mended. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from muntin.lint.documents import Document
from muntin.lint.edits import Change, applied, changes, edited
from muntin.lint.findings import Finding
from muntin.lint.ignores import ignored, of_text
from muntin.lint.profiles import Named
from muntin.lint.run import linter
from muntin.lint.texts import read_text

ROUNDS = 20
"""More than any file needs: each round mends all that does not overlap."""
_NO_END = "\\ No newline at end of file"
Texts = Mapping[str, str]


def fixed(
    texts: Texts,
    profiles: Sequence[Named],
    *,
    unsafe: bool = False,
    without: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """The texts by file, mended; ``without``: rules that are left alone.

    What comments ignore is left alone too. All are linted together, as their objects may belong
    together.
    """
    result = dict(texts)
    for _ in range(ROUNDS):
        documents = [document for file, text in result.items() for document in _read(text, file)]
        found = linter(tuple(profiles)).lint(documents)
        wanted = [one for one in found if one.fix and (one.fix.safe or unsafe)]
        comments = {file: of_text(text, lambda rule: True)[0] for file, text in result.items()}
        changed = _round(
            documents,
            [
                one
                for one in wanted
                if one.rule not in without and not ignored(one.rule, one.line, comments[one.file])
            ],
        )
        if not changed:
            break
        for file, some in changed.items():
            result[file] = applied(result[file], some)
    return result


def _read(text: str, file: str) -> list[Document]:
    return read_text(text, file)[0]


def _round(documents: Sequence[Document], found: Sequence[Finding]) -> dict[str, list[Change]]:
    """Changes by file that do not overlap, each proved to do what its fix says."""
    by_place = {(document.file, document.index): document for document in documents}
    chosen: dict[str, list[Change]] = {}
    for finding in found:
        document = by_place[finding.file, finding.index]
        assert finding.fix is not None
        wanted = changes(document, finding.fix)
        mine = chosen.setdefault(finding.file, [])
        if not wanted or any(_meet(one, other) for one in wanted for other in mine):
            continue
        after = [one.data for one in _read(applied(document.text, wanted), document.file)]
        if len(after) > document.index and after[document.index] == edited(
            document.data, finding.fix
        ):
            mine += wanted
    return {file: some for file, some in chosen.items() if some}


def _meet(one: Change, other: Change) -> bool:
    return one.start <= other.end and other.start <= one.end


def difference(before: str, after: str, file: str) -> str:
    """What changed, as `diff -u` says it."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), file, file
    )
    return "".join(line if line[-1] == "\n" else f"{line}\n{_NO_END}\n" for line in lines)
