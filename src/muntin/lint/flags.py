"""Flags as such: ones that their program has never had, and two that ran into one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from muntin.lint.findings import Finding
from muntin.lint.json_text import place as place_of
from muntin.lint.problems import PROBLEMS
from muntin.lint.profiles import Named
from muntin.lint.views import Command, Flag
from muntin.model.gates import Severity
from muntin.model.windows.program_flags import FLAGS, are_known

UNKNOWN, GLUED = "unknown-flag", "glued-flags"
_NEXT = re.compile(r"--([a-z][a-z0-9-]+)(?==|$)")


def of_command(command: Command, profiles: Sequence[Named]) -> Iterator[Finding]:
    """What is wrong with the flags of a program whose flags are known."""
    known = FLAGS.get(command.program)
    if known is None:
        return
    names = tuple(one.name for one in profiles if are_known(one.profile))
    for flag in command.flags:
        name = flag.name.lstrip("-")
        if names and name not in known:
            near = get_close_matches(name, known, 1)
            advice = f"Perhaps --{near[0]} is meant." if near else ""
            yield _finding(UNKNOWN, command, flag, f"unknown flag: {flag.name}", advice, names)
        glued = _NEXT.search((flag.value or "").replace("_", "-"))
        if glued and glued[1] in known:
            text = f"--{glued[1]} is a part of the value of {flag.name}"
            yield _finding(GLUED, command, flag, text, f"Put a space before --{glued[1]}.", ())


def _finding(
    rule: str, command: Command, flag: Flag, message: str, advice: str, names: tuple[str, ...]
) -> Finding:
    document, item = command.document, command.object
    if flag.span is not None:
        line, column = place_of(document.text, flag.span[0])
    else:
        line, column = document.mark(flag.path or command.path)
    return Finding(
        rule=rule,
        severity=Severity.ERROR,
        file=document.file,
        line=line,
        column=column,
        field=flag.name,
        object=item.describe() if item else "",
        summary=PROBLEMS[rule],
        message=message,
        advice=advice,
        profiles=names,
        index=document.index,
    )
