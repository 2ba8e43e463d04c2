"""``# muntin: ignore RULE reason``: findings that somebody has looked at and lets stand.

Behind a line it is for that line; on a line of its own for the next one and all that stands under
it; above the first line of a document for the whole document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from muntin.lint.documents import Problem

_COMMENT = re.compile(
    r"(?:#|//|::|\brem\b)\s*muntin:\s*ignore\b[ \t]*([\w-]*)[ \t]*([^\r\n]*)", re.I
)
MARK = "muntin:"


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rule is not reported from line ``first`` to ``last``."""

    rule: str
    reason: str
    first: int
    last: int


def of_text(text: str, is_rule: Callable[[str], bool]) -> tuple[list[Ignore], list[Problem]]:
    """The comments of a text; one that names no rule or no reason does nothing and is told of."""
    if MARK not in text:
        return [], []
    found: list[Ignore] = []
    problems: list[Problem] = []
    lines = text.split("\n")
    for index, line in enumerate(lines):
        match = _COMMENT.search(line)
        if match is None:
            continue
        rule, reason = match[1], match[2].strip()
        place = (index + 1, match.start() + 1)
        if not is_rule(rule):
            what = f"there is no rule {rule!r} to ignore: `muntin explain` knows them"
            problems.append(Problem("ignore-unknown", what, *place, fatal=False))
        elif not reason:
            what = f"say why {rule} is ignored here: `# muntin: ignore {rule} REASON`"
            problems.append(Problem("ignore-reason", what, *place, fatal=False))
        else:
            found.append(Ignore(rule, reason, *_reach(lines, index, match.start())))
    return found, problems


def _reach(lines: list[str], index: int, column: int) -> tuple[int, int]:
    """First and last line, from 1, that a comment is for."""
    if lines[index][:column].strip():
        return index + 1, index + 1
    below = index + 1
    while below < len(lines) and _is_aside(lines[below]):
        below += 1
    above = index - 1
    while above >= 0 and _is_aside(lines[above]):
        above -= 1
    if above < 0 or lines[above].startswith("---"):
        end = below
        while end < len(lines) and (end == below or not lines[end].startswith("---")):
            end += 1
        return index + 1, end
    indent = _indent(lines[below]) if below < len(lines) else 0
    end = below + 1
    while end < len(lines) and (_is_aside(lines[end]) or _belongs(lines, below, end, indent)):
        end += 1
    return index + 1, end


def _belongs(lines: list[str], head: int, line: int, indent: int) -> bool:
    """Whether a line stands under the head: deeper, or an item of the list that it begins."""
    if _indent(lines[line]) > indent:
        return True
    begins_list = lines[head].rstrip().endswith(":")
    return begins_list and _indent(lines[line]) == indent and lines[line].lstrip()[:2] == "- "


def _is_aside(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def ignored(rule: str, line: int, found: Iterable[Ignore]) -> bool:
    """Whether a finding of that rule at that line is to be let stand."""
    return any(one.rule == rule and one.first <= line <= one.last for one in found)
