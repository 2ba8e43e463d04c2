"""A program of others that works on a cluster: its identity, its log, and what it complains of."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from suite_table import HERE
from whole_cluster import Cluster

TOKEN_S = 3600 * 2


@dataclass
class Program:
    """A program that was started; ``pattern`` matches the lines of its log that are complaints."""

    name: str
    pattern: str
    log: Path
    process: subprocess.Popen[bytes] = field(repr=False)

    def complaints(self) -> list[str]:
        """The lines that programs.yaml gives no reason for."""
        reasons = yaml.safe_load((HERE / "programs.yaml").read_text()).get(self.name) or {}
        allowed = re.compile("|".join(reasons) or "(?!)")
        return [
            line
            for line in self.log.read_text().splitlines()
            if re.search(self.pattern, line) and not allowed.search(line)
        ]

    @property
    def is_at_work(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        """Whatever it does, it ends, with all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(frozen=True, kw_only=True)
class Stay:
    """Programs' stay on ``cluster``: where their files are, and when their work is to end."""

    cluster: Cluster
    folder: Path
    end: float
    programs: list[Program] = field(default_factory=list)

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.end


def started(
    name: str, pattern: str, stay: Stay, *command: str, environment: Mapping[str, str] | None = None
) -> Program:
    """``command`` at work, as whoever ``environment`` says."""
    log = stay.folder / f"{name}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=stay.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env={**os.environ, **(environment or {})}, start_new_session=True,
        )  # fmt: skip
    program = Program(name, pattern, log, process)
    stay.programs.append(program)
    return program


def started_inside(name: str, pattern: str, stay: Stay, *command: str) -> Program:
    """``command`` at work where the node lin01 is."""
    inside = (sys.executable, "-m", "muntin", "shell", "--name", stay.cluster.name, "lin01", "--")
    return started(name, pattern, stay, *inside, *command, environment=stay.cluster.environment)


def kubeconfig(stay: Stay, namespace: str, account: str, *, inside: bool = False) -> Path:
    """A kubeconfig of a ServiceAccount and nobody else; ``inside``: for programs on a node."""
    cluster = stay.cluster
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": TOKEN_S},
    }
    answer = cluster.kubectl("create", "--raw", path, "-f", "-", input=json.dumps(request)).stdout
    own = json.loads(cluster.kubectl("config", "view", "--raw", "-o", "json").stdout)
    place = dict(own["clusters"][0]["cluster"])
    if inside:
        [endpoints] = cluster.get("endpoints", "--field-selector=metadata.name=kubernetes")["items"]
        place["server"] = f"https://{endpoints['subsets'][0]['addresses'][0]['ip']}:6443"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "own",
        "clusters": [{"name": "own", "cluster": place}],
        "users": [{"name": "own", "user": {"token": json.loads(answer)["status"]["token"]}}],
        "contexts": [
            {"name": "own", "context": {"cluster": "own", "user": "own", "namespace": namespace}}
        ],
    }
    file = stay.folder / f"{account}.kubeconfig"
    file.write_text(json.dumps(document))
    return file
