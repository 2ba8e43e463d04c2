"""The Cluster file and the flags: what they give, and where their errors point."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest

from muntin.cluster.config import KubeletSettings, Os, Taint
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.seats import Seat, seats
from muntin.cluster.settings import Draft, resolve
from muntin.cluster.settings_file import decode
from muntin.cluster.store_config import StoreConfig, StoreKind
from muntin.kit.errors import Invalid
from muntin.model.elections import ElectionConfig
from muntin.model.windows_releases import parse_kubernetes

HEAD = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\n"


def from_text(text, **flags):
    return resolve(apply(decode(HEAD + text, "c.yaml"), Overrides(**flags)))


def from_flags(**flags):
    return resolve(apply(Draft(), Overrides(**flags)))


def test_defaults():
    config = from_flags()
    assert [(node.name, node.os, str(node.address)) for node in config.nodes] == [
        ("lin01", Os.LINUX, "172.31.0.11"),
        ("win01", Os.WINDOWS, "172.31.0.12"),
        ("win02", Os.WINDOWS, "172.31.0.13"),
    ]
    assert (config.name, config.context, config.kubernetes) == ("muntin", "muntin-muntin", (1, 34))
    assert config.nodes[1].profile is not None
    assert config.nodes[1].profile.build == 17763
    assert config.nodes[0].profile is None
    net = config.networking
    assert (net.pod_subnet, net.service_subnet) == (
        IPv4Network("10.244.0.0/16"),
        IPv4Network("10.96.0.0/12"),
    )
    assert net.dns_service_ip == IPv4Address("10.96.0.10")
    assert config.host_url == "https://127.0.0.1:6443"
    assert net.egress


def test_a_whole_file():
    config = from_text(
        """
name: mixed
kubernetesVersion: 1.30
windows: 2022
networking: {podSubnet: 10.1.0.0/16, apiServerPort: 7443, egress: false, dnsDomain: k8s.test}
nodes:
- os: windows
  name: web
  windows: "2019"
  labels: {tier: front, example.com/x: "1"}
  taints: [{key: os, value: windows, effect: NoSchedule}]
- os: linux
  kubelet: {seccompDefault: true, podPidsLimit: -1}
- os: windows
  version: 1.29
