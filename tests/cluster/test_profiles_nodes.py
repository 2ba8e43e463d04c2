"""Kubelets of different versions and builds side by side: what kubectl and processes show of each.

The sides of every edge are typed by hand from the documentation of the versions.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from profile_lab import IMAGES, NODES, ProfileLab, pod
from whole_cluster import eventually, free_port

from muntin.cluster.paths import ClusterPaths
from muntin.model import quantity
from muntin.model.windows import Feature, gate
from muntin.winruntime.shim.memory import WINE_START_BYTES

SERVERCORE = "mcr.microsoft.com/windows/servercore"
reproduces = pytest.mark.reproduces
LIMITS = {"limits": {"cpu": "500m", "memory": "128Mi"}}
AS_USER = {"windowsOptions": {"runAsUserName": "ContainerUser"}}
AS_HOST = {"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}


LEVEL = {"level": "s0:c1"}
# What Windows knows nothing of; the API takes it of a pod that does not say for which system it is.
WITHOUT_EFFECT: dict[str, Any] = {
    "hostPID": True,
    "hostIPC": True,
    "securityContext": {
        "fsGroup": 1,
        "runAsGroup": 1,
        "seLinuxOptions": LEVEL,
        "supplementalGroups": [1],
        "seccompProfile": {"type": "RuntimeDefault"},
        "sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}],
    },
    "volumes": [{"name": "v", "emptyDir": {}}],
}
WITHOUT_EFFECT_OF_CONTAINER: dict[str, Any] = {
    "securityContext": {
        "privileged": True,
        "allowPrivilegeEscalation": True,
        "capabilities": {"add": ["NET_ADMIN"]},
    },
    "volumeMounts": [{"name": "v", "mountPath": "c:\\v", "mountPropagation": "Bidirectional"}],
}


def with_image(name: str, node: str, tag: str) -> Any:
    return pod(name, node, {"image": f"{SERVERCORE}:{tag}"})


def as_root(name: str, node: str, user: str) -> Any:
    options = {"runAsNonRoot": True, "windowsOptions": {"runAsUserName": user}}
    return pod(name, node, securityContext=options)


def with_alias(node: str) -> Any:
    aliases = [{"ip": "10.0.0.1", "hostnames": ["alias.test"]}]
    return pod(f"alias-{node}", node, hostAliases=aliases)


def with_file(node: str) -> Any:
    """One file of a volume is mounted, not all of it."""
    mount = {"name": "s", "mountPath": "c:\\one\\word", "subPath": "word"}
    volume = {"name": "s", "secret": {"secretName": "words"}}
    return pod(f"file-{node}", node, {"volumeMounts": [mount]}, volumes=[volume])


def with_absent_path(node: str) -> Any:
    mount = {"name": "h", "mountPath": "c:\\h"}
    volume = {"name": "h", "hostPath": {"path": "c:\\not\\there"}}
    return pod(f"absent-{node}", node, {"volumeMounts": [mount]}, volumes=[volume])


def with_last_words(node: str) -> Any:
    command = ["cmd.exe", "/c", "echo last words> c:\\dev\\termination-log & exit 3"]
    return pod(f"ended-{node}", node, {"command": command}, restartPolicy="Never")


def with_secret(node: str) -> Any:
    source = {"secretKeyRef": {"name": "words", "key": "word"}}
    return pod(f"secret-{node}", node, {"env": [{"name": "WORD", "valueFrom": source}]})


def both_sides(make: Any, *nodes: str) -> list[Any]:
    return [make(node) for node in nodes]


def odd_pods() -> list[Any]:
    """Pods that some nodes take, and others refuse."""
    on_host = {"hostNetwork": True, "securityContext": AS_HOST}
    secret = {"name": "s", "secret": {"secretName": "words", "defaultMode": 0o400}}
    elsewhere = {"nodeSelector": {"kubernetes.io/os": "linux"}}
    return [
        *both_sides(with_alias, "w1909", "w2004"),
        *both_sides(with_file, "w1909", "w2004"),
        *both_sides(with_absent_path, "w1909", "w2004"),
        *both_sides(with_last_words, "w1909", "w2004"),
        *both_sides(with_secret, "k18", "w2016", "w2004"),
        pod("all-ignored", "k134", WITHOUT_EFFECT_OF_CONTAINER, **WITHOUT_EFFECT),
        pod("selector-at-1-22", "w2004", **elsewhere),
        pod("selector-at-1-23", "w20h2", **elsewhere),
        as_root("root-at-1-17", "w1909", "ContainerAdministrator"),
        as_root("root-at-1-22", "w2004", "ContainerAdministrator"),
        as_root("root-small-at-1-24", "w2022", "containeradministrator"),
        as_root("root-small-at-1-30", "w23h2", "containeradministrator"),
        with_image("docker-1903", "w1909", "1903"),
        with_image("containerd-1903", "k134", "1903"),
        with_image("older-on-2025", "w2025", "ltsc2022"),
        with_image("older-on-2022", "w2022", "ltsc2019"),
        with_image("newer-on-2019", "k134", "ltsc2022"),
        pod("os-at-1-23", "w20h2", os={"name": "linux"}),
        pod("os-at-1-24", "w2022", os={"name": "linux"}),
        pod("host-process-1-22", "w2004", **on_host),
        pod("host-process-1-23", "w20h2", **on_host),
        pod("in-memory", "k134", volumes=[{"name": "m", "emptyDir": {"medium": "Memory"}}]),
        pod(
            "ignored",
            "k134",
            {
                "securityContext": {"readOnlyRootFilesystem": True, "runAsUser": 1000},
                "volumeMounts": [{"name": "s", "mountPath": "c:\\s"}],
            },
            volumes=[secret],
            dnsPolicy="ClusterFirstWithHostNet",
        ),
    ]


@pytest.fixture(scope="module")
def stage(profiles: ProfileLab) -> Iterator[ProfileLab]:
    """A pod ``on-NODE`` on every node, and the odd ones."""
    same = {"resources": LIMITS, "securityContext": AS_USER}
    volume = {"name": "p", "projected": {"sources": [{"secret": {"name": "words"}}]}}
    mount = {"volumeMounts": [{"name": "p", "mountPath": "c:\\p"}]}
    words = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "words"}}
    profiles.cluster.apply({**words, "stringData": {"word": "hello"}})
    everywhere = [pod(f"on-{node}", node, {**same, **mount}, volumes=[volume]) for node in NODES]
    profiles.run([*everywhere, *odd_pods()])
    names = [f"pod/on-{node}" for node in NODES]
    profiles.cluster.kubectl(
        "wait", *names, "--for=condition=Ready", "--timeout=120s", timeout_s=130
    )
    yield profiles
    profiles.cluster.kubectl("delete", "pods", "--all", "--wait=false")


def sides(works: str, fails: str) -> Any:
    """One parameter per node: (node, whether the row is open there)."""
    rows = [(node, True) for node in works.split()] + [(node, False) for node in fails.split()]
    return pytest.mark.parametrize(("node", "is_open"), rows, ids=[node for node, _ in rows])


@reproduces(Feature.WINDOWS_BUILD_LABEL)
@sides("w1909 w2025 k134", "w1903 w2016")
def test_the_label_of_the_build(stage: ProfileLab, node: str, is_open: bool):
    labels = stage.nodes[node]["metadata"]["labels"]
    assert ("node.kubernetes.io/windows-build" in labels) is is_open


def test_nodes_say_which_release_kubelet_and_runtime_they_have(stage: ProfileLab):
    builds = {"w2016": 14393, "w1709": 16299, "w1803": 17134, "w2022": 20348, "w2025": 26100}
    for name, (_, version, runtime) in NODES.items():
        info = stage.nodes[name]["status"]["nodeInfo"]
        assert info["kubeletVersion"] == info["kubeProxyVersion"] == f"v{version}.0"
        assert info["containerRuntimeVersion"].startswith(f"{runtime}://")
        if name in builds:
            assert info["kernelVersion"].startswith(f"10.0.{builds[name]}.")


@reproduces(Feature.MEMORY_PRESSURE)
@sides("w2025 k134", "w23h2 w2022")
def test_what_the_kubelet_keeps_from_pods(stage: ProfileLab, node: str, is_open: bool):
    status = stage.nodes[node]["status"]
    has, gives = (quantity.value(status[key]["memory"]) for key in ("capacity", "allocatable"))
    assert has - gives == (500 if is_open else 100) << 20


@reproduces(Feature.RUN_AS_USER_NAME)
@sides("w1909 w2004", "w1903 w1809")
def test_who_a_container_runs_as(stage: ProfileLab, node: str, is_open: bool):
    user = stage.exec(f"on-{node}", "whoami.exe").strip().partition("\\")[2]
    assert user == ("ContainerUser" if is_open else "ContainerAdministrator")
    said = [event for event in stage.events(f"on-{node}") if "runAsUserName" in event]
    assert bool(said) is not is_open


@reproduces(Feature.OBSERVED_GENERATION)
@sides("k134", "k133 w2025")
def test_the_generation_that_the_kubelet_acted_on(stage: ProfileLab, node: str, is_open: bool):
    assert ("observedGeneration" in stage.pod(f"on-{node}")["status"]) is is_open


@reproduces(Feature.STATUS_VOLUME_MOUNTS)
@sides("w2025 k133", "w23h2 w2016")
def test_the_mounts_in_the_status(stage: ProfileLab, node: str, is_open: bool):
    (container,) = stage.pod(f"on-{node}")["status"]["containerStatuses"]
    assert ("volumeMounts" in container) is is_open


@reproduces(Feature.CONTAINER_METRICS)
@sides("w1809 k134", "w1803 w2016")
def test_what_containers_use(stage: ProfileLab, node: str, is_open: bool):
    path = f"/api/v1/nodes/{node}/proxy/stats/summary"
    found = stage.cluster.kubectl("get", "--raw", path, check=False)
    pods = json.loads(found.stdout)["pods"] if found.returncode == 0 else []
    assert bool(pods) is is_open


@reproduces(Feature.CPU_HARD_CAP)
@sides("w2004 k134", "w1909 w1709")
def test_a_limit_of_cpu_is_a_cap_or_a_weight(stage: ProfileLab, node: str, is_open: bool):
    """The job object of a container is a cgroup here: it has a quota, or only a weight."""
    group = ClusterPaths(stage.cluster.name).cgroup()
    roots = [Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/cpu")]
    files = [file for root in roots for file in (root / group / node).glob("*/cpu.*")]
    capped = [file for file in files if file.name == "cpu.cfs_quota_us" and int(_text(file)) > 0]
    capped += [file for file in files if file.name == "cpu.max" and "max" not in _text(file)]
    assert files
    assert bool(capped) is is_open


def _text(file: Path) -> str:
    return file.read_text().strip()


@reproduces(Feature.CONTAINERD_PULL_ERRORS)
def test_each_runtime_refuses_another_release_in_its_own_words(stage: ProfileLab):
    docker = "no matching manifest for windows/amd64 10.0.18363 in the manifest list entries"
    words = {
        "containerd-1903": "no match for platform in manifest: not found",
        "docker-1903": docker,
    }
    for name, said in words.items():
        eventually(lambda n=name, s=said: s in "\n".join(stage.events(n)), 60, name)


@reproduces(Feature.OLDER_IMAGES)
def test_images_of_another_release(stage: ProfileLab):
    stage.cluster.wait_ready("older-on-2025")
    version = stage.exec("older-on-2025", "cmd.exe", "/c", "ver")
    assert "10.0.20348" in version
    for name in ("older-on-2022", "newer-on-2019"):
        eventually(lambda pod=name: any("Failed to pull" in row for row in stage.events(pod)))
        assert stage.pod(name)["status"]["phase"] == "Pending"
    own = stage.exec("on-w23h2", "cmd.exe", "/c", "ver")
    assert "10.0.20348" in own, IMAGES["w23h2"]


@reproduces(Feature.POD_OS_ADMISSION)
def test_a_pod_of_another_system_that_was_put_there_all_the_same(stage: ProfileLab):
    refused = stage.pod_when("os-at-1-24", lambda status: status.get("phase") == "Failed")
    assert refused["status"]["reason"] == "PodOSNotSupported"
    assert refused["status"]["message"] == (
        "Pod Failed to admit pod as the OS field doesn't match node OS"
    )
    stage.cluster.wait_ready("os-at-1-23")


@reproduces(Feature.HOST_PROCESS)
def test_a_kubelet_before_host_processes_says_so(stage: ProfileLab):
    words = "feature 'WindowsHostProcessContainers' is not enabled"

    def said(name: str) -> bool:
        return any("FailedCreatePodSandBox" in row for row in stage.events(name))

    for name in ("host-process-1-22", "host-process-1-23"):
        eventually(lambda pod=name: said(pod), 60, name)
    assert words in "\n".join(stage.events("host-process-1-22"))
    assert words not in "\n".join(stage.events("host-process-1-23"))


@reproduces(Feature.EMPTY_DIR_MEMORY)
def test_volumes_in_memory_are_on_the_disk(stage: ProfileLab):
    stage.cluster.wait_ready("in-memory")
    uid = stage.pod("in-memory")["metadata"]["uid"]
    state = ClusterPaths(stage.cluster.name).state
    [folder] = state.rglob(f"{uid}/volumes/kubernetes.io~empty-dir/m")
    assert folder.stat().st_dev == state.stat().st_dev  # a volume in memory is another device


@reproduces(
    Feature.READ_ONLY_ROOT,
    Feature.RUN_AS_USER,
    Feature.FILE_MODES,
    Feature.CLUSTER_FIRST_WITH_HOST_NET,
)
def test_what_windows_ignores_has_no_effect(stage: ProfileLab):
    stage.cluster.wait_ready("ignored")
    stage.exec("ignored", "cmd.exe", "/c", "echo x > c:\\written.txt")
    assert "x" in stage.exec("ignored", "cmd.exe", "/c", "type c:\\written.txt")
    assert "ContainerAdministrator" in stage.exec("ignored", "whoami.exe")
    assert "hello" in stage.exec("ignored", "cmd.exe", "/c", "type c:\\s\\word")
    ignored = [row for row in stage.events("ignored") if row.startswith("IgnoredOnWindows")]
    assert len(ignored) >= 3


@reproduces(Feature.PROJECTED_VOLUMES)
@sides("w1803 k134", "w1709 w2016")
def test_projected_volumes_before_1803(stage: ProfileLab, node: str, is_open: bool):
    said = [row for row in stage.events(f"on-{node}") if "projected" in row]
    assert bool(said) is not is_open
    text = stage.exec(f"on-{node}", "cmd.exe", "/c", "type c:\\p\\word & exit 0")
    assert ("hello" in text) is is_open


@reproduces(Feature.GUIDE_DEFAULT_LABELS)
@sides("w1809 k134", "w1803 w2016")
def test_the_labels_of_system_and_architecture(stage: ProfileLab, node: str, is_open: bool):
    labels = stage.nodes[node]["metadata"]["labels"]
    assert ("kubernetes.io/os" in labels) is ("kubernetes.io/arch" in labels) is is_open
    assert labels["beta.kubernetes.io/os"] == "windows"


IGNORED = (
    Feature.CAPABILITIES,
    Feature.FS_GROUP,
    Feature.MOUNT_PROPAGATION,
    Feature.PRIVILEGED,
    Feature.PRIVILEGE_ESCALATION,
    Feature.RUN_AS_GROUP,
    Feature.SECURITY_PROFILES,
    Feature.SELINUX_OPTIONS,
    Feature.SUPPLEMENTAL_GROUPS,
    Feature.SYSCTLS,
)


@reproduces(
    Feature.CAPABILITIES,
    Feature.FS_GROUP,
    Feature.HOST_PID,
    Feature.MOUNT_PROPAGATION,
    Feature.PRIVILEGED,
    Feature.PRIVILEGE_ESCALATION,
    Feature.RUN_AS_GROUP,
    Feature.SECURITY_PROFILES,
    Feature.SELINUX_OPTIONS,
    Feature.SUPPLEMENTAL_GROUPS,
    Feature.SYSCTLS,
)
def test_a_pod_runs_without_what_windows_knows_nothing_of(stage: ProfileLab):
    """It runs as if it were not there, and an event names each."""
    stage.cluster.wait_ready("all-ignored")
    rows = stage.exec("all-ignored", "tasklist.exe")
    assert "kubelet" not in rows, "hostPID shows no processes of the node"
    said = "\n".join(stage.events("all-ignored"))
    assert [one for one in IGNORED if gate(one).summary not in said] == []


@reproduces(Feature.CNI_VERSION_0_2_0)
@sides("w20h2 k134", "w1809 w1803")
def test_the_version_of_the_network_configuration(stage: ProfileLab, node: str, is_open: bool):
    folder = ClusterPaths(stage.cluster.name).node_state(node) / "cni" / "net.d"
    (file,) = folder.glob("*.conflist")
    version = json.loads(file.read_text())["cniVersion"]
    assert (version == "1.0.0") is is_open


@reproduces(Feature.SECRETS_BROKEN_1_8)
@sides("w2016 w2004", "k18")
def test_secrets_of_a_kubelet_of_1_8(stage: ProfileLab, node: str, is_open: bool):
    stage.cluster.wait_ready(f"secret-{node}")
    summary = gate(Feature.SECRETS_BROKEN_1_8).summary
    said = any(summary in row for row in stage.events(f"secret-{node}"))
    assert said is not is_open


def memory_limits(stage: ProfileLab, node: str) -> list[int]:
    """The limits of memory of all containers' cgroups on the node."""
    group = ClusterPaths(stage.cluster.name).cgroup()
    roots = [Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")]
    names = ("memory.limit_in_bytes", "memory.max")
    texts = [_text(file) for root in roots for name in names
             for file in (root / group / node).glob(f"*/{name}")]  # fmt: skip
    return [int(text) for text in texts if text != "max"]


@reproduces(Feature.RESOURCE_LIMITS)
@sides("w1709 k134", "w2016 k18")
def test_limits_reach_containers(stage: ProfileLab, node: str, is_open: bool):
    asked = 128 << 20
    most = asked + WINE_START_BYTES  # what Wine takes before the program runs is added
    applied = any(asked <= limit <= most for limit in memory_limits(stage, node))
    assert applied is is_open


@reproduces(Feature.MANAGED_HOSTS_FILE)
@sides("w2004", "w1909")
def test_aliases_of_hosts(stage: ProfileLab, node: str, is_open: bool):
    stage.cluster.wait_ready(f"alias-{node}")
    file = "c:\\windows\\system32\\drivers\\etc\\hosts"
    found = stage.exec(f"alias-{node}", "cmd.exe", "/c", f"type {file} & exit 0")
    assert ("alias.test" in found) is is_open


@reproduces(Feature.SINGLE_FILE_MAPPING)
def test_a_mount_of_a_single_file(stage: ProfileLab):
    stage.cluster.wait_ready("file-w2004")
    assert "hello" in stage.exec("file-w2004", "cmd.exe", "/c", "type c:\\one\\word")
    words = gate(Feature.SINGLE_FILE_MAPPING).message
    eventually(lambda: any(words in row for row in stage.events("file-w1909")), 60, words)


@reproduces(Feature.HOSTPATH_AUTOCREATE)
def test_a_path_of_the_node_that_is_not_there(stage: ProfileLab):
    stage.cluster.wait_ready("absent-w2004")
    eventually(lambda: any("not" in row and "there" in row and row.startswith("Failed")
                           for row in stage.events("absent-w1909")))  # fmt: skip


@reproduces(Feature.TERMINATION_MESSAGE)
@sides("w2004", "w1909")
def test_the_last_words_of_a_container(stage: ProfileLab, node: str, is_open: bool):
    ended = stage.pod_when(f"ended-{node}", lambda status: status.get("phase") == "Failed")
    (container,) = ended["status"]["containerStatuses"]
    message = container["state"]["terminated"].get("message", "")
    assert ("last words" in message) is is_open


@reproduces(Feature.KUBELET_OS_SELECTOR_ADMISSION)
def test_a_selector_for_another_system(stage: ProfileLab):
    reasons = {}
    for name in ("selector-at-1-22", "selector-at-1-23"):
        found = stage.pod_when(name, lambda status: status.get("phase") == "Failed")
        reasons[name] = found["status"]["reason"]
    assert reasons["selector-at-1-22"] == "NodeAffinity"
    assert reasons["selector-at-1-23"] == "PodOSSelectorNodeLabelDoesNotMatch"


@reproduces(Feature.RUN_AS_NON_ROOT, Feature.NON_ROOT_IN_ANY_CASE)
def test_who_counts_as_root(stage: ProfileLab):
    def refused(name: str) -> str:
        rows = stage.pod(name)["status"].get("containerStatuses") or ()
        return "".join((row["state"].get("waiting") or {}).get("message", "") for row in rows)

    told = "will be regarded as root identity and will break non-root policy"
    eventually(lambda: told in refused("root-at-1-22"), 60, "root-at-1-22")
    eventually(lambda: told in refused("root-small-at-1-30"), 60, "root-small-at-1-30")
    stage.cluster.wait_ready("root-small-at-1-24")
    eventually(lambda: "non-root" in refused("root-at-1-17"), 60, "root-at-1-17")
    assert told not in refused("root-at-1-17")


@reproduces(Feature.PORT_FORWARD_1_15)
@sides("w1903 k134", "w1809 w1709")
def test_ports_are_forwarded(stage: ProfileLab, node: str, is_open: bool):
    """A connection is made through kubectl; what it says of it tells whether the node can."""
    port = free_port()
    command = (stage.cluster.kubectl_program, "port-forward", f"pod/on-{node}", f"{port}:80")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=stage.cluster.environment,
    ) as forwarder:  # fmt: skip
        assert forwarder.stdout
        lines = []
        try:
            for line in forwarder.stdout:
                lines.append(line)
                if line.startswith("Forwarding from 127.0.0.1"):
                    with contextlib.suppress(OSError):
                        socket.create_connection(("127.0.0.1", port), timeout=10).close()
                if "rror" in line:
                    break
        finally:
            forwarder.kill()
    said = "".join(lines)
    assert ("unable to do port forwarding: socat not found." in said) is not is_open, said
