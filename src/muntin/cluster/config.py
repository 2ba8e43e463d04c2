"""What a cluster is: the frozen values that everything in this folder is built from.

``settings.py`` makes them from a file and flags; nothing else does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from muntin.apiserver.access_config import AccessConfig
from muntin.apiserver.admission_config import AdmissionConfig
from muntin.cluster.store_config import StoreConfig
from muntin.controllers.rules.horizontal_settings import Settings as AutoscalingSettings
from muntin.kubelet.image_policy import OFF, ImageGcPolicy
from muntin.model.elections import ElectionConfig
from muntin.model.gates import Profile, Version

API_VERSION = "muntin.dev/v1alpha1"
KIND = "Cluster"
# Places of the fabric that are not nodes; a node may not take their names.
PLACES = ("switch", "tor", "outside", "master")
# Offsets in the node subnet: the router, the control plane, the first node.
TOR_OFFSET, MASTER_OFFSET, FIRST_NODE_OFFSET = 1, 10, 11
API_PORT = 6443
POD_PREFIX_LENGTH = 24
# Of the addresses for documentation (RFC 5737): they are nobody's.
LOAD_BALANCER_SUBNET = IPv4Network("203.0.113.0/24")


class Os(StrEnum):
    """An operating system, spelt as the label kubernetes.io/os spells it."""

    LINUX = "linux"
    WINDOWS = "windows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """One taint a node registers with; ``effect`` as in the API."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletSettings:
    """Settings of a node's kubelet, as in a KubeletConfiguration. All but ``image_gc`` apply to
    Linux nodes only.

    Upstream does not limit processes by default. Here all nodes share one machine, so a fork bomb
    in one pod would affect all nodes.
    """

    seccomp_default: bool = False
    pod_pids_limit: int = 4096
    image_gc: ImageGcPolicy = OFF


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """One node. ``kubernetes`` is its kubelet's and proxy's; ``profile`` is None on Linux."""

    name: str
    os: Os
    address: IPv4Address
    kubernetes: Version
    profile: Profile | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Networking:
    """Addresses of the cluster. ``api_server_port`` is the one on 127.0.0.1 of the host;
    ``load_balancer_subnet`` is for Services of type LoadBalancer. Of what ``egress`` lets pods
    reach, ``egress_deny`` is refused; ``egress_allow`` wins over it and over what is refused by
    default."""

    pod_subnet: IPv4Network
    service_subnet: IPv4Network
    node_subnet: IPv4Network
    outside_subnet: IPv4Network
    dns_domain: str
    api_server_port: int
    egress: bool
    egress_allow: tuple[IPv4Network, ...] = ()
    egress_deny: tuple[IPv4Network, ...] = ()
    load_balancer_subnet: IPv4Network = LOAD_BALANCER_SUBNET

    @property
    def tor_address(self) -> IPv4Address:
        """The top-of-rack router, default gateway of the nodes."""
        return self.node_subnet[TOR_OFFSET]

    @property
    def master_address(self) -> IPv4Address:
        """Where the API server listens for nodes and pods."""
        return self.node_subnet[MASTER_OFFSET]

    @property
    def outside_gateway(self) -> IPv4Address:
        """The router's address towards the outside."""
        return self.outside_subnet[1]

    @property
    def outside_address(self) -> IPv4Address:
        """The machine that stands for the world."""
        return self.outside_subnet[10]

    @property
    def kubernetes_service_ip(self) -> IPv4Address:
        """ClusterIP of the ``kubernetes`` Service: the first of the range."""
        return self.service_subnet[1]

    @property
    def dns_service_ip(self) -> IPv4Address:
        """ClusterIP of ``kube-dns``: the tenth of the range, as kubeadm has it."""
        return self.service_subnet[10]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConfig:
    """A whole cluster. ``access`` is what the Cluster file says of the API server's users,
    ``admission`` what of its built-in admission plugins; ``runtime_config`` turns versions of the
    API on and off. ``registry_config_dir`` is a hosts.toml tree for the containerds of Linux nodes,
    empty for none. ``autoscaling``: how HorizontalPodAutoscalers are run; ``scheduler`` is a
    KubeSchedulerConfiguration, empty for the defaults. ``simulated_nodes``: how many there are
    beside ``nodes``. ``lint``: whether users are warned of what will not work on Windows nodes.
    ``control_planes`` is how many processes serve the API over one ``store``; ``election``: how one
    of them is chosen to run the controllers, None for no choice. ``notes`` are what its users are
    to know of it."""

    name: str
    kubernetes: Version
    networking: Networking
    nodes: tuple[NodeConfig, ...]
    access: AccessConfig = field(default_factory=AccessConfig)
    admission: AdmissionConfig = field(default_factory=AdmissionConfig)
    runtime_config: Mapping[str, bool] = field(default_factory=dict)
    registry_config_dir: str = ""
    store: StoreConfig = field(default_factory=StoreConfig)
    control_planes: int = 1
    election: ElectionConfig | None = None
    autoscaling: AutoscalingSettings = field(default_factory=AutoscalingSettings)
    scheduler: Mapping[str, Any] = field(default_factory=dict)
    simulated_nodes: int = 0
    lint: bool = True
    notes: tuple[str, ...] = ()

    @property
    def context(self) -> str:
        """Name of the kubeconfig's context, cluster and user."""
        return f"muntin-{self.name}"

    @property
    def api_server_url(self) -> str:
        """The API server as the nodes reach it."""
        return f"https://{self.networking.master_address}:{API_PORT}"

    @property
    def host_url(self) -> str:
        """The API server as the user's own shell reaches it."""
        return f"https://127.0.0.1:{self.networking.api_server_port}"
