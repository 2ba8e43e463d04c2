"""Pods of both systems that kubectl is tried on, and a user with one kubectl in their namespace."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from terminal import typed

NAMESPACE = "samples"
SERVERCORE = "mcr.microsoft.com/windows/servercore:ltsc2019"
BUSYBOX = "busybox:1.35"

LISTENER = (
    "$l = New-Object System.Net.HttpListener; $l.Prefixes.Add('http://*:80/'); $l.Start(); "
    "while ($l.IsListening) { $c = $l.GetContext(); $r = $c.Response; "
    "$b = [System.Text.Encoding]::UTF8.GetBytes('hello from win'); $r.ContentLength64 = $b.Length; "
    "$r.OutputStream.Write($b, 0, $b.Length); $r.Close() }"
)

SHELL = {"lin": ("sh", "-c"), "win": ("cmd", "/c")}
COUNTER = {
    "lin": ["sh", "-c", "i=0; while true; do i=$((i+1)); echo line $i; sleep 1; done"],
    "win": ["powershell", "-command",
            "$i = 0; while ($true) { $i++; Write-Host \"line $i\"; Start-Sleep 1 }"],
}  # fmt: skip
SERVER = {
    "lin": [
        "sh",
        "-c",
        "mkdir /www; echo hello from lin > /www/index.html; httpd -f -p 80 -h /www",
    ],
    "win": ["powershell", "-command", LISTENER],
}
STDIN = {"lin": ["sh"], "win": ["cmd"]}
SLEEP = {"lin": ["sleep", "1000"], "win": ["powershell", "-command", "Start-Sleep 1000"]}
BRIEF = {
    "lin": ["sh", "-c", "for i in 1 2 3; do echo n$i; sleep 1; done; exit 3"],
    "win": ["powershell", "-command",
            "foreach ($i in 1, 2, 3) { Write-Host n$i; Start-Sleep 1 }; exit 3"],
}  # fmt: skip
END = {"lin": ["sh", "-c", "echo bye; exit 2"], "win": ["cmd", "/c", "echo bye& exit 2"]}


def container(system: str, name: str, command: Sequence[str], **more: Any) -> dict[str, Any]:
    image = SERVERCORE if system == "win" else BUSYBOX
    return {"name": name, "image": image, "command": list(command), **more}


def pod(
    system: str, name: str, *containers: dict[str, Any], policy: str = "Always"
) -> dict[str, Any]:
    operating_system = {"lin": "linux", "win": "windows"}[system]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "restartPolicy": policy,
            "terminationGracePeriodSeconds": 2,
            "nodeSelector": {"kubernetes.io/os": operating_system},
            "containers": list(containers),
        },
    }


def sample_pods(system: str) -> list[dict[str, Any]]:
    """``lin`` or ``win``; ``...-half``, one container of which has ended; ``...-crash``."""
    return [
        pod(
            system,
            system,
            container(system, "main", COUNTER[system]),
            container(system, "web", SERVER[system], ports=[{"containerPort": 80}]),
            container(system, "stdin", STDIN[system], stdin=True),
        ),
        pod(
            system,
            f"{system}-half",
            container(system, "done", END[system]),
            container(system, "stay", SLEEP[system]),
            policy="Never",
        ),
        pod(system, f"{system}-crash", container(system, "main", END[system])),
    ]


@dataclass(frozen=True)
class User:
    """Someone with one kubectl, whose namespace is that of the samples."""

    program: str
    environment: dict[str, str]
    old: bool

    def command(self, *args: str) -> list[str]:
        return [self.program, "--namespace", NAMESPACE, *args]

    def run(self, *args: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*args),
            capture_output=True,
            text=True,
            timeout=60,
            env=self.environment,
            input=input,
        )

    def __call__(self, *args: str, input: str | None = None) -> str:
        """The standard output of a call that must succeed."""
        done = self.run(*args, input=input)
        assert done.returncode == 0, f"{args}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def fails(self, *args: str, input: str | None = None, code: int = 1) -> str:
        """The standard error of a call that must fail with ``code``."""
        done = self.run(*args, input=input)
        assert done.returncode == code, f"{args}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stderr

    def object(self, *args: str) -> Any:
        return json.loads(self("get", *args, "-o", "json"))

    @contextlib.contextmanager
    def running(self, *args: str) -> Iterator[Lines]:
        """A call that goes on; its lines can be waited for."""
        process = subprocess.Popen(
            self.command(*args),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
        )
        lines = Lines(process)
        try:
            yield lines
        finally:
            process.kill()
            process.wait()
            lines.close()

    def typed(self, *args: str, keys: Sequence[tuple[str, str]]) -> tuple[int, str]:
        """Exit code and screen of a call on a terminal; each key is typed after a text is seen."""
        return typed(self.command(*args), self.environment, keys)


class Lines:
    """The output of a running process, line by line as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.seen: list[str] = []
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.seen.append(line.rstrip("\n"))
                self._changed.notify_all()

    def wait(self, text: str, *, seconds: float = 20) -> str:
        """The first line with ``text`` in it."""
        with self._changed:
            found = self._changed.wait_for(lambda: self._first(text), timeout=seconds)
        assert found is not None, f"no {text!r} in {self.seen}"
        return found

    def _first(self, text: str) -> str | None:
        return next((line for line in self.seen if text in line), None)

    def close(self) -> None:
        self._thread.join(5)
        assert self.process.stdout is not None
        self.process.stdout.close()
