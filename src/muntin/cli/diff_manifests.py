"""What an upgrade changes for given manifests: what the linter finds before it and after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from muntin.kit.errors import Invalid, NotFound
from muntin.lint.documents import Document, read
from muntin.lint.findings import Finding
from muntin.lint.profiles import Named
from muntin.lint.run import Linter
from muntin.lint.views import objects
from muntin.model.gates import Version
from muntin.model.profiles import world_named
from muntin.model.resources.lifecycle import Life, life_of

_SUFFIXES = (".yaml", ".yml", ".json")
_UNSERVED = "api-unserved"


@dataclass(slots=True)
class Touched:
    """``gone``: what was found before and is no longer; ``new``: what is found then.

    ``unserved`` are sentences on objects whose API version only the first or the second world
    serves; ``stays`` counts what is found in both.
    """

    gone: list[Finding] = field(default_factory=list)
    new: list[Finding] = field(default_factory=list)
    unserved: list[str] = field(default_factory=list)
    stays: int = 0


def touched(before: Named, after: Named, files: Iterable[tuple[str, str]]) -> Touched:
    """The difference for ``files``, pairs of name and text."""
    result = Touched()
    documents = [document for name, text in files for document in _documents(name, text)]
    found = [Linter([profile]).lint(documents) for profile in (before, after)]
    keys = [{_key(item): item for item in items} for items in found]
    result.gone = [item for key, item in keys[0].items() if key not in keys[1]]
    result.new = [item for key, item in keys[1].items() if key not in keys[0]]
    for items in (result.gone, result.new):  # which are told of below, with what to use instead
        items[:] = [item for item in items if item.rule != _UNSERVED]
    result.stays = len(keys[0].keys() & keys[1].keys())
    versions = [world_named(one.name).kubernetes for one in (before, after)]
    for document in documents:
        for item in objects(document):
            line = document.mark(item.path)[0]
            life = life_of(str(item.data.get("apiVersion")), item.kind)
            where = f"{document.file}:{line}: {item.describe()}"
            result.unserved += _served(where, str(item.data.get("apiVersion")), life, *versions)
    return result


def _documents(name: str, text: str) -> list[Document]:
    """The documents of one file.

    Raises:
        Invalid: it is no YAML; the message names the place.
    """
    documents, problems = read(text, name)
    for problem in problems:
        if problem.fatal:
            raise Invalid(f"{name}:{problem.line}:{problem.column}: {problem.message}")
    return documents


def _key(item: Finding) -> tuple[str, str, int, int, str]:
    return (item.rule, item.file, item.line, item.column, item.field)


def _served(where: str, name: str, life: Life, before: Version, after: Version) -> list[str]:
    is_there = life.holds(before), life.holds(after)
    if is_there == (True, False):
        instead = f"; use {life.instead}" if life.instead and life.is_removed(after) else ""
        return [f"{where}: {name} is served no longer{instead}"]
    return [f"{where}: {name} is served now"] if is_there == (False, True) else []


def texts(paths: Iterable[str]) -> list[tuple[str, str]]:
    """(name, text) of files, of all manifests in directories, and of stdin for ``-``.

    Raises:
        NotFound: one cannot be read.
    """
    found = []
    for name in paths:
        if name == "-":
            import sys

            found.append(("<stdin>", sys.stdin.read()))
            continue
        path = Path(name)
        files = sorted(one for one in path.rglob("*") if one.suffix in _SUFFIXES)
        for file in files if path.is_dir() else [path]:
            try:
                found.append((str(file), file.read_text(encoding="utf-8")))
            except (OSError, UnicodeDecodeError) as err:
                reason = getattr(err, "strerror", None) or "not UTF-8 text"
                raise NotFound(f"{file}: {reason}; give files or directories") from err
    return found


def human(before: str, after: str, result: Touched) -> str:
    """What changes, grouped, each with its place."""
    groups = (("works now", result.gone, False), ("works no longer", result.new, True))
    lines = []
    for title, items, advises in groups:
        if items:
            lines += ["", f"{title} ({len(items)})"]
            lines += [line for item in items for line in _lines(item, advises)]
    if result.unserved:
        lines += ["", f"API versions ({len(result.unserved)})"]
        lines += [f"  {sentence}" for sentence in result.unserved]
    head = f"From {before} to {after}, of these manifests:"
    if not lines:
        lines = ["", "nothing changes"]
    if result.stays:
        what = "finding is" if result.stays == 1 else "findings are"
        lines += ["", f"{result.stays} {what} the same before and after: see muntin lint"]
    return "\n".join([head, *lines])


def _lines(item: Finding, advises: bool) -> list[str]:
    place = f"{item.file}:{item.line}:{item.column}"
    lines = [f"  {place}: {item.object}: {item.field}", f"      {item.rule}: {item.summary}"]
    return [*lines, f"      {item.advice}"] if item.advice and advises else lines


def document(result: Touched) -> dict[str, Any]:
    """The same for programs."""
    return {
        "worksNow": [_item(item) for item in result.gone],
        "worksNoLonger": [_item(item) for item in result.new],
        "apiVersions": result.unserved,
        "same": result.stays,
    }


def _item(item: Finding) -> dict[str, Any]:
    return {
        "rule": item.rule,
        "severity": str(item.severity),
        "file": item.file,
        "line": item.line,
        "column": item.column,
        "object": item.object,
        "field": item.field,
        "summary": item.summary,
        "advice": item.advice,
    }
