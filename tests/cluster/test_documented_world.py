"""``muntin up --profile v1.20``: the cluster of the v1.20 document, with its kubectl."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT, Cluster, eventually

SAMPLE = ROOT / "examples/win-webserver/win-webserver.yaml"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, old_kubectl: str) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("documented")
    one = Cluster(f"d{os.getpid()}", folder, kubectl_program=old_kubectl)
    try:
        one.up("--profile", "v1.20")
        yield one
    finally:
        one.down()


def test_nodes_are_those_of_the_document(world: Cluster):
    golden = ROOT / "tests/golden/node/windows-v1.20.json"
    expected = json.loads(golden.read_text())
    found = world.get("node", "win01")
    info, wanted = found["status"]["nodeInfo"], expected["status"]["nodeInfo"]
    same = ("osImage", "kernelVersion", "containerRuntimeVersion", "kubeletVersion",
            "operatingSystem", "architecture")  # fmt: skip
    assert {key: info[key] for key in same} == {key: wanted[key] for key in same}
    assert found["metadata"]["labels"].keys() == expected["metadata"]["labels"].keys()
    assert found["metadata"]["labels"]["node.kubernetes.io/windows-build"] == "10.0.17763"


def test_the_api_is_that_of_the_document(world: Cluster):
    versions = world.kubectl("api-versions").stdout.split()
    assert "discovery.k8s.io/v1beta1" in versions
    assert "discovery.k8s.io/v1" not in versions
    assert world.kubectl("version", "--short").stdout.count("v1.20") == 2


def test_the_sample_is_served_by_name_and_by_node_port(world: Cluster):
    world.kubectl("apply", "-f", str(SAMPLE))
    world.kubectl("rollout", "status", "deployment/win-webserver", "--timeout=60s")
    port = world.get("service", "win-webserver")["spec"]["ports"][0]["nodePort"]
    title = "<H1>Windows Container Web Server</H1>"

    def page(place: str, address: str) -> str:
        return world.shell(place, "curl", "-s", "-m", "2", f"http://{address}", check=False)

    eventually(lambda: title in page("outside", f"172.31.0.12:{port}"), what="NodePort")
    pod = world.get("pods", "-l", "app=win-webserver")["items"][0]["metadata"]["name"]
    name = "win-webserver.default.svc.cluster.local"
    done = world.kubectl("exec", pod, "--", "curl.exe", "-s", "-m", "5", f"http://{name}")
    assert title in done.stdout
    (slice_,) = world.get("endpointslices", "-l", "kubernetes.io/service-name=win-webserver")[
        "items"
    ]
    nodes = {row["topology"]["kubernetes.io/hostname"] for row in slice_["endpoints"]}
    assert nodes == {"win01", "win02"}


def test_the_newer_kubectl_works_there_too(world: Cluster, tmp_path: Path):
    newer = Cluster(world.name, tmp_path, port=world.port)
    newer.kubeconfig.write_text(world.muntin("kubeconfig").stdout)
    assert {row["metadata"]["name"] for row in newer.get("nodes")["items"]} == {
        "lin01",
        "win01",
        "win02",
    }
    described = newer.kubectl("describe", "service", "win-webserver").stdout
    assert "Endpoints:" in described
