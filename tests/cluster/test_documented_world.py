"""``muntin up --profile v1.20``: the cluster of the v1.20 document, with its kubectl."""

from __future__ import annotations

import json
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "examples/win-webserver/win-webserver.yaml"
TITLE = "<H1>Windows Container Web Server</H1>"
NAME = "win-webserver.default.svc.cluster.local"


def test_the_world_of_the_document(other, old_kubectl):
    other.kubectl_program = old_kubectl
    other.up("--profile", "v1.20")
    nodes_are_those_of_the_document(other)
    api_is_that_of_the_document(other)
    sample_is_served(other)
    other.kubectl_program = "kubectl"
    names = {row["metadata"]["name"] for row in other.get("nodes")["items"]}
    assert names == {"lin01", "win01", "win02"}
    assert "Endpoints:" in other.kubectl("describe", "service", "win-webserver").stdout


def nodes_are_those_of_the_document(world):
    expected = json.loads((ROOT / "tests/golden/node/windows-v1.20.json").read_text())
    found = world.get("node", "win01")
    info, wanted = found["status"]["nodeInfo"], expected["status"]["nodeInfo"]
    same = ("osImage", "kernelVersion", "containerRuntimeVersion", "kubeletVersion",
            "operatingSystem", "architecture")  # fmt: skip
    assert {key: info[key] for key in same} == {key: wanted[key] for key in same}
    assert found["metadata"]["labels"].keys() == expected["metadata"]["labels"].keys()
    assert found["metadata"]["labels"]["node.kubernetes.io/windows-build"] == "10.0.17763"


def api_is_that_of_the_document(world):
    versions = world.kubectl("api-versions").stdout.split()
    assert "discovery.k8s.io/v1beta1" in versions
    assert "discovery.k8s.io/v1" not in versions
    assert world.kubectl("version", "--short").stdout.count("v1.20") == 2


def sample_is_served(world):
    """By NodePort from outside, and by name from a pod; its slices are in the beta form."""
    world.kubectl("apply", "-f", str(SAMPLE))
    world.kubectl("rollout", "status", "deployment/win-webserver", "--timeout=60s")
    port = world.get("service", "win-webserver")["spec"]["ports"][0]["nodePort"]
    url, end = f"http://172.31.0.12:{port}", time.monotonic() + 20
    while TITLE not in world.shell("outside", "curl", "-s", "-m", "2", url, check=False):
        assert time.monotonic() < end, "the NodePort does not answer"
        time.sleep(0.1)
    pod = world.get("pods", "-l", "app=win-webserver")["items"][0]["metadata"]["name"]
    fetch = ("curl.exe", "-s", "-m", "5", f"http://{NAME}")
    assert TITLE in world.kubectl("exec", pod, "--", *fetch).stdout
    selector = "kubernetes.io/service-name=win-webserver"
    (slice_,) = world.get("endpointslices", "-l", selector)["items"]
    nodes = {row["topology"]["kubernetes.io/hostname"] for row in slice_["endpoints"]}
    assert nodes == {"win01", "win02"}
