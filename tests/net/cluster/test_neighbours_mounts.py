"""Other programs mount things over and beside a cluster's folders: all of it can still be removed.

Each test runs in a mount namespace of its own, so that the machine's mounts stay as they are.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

PRELUDE = """
import os, subprocess, sys
from pathlib import Path
from muntin.cluster import fabric, leftovers, paths
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.kit import mounts, netns

def sh(*words):
    subprocess.run(words, check=True)

def rows(pid="self"):
    return Path(f"/proc/{pid}/mountinfo").read_text()

sh("mount", "-t", "tmpfs", "muntin-test-run", "/run")
"""


def in_own_mounts(script: str) -> None:
    command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-c"]
    text = PRELUDE + textwrap.dedent(script)
    done = subprocess.run([*command, text], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_cluster_is_removed_after_a_neighbours_ip_netns_add():
    in_own_mounts("""
    config = resolve(apply(Draft(), Overrides(name="nb", windows_nodes="1", egress=False)))
    paths.STATE_ROOT = Path("/run/state")
    fabric.create(config)
    pod = paths.ClusterPaths("nb").netns("win01-1111")
    netns.create(pod)
    netns.create("plain")
    sh("ip", "netns", "add", "neighbour")
    assert rows().count(" /run/netns ") >= 1, "ip netns mounts the folder over itself"
    netns.delete("plain")
    assert not netns.path_of("plain").exists()
    netns.delete(pod)
    netns.create(pod)
    leftovers.remove_runtime("nb")
    assert not paths.ClusterPaths("nb").run.exists()
    assert "muntin/nb" not in rows()
    assert netns.exists("neighbour")
    """)


def test_hidden_mounts_and_copies_in_other_mount_namespaces_are_removed():
    in_own_mounts("""
    pod = "/run/muntin/nb/netns.d/pod"
    netns.create(pod)
    kept = Path("/run/kept")
    kept.mkdir()
    (kept / "file").write_text("the user's")
    volume = Path("/run/muntin/nb/lin01/volume")
    volume.mkdir(parents=True)
    sh("mount", "--bind", str(kept), str(volume))
    sh("mount", "--rbind", "/run", "/run")
    sh("mount", "--rbind", "/run/muntin", "/run/muntin")
    sh("mount", "-t", "tmpfs", "cover", "/run/muntin/nb/lin01")
    ready, go = os.pipe()
    other = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", f"echo >&{go}; exec sleep 60"], pass_fds=[go]
    )
    os.read(ready, 1)
    try:
        netns.delete(pod)
        assert not os.path.exists(pod)
        assert "netns.d/pod" not in rows() + rows(other.pid)
        netns.create(pod)
        leftovers.remove_runtime("nb")
        assert not os.path.exists("/run/muntin/nb")
        assert "/run/muntin/nb" not in rows()
        assert (kept / "file").read_text() == "the user's"
    finally:
        other.kill()
        other.wait()
    """)
