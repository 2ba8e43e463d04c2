"""Scripts of kubectl commands, and transcripts of what they printed, as text.

A script (tests/golden/transcripts/scripts/TOPIC.txt) has one step a line:

    get pods -o wide                   a kubectl command, as ``ops``, who may do everything by RBAC
    dev> get secrets                   the same as another user: dev (some kinds of
                                       this namespace) or jane (nothing)
    apply -f - < pod.yaml              with a file of tests/golden/transcripts/files as its input
    EDITOR=./to-two edit configmap a   with a variable of the environment
    start get pods -w                  begins a command that does not end by itself
    finish 3                           waits for three lines of it, then ends it
    {api=1.36} ...                     only for one API version; also {kubectl=1.20}, or both

Lines that begin with # and empty ones are for readers. A transcript holds each step's line after
``$ ``, its output after two spaces, its errors after ``! ``, and ``= CODE`` where the exit code is
not 0.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parents[2] / "golden/transcripts"
SCRIPTS = HERE / "scripts"
FILES = HERE / "files"
RECORDED = HERE / "recorded"
VERBS = ("start", "finish", "see", "until", "fetch", "local")
"""What is not kubectl's; the last four are for transcripts of whole clusters."""


@dataclass(frozen=True)
class Step:
    """One line of a script: ``verb`` is ``run`` or one of ``VERBS``."""

    line: str
    verb: str
    words: tuple[str, ...]
    user: str
    stdin: str
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a step printed, made comparable."""

    line: str
    output: tuple[str, ...]
    errors: tuple[str, ...]
    code: int


def topics() -> list[str]:
    """The names of all scripts."""
    return sorted(path.stem for path in SCRIPTS.glob("*.txt"))


def steps(topic: str, api: str, client: str) -> Iterator[Step]:
    """The steps of a script that are for an API version and a version of kubectl."""
    known = {"api": api, "kubectl": client}
    for text in (SCRIPTS / f"{topic}.txt").read_text().splitlines():
        conditions, line = re.fullmatch(r"(?:\{([^}]*)\} +)?(.*)", text.strip()).groups()
        wanted = [pair.split("=") for pair in (conditions or "").split(",") if pair]
        if not line or line.startswith("#") or any(known[key] != value for key, value in wanted):
            continue
        yield one_step(line)


def one_step(line: str) -> Step:
    """A step from its line, without conditions."""
    user, rest = re.fullmatch(r"(?:(\w+)> )?(.*)", line).groups()
    words = shlex.split(rest)
    stdin = ""
    if len(words) > 2 and words[-2] == "<":
        stdin, words = words[-1], words[:-2]
    environment = {}
    while re.match(r"[A-Z_]+=", words[0]):
        key, _, environment[key] = words.pop(0).partition("=")
    verb = words.pop(0) if words[0] in VERBS else "run"
    return Step(line, verb, tuple(words), user or "ops", stdin, environment)


def written(outcomes: Iterable[Outcome]) -> str:
    """A transcript's text."""
    lines = []
    for one in outcomes:
        lines += [f"$ {one.line}"]
        lines += [f"  {line}".rstrip() for line in one.output]
        lines += [f"! {line}".rstrip() for line in one.errors]
        lines += [f"= {one.code}"] if one.code else []
    return "".join(f"{line}\n" for line in lines)


def read(text: str) -> list[Outcome]:
    """The outcomes that a transcript's text holds; the reverse of ``written``."""
    found: list[Outcome] = []
    for line in text.splitlines():
        mark, rest = line[:2].strip(), line[2:]
        if mark == "$":
            found.append(Outcome(rest, (), (), 0))
            continue
        last = found[-1]
        output, errors, code = last.output, last.errors, last.code
        if mark == "!":
            errors = (*errors, rest)
        elif mark == "=":
            code = int(rest)
        else:
            output = (*output, rest)
        found[-1] = Outcome(last.line, output, errors, code)
    return found


def differences(wanted: Outcome, found: Outcome) -> Iterator[str]:
    """Where two outcomes of one step differ, each run of lines: ``$ step | - wanted | + found``."""
    if wanted.code != found.code:
        yield f"$ {wanted.line} | - exit {wanted.code} | + exit {found.code}"
    for mark, one, other in (
        ("", wanted.output, found.output),
        ("! ", wanted.errors, found.errors),
    ):
        matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
        for tag, first, last, start, stop in matcher.get_opcodes():
            if tag != "equal":
                lines = [f"- {mark}{line}" for line in one[first:last]]
                lines += [f"+ {mark}{line}" for line in other[start:stop]]
                yield " | ".join((f"$ {wanted.line}", *lines))


def is_made_by_the_server(outcome: Outcome) -> bool:
    """Whether no client's version shows in what a step printed: the server's own tables."""
    words = shlex.split(outcome.line)
    return (
        words[0] == "get"
        and not outcome.errors
        and not {"-w", "--watch-only"} & {*words}
        and ("-o" not in words or words[words.index("-o") + 1] == "wide")
    )
