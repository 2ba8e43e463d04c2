"""What a user gets wrong: a documented code, at most two lines, nothing left behind."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys

import machine
import pytest
from whole_cluster import run


def refused(done, code, *texts):
    assert done.returncode == code, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith((" ok ", "   "))]
    assert 1 <= len(lines) <= 2, done.stderr
    assert lines[0].startswith("muntin: ")
    for text in texts:
        assert text in done.stderr


def clean(cluster):
    assert not any(machine.traces(cluster.name).values())
    assert not cluster.kubeconfig.exists()


def test_a_port_that_is_taken(other):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", other.port))
        taken.listen()
        refused(other.up(check=False), 6, f"127.0.0.1:{other.port} is taken", "--api-server-port")
    clean(other)


@pytest.mark.parametrize("command", [["up"], ["down"], ["status"], ["shell", "lin01"]])
def test_not_root(cluster, command):
    """As nobody, from the moment on when everything is imported."""
    verb, *rest = command
    words = ["muntin", verb, "--name", cluster.name, *rest]
    program = (
        "import os, pkgutil, sys, importlib, muntin.cli.main, muntin.cluster\n"
        "for package in (muntin.cli, muntin.cluster):\n"
        "    for row in pkgutil.iter_modules(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(row.name)\n"
        f"sys.argv = {words!r}; os.setgid(65534); os.setuid(65534); muntin.cli.main.main()"
    )
    refused(run(sys.executable, "-c", program, check=False, cwd="/"), 4, "root")


def test_a_missing_package(other, tmp_path):
    """A PATH without slirp4netns and containerd."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("runc", "tini", "ctr"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    environment = {**other.environment, "PATH": str(tools)}
    command = (sys.executable, "-m", "muntin", "up", "--name", other.name)
    done = run(*command, check=False, env=environment)
    refused(done, 5, "slirp4netns, containerd", "apt-get install slirp4netns containerd")
    clean(other)


@pytest.mark.parametrize(
    ("flags", "code", "text"),
    [
        (["--pod-subnet", "172.31.0.0/20"], 3, "overlaps"),
        (["--windows-nodes", "tor"], 3, "--windows-nodes: tor is a place of its own"),
        (["--kubernetes-version", "1.99"], 3, "--kubernetes-version: 1.99 is not served"),
        (["--config", "/nonexistent"], 8, "/nonexistent: No such file"),
        (["--linux-nodes", "300"], 3, "has room for"),
        (["--wait"], 2, "requires an argument"),
    ],
)
def test_settings_that_cannot_be(other, flags, code, text):
    refused(other.up(*flags, check=False), code, text)
    clean(other)


def test_a_broken_kubeconfig_stays_as_it_is(other):
    other.kubeconfig.write_text("clusters: {not: a list}\n")
    refused(other.up(check=False), 3, "not a kubeconfig", "--kubeconfig")
    assert other.kubeconfig.read_text() == "clusters: {not: a list}\n"
    other.kubeconfig.unlink()
    clean(other)


def test_other_settings_for_a_cluster_that_is_there(cluster):
    done = cluster.up("--windows-nodes", "1", check=False)
    refused(done, 7, "exists with other settings", f"muntin down --name {cluster.name}")


def test_names_that_are_not_there(cluster):
    refused(cluster.muntin("shell", "win09", check=False), 8, "no place win09", "win01")
    refused(cluster.muntin("logs", "etcd", check=False), 8, "no log of etcd", "control-plane")
    refused(cluster.muntin("shell", "lin01", "--", "/nope", check=False), 8, "/nope")


def test_a_kernel_without_a_feature(other):
    """Where there are no tun devices, in a mount namespace of the test's own."""
    words = (sys.executable, "-m", "muntin", "up", "--name", other.name)
    script = f"mount --bind /dev/null /dev/net/tun && exec {shlex.join(words)}"
    done = run("unshare", "--mount", "sh", "-c", script, check=False, env=other.environment)
    refused(done, 5, "the kernel does not offer tun devices (CONFIG_TUN)", "stock kernel")
    clean(other)
