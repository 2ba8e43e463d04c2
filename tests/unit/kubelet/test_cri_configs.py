"""Resources, security, DNS, hosts files, images: what pods become on the CRI wire."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.kit.errors import Invalid
from muntin.kubelet.dns_config import HostResolver, dns_config, parse_resolv_conf
from muntin.kubelet.hosts_file import hostname_and_domain, hosts_file
from muntin.kubelet.images import default_policy, is_reference, with_tag
from muntin.kubelet.platform import Platform, linux, windows
from muntin.kubelet.resources import linux_resources, pod_cgroup, windows_resources
from muntin.kubelet.security import (
    check_non_root,
    linux_container_security,
    windows_sandbox_security,
)
from muntin.model.windows_releases import BUILDS, profile_of

WINDOWS = windows(profile_of(BUILDS[3]))
LINUX = linux()
OF_1_24, OF_1_19 = (windows(profile_of(BUILDS[3], version)) for version in ((1, 24), (1, 19)))


# Source: windows-node rules, K20 kuberuntime_container_windows.go: 8 processors.
@pytest.mark.parametrize(
    ("cpu", "maximum"),
    [("500m", 625), ("2", 2500), ("10m", 12), ("1m", 1), ("16", 10_000)],
)
def test_windows_cpu(cpu: str, maximum: int) -> None:
    container = {"resources": {"limits": {"cpu": cpu}, "requests": {"memory": "1Gi"}}}
    assert windows_resources(container, 8, WINDOWS) == {"cpu_maximum": maximum}
    old = windows(profile_of(BUILDS[3], (1, 17)))
    assert windows_resources(container, 8, old) == {"cpu_shares": maximum}
    assert windows_resources(container, 8, windows(profile_of(BUILDS[1], (1, 9)))) == {}


def test_old_kubelets_see_one_group_of_processors() -> None:
    container = {"resources": {"limits": {"cpu": "32"}}}
    assert windows_resources(container, 128, WINDOWS) == {"cpu_maximum": 2500}
    old = windows(profile_of(BUILDS[3], (1, 26)))
    assert windows_resources(container, 128, old) == {"cpu_maximum": 5000}


def a_pod(container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "namespace": "ns", "uid": "u"},
        "spec": {"containers": [container], **spec},
    }


def test_linux_cgroup_values() -> None:
    both = {"cpu": "500m", "memory": "64Mi"}
    guaranteed = {"name": "c", "resources": {"limits": both, "requests": both}}
    assert linux_resources(a_pod(guaranteed), guaranteed, 1 << 30) == {
        "cpu_shares": 512,
        "cpu_period": 100_000,
        "cpu_quota": 50_000,
        "memory_limit_in_bytes": 64 << 20,
        "oom_score_adj": -997,
    }
    nothing = {"name": "c"}
    assert linux_resources(a_pod(nothing), nothing, 1 << 30) == {
        "cpu_shares": 2,
        "oom_score_adj": 1000,
    }
    some = {"name": "c", "resources": {"requests": {"memory": "256Mi"}}}
    assert linux_resources(a_pod(some), some, 1 << 30)["oom_score_adj"] == 750
    assert pod_cgroup("/muntin/x", a_pod(guaranteed)) == "/muntin/x/kubepods/podu"
    assert pod_cgroup("", a_pod(nothing)) == "/kubepods/besteffort/podu"


def test_linux_security() -> None:
    container = {
        "name": "c",
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]},
        },
    }
    context = {"runAsUser": 7, "runAsGroup": 8, "fsGroup": 9, "supplementalGroups": [10]}
    found = linux_container_security(a_pod(container, securityContext=context), container)
    assert found["run_as_user"] == {"value": 0}
    assert found["run_as_group"] == {"value": 8}
    assert found["supplemental_groups"] == [10, 9]
    assert found["no_new_privs"]
    assert found["readonly_rootfs"]
    assert found["capabilities"]["drop_capabilities"] == ["ALL"]
    assert "/proc/kcore" in found["masked_paths"]
    privileged = {"name": "c", "securityContext": {"privileged": True}}
    assert linux_container_security(a_pod(privileged), privileged)["masked_paths"] == []


def test_host_process_needs_its_gate() -> None:
    options = {"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}
    pod = a_pod({"name": "c"}, securityContext=options, hostNetwork=True)
    found = windows_sandbox_security(pod, WINDOWS)
    assert found["host_process"]
    assert found["namespace_options"] == {"network": 2}
    old = windows(profile_of(BUILDS[3], (1, 20)))
    with pytest.raises(Invalid, match="WindowsHostProcessContainers"):
        windows_sandbox_security(pod, old)


@pytest.mark.parametrize(("version", "network"), [((1, 25), 0), ((1, 26), 2), ((1, 33), 0)])
def test_host_network_was_there_for_some_versions(version: tuple[int, int], network: int) -> None:
    pod = a_pod({"name": "c"}, hostNetwork=True)
    found = windows_sandbox_security(pod, windows(profile_of(BUILDS[-1], version)))
    assert found["namespace_options"] == {"network": network}


@pytest.mark.parametrize(
    ("platform", "context", "image", "words"),
    [
        (LINUX, {"runAsUser": 0}, {}, "runAsUser breaks non-root policy"),
        (LINUX, {"runAsUser": 5}, {}, None),
        (LINUX, {}, {"uid": {"value": 0}}, "image will run as root"),
        (LINUX, {}, {"uid": {"value": 5}}, None),
        (LINUX, {}, {"username": "app"}, "non-numeric user"),
        (WINDOWS, {"windowsOptions": {"runAsUserName": "ContainerUser"}}, {}, None),
        (WINDOWS, {}, {"username": "ContainerAdministrator"}, "break non-root policy"),
        (WINDOWS, {}, {"username": "containeradministrator"}, "break non-root policy"),
        (
            WINDOWS,
            {"windowsOptions": {"runAsUserName": "CONTAINERADMINISTRATOR"}},
            {"username": "ContainerUser"},
            r"runAsUserName \(CONTAINERADMINISTRATOR\) which will be regarded as root",
        ),
        (
            WINDOWS,
            {"windowsOptions": {"runAsUserName": "ContainerUser"}},
            {"username": "ContainerAdministrator"},
            None,
        ),
        (OF_1_24, {}, {"username": "containeradministrator"}, None),
        (OF_1_24, {}, {"username": "ContainerAdministrator"}, "break non-root policy"),
        (OF_1_19, {}, {"username": "ContainerUser"}, "non-numeric user"),
        (OF_1_19, {}, {}, "image will run as root"),
        (WINDOWS, {}, {}, None),
    ],
)
def test_non_root(
    platform: Platform, context: dict[str, Any], image: dict[str, Any], words: str | None
) -> None:
    container = {"name": "c", "securityContext": {"runAsNonRoot": True, **context}}
    if words is None:
        check_non_root(a_pod(container), container, image, platform)
    else:
        with pytest.raises(Invalid, match=words):
            check_non_root(a_pod(container), container, image, platform)


HOST = HostResolver(servers=["192.0.2.53"], searches=["corp.example"], options=["rotate"])
CLUSTER = ["ns.svc.cluster.local", "svc.cluster.local", "cluster.local"]


@pytest.mark.parametrize(
    ("platform", "spec", "servers", "searches", "options"),
    [
        (LINUX, {}, ["10.96.0.10"], [*CLUSTER, "corp.example"], ["ndots:5"]),
        (LINUX, {"hostNetwork": True}, ["192.0.2.53"], ["corp.example"], ["rotate"]),
        (
            LINUX,
            {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"},
            ["10.96.0.10"],
            [*CLUSTER, "corp.example"],
            ["ndots:5"],
        ),
        (LINUX, {"dnsPolicy": "Default"}, ["192.0.2.53"], ["corp.example"], ["rotate"]),
        (
            LINUX,
            {
                "dnsPolicy": "None",
                "dnsConfig": {
                    "nameservers": ["1.1.1.1"],
                    "searches": ["a"],
                    "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}],
                },
            },
            ["1.1.1.1"],
            ["a"],
            ["ndots:2", "edns0"],
        ),
        (WINDOWS, {}, ["10.96.0.10"], CLUSTER[:1], ["ndots:5"]),
        (
            WINDOWS,
            {"dnsConfig": {"searches": ["mine"]}},
            ["10.96.0.10"],
            CLUSTER[:1],
            ["ndots:5"],
        ),
        (
            WINDOWS,
            {"dnsPolicy": "ClusterFirstWithHostNet"},
            ["192.0.2.53"],
            ["corp.example"],
            ["rotate"],
        ),
    ],
)
def test_dns(
    platform: Platform,
    spec: dict[str, Any],
    servers: list[str],
    searches: list[str],
    options: list[str],
) -> None:
    found = dns_config(
        a_pod({"name": "c"}, **spec),
        platform,
        cluster_dns=["10.96.0.10"],
        cluster_domain="cluster.local",
        host=HOST,
    )
    assert found == {"servers": servers, "searches": searches, "options": options}


def test_resolv_conf() -> None:
    text = "# hi\nnameserver 1.2.3.4\nsearch a. b\noptions ndots:2 rotate\nnameserver ::1\nodd\n"
    found = parse_resolv_conf(text)
    assert found == HostResolver(
        servers=["1.2.3.4", "::1"], searches=["a", "b"], options=["ndots:2", "rotate"]
    )


def test_hosts_file() -> None:
    text = hosts_file(
        ["10.0.0.1"], "p", "s.ns.svc.cluster.local", [{"ip": "1.2.3.4", "hostnames": ["x", "y"]}]
    )
    lines = text.splitlines()
    assert lines[0] == "# Kubernetes-managed hosts file."
    assert "127.0.0.1\tlocalhost" in lines
    assert "10.0.0.1\tp.s.ns.svc.cluster.local\tp" in lines
    assert lines[-1] == "1.2.3.4\tx\ty"


def test_hostname() -> None:
    pod = a_pod({"name": "c"}, subdomain="s")
    assert hostname_and_domain(pod, "cluster.local") == ("p", "s.ns.svc.cluster.local")
    pod["metadata"]["name"] = "a" * 62 + "-" + "b" * 9
    assert hostname_and_domain(pod, "x")[0] == "a" * 62


@pytest.mark.parametrize(
    ("image", "policy", "full"),
    [
        ("busybox", "Always", "busybox:latest"),
        ("busybox:latest", "Always", "busybox:latest"),
        ("busybox:1.35", "IfNotPresent", "busybox:1.35"),
        ("host:5000/a/b", "Always", "host:5000/a/b:latest"),
        ("a@sha256:" + "0" * 64, "IfNotPresent", "a@sha256:" + "0" * 64),
    ],
)
def test_image_names(image: str, policy: str, full: str) -> None:
    assert is_reference(image)
    assert default_policy(image) == policy
    assert with_tag(image) == full


@pytest.mark.parametrize("image", ["", "a/B", "a b", "a:", "a//b", "-a", "a@sha256:00"])
def test_invalid_image_names(image: str) -> None:
    assert not is_reference(image)
