"""One run of a client's own test suite: its archive, its environment, a cluster, the outcomes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import stand_in_images
from suite_sources import digest, prepare
from suite_table import HERE, Suite
from whole_cluster import Cluster, eventually

REGISTRY_PORT = 5000
LIMIT_S = 1800  # against hanging; a suite takes some minutes
_preparing = Lock()

HOSTS_TOML = f"""\
server = "http://127.0.0.1:{REGISTRY_PORT}"
[host."http://127.0.0.1:{REGISTRY_PORT}"]
  capabilities = ["pull", "resolve"]
"""
# As kube-apiserver has it: the versions that only old documents use are off.
CLUSTER = """\
apiVersion: muntin.dev/v1alpha1
kind: Cluster
registryConfigDir: registries
apiServer:
  runtimeConfig: {extensions/v1beta1: false, apps/v1beta1: false, apps/v1beta2: false}
"""


def outcomes(suite: Suite, folder: Path) -> dict[str, str]:
    """What became of every test of ``suite``; ``folder`` is for the files of the run.

    Raises:
        AssertionError: it could not be run; the message holds the output.
    """
    with _preparing:  # pip alone keeps a processor busy, and runs of one suite share the folder
        source, python = prepare(suite)
    cluster = Cluster(f"c{os.getpid()}{digest(suite.id)[:4]}", folder)
    try:
        with _cluster(cluster, suite):
            return _run(suite, source, python, cluster)
    finally:
        cluster.down()


@contextmanager
def _cluster(cluster: Cluster, suite: Suite) -> Iterator[None]:
    registries = cluster.folder / "registries" / "_default"
    registries.mkdir(parents=True)
    (registries / "hosts.toml").write_text(HOSTS_TOML)
    file = cluster.folder / "cluster.yaml"
    file.write_text(CLUSTER)
    images = cluster.folder / "images.tar"
    stand_in_images.write(images, with_python=suite.python)
    nodes = ("--linux-nodes", "1", "--windows-nodes", "0")
    cluster.up("--config", str(file), "--kubernetes-version", suite.api, *nodes)
    program = str(HERE / "stand_in_registry.py")
    inside = (sys.executable, "-m", "muntin", "shell", "--name", cluster.name, "lin01", "--")
    registry = subprocess.Popen(
        [*inside, sys.executable, program, str(images), str(REGISTRY_PORT)],
        env=cluster.environment, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for name in suite.system:
            _start_system(cluster, name)
        for name in suite.absent:
            cluster.kubectl("delete", name)
        yield
    finally:
        registry.kill()
        registry.wait()


def _start_system(cluster: Cluster, name: str) -> None:
    place = ("-n", "kube-system", "-l", f"app={name}")
    cluster.kubectl("create", "deployment", name, "-n", "kube-system", "--image=nginx")
    eventually(lambda: cluster.get("pods", *place)["items"])
    cluster.wait_ready(*place)


def _run(suite: Suite, source: Path, python: Path, cluster: Cluster) -> dict[str, str]:
    results = cluster.folder / "results.json"
    environment = {
        **cluster.environment,
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(HERE / "plugin"),
        "CLIENT_SUITE_RESULTS": str(results),
        "CLIENT_SUITE_DESELECTED": json.dumps([*suite.deselected]),
    }
    began = time.monotonic()
    with (cluster.folder / "output.txt").open("w") as output:
        subprocess.run(
            [str(python.parent / "pytest"), "-p", "muntin_cluster", "-p", "no:cacheprovider", "-q",
             *suite.arguments],
            cwd=source, env=environment, timeout=LIMIT_S, stdout=output, stderr=output, check=False,
        )  # fmt: skip
    text = (cluster.folder / "output.txt").read_text()
    assert results.exists(), f"{suite.id} did not run:\n{text[-4000:]}"
    found: dict[str, str] = json.loads(results.read_text())
    print(f"{suite.id}: {len(found)} tests in {time.monotonic() - began:.0f} s\n{text[-6000:]}")
    return found
