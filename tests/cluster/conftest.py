"""A whole cluster, brought up once, and kubectl to drive it.

Names and ports are of this run alone, so that clusters that are up stay as they are. Every call of
a program has a time limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine
import profile_lab
import pytest
from profile_lab import ProfileLab
from samples import NAMESPACE, User, sample_pods
from traffic_lab import TRAFFIC_CLUSTER, TRAFFIC_PODS, TrafficLab
from whole_cluster import Cluster, eventually, run

QUICK = """apiVersion: muntin.dev/v1alpha1
kind: Cluster
controllerManager:
  horizontalPodAutoscalerSyncPeriod: 2s
"""
"""The cluster of most tests: what autoscalers do takes seconds."""


@pytest.fixture(scope="session", autouse=True)
def _needs_root() -> None:
    assert os.geteuid() == 0, "whole clusters need root: run as root, or leave out tests/cluster"
    assert shutil.which("kubectl"), "kubectl is missing: make setup"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """lin01, win01 and win02, for the whole session."""
    one = Cluster(f"t{os.getpid()}", tmp_path_factory.mktemp("cluster"))
    file = one.folder / "cluster.yaml"
    file.write_text(QUICK)
    try:
        one.up("--config", str(file))
        yield one
    finally:
        one.down()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of a test's own, not up yet."""
    one = Cluster(f"u{os.getpid()}", tmp_path)
    try:
        yield one
    finally:
        one.down()


@pytest.fixture
def namespace(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of a test's own, the current one of kubectl."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name.lower())[:50].strip("-")
    cluster.kubectl("create", "namespace", name)
    cluster.kubectl("config", "set-context", "--current", f"--namespace={name}")
    try:
        yield name
    finally:
        cluster.kubectl("config", "set-context", "--current", "--namespace=default")
        cluster.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrafficLab]:
    """A cluster of its own for the whole session, with pods that answer; see traffic_lab.py."""
    one = Cluster(f"v{os.getpid()}", tmp_path_factory.mktemp("traffic"))
    file = one.folder / "cluster.yaml"
    file.write_text(TRAFFIC_CLUSTER)
    before = machine.network()
    try:
        one.up("--config", str(file))
        with contextlib.closing(TrafficLab(one, before)) as lab:
            lab.start(TRAFFIC_PODS)
            yield lab
    finally:
        one.down()


@pytest.fixture(scope="session")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfileLab]:
    """A node of every Windows release, for the whole session; see profile_lab.py."""
    one = Cluster(f"w{os.getpid()}", tmp_path_factory.mktemp("profiles"))
    file = one.folder / "cluster.yaml"
    file.write_text(profile_lab.cluster_file())
    try:
        one.up("--config", str(file))
        yield ProfileLab(one, {row["metadata"]["name"]: row for row in one.get("nodes")["items"]})
    finally:
        one.down()


def _kubectls() -> list[str]:
    """Debian's 1.20 and the one on PATH, which on Debian 12 may be the same."""
    program = shutil.which("kubectl")
    if program is None:
        return ["1.20"]
    version = run(program, "version", "--client", "-o", "json").stdout
    minor = json.loads(version)["clientVersion"]["minor"].rstrip("+")
    return ["1.20"] if minor == "20" else ["on PATH", "1.20"]


@pytest.fixture(scope="session", params=_kubectls())
def user(cluster: Cluster, samples: None, request: pytest.FixtureRequest) -> User:
    """kubectl of two ages, in the namespace of the samples."""
    old = request.param == "1.20"
    program = request.getfixturevalue("old_kubectl") if old else shutil.which("kubectl")
    home = cluster.folder / ("old" if old else "new")
    return User(program, {**cluster.environment, "HOME": str(home)}, old)


@pytest.fixture(scope="session")
def samples(cluster: Cluster) -> None:
    """The pods of samples.py, Ready where they are to be, that count and listen."""
    cluster.kubectl("create", "namespace", NAMESPACE)
    items = [*sample_pods("lin"), *sample_pods("win")]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    cluster.kubectl("create", "-n", NAMESPACE, "-f", "-", input=text)
    cluster.wait_ready("lin", "win", "-n", NAMESPACE)
    for system in ("lin", "win"):
        eventually(
            lambda pod=f"{system}-half": _first_container(cluster, pod)["state"].get("terminated")
        )
        half = ("get", "pod", f"{system}-half", "-n", NAMESPACE)
        eventually(lambda pod=half: "1/2" in cluster.kubectl(*pod).stdout)
        eventually(lambda pod=f"{system}-crash": _first_container(cluster, pod)["restartCount"])
        in_pod = ("-n", NAMESPACE, system, "-c", "main")
        eventually(lambda where=in_pod: cluster.kubectl("logs", *where).stdout, what="a line")
        web = f"/api/v1/namespaces/{NAMESPACE}/pods/{system}:80/proxy/"
        eventually(
            lambda path=web: not cluster.kubectl("get", "--raw", path, check=False).returncode,
            what="an answer of the web server",
        )


def _first_container(cluster: Cluster, pod: str) -> Any:
    rows = cluster.get("pod", pod, "-n", NAMESPACE)["status"].get("containerStatuses")
    return rows[0] if rows else {"state": {}, "restartCount": 0}


@pytest.fixture(params=["lin", "win"])
def system(request: pytest.FixtureRequest) -> str:
    """A sample pod's name, which says its operating system."""
    return str(request.param)
