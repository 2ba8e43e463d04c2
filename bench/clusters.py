"""Clusters to measure: the ``muntin`` command run as users run it, with a kubeconfig of its own."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from muntin.cluster import admin
from muntin.cluster.config import ClusterConfig
from muntin.cluster.up import stored_config
from muntin.kit.errors import NotFound
from muntin.model.resources import SERVICE_ACCOUNTS
from muntin.seams.kube.client import Client
from muntin.seams.kube.http import HttpTransport, ServerConfig

NAME = os.environ.get("MUNTIN_BENCH_CLUSTER", "bench")
PORT = os.environ.get("MUNTIN_BENCH_PORT", "7443")
MUNTIN = str(Path(sys.executable).parent / "muntin")
NAMESPACE = "default"
_ACCOUNT_LIMIT_S = 10.0
_STEP = re.compile(r"^ ok (?P<text>.+) \((?P<seconds>[0-9.]+) s\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """One line that ``muntin up`` printed."""

    text: str
    seconds: float


def up(*words: str, **environment: str) -> list[Step]:
    """``muntin up`` of the default cluster, with these flags besides; returns its steps."""
    with tempfile.TemporaryDirectory() as directory:
        place = {"KUBECONFIG": f"{directory}/config", **environment}
        done = muntin("up", "--name", NAME, "--api-server-port", PORT, *words, environment=place)
    text = done.stdout + done.stderr
    return [Step(match["text"], float(match["seconds"])) for match in _STEP.finditer(text)]


def down() -> None:
    muntin("down", "--name", NAME)


def muntin(*words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """Run the command.

    Raises:
        RuntimeError: it failed; the message is what it said.
    """
    done = subprocess.run(
        [MUNTIN, *words],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"muntin {' '.join(words)}: {done.stderr.strip()}")
    return done


@contextmanager
def running(*words: str) -> Iterator[ClusterConfig]:
    """A cluster that is up within the block, with these flags."""
    down()
    try:
        up(*words)
        config = stored_config(NAME)
        if config is None:
            raise RuntimeError(f"cluster {NAME} has no stored configuration")
        yield config
    finally:
        down()


def client(config: ClusterConfig) -> Client:
    """The cluster's administrator."""
    access = admin.access(config)
    server = ServerConfig(
        server=access.server, ca=access.ca, certificate=access.certificate, key=access.key
    )
    return Client(HttpTransport(server), user_agent="muntin-bench")


async def service_account(client: Client) -> None:
    """Return when pods are taken: their namespace has its service account."""
    async with asyncio.timeout(_ACCOUNT_LIMIT_S):
        while True:
            try:
                await client.get(SERVICE_ACCOUNTS, "default", NAMESPACE)
                return
            except NotFound:
                await asyncio.sleep(0.05)
