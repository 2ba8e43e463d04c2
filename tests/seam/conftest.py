"""What the suites of several seams share."""

import shutil
import subprocess
import time

import pytest
from etcd_lab import EtcdLab
from orphans import end_with_parent


@pytest.fixture(scope="session")
def etcd(tmp_path_factory):
    """The Unix socket of an etcd of our own."""
    binary = shutil.which("etcd")
    assert binary, "Debian's etcd-server is not installed"
    folder = tmp_path_factory.mktemp("etcd")
    process = subprocess.Popen(
        [
            binary,
            "--data-dir=data",
            "--listen-client-urls=unix://localhost:1",
            "--advertise-client-urls=unix://localhost:1",
            "--listen-peer-urls=unix://localhost:2",
            "--initial-advertise-peer-urls=unix://localhost:2",
            "--initial-cluster=default=unix://localhost:2",
        ],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=end_with_parent(),
    )
    socket = folder / "localhost:1"
    try:
        deadline = time.monotonic() + 20
        while not socket.exists():
            assert process.poll() is None, "etcd ended"
            assert time.monotonic() < deadline, "etcd did not start"
            time.sleep(0.02)
        yield str(socket)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def etcd_members(tmp_path_factory):
    """Three members of one etcd over TLS."""
    patient = ("--heartbeat-interval=400", "--election-timeout=4000")  # for a busy machine
    lab = EtcdLab(tmp_path_factory.mktemp("members"), members=3, flags=patient)
    try:
        yield lab
    finally:
        lab.close()
