"""Cluster files of acs-engine, kind and k3d: what is taken, and what notes say of the rest."""

from __future__ import annotations

import json

import pytest

from muntin.cluster.config import Os
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import resolve
from muntin.cluster.settings_file import decode
from muntin.kit.errors import Invalid

# A definition as the acs-engine walk-throughs show it.
ACS = {
    "apiVersion": "vlabs",
    "properties": {
        "orchestratorProfile": {
            "orchestratorType": "Kubernetes",
            "orchestratorVersion": "1.11.1",
            "kubernetesConfig": {
                "networkPolicy": "none",
                "enableAggregatedAPIs": True,
                "enableRbac": True,
                "clusterSubnet": "10.240.0.0/16",
            },
        },
        "masterProfile": {"count": 3, "dnsPrefix": "windows-demo", "vmSize": "Standard_D2_v3"},
        "agentPoolProfiles": [
            {"name": "linuxpool", "count": 1, "vmSize": "Standard_D2_v3"},
            {
                "name": "windowspool1",
                "count": 2,
                "osType": "Windows",
                "availabilityProfile": "AvailabilitySet",
                "customNodeLabels": {"tier": "front"},
            },
        ],
        "windowsProfile": {"adminUsername": "someone", "adminPassword": "secret words"},
        "linuxProfile": {"adminUsername": "azure", "ssh": {"publicKeys": [{"keyData": "k"}]}},
        "servicePrincipalProfile": {"clientId": "", "secret": ""},
    },
}
KIND = """\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
name: demo
networking:
  podSubnet: 10.1.0.0/16
  apiServerPort: 6450
  disableDefaultCNI: true
runtimeConfig: {"api/beta": "false"}
nodes:
- role: control-plane
  image: kindest/node:v1.31.2@sha256:0123
  extraPortMappings: [{containerPort: 80, hostPort: 8080}]
- role: worker
  labels: {tier: back}
- role: worker
  labels: {kubernetes.io/os: windows}
"""
K3D = """\
apiVersion: k3d.io/v1alpha5
kind: Simple
metadata: {name: shop}
servers: 1
agents: 2
image: rancher/k3s:v1.30.4-k3s1
kubeAPI: {hostPort: "6445", host: shop.test}
ports: [{port: "8080:80", nodeFilters: [loadbalancer]}]
options:
  k3d: {wait: true}
  k3s:
    extraArgs:
    - {arg: --service-cidr=10.50.0.0/16, nodeFilters: ["server:*"]}
    - {arg: --disable=traefik}
"""


def read(text: str, **flags):
    return resolve(apply(decode(text, "given"), Overrides(**flags)))


@pytest.mark.parametrize("indent", [2, "\t"])
def test_acs_engine(indent):
    config = read(json.dumps(ACS, indent=indent))
    assert (config.name, config.kubernetes, str(config.networking.pod_subnet)) == (
        "windows-demo", (1, 20), "10.240.0.0/16",
    )  # fmt: skip
    rows = [(node.name, node.os, node.kubernetes, dict(node.labels)) for node in config.nodes]
    assert rows == [
        ("linuxpool-0", Os.LINUX, (1, 11), {}),
        ("windowspool1-0", Os.WINDOWS, (1, 11), {"tier": "front"}),
        ("windowspool1-1", Os.WINDOWS, (1, 11), {"tier": "front"}),
    ]
    profile = config.nodes[1].profile
    assert profile is not None
    # The newest release that Kubernetes 1.11 supports, on the only runtime of its time.
    assert (profile.build, profile.runtime) == (17134, "docker")
    notes = "\n".join(config.notes)
    assert "The file is acs-engine's and was converted." in notes
    assert "properties.masterProfile.count: one control plane, not 3" in notes
    for field in ("windowsProfile.adminPassword", "linuxProfile", "agentPoolProfiles[0].vmSize"):
        assert f"properties.{field}" in notes
    assert "secret words" not in notes
    assert "enableRbac" not in notes
    assert "An API server of 1.11 does not exist here" in notes


@pytest.mark.parametrize(
    ("sku", "build"),
    [
        ("Datacenter-Core-1709-with-Containers-smalldisk", 16299),
        ("Datacenter-Core-1809-with-Containers-smalldisk", 17763),
        ("2019-Datacenter-Core-with-Containers", 17763),
    ],
)
def test_the_image_of_acs_engine_says_the_release(sku, build):
    document = {**ACS, "properties": {**ACS["properties"], "windowsProfile": {"windowsSku": sku}}}
    profile = read(json.dumps(document)).nodes[1].profile
    assert profile is not None
    assert profile.build == build


def test_kind():
    config = read(KIND)
    assert (config.name, config.kubernetes) == ("demo", (1, 31))
    assert [(node.name, node.os, dict(node.labels)) for node in config.nodes] == [
        ("demo-worker", Os.LINUX, {"tier": "back"}),
        ("demo-worker2", Os.WINDOWS, {}),
    ]
    assert str(config.networking.pod_subnet) == "10.1.0.0/16"
    assert config.networking.api_server_port == 6450
    assert config.runtime_config["api/beta"] is False
    (head, without) = config.notes
    assert head == "The file is kind's and was converted."
    assert "networking.disableDefaultCNI" in without
    assert "nodes[0].extraPortMappings" in without


def test_kind_without_windows_says_how_to_add_some():
    text = "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: control-plane\n"
    config = read(text, windows_nodes="2")
    assert [node.name for node in config.nodes] == ["lin01", "win01", "win02"]
    assert any("has no Windows node; add some with --windows-nodes" in n for n in config.notes)


def test_k3d():
    config = read(K3D, windows_nodes="1")
    assert (config.name, config.kubernetes) == ("shop", (1, 30))
    assert [node.name for node in config.nodes] == [
        "shop-server-0", "shop-agent-0", "shop-agent-1", "win01",
    ]  # fmt: skip
    assert str(config.networking.service_subnet) == "10.50.0.0/16"
    assert config.networking.api_server_port == 6445
    notes = "\n".join(config.notes)
    assert "--disable=traefik has no counterpart" in notes
    assert "ports" in notes
    assert "kubeAPI.host" in notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"apiVersion": "vlabs", "properties": {"orchestratorProfile": '
            '{"orchestratorType": "DCOS"}}}',
            "given:1:84: properties.orchestratorProfile.orchestratorType: 'DCOS' cannot be run",
        ),
        ('{"apiVersion": "vlabs"}', "given:1:1: properties is missing"),
        (
            KIND.replace("role: worker", "role: boss"),
            "nodes[1].role: 'boss' is unknown; use control-plane or worker",
        ),
        (
            KIND.replace("10.1.0.0/16", "10.1.0.0/33"),
            "given:5:14: networking.podSubnet: '10.1.0.0/33' is not an IPv4 subnet",
        ),
        ("apiVersion: other/v1\nkind: X\n", "given:1:13: apiVersion: 'other/v1' is not supported"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, message):
    with pytest.raises(Invalid) as caught:
        read(text)
    assert message in caught.value.message