"""
    )
    web, linux, second = config.nodes
    assert (web.name, linux.name, second.name) == ("web", "lin01", "win01")
    assert linux.kubelet == KubeletSettings(seccomp_default=True, pod_pids_limit=-1)
    assert web.kubelet == KubeletSettings(seccomp_default=False, pod_pids_limit=4096)
    assert web.labels == {"tier": "front", "example.com/x": "1"}
    assert web.taints == (Taint(key="os", value="windows", effect="NoSchedule"),)
    assert web.profile is not None
    assert second.profile is not None
    assert (web.profile.build, second.profile.build) == (17763, 20348)
    assert (config.kubernetes, second.kubernetes) == ((1, 30), (1, 29))
    assert config.networking.api_server_port == 7443
    assert not config.networking.egress


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "nodes:\n- os: beos\n",
            "c.yaml:4:7: nodes[0].os: 'beos' is unknown; use linux or windows",
        ),
        ("nodez: []\n", "c.yaml:3:1: nodez: unknown field; did you mean nodes?"),
        ("name: a\nname: b\n", "c.yaml:4:1: name: appears twice; keep one of them"),
        ("name: Upper\n", "c.yaml:3:7: name: 'Upper' must be at most 32 lower-case letters"),
        (
            "networking: 7\n",
            "c.yaml:3:13: networking: must be a mapping of keys to values, not `7`",
        ),
        (
            "networking:\n  apiServerPort: many\n",
            "c.yaml:4:18: networking.apiServerPort: must be a whole number, not `many`",
        ),
        (
            "networking:\n  apiServerPort: 70000\n",
            "c.yaml:4:18: networking.apiServerPort: 70000 must be 1 to 65535",
        ),
        (
            "networking: {podSubnet: 10.96.0.0/16}\n",
            "networking.serviceSubnet: 10.96.0.0/12 overlaps networking.podSubnet 10.96.0.0/16",
        ),
        (
            "networking:\n  podSubnet: 10.244.0.1/16\n",
            "c.yaml:4:14: networking.podSubnet: '10.244.0.1/16' is not an IPv4 subnet; "
            "did you mean 10.244.0.0/16?",
        ),
        ("networking: {egress: 1}\n", "networking.egress: must be true or false, not `1`"),
        (
            "nodes: [{os: linux, kubelet: {podPidsLimit: 0}}]\n",
            "nodes[0].kubelet.podPidsLimit: 0 must be 1 or more, or -1 for no limit",
        ),
        (
            "nodes: [{os: windows, kubelet: {podPidsLimit: 9}}]\n",
            "nodes[0].kubelet.podPidsLimit: is for Linux nodes only; remove it",
        ),
        ("nodes:\n- os: linux\n  windows: 2019\n", "c.yaml:5:12: nodes[0].windows: is for Windows"),
        (
            "nodes:\n- os: windows\n  windows: 95\n",
            "c.yaml:5:12: nodes[0].windows: unknown Windows",
        ),
        (
            "nodes:\n- os: windows\n  windows: 1803\n  runtime: containerd\n",
            "nodes[0].runtime: Windows Server Datacenter 1803 has no HCN, which containerd needs; "
            "use docker, or Windows Server 2019 or newer",
        ),
        ("nodes:\n- name: x\n", "c.yaml:4:3: nodes[0]: os is missing; add `os: windows`"),
        (
            "nodes:\n- os: linux\n  name: tor\n",
            "c.yaml:5:9: nodes[0].name: tor is a place of its own",
        ),
        (
            "nodes:\n- os: linux\n  name: watchdog\n",
            "c.yaml:5:9: nodes[0].name: watchdog is a process of its own",
        ),
        (
            "nodes:\n- {os: linux, name: a}\n- {os: linux, name: a}\n",
            "c.yaml:5:21: nodes[1].name: a is taken by another node",
        ),
        (
            "nodes:\n- os: linux\n  taints: [{key: a, effect: Never}]\n",
            "nodes[0].taints[0].effect: 'Never' is unknown; use one of NoSchedule",
        ),
        (
            "nodes:\n- os: linux\n  labels: {'-x': 1}\n",
            "nodes[0].labels.-x: label key '-x' must be like",
        ),
        ("nodes:\n- os: linux\n  version: 1.35\n", "1.35 is newer than the API server's 1.34"),
        ("kubernetesVersion: 1.4\n", "kubernetesVersion: 1.4 is not served; use one of 1.20"),
        (
            "nodeVersion: 1.30\n",
            "c.yaml:3:14: nodeVersion: 1.30 is 4 minor versions older than the API server's 1.34, "
            "and kubelet and kube-proxy may be 3; use 1.31 or newer, or --allow-skew",
        ),
        (
            "kubernetesVersion: 1.27\nnodes:\n- {os: windows, version: 1.24}\n",
            "may be 2; use 1.25 or newer, or --allow-skew (allowSkew: true in the file)",
        ),
        ("allowSkew: true\nnodeVersion: 1.4\n", "nodeVersion: 1.4 is too old; use 1.5 or newer"),
        (
            "networking: {nodeSubnet: 172.31.0.0/28}\nnodes: [" + "{os: linux}," * 5 + "]\n",
            "networking.nodeSubnet: 172.31.0.0/28 has room for 4 nodes, not 5",
        ),
        (
            "networking: {podSubnet: 10.244.0.0/23}\n",
            "networking.podSubnet: 10.244.0.0/23 has room for 2 nodes (a /24 each), not 3",
        ),
        ("a: [\n", "not YAML"),
        ("controlPlanes: 0\n", "controlPlanes: 0 must be 1 to 8"),
        ("leaderElection: {retryPeriod: 10s}\n", "leaseDuration must be longer than renewDeadline"),
        ("leaderElection: {retryPeriod: soon}\n", "retryPeriod: 'soon' is no duration"),
        (
            "etcd: {local: {}}\ncontrolPlanes: 2\nleaderElection: {leaderElect: false}\n",
            "leaderElection: leaderElect must be true with several control planes",
        ),
        ("etcd: {}\n", "etcd: must hold either local: {} or external: {endpoints: [...]}"),
        ("etcd: {external: {endpoints: []}}\n", "endpoints is empty"),
        ("etcd: {external: {endpoints: [a]}}\n", "etcd: 'a' is unknown; use sqlite, etcd or"),
    ],
)
def test_errors_name_file_line_and_field(text, message):
    with pytest.raises(Invalid) as caught:
        from_text(text)
    assert message in caught.value.message
    assert caught.value.message.startswith(("c.yaml:", "networking."))
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: Cluster\n", "c.yaml:1:1: apiVersion is missing; add `apiVersion: muntin.dev"),
        ("apiVersion: v1\nkind: Cluster\n", "c.yaml:1:13: apiVersion: 'v1' is not supported"),
        ("[]\n", "c.yaml:1:1: must be a mapping"),
        ("", "c.yaml:1:1: must hold one YAML document, it holds 0"),
        (HEAD + "---\n" + HEAD, "it holds 2"),
    ],
)
def test_the_head_of_the_file_is_checked(text, message):
    with pytest.raises(Invalid) as caught:
        decode(text, "c.yaml")
    assert message in caught.value.message


def test_flags_win_over_the_file():
    config = from_text(
        "name: a\nnodes:\n- {os: linux, name: x, labels: {k: v}}\n- {os: windows}\n",
        name="b",
        linux_nodes="2",
        labels=("win01:tier=front",),
        taints=("x:os=linux:NoExecute",),
        pod_subnet="10.0.0.0/16",
    )
    assert config.name == "b"
    assert [node.name for node in config.nodes] == ["x", "lin01", "win01"]
    assert config.nodes[0].labels == {"k": "v"}
    assert config.nodes[0].taints == (Taint(key="os", value="linux", effect="NoExecute"),)
    assert config.nodes[2].labels == {"tier": "front"}
    assert str(config.networking.pod_subnet) == "10.0.0.0/16"


def test_the_store():
    assert from_flags().store == StoreConfig()
    assert from_flags(store="etcd").store.kind is StoreKind.ETCD
    assert from_text("etcd: {local: {}}\n").store.kind is StoreKind.ETCD
    files = "caFile: pki/ca.crt, certFile: /a.crt, keyFile: /a.key"
    text = f"etcd: {{external: {{endpoints: ['https://a:2379', 'https://b'], {files}}}}}\n"
    found = from_text(text).store
    assert (found.kind, found.endpoints) == (StoreKind.EXTERNAL, ("https://a:2379", "https://b"))
    assert (found.ca_file, found.cert_file) == (str(Path.cwd() / "pki/ca.crt"), "/a.crt")
    assert from_text(text, store="sqlite").store == StoreConfig()
    flags = {"store_ca": Path("/ca"), "store_cert": Path("/c"), "store_key": Path("/k")}
    found = from_flags(store="https://etcd.example.com", **flags).store
    assert (found.ca_file, found.cert_file, found.key_file) == ("/ca", "/c", "/k")


def test_several_control_planes():
    one = from_flags()
    assert one.election is None
    assert seats(one) == [Seat("control-plane", IPv4Address("172.31.0.10"))]
    two = from_text("etcd: {local: {}}\ncontrolPlanes: 2\nleaderElection: {leaseDuration: 20s}\n")
    assert two.election == ElectionConfig(lease_duration_s=20.0)
    assert seats(two) == [
        Seat("control-plane", IPv4Address("172.31.0.2")),
        Seat("control-plane-2", IPv4Address("172.31.0.3")),
    ]
    most = seats(from_flags(store="etcd", control_planes=8))
    assert max(seat.address for seat in most) < most[0].address + 8  # below master's own
    asked = from_text("leaderElection: {leaderElect: true}\n")
    assert asked.election == ElectionConfig()


def test_nodes_by_name_and_by_number():
    config = from_flags(linux_nodes="0", windows_nodes="web01,web02")
    assert [node.name for node in config.nodes] == ["web01", "web02"]


def test_a_profile_sets_versions_and_runtime():
    config = from_flags(profile="v1.20", windows_nodes="1")
    profile = config.nodes[-1].profile
    assert profile is not None
    assert (config.kubernetes, profile.kubernetes, profile.runtime) == ((1, 20), (1, 20), "docker")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"service_subnet": "10.244.1.0/24"}, "--service-subnet: 10.244.1.0/24 overlaps"),
        ({"windows": "95"}, "--windows-version: unknown Windows version '95'"),
        ({"labels": ("nope:a=b",)}, "--label nope:a=b: no node is called 'nope'; there are lin01"),
        ({"labels": ("lin01",)}, "--label lin01: must be NODE:KEY=VALUE"),
        ({"taints": ("lin01:a=b",)}, "--taint lin01:a=b: taint 'a=b' must be KEY=VALUE:EFFECT"),
        ({"profile": "v9"}, "--profile: 'v9' is unknown"),
        ({"name": "../etc"}, "--name: '../etc' must be at most 32"),
        ({"linux_nodes": "A"}, "--linux-nodes: 'A' must be"),
        ({"control_planes": 2}, "--control-planes: 2 need a store for several; add --store etcd"),
        ({"control_planes": 9, "store": "etcd"}, "--control-planes: 9 must be 1 to 8"),
        ({"store": "redis"}, "--store: 'redis' is unknown; use sqlite, etcd or https://HOST:2379"),
        ({"store": "https://"}, "--store: 'https://' is no URL of an etcd; write it like https://"),
        ({"store": "https://a:x"}, "--store: 'https://a:x' is no URL of an etcd"),
        ({"store": "http://a,https://b"}, "--store: http and https are mixed"),
        ({"store": "etcd", "store_ca": Path("ca")}, "--store: 'etcd' takes no certificates"),
        ({"store": "https://a", "store_key": Path("k")}, "certificate and its key go together"),
        ({"runtime": "rkt"}, "--runtime: 'rkt' is unknown; use one of containerd, docker"),
    ],
)
def test_errors_name_the_flag(flags, message):
    with pytest.raises(Invalid) as caught:
        from_flags(**flags)
    assert message in caught.value.message


# API, node: may they be together? Upstream: a kubelet is never newer, and at most two minor
# versions older, three from an API of 1.28 on.
SKEW = [
    ("1.34", "1.34", True),
    ("1.34", "1.31", True),
    ("1.34", "1.30", False),
    ("1.28", "1.25", True),
    ("1.28", "1.24", False),
    ("1.27", "1.25", True),
    ("1.27", "1.24", False),
    ("1.20", "1.18", True),
    ("1.20", "1.17", False),
    ("1.34", "1.35", False),
    # Versions that another API stands in for go with their own neighbours.
    ("1.12", "1.10", True),
    ("1.12", "1.9", False),
    ("1.12", "1.13", False),
]


@pytest.mark.parametrize(("api", "node", "together"), SKEW)
def test_which_nodes_go_with_which_api(api, node, together):
    flags = {"kubernetes_version": api, "node_version": node, "runtime": "docker"}
    if together:
        assert {row.kubernetes for row in from_flags(**flags).nodes} == {parse_kubernetes(node)}
    else:
        with pytest.raises(Invalid, match=r"^--node-version: .*--allow-skew"):
            from_flags(**flags)
    allowed = from_flags(**flags, allow_skew=True)
    assert {row.kubernetes for row in allowed.nodes} == {parse_kubernetes(node)}


# What is asked for, which API stands in.
STAND_INS = [
    ("1.5", (1, 20)),
    ("1.19", (1, 20)),
    ("1.22", (1, 20)),
    ("1.23", (1, 25)),
    ("1.24", (1, 25)),
]


@pytest.mark.parametrize(("asked", "served"), STAND_INS)
def test_an_api_that_is_not_served_is_stood_in_for(asked, served):
    config = from_flags(kubernetes_version=asked)
    assert config.kubernetes == served
    assert {row.kubernetes for row in config.nodes} == {parse_kubernetes(asked)}
    note = config.notes[0]
    assert f"An API server of {asked} does not exist here" in note
    assert not from_flags(kubernetes_version="1.20").notes


def test_what_nobody_supports_together_is_said():
    flags = {"windows": "1803", "kubernetes_version": "1.12", "runtime": "docker"}
    assert from_flags(**flags).notes[1:] == (
        "win01, win02: The network plugin win-bridge is for Kubernetes 1.14 and newer.",
        "win01, win02: The network plugin win-bridge is for Windows build 17763 and newer.",
    )
    late = from_text("nodes:\n- {os: windows, windows: 2004}\n- {os: windows}\n")
    assert late.notes == ("win01: Kubernetes 1.34 does not list Windows 19041 for its nodes.",)


# Preset: API, nodes, build, runtime, pods, Services.
PRESET_WORLDS = [
    ("v1.5", (1, 20), (1, 5), 14393, "docker", "192.168.0.0/16", "10.96.0.0/12"),
    ("v1.8", (1, 20), (1, 8), 14393, "docker", "192.168.0.0/16", "10.96.0.0/12"),
    ("v1.9", (1, 20), (1, 9), 16299, "docker", "192.168.0.0/16", "11.0.0.0/16"),
    ("v1.20", (1, 20), (1, 20), 17763, "docker", "10.244.0.0/16", "10.96.0.0/12"),
    ("v1.25", (1, 25), (1, 25), 20348, "containerd", "10.244.0.0/16", "10.96.0.0/12"),
    ("v1.37", (1, 37), (1, 37), 20348, "containerd", "10.244.0.0/16", "10.96.0.0/12"),
    ("1.12/1803", (1, 20), (1, 12), 17134, "docker", "10.244.0.0/16", "10.96.0.0/12"),
    (
        "1.34/2025/containerd",
        (1, 34),
        (1, 34),
        26100,
        "containerd",
        "10.244.0.0/16",
        "10.96.0.0/12",
    ),
]


@pytest.mark.parametrize(
    ("name", "api", "node", "build", "runtime", "pods", "services"), PRESET_WORLDS
)
def test_presets(name, api, node, build, runtime, pods, services):
    config = from_flags(profile=name)
    profile = config.nodes[-1].profile
    assert profile is not None
    assert (config.kubernetes, profile.kubernetes) == (api, node)
    assert (profile.build, profile.runtime) == (build, runtime)
    net = config.networking
    assert (str(net.pod_subnet), str(net.service_subnet)) == (pods, services)
