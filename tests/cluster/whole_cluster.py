"""A whole cluster under a name and port of its own, and kubectl to drive it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MUNTIN = (sys.executable, "-m", "muntin")
LINUX = '{"spec": {"nodeSelector": {"kubernetes.io/os": "linux"}}}'


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run(
    *command: str, timeout_s: float = 60, check: bool = True, **kwargs: Any
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, **kwargs)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


@dataclass
class Cluster:
    """One cluster of the tests; ``down`` in a finally, whatever happens."""

    name: str
    folder: Path
    kubectl_program: str = "kubectl"
    port: int = field(default_factory=free_port)

    @property
    def kubeconfig(self) -> Path:
        return self.folder / f"{self.name}.kubeconfig"

    @property
    def environment(self) -> dict[str, str]:
        cache = {"KUBECACHEDIR": str(self.folder / "cache"), "HOME": str(self.folder)}
        return {**os.environ, **cache, "KUBECONFIG": str(self.kubeconfig)}

    def muntin(self, *args: str, check: bool = True, **kwargs: Any) -> Any:
        verb, *rest = args
        command = (*MUNTIN, verb, "--name", self.name, *rest)
        return run(*command, check=check, env=self.environment, **kwargs)

    def up(self, *args: str, check: bool = True, **kwargs: Any) -> Any:
        port = ("--api-server-port", str(self.port))
        return self.muntin("up", *port, *args, check=check, timeout_s=180, **kwargs)

    def down(self) -> Any:
        return self.muntin("down")

    def shell(self, place: str, *command: str, check: bool = True, timeout_s: float = 30) -> str:
        done = self.muntin("shell", place, "--", *command, check=check, timeout_s=timeout_s)
        return str(done.stdout)

    def kubectl(
        self, *args: str, check: bool = True, timeout_s: float = 60, input: str | None = None
    ) -> Any:
        return run(
            self.kubectl_program,
            *args,
            check=check,
            timeout_s=timeout_s,
            input=input,
            env=self.environment,
        )

    def get(self, *args: str) -> Any:
        return json.loads(self.kubectl("get", *args, "-o", "json").stdout)

    def apply(self, manifest: str | dict[str, Any]) -> None:
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        self.kubectl("apply", "-f", "-", input=text)

    def wait_ready(self, *selector: str, seconds: int = 60) -> None:
        self.kubectl(
            "wait",
            "pod",
            *selector,
            "--for=condition=Ready",
            f"--timeout={seconds}s",
            timeout_s=seconds + 10,
        )


def eventually(condition: Callable[[], Any], seconds: float = 30.0, what: str = "") -> Any:
    """The first true value of ``condition``; its last value is in the failure."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"did not happen in {seconds} s: {what} (last: {value!r})"
        time.sleep(0.1)
