"""Transcripts of kubectl on a running cluster, as text written by hand.

One file, tests/golden/transcripts/running/TOPIC.txt, says for both systems, both APIs and both
kubectls what is typed and what has to be seen:

    $ get pods -o wide        a kubectl command, as in the scripts of the recorded transcripts
    > "# " "echo hi\\r"        typed on a terminal, once that text is seen; a step with such lines
                              runs on a terminal, and its output is the screen
      NAME  READY             a line of output, after two spaces
    ! error: no               a line of errors
    = 1                       the exit code, where it is not 0
    {os=windows,api=1.20} ... the same line, of any kind, for some only: os, api and kubectl;
                              two steps in a row, for the one and for the other, share what follows

More verbs than kubectl's: ``start`` and ``finish N`` as in the scripts; ``see TEXT``, which waits
for what was started to print TEXT; ``until TEXT get ...``, a command that is tried until TEXT is
in its output; ``fetch PATH``, from the port that was started; ``local ls``, a program beside
kubectl. ``{image}`` and the like stand for what VARIABLES says, in commands and in outputs.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from transcript_text import HERE, Outcome, Step, one_step, read

RUNNING = HERE / "running"
FILES = RUNNING / "files"
_CONDITION = re.compile(r"\{((?:os|api|kubectl)=[^}]*)\} (.*)")

_LISTENER = (
    "$l = New-Object System.Net.HttpListener; $l.Prefixes.Add('http://*:80/'); $l.Start(); "
    "while ($l.IsListening) { $c = $l.GetContext(); $r = $c.Response; "
    "$b = [System.Text.Encoding]::UTF8.GetBytes('hello'); $r.ContentLength64 = $b.Length; "
    "$r.OutputStream.Write($b, 0, $b.Length); $r.Close() }"
)
SERVER = ["powershell", "-command", _LISTENER]
VARIABLES = {
    "linux": {
        "os": "linux",
        "image": "busybox:1.35",
        "newer": "busybox:latest",
        "shell": "sh",
        "do": "-c",
        "and": ";",
        "sleep": "sleep 1000",
        "second": "sleep 1",
        "pause": "sleep 3",
        "ticks": '[sh, -c, "while true; do echo tick; sleep 1; done"]',
        "server": '[sh, -c, "mkdir /www; echo hello > /www/index.html; httpd -f -p 80 -h /www"]',
        "read": "read x",
        "what": "$x",
    },
    "windows": {
        "os": "windows",
        "image": "mcr.microsoft.com/windows/servercore:ltsc2019",
        "newer": "mcr.microsoft.com/windows/servercore:1809",
        "shell": "cmd",
        "do": "/c",
        "and": "&",
        "sleep": "powershell -command Start-Sleep 1000",
        "second": "powershell -command Start-Sleep 1",
        "pause": "powershell -command Start-Sleep 3",
        "ticks": "[powershell, -command, 'while ($true) { Write-Host tick; Start-Sleep 1 }']",
        "server": json.dumps(SERVER),
        "read": "set /p x=",
        "what": "%x%",
    },
}
"""How the two systems say the same; a pod's command is ``[{shell}, {do}, "one{and} two"]``."""


def variables(world: Mapping[str, str], version: str) -> dict[str, str]:
    """What the words in braces stand for in a ``world`` whose API is of ``version``."""
    selector = {"kubernetes.io/os": world["os"]}
    overrides = {"apiVersion": "v1", "spec": {"nodeSelector": selector}}
    return {
        **VARIABLES[world["os"]],
        "node": f"{world['os'][:3]}02",
        "version": f"v{version}.0",
        "budgets": "policy/v1beta1" if world["api"] == "1.20" else "policy/v1",
        "cron": "batch/v1beta1" if world["api"] == "1.20" else "batch/v1",
        "only": f"'{json.dumps(overrides)}'",
        "first": f"{world['os'][:3]}01",
        "kind": f"{world['os']}{world['kubectl'].replace('.', '')}",
    }


@dataclass(frozen=True)
class Part:
    """One step, what is typed in it, and what it has to print."""

    step: Step
    keys: tuple[tuple[str, str], ...]
    wanted: Outcome


def topics() -> list[str]:
    """The names of all transcripts."""
    return sorted(path.stem for path in RUNNING.glob("*.txt"))


def filled(text: str, variables: Mapping[str, str]) -> str:
    """``text`` with the values of its variables."""
    for name, value in variables.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def parts(topic: str, world: Mapping[str, str], variables: Mapping[str, str]) -> Iterator[Part]:
    """The steps of a transcript for one ``world``: its os, api and kubectl."""
    path: Path = RUNNING / f"{topic}.txt"
    blocks: list[list[str]] = []
    for line in path.read_text().splitlines():
        line = _chosen(line, world)
        if line.startswith("$ "):
            blocks.append([line])
        elif line and not line.startswith("#") and blocks:
            blocks[-1].append(line)
    for block in blocks:
        lines = [filled(line, variables) for line in block]
        keys = tuple(_keys(line) for line in lines if line.startswith("> "))
        (wanted,) = read("\n".join(line for line in lines if not line.startswith("> ")))
        yield Part(one_step(wanted.line), keys, wanted)


def _chosen(line: str, world: Mapping[str, str]) -> str:
    """The line without its condition; empty when that does not hold."""
    match = _CONDITION.fullmatch(line)
    if match is None:
        return line
    pairs = [pair.split("=") for pair in match[1].split(",")]
    if all(world[key] == value for key, value in pairs):
        return match[2]
    return ""


def _keys(line: str) -> tuple[str, str]:
    seen, typed = shlex.split(line[2:])
    return seen, typed.encode().decode("unicode_escape")
