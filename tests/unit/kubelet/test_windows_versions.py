"""What kubelets on Windows do in one version and not in the next, as the gates table says."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.kubelet import configz
from muntin.kubelet.admission import admit
from muntin.kubelet.config import KubeletConfig, NodeFacts
from muntin.kubelet.node_object import allocatable
from muntin.kubelet.platform import Platform, linux, windows
from muntin.kubelet.security import windows_container_security
from muntin.kubelet.windows_limits import ignored
from muntin.model import quantity
from muntin.model.windows import Feature
from muntin.model.windows_releases import build_named, profile_of


def node_of(minor: int, release: str = "2019", runtime: str = "containerd") -> Platform:
    return windows(profile_of(build_named(release), (1, minor), runtime=runtime))


def a_pod(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    meta = {"name": "p", "namespace": "n", "uid": "u", "annotations": annotations or {}}
    return {"metadata": meta, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


WINDOWS_NODE = {"metadata": {"name": "w", "labels": {"kubernetes.io/os": "windows"}}}


@pytest.mark.reproduces(Feature.KUBELET_OS_SELECTOR_ADMISSION)
@pytest.mark.parametrize(
    "minor, reason",
    [(22, "NodeAffinity"), (23, "PodOSSelectorNodeLabelDoesNotMatch")],
)
def test_a_pod_for_linux_that_was_bound_to_a_windows_node(minor, reason):
    pod = a_pod(nodeSelector={"kubernetes.io/os": "linux"})
    rejection = admit(pod, [], WINDOWS_NODE, node_of(minor))
    assert rejection is not None
    assert rejection.reason == reason


@pytest.mark.reproduces(Feature.HYPERV_GATE_REMOVED)
def test_the_annotation_of_hyper_v_means_nothing():
    pod = a_pod({"experimental.windows.kubernetes.io/isolation-type": "hyperv"})
    [said] = ignored(pod, node_of(21))
    assert "isolation-type=hyperv has no meaning" in said
    assert ignored(pod, linux()) == []
    assert ignored(a_pod(), node_of(21)) == []


def configured(platform: Platform, **settings) -> KubeletConfig:
    facts = NodeFacts(
        os_image="Windows",
        kernel_version="10",
        cpus=2,
        memory_bytes=8 << 30,
        ephemeral_storage_bytes=100 << 30,
        machine_id="m",
        system_uuid="u",
    )
    return KubeletConfig(
        node_name="w",
        node_ip="10.0.0.1",
        version="v1",
        platform=platform,
        facts=facts,
        reserved={"memory": "1Gi"},
        **settings,
    )


def allocatable_memory(platform: Platform) -> str:
    return allocatable(configured(platform))["memory"]


@pytest.mark.parametrize("platform", [linux(), node_of(30, "2022", "containerd"),
                                      node_of(31, "2022", "containerd")])  # fmt: skip
def test_configz_explains_allocatable_memory(platform):
    """As upstream's test/e2e/windows/memory_limits.go adds it up."""
    config = configured(platform, client_ca="/ca", cluster_dns=("10.96.0.10",), max_pods=7,
                        static_pod_path="/m")  # fmt: skip
    settings = configz.configuration(config)["kubeletconfig"]
    memory = quantity.subtract(str(8 << 30), settings["kubeReserved"]["memory"])
    memory = quantity.subtract(memory, settings["evictionHard"]["memory.available"])
    assert quantity.value(memory) == quantity.value(allocatable(config)["memory"])
    assert (settings["maxPods"], settings["clusterDNS"], settings["nodeStatusUpdateFrequency"]) == (
        7, ["10.96.0.10"], "10s",
    )  # fmt: skip
    assert settings["authentication"] == {
        "x509": {"clientCAFile": "/ca"},
        "webhook": {"enabled": True, "cacheTTL": "1m0s"},
        "anonymous": {"enabled": False},
    }
    assert (settings["staticPodPath"], "kind" in settings) == ("/m", False)


@pytest.mark.reproduces(
    Feature.FLAG_RESERVES_UPDATE_ALLOCATABLE, Feature.EVICTION_DEFAULT_THRESHOLDS
)
@pytest.mark.parametrize(
    "minor, release, runtime, mebibytes",
    [
        (13, "1803", "docker", 8 << 10),
        (14, "2019", "docker", (7 << 10) - 100),
        (30, "2022", "containerd", (7 << 10) - 100),
        (31, "2022", "containerd", (7 << 10) - 500),
    ],
)
def test_what_is_taken_off_allocatable_memory(minor, release, runtime, mebibytes):
    has = quantity.value(allocatable_memory(node_of(minor, release, runtime)))
    assert has == mebibytes << 20


@pytest.mark.reproduces(Feature.GUIDE_GMSA_1_14)
@pytest.mark.parametrize("minor, spec", [(15, ""), (16, "{}")])
def test_a_credential_spec_reaches_the_container(minor, spec):
    pod = a_pod(securityContext={"windowsOptions": {"gmsaCredentialSpec": "{}"}})
    container = pod["spec"]["containers"][0]
    told = windows_container_security(pod, container, node_of(minor, "2019", "docker"))
    assert told["credential_spec"] == spec
