"""What is wrong with an expression, in the words of cel-go, which others match messages by."""

from __future__ import annotations

import re
from dataclasses import dataclass

from muntin.kit.cel.rewriting import Rewritten
from muntin.kit.errors import Invalid


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that the compiler found; ``line`` and ``column`` count from one."""

    line: int
    column: int
    text: str

    def show(self, source: str) -> str:
        """With its line of ``source`` and a mark below the place."""
        lines = source.split("\n")
        shown = lines[self.line - 1] if 0 < self.line <= len(lines) else ""
        mark = "." * (self.column - 1) + "^"
        return f"ERROR: <input>:{self.line}:{self.column}: {self.text}\n | {shown}\n | {mark}"


class CompileError(Invalid):
    """An expression that is no CEL or does not fit its environment; ``issues`` in order."""

    def __init__(self, source: str, issues: tuple[Issue, ...]) -> None:
        super().__init__("\n".join(issue.show(source) for issue in issues))
        self.issues = issues


class EvaluationError(Invalid):
    """An expression that has no value for these variables."""


_CODE = re.compile(r"^[A-Z_]+: (.*?)(?: \[[A-Z_]+\])?$", re.DOTALL)
_ISSUE = re.compile(r"^ERROR: <input>:(-?\d+):(-?\d+): (.*?)(?=\n \||\nERROR: |\Z)", re.M | re.S)
_UNDECLARED = re.compile(r"^undeclared reference to '([\w.]+)'")
_UNDEFINED = re.compile(r"^undefined field '(\w+)' not found in struct '.*'$")
_OVERLOAD = re.compile(r"^(found no matching overload for '(\w+)' applied to ')\((.*?)\)'$")
_WORDS = (
    (re.compile(r"^has\(\) argument must be a field selection$"),
     "invalid argument to has() macro"),
    (re.compile(r"^\w+\(\) (first |second )?variable name must be a simple identifier$"),
     "argument must be a simple name"),
    (re.compile(r"\bgoogle\.protobuf\.Timestamp\b"), "timestamp"),
    (re.compile(r"\bgoogle\.protobuf\.Duration\b"), "duration"),
    (re.compile(r"\bnull_type\b"), "null"),
)  # fmt: skip
_IN_COMPREHENSION = re.compile(r"cannot be the range of a comprehension")

# How cel-go says what this implementation says in words of its own.
_EVALUATION = (
    (re.compile(r'^Key not found in map : "?(.*?)"?$'), r"no such key: \1"),
    (re.compile(r"^divide by zero$"), "division by zero"),
    (re.compile(r"^No matching overloads? found : .*", re.S), "no such overload"),
    (re.compile(r"^Applying SELECT to non-message type$"), "no such overload"),
    (re.compile(r"^Index error: index=(-?\d+) size=\d+$"), r"index out of bounds: \1"),
    (re.compile(r"^cannot convert (\w+) to (\w+)$"), r"type conversion error from '\1' to '\2'"),
    (re.compile(r"^Iteration budget exceeded$"), "operation cancelled: actual cost limit exceeded"),
)


def compile_error(source: str, raw: str, rewritten: Rewritten, shift: int) -> CompileError:
    """The error of a compiler's ``raw`` message about ``source`` as it was ``rewritten``;
    ``shift`` columns of line one stand before it."""
    text = plain(raw)
    issues = []
    for found in _ISSUE.finditer(text):
        line, column = max(int(found[1]), 1), max(int(found[2]), 1)
        if line == 1 and shift:
            column = max(column - shift, 1)
        column = rewritten.original(line, column)
        issues.append(_as_upstream(source, Issue(line, column, found[3])))
    if not issues:
        issues = [Issue(1, 1, text)]
    told = dict.fromkeys(_without_followers(issues))
    return CompileError(source, tuple(sorted(told, key=lambda issue: (issue.line, issue.column))))


def evaluation_error(raw: str) -> EvaluationError:
    """The error of an evaluation's ``raw`` message."""
    text = plain(raw)
    for pattern, words in _EVALUATION:
        if pattern.match(text):
            return EvaluationError(pattern.sub(words, text))
    return EvaluationError(text)


def plain(raw: str) -> str:
    """A status message without its code."""
    found = _CODE.match(raw)
    return found[1] if found else raw


def _as_upstream(source: str, issue: Issue) -> Issue:
    if found := _UNDECLARED.match(issue.text):
        head, dot, _ = found[1].partition(".")
        if dot:  # cel-go blames the first name, which is at the start of the chain
            line = source.split("\n")[issue.line - 1]
            start = line.rfind(head, 0, issue.column - 1) + 1
            rest = issue.text[found.end() :]
            return Issue(
                issue.line, start or issue.column, f"undeclared reference to '{head}'{rest}"
            )
    text = issue.text
    if found := _UNDEFINED.match(text):
        text = f"undefined field '{found[1]}'"
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    if found := _OVERLOAD.match(text):
        text = _overload(source, issue, found)
    return Issue(issue.line, issue.column, text)


def _overload(source: str, issue: Issue, found: re.Match[str]) -> str:
    """A call's types, with that of a member's target before the others."""
    types = found[3]
    before = source.split("\n")[issue.line - 1][: issue.column - 1].rstrip()
    if before.endswith(f".{found[2]}") and (parts := _split(types)):
        return f"{found[1]}{parts[0]}.({', '.join(parts[1:])})'"
    return f"{found[1]}({types})'"


def _split(types: str) -> list[str]:
    """The types of a list of types, which may have types of their own in parentheses."""
    parts, depth = [""], 0
    for char in types:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _without_followers(issues: list[Issue]) -> list[Issue]:
    """Without those that only say that something wrong was used further on."""
    first = [
        issue
        for issue in issues
        if not ("'*error*'" in issue.text or _IN_COMPREHENSION.search(issue.text))
    ]
    return first or issues
