"""Fixtures of the attacks: a cluster, and a hostile container on each operating system."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator

import attack_images as images
import pytest
from attack_lab import CLUSTER_FILE, Target
from whole_cluster import Cluster


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A cluster with the pods ``attacker-lin`` and ``attacker-win``."""
    assert os.geteuid() == 0, "whole clusters need root: run as root, or leave out tests/attacks"
    assert shutil.which("kubectl"), "kubectl is missing: make setup"
    cluster = Cluster(f"x{os.getpid()}", tmp_path_factory.mktemp("attacks"))
    file = cluster.folder / "cluster.yaml"
    file.write_text(CLUSTER_FILE)
    secret = cluster.folder / "host-secret"
    secret.mkdir()
    (secret / "marker").write_text("only for the host")
    secret.chmod(0o755)
    try:
        cluster.up("--config", str(file))
        for archive in (images.linux_image(cluster.folder), images.windows_image(cluster.folder)):
            cluster.muntin("load", str(archive))
        result = Target(cluster, secret)
        for system in ("lin", "win"):
            result.run_pod(system, f"attacker-{system}")
        cluster.wait_ready("attacker-lin", "attacker-win")
        result.before = result.components()
        yield result
    finally:
        cluster.down()


@pytest.fixture(autouse=True)
def _nothing_ended(target: Target) -> Iterator[None]:
    """No attack ends or restarts a component."""
    yield
    assert target.components() == target.before


@pytest.fixture(scope="session", params=["lin", "win"])
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def host_listener() -> Iterator[int]:
    """A port of the host on which a secret waits, on every address of the host."""
    with socket.create_server(("", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture(scope="session")
def abstract_name() -> Iterator[str]:
    """An abstract Unix socket of the host."""
    name = f"muntin-attack-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(f"\0{name}")
        server.listen()
        yield name
