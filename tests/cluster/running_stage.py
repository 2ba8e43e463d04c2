"""Plays the transcripts of tests/golden/transcripts/running on a cluster."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from running_text import FILES, Part, filled
from terminal import typed
from transcript_normal import comparable
from transcript_run import Stage
from transcript_text import Outcome

PATIENCE_S = 60
_SCREEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")
"""What tells a terminal how to show something."""
_HASH = "[bcdfghjklmnpqrstvwxz2456789]"
_REPLACED = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\b10\.244\.\d+\.\d+\b", "{pod address}"),
        (r"\b172\.31\.0\.\d+\b", "{node address}"),
        (r"(127\.0\.0\.1:|Handling connection for )\d+", r"\1{port}"),
        (r"\b[0-9a-f]{64}\b|\bexec-[0-9a-f]{12}\b", "{id}"),
        (rf"-{_HASH}{{8,10}}-{_HASH}{{5}}\b", "-{hash}-{name}"),
        (rf"-{_HASH}{{8,10}}(?=[\s\"',)]|$|-[{{])", "-{hash}"),
        (r"(pod-template-hash[=:] *)\w+", r"\1{hash}"),
        (rf"-{_HASH}{{5}}(?=[/\];])", "-{name}"),
        (r"\{age\}(?=  \d+(Mi|%))", "{cpu}"),
        (r"(?<!\S)\d+Mi(?!\S)", "{memory}"),
        (r"(?<!\S)\d+%(?!\S)", "{percent}"),
    )
)


class Player:
    """Plays the steps of one transcript as users of ``stage``, in ``namespace``."""

    def __init__(self, stage: Stage, namespace: str, variables: Mapping[str, str]) -> None:
        self._stage, self._namespace = stage, namespace
        self._started: Started | None = None
        self._work = stage.folder / namespace
        self._work.mkdir()
        for path in FILES.iterdir():
            (self._work / path.name).write_text(filled(path.read_text(), variables))

    def play(self, part: Part) -> Outcome:
        """What a step prints, made comparable."""
        step = part.step
        if step.verb == "run" and part.keys:
            try:
                code, screen = typed(
                    self._command(part), self._environment(part), part.keys, cwd=self._work
                )
            except AssertionError as error:
                return self._outcome(part, "", str(error), -1)
            return self._outcome(part, screen, "", code)
        if step.verb in ("run", "local", "until"):
            return self._until(part) if step.verb == "until" else self._ran(part)
        if step.verb == "start":
            self.close()
            self._started = Started(self._command(part), self._environment(part), self._work)
            return self._outcome(part, "", "", 0)
        assert self._started is not None, f"{step.line}: nothing was started"
        if step.verb == "fetch":
            path = step.words[0].replace("{namespace}", self._namespace)
            return self._outcome(part, self._started.fetch(path), "", 0)
        if step.verb == "see":
            self._started.see(step.words[0])
            return self._outcome(part, "", "", 0)
        text = self._started.finish(int(step.words[0]))
        self._started = None
        return self._outcome(part, text, "", 0)

    def close(self) -> None:
        if self._started is not None:
            self._started.finish(0)

    def _until(self, part: Part) -> Outcome:
        end = time.monotonic() + PATIENCE_S
        while True:
            found = self._ran(part)
            if any(part.step.words[0] in line for line in (*found.output, *found.errors)):
                return found
            if time.monotonic() > end:
                return found
            time.sleep(0.3)

    def _ran(self, part: Part) -> Outcome:
        stdin = (self._work / part.step.stdin).read_text() if part.step.stdin else ""
        try:
            done = subprocess.run(
                self._command(part), env=self._environment(part), cwd=self._work, input=stdin,
                capture_output=True, text=True, timeout=PATIENCE_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            return self._outcome(part, "", f"does not end: {late.stdout!r} {late.stderr!r}", -1)
        return self._outcome(part, done.stdout, done.stderr, done.returncode)

    def _command(self, part: Part) -> list[str]:
        words = [word.replace("{namespace}", self._namespace) for word in part.step.words]
        if part.step.verb == "local":
            return words
        return [self._stage.kubectl, *(words[1:] if part.step.verb == "until" else words)]

    def _environment(self, part: Part) -> dict[str, str]:
        kubeconfig = self._stage.kubeconfig(part.step.user, self._namespace)
        return {**self._stage.environment(kubeconfig), **part.step.environment}

    def _outcome(self, part: Part, output: str, errors: str, code: int) -> Outcome:
        words = part.step.words[1:] if part.step.verb == "until" else part.step.words
        lines = []
        for text in (output, errors):
            text = _SCREEN.sub("", text).replace(self._namespace, "{namespace}")
            found = [*comparable(text, words, str(self._work))]
            for pattern, replacement in _REPLACED:
                found = [pattern.sub(replacement, line) for line in found]
            if words[:1] == ("drain",):
                found = [_in_order(line) for line in found]
            if words[:1] == ("drain",) or {"--all-containers", "--all-pods"} & {*words}:
                found.sort()  # kubectl takes pods and containers in any order
            if words[:1] == ("completion",):
                found = [line for line in found if line][:1]  # of a thousand lines
            lines.append(tuple(found))
        return Outcome(part.step.line, lines[0], lines[1], code)


def _in_order(line: str) -> str:
    """What kubectl warns of before it drains a node, which is kept in no order."""
    head, _, rest = line.partition(": ")
    return f"{head}: {'; '.join(sorted(rest.split('; ')))}" if "WARNING" in head.upper() else line


class Started:
    """A command that does not end by itself, and the lines that it has printed."""

    def __init__(self, command: list[str], environment: Mapping[str, str], work: Path) -> None:
        self._process = subprocess.Popen(
            command, env=environment, cwd=work, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._seen: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self._seen.append(line)
                self._changed.notify_all()

    def see(self, text: str) -> str:
        """The first line with ``text`` in it."""

        def first() -> str | None:
            return next((line for line in self._seen if text in line), None)

        with self._changed:
            found = self._changed.wait_for(first, timeout=20)
        assert found is not None, f"no {text!r} in {self._seen}"
        return found

    def fetch(self, path: str) -> str:
        """What comes from the port that was printed; ``path`` may begin with the port there."""
        target, _, rest = path.partition("/")
        seen = self.see(f"-> {target}" if target else "127.0.0.1:")
        match = re.search(r"127\.0\.0\.1:(\d+)", seen)
        assert match, seen
        try:
            url = f"http://127.0.0.1:{match[1]}/{rest}"
            with urllib.request.urlopen(url, timeout=10) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as refusal:
            with refusal:
                return f"{refusal.code}\n{refusal.read().decode()}"
        except OSError as error:
            return f"{type(error).__name__}\n"

    def finish(self, count: int) -> str:
        """Its first ``count`` lines, fewer if they do not come; then it is ended."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._seen) >= count, timeout=15)
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
        return "".join(self._seen[:count])


def prepare(stage: Stage, namespace: str) -> None:
    """A namespace in which ``dev`` may do with pods what the transcripts show."""
    stage.ask("create", "namespace", namespace)
    things = "--resource=pods,pods/log,deployments.apps"
    stage.ask("create", "role", "dev", "-n", namespace, "--verb=*", things)
    account = "--serviceaccount=people:dev"
    stage.ask("create", "rolebinding", "dev", "-n", namespace, "--role=dev", account)


def played(
    stage: Stage, namespace: str, steps: list[Part], variables: Mapping[str, str]
) -> list[Outcome] | Exception:
    """The outcomes of a transcript's steps, or why it was not played to its end."""
    try:
        prepare(stage, namespace)
        with contextlib.closing(Player(stage, namespace, variables)) as player:
            return [player.play(part) for part in steps]
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return error
    finally:
        subprocess.run(
            [stage.kubectl, "delete", "namespace", namespace, "--wait=false"],
            env={**os.environ, **stage.environment(stage.admin)}, capture_output=True, check=False,
        )  # fmt: skip
