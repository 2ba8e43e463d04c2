"""Resources, security, DNS, hosts files, images: what pods become on the CRI wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muntin.kit.errors import Invalid, Unsupported
from muntin.kubelet.cgroups_linux import limit_pids
from muntin.kubelet.config import KubeletConfig, NodeFacts
from muntin.kubelet.container_config import container_config
from muntin.kubelet.dns_config import HostResolver, dns_config, parse_resolv_conf
from muntin.kubelet.hosts_file import hostname_and_domain, hosts_file
from muntin.kubelet.images import default_policy, is_reference, with_tag
from muntin.kubelet.platform import Platform, linux, windows
from muntin.kubelet.resources import linux_resources, pod_cgroup, windows_resources
from muntin.kubelet.sandbox_config import sandbox_config
from muntin.kubelet.security import (
    check_non_root,
    linux_container_security,
    windows_sandbox_security,
)
from muntin.kubelet.user_namespaces import check_runtime, user_namespace
from muntin.model.windows_releases import BUILDS, profile_of
from muntin.seams.cri.enums import NamespaceMode, ProfileType

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


def a_config(version: tuple[int, int] = (1, 34), **values: Any) -> KubeletConfig:
    return KubeletConfig(
        node_name="n",
        node_ip="192.0.2.1",
        version="v{}.{}.0".format(*version),
        platform=linux(version),
        facts=NodeFacts(
            os_image="",
            kernel_version="",
            cpus=1,
            memory_bytes=1 << 30,
            ephemeral_storage_bytes=0,
            machine_id="",
            system_uuid="",
        ),
        **values,
    )


DEFAULT = {"profile_type": ProfileType.RuntimeDefault, "localhost_ref": ""}
OPEN = {"profile_type": ProfileType.Unconfined, "localhost_ref": ""}
NOTE = "seccomp.security.alpha.kubernetes.io/pod"
OWN_NOTE = "container.seccomp.security.alpha.kubernetes.io/c"


def of_type(kind: str, **more: str) -> dict[str, Any]:
    return {"securityContext": {"seccompProfile": {"type": kind, **more}}}


def local(path: str) -> dict[str, Any]:
    return {
        "profile_type": ProfileType.Localhost,
        "localhost_ref": f"/var/lib/kubelet/seccomp/{path}",
    }


# Source: kubernetes v1.34 and v1.20 pkg/kubelet/kuberuntime/helpers_test.go, by what it tests.
@pytest.mark.parametrize(
    ("version", "own", "of_pod", "notes", "profile"),
    [
        ((1, 34), {}, {}, {}, OPEN),
        ((1, 34), of_type("RuntimeDefault"), {}, {}, DEFAULT),
        ((1, 34), {}, of_type("RuntimeDefault"), {}, DEFAULT),
        ((1, 34), of_type("Unconfined"), of_type("RuntimeDefault"), {}, OPEN),
        (
            (1, 34),
            of_type("Localhost", localhostProfile="a/b.json"),
            of_type("Unconfined"),
            {},
            local("a/b.json"),
        ),
        ((1, 34), {}, {}, {NOTE: "runtime/default", OWN_NOTE: "runtime/default"}, OPEN),
        ((1, 26), {}, {}, {NOTE: "runtime/default"}, DEFAULT),
        ((1, 26), {}, {}, {NOTE: "unconfined", OWN_NOTE: "docker/default"}, DEFAULT),
        ((1, 26), {}, of_type("Unconfined"), {OWN_NOTE: "localhost/x.json"}, local("x.json")),
        ((1, 26), of_type("Unconfined"), {}, {OWN_NOTE: "runtime/default"}, OPEN),
        ((1, 18), of_type("RuntimeDefault"), of_type("RuntimeDefault"), {}, OPEN),
        ((1, 18), of_type("Unconfined"), {}, {NOTE: "docker/default"}, DEFAULT),
    ],
)
def test_seccomp_profiles(
    version: tuple[int, int],
    own: dict[str, Any],
    of_pod: dict[str, Any],
    notes: dict[str, str],
    profile: dict[str, Any],
) -> None:
    container = {"name": "c", **own}
    pod = a_pod(container, **of_pod)
    pod["metadata"]["annotations"] = notes
    assert linux_container_security(pod, container, a_config(version))["seccomp"] == profile


def test_the_kubelets_default_profile_applies_without_a_profile() -> None:
    silent, loud = {"name": "c"}, {"name": "c", **of_type("Unconfined")}
    config, old = a_config(seccomp_default=True), a_config((1, 24), seccomp_default=True)
    assert linux_container_security(a_pod(silent), silent, config)["seccomp"] == DEFAULT
    assert linux_container_security(a_pod(loud), loud, config)["seccomp"] == OPEN
    assert linux_container_security(a_pod(silent), silent, old)["seccomp"] == OPEN


def test_a_local_profile_has_a_name() -> None:
    container = {"name": "c", **of_type("Localhost")}
    with pytest.raises(Invalid, match="localhostProfile must be set if seccompProfile type is"):
        linux_container_security(a_pod(container), container, a_config())


def test_pods_with_users_of_their_own() -> None:
    container = {"name": "c", "image": "i"}
    pod = a_pod(container, hostUsers=False)
    config = a_config()
    sandbox = sandbox_config(pod, 0, config, HostResolver())["linux"]
    [uids] = sandbox["security_context"]["namespace_options"]["userns_options"]["uids"]
    own = container_config(
        pod, container, 0, config=config, image_ref="", environment={}, mounts=()
    )["linux"]["security_context"]["namespace_options"]["userns_options"]
    assert own == {"mode": NamespaceMode.POD, "uids": [uids], "gids": [uids]}
    assert (uids["container_id"], uids["length"], uids["host_id"] % 65536) == (0, 65536, 0)
    assert 65536 <= uids["host_id"] < 1 << 31
    other = {**pod, "metadata": {**pod["metadata"], "uid": "other"}}
    assert user_namespace(other, config.platform)["uids"] != [uids]
    for same in (a_pod(container), a_pod(container, hostUsers=True)):
        assert user_namespace(same, config.platform) is None
    assert user_namespace(pod, linux((1, 32))) is None


def test_a_runtime_without_user_namespaces_is_named() -> None:
    has = {"runtime_handlers": [{"name": "", "features": {"user_namespaces": True}}]}
    check_runtime(has, "")
    for status, handler, who in (
        ({}, "", "runtime"),
        ({"runtime_handlers": [{"name": ""}]}, "", "runtime"),
        (has, "kata", 'RuntimeClass handler "kata"'),
    ):
        words = f"can't set `spec.hostUsers: false`, {who} does not support user namespaces"
        with pytest.raises(Unsupported) as caught:
            check_runtime(status, handler)
        assert caught.value.message == words


@pytest.mark.parametrize("is_v1", [True, False])
def test_a_pod_s_cgroup_limits_its_processes(tmp_path: Path, is_v1: bool) -> None:
    root, below = tmp_path, tmp_path
    if is_v1:
        below = tmp_path / "pids"
        below.mkdir()
    limit_pids("/m/kubepods/podx", 7, root)
    assert (below / "m/kubepods/podx/pids.max").read_text() == "7"
    for group in () if is_v1 else (root, root / "m", root / "m/kubepods"):
        assert (group / "cgroup.subtree_control").read_text() == "+pids"


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
    pod = a_pod(container, securityContext=context)
    security = linux_container_security(pod, container, a_config())
    assert security["run_as_user"] == {"value": 0}
    assert security["run_as_group"] == {"value": 8}
    assert security["supplemental_groups"] == [10, 9]
    assert security["no_new_privs"]
    assert security["readonly_rootfs"]
    assert security["capabilities"]["drop_capabilities"] == ["ALL"]
    assert "/proc/kcore" in security["masked_paths"]
    privileged = {"name": "c", "securityContext": {"privileged": True}}
    assert linux_container_security(a_pod(privileged), privileged, a_config())["masked_paths"] == []


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
