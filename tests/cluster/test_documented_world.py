"""``muntin up --profile v1.20``: the cluster of the v1.20 document, with its kubectl."""

from __future__ import annotations

import json
import time
from pathlib import Path

from whole_cluster import eventually

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
    eventually(lambda: TITLE in world.kubectl("exec", pod, "--", *fetch, check=False).stdout)
    selector = "kubernetes.io/service-name=win-webserver"

    def nodes():
        (slice_,) = world.get("endpointslices", "-l", selector)["items"]
        return {row["topology"]["kubernetes.io/hostname"] for row in slice_["endpoints"] or ()}

    eventually(lambda: nodes() == {"win01", "win02"})


def test_the_world_of_the_guide_of_1_9(other):
    """Windows Server 1709 with docker on the guide's subnets, over version 1 of HNS."""
    done = other.up("--profile", "v1.9", "--windows-nodes", "1", "--linux-nodes", "0")
    assert "An API server of 1.9 does not exist here: it is that of 1.20" in done.stdout
    assert "win-webserver" not in done.stdout, "the sample's image and label are of later versions"
    node = other.get("node", "win01")
    info = node["status"]["nodeInfo"]
    assert (info["kubeletVersion"], info["kernelVersion"][:10]) == ("v1.9.0", "10.0.16299")
    assert info["containerRuntimeVersion"].startswith("docker://")
    assert node["spec"]["podCIDR"].startswith("192.168.")
    assert other.get("service", "kubernetes")["spec"]["clusterIP"] == "11.0.0.1"
    container = {
        "name": "web",
        "image": "mcr.microsoft.com/windows/servercore:1709",
        "command": ["powershell.exe", "-command", "Start-Sleep 3600"],
    }
    spec = {"containers": [container], "nodeSelector": {"beta.kubernetes.io/os": "windows"}}
    other.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec})
    other.wait_ready("web")
    assert other.get("pod", "web")["status"]["podIP"].startswith("192.168.")
    name = "kubernetes.default.svc.cluster.local"
    assert "11.0.0.1" in other.kubectl("exec", "web", "--", "nslookup.exe", name).stdout
