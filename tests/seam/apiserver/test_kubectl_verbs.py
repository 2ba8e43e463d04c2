"""Every verb that kubectl lists, of both ages, is in a transcript or named with the reason."""

from __future__ import annotations

import re
import subprocess

import pytest
import yaml
from test_kubectl_transcripts import CLIENTS, OLDEST, ON_PATH, STANDS_FOR
from transcript_text import HERE, SCRIPTS, one_step

UNPLAYED = yaml.safe_load((HERE / "unplayed.yaml").read_text())
_VERB = re.compile(r"^  ([a-z][a-z-]*) +\S", re.M)
_CONDITIONS = re.compile(r"(?:\{([a-z]+=[^}]*)\} +)?(.*)")
_SECTION = re.compile(r"^[A-Z][^\n]*Commands[^\n]*:\n(.*?)(?:\n\n|\Z)", re.M | re.S)


def _listed(kubectl, *verb):
    """The sub-commands that the help of ``verb`` lists, and theirs."""
    done = subprocess.run(
        [kubectl, *verb, "--help"], capture_output=True, text=True, check=True, timeout=30
    )
    for section in _SECTION.findall(done.stdout):
        for name in _VERB.findall(f"{section}\n"):
            yield (*verb, name)
            if len(verb) < 2:
                yield from _listed(kubectl, *verb, name)


def _played(client):
    """The words of every step that the transcripts have for a client."""
    lines = [line for path in SCRIPTS.glob("*.txt") for line in path.read_text().splitlines()]
    for path in HERE.glob("running/*.txt"):
        lines += re.findall(r"^((?:\{[^}]*\} )?)\$ (.*)$", path.read_text(), re.M)
    for line in map("".join, lines):
        conditions, rest = _CONDITIONS.fullmatch(line).groups()
        if not rest or rest[0] == "#" or f"kubectl={_other(client)}" in (conditions or ""):
            continue
        step = one_step(rest)
        yield step.words[1:] if step.verb == "until" else step.words


def _other(client):
    (found,) = {*CLIENTS} - {client}
    return found


@pytest.mark.parametrize("client", sorted({OLDEST, STANDS_FOR}))
def test_every_verb_is_played_or_named(client, old_kubectl):
    program = old_kubectl if client == OLDEST else ON_PATH
    steps = [*_played(client)]
    missing = {
        " ".join(verb)
        for verb in _listed(program)
        if not any(words[: len(verb)] == verb for words in steps)
    }
    assert missing == {*UNPLAYED.get(client, {})}
