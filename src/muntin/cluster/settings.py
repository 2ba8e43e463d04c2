"""A cluster's settings as the user wrote them, and how they become a :class:`ClusterConfig`.

A :class:`Draft` holds plain values from a file (``settings_file``) and flags (``overrides``);
``resolve`` fills in the defaults and checks everything that needs more than one value. Errors name
the place the value came from: file, line and column, or the flag.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Network
from typing import Any, NoReturn, TypeVar

from muntin.apiserver.access_config import AccessConfig
from muntin.apiserver.admission_config import AdmissionConfig
from muntin.cluster import store_config, versions
from muntin.cluster.config import (
    API_PORT,
    FIRST_NODE_OFFSET,
    PLACES,
    POD_PREFIX_LENGTH,
    ClusterConfig,
    KubeletSettings,
    Networking,
    NodeConfig,
    Os,
    Taint,
)
from muntin.cluster.yaml_fields import Place
from muntin.controllers.rules.horizontal_settings import Settings as AutoscalingSettings
from muntin.kit.errors import Invalid
from muntin.model import schema
from muntin.model import windows_releases as releases
from muntin.model.elections import ElectionConfig
from muntin.model.gates import Version
from muntin.model.resources import serving

T = TypeVar("T")
MAX_SIMULATED_NODES = 10_000
DEFAULT_NAME = "muntin"
DEFAULT_NODES = {Os.LINUX: 1, Os.WINDOWS: 2}
NAME_PREFIX = {Os.LINUX: "lin", Os.WINDOWS: "win"}
# Removed from Kubernetes long ago and still found in manifests: served with a warning that says so.
DOCUMENTED = ("extensions/v1beta1", "apps/v1beta1", "apps/v1beta2")
TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
# DNS-1123 label; shorter than the API's 63 so that it fits into names derived from it.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
# Components, which have their logs and records beside those of the nodes.
_PROCESS = re.compile(
    r"supervisor|watchdog|egress|etcd|simulated-nodes|(control-plane|containerd)(-.*)?"
)
_LABEL_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


@dataclass(slots=True)
class NodeDraft:
    """One node as written; empty strings mean "the default"."""

    os: str
    name: str = ""
    version: str = ""
    windows: str = ""
    runtime: str = ""
    network_plugin: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    taints: list[Taint] = field(default_factory=list)
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)


@dataclass(slots=True)
class Draft:
    """Everything as written. ``origins`` maps a field's path to where its value came from;
    ``notes`` are for whoever wrote it."""

    name: str = DEFAULT_NAME
    version: str = ""
    node_version: str = ""
    allow_skew: bool = False
    windows: str = ""
    runtime: str = ""
    pod_subnet: str = "10.244.0.0/16"
    service_subnet: str = "10.96.0.0/12"
    node_subnet: str = "172.31.0.0/24"
    outside_subnet: str = "192.0.2.0/24"
    load_balancer_subnet: str = "203.0.113.0/24"
    dns_domain: str = "cluster.local"
    api_server_port: int = API_PORT
    egress: bool = True
    egress_allow: list[str] = field(default_factory=list)
    egress_deny: list[str] = field(default_factory=list)
    nodes: list[NodeDraft] | None = None
    access: AccessConfig = field(default_factory=AccessConfig)
    admission: AdmissionConfig = field(default_factory=AdmissionConfig)
    runtime_config: dict[str, bool] = field(default_factory=dict)
    registry_config_dir: str = ""
    store: str = store_config.SQLITE
    store_ca: str = ""
    store_cert: str = ""
    store_key: str = ""
    control_planes: int = 1
    leader_elect: bool | None = None
    election: ElectionConfig = field(default_factory=ElectionConfig)
    autoscaling: AutoscalingSettings = field(default_factory=AutoscalingSettings)
    scheduler: dict[str, Any] = field(default_factory=dict)
    simulated_nodes: int = 0
    lint: bool = True
    notes: tuple[str, ...] = ()
    origins: dict[str, Place | str] = field(default_factory=dict)

    def wrong(self, path: str, message: str) -> NoReturn:
        """Raise Invalid for the value at ``path``, saying where it was written."""
        origin = self.origins.get(path)
        if isinstance(origin, Place):
            raise origin.wrong(message)
        raise Invalid(f"{origin or path}: {message}")

    def checked(self, path: str, make: Callable[[], T]) -> T:
        """``make()``, with its errors put at ``path``."""
        try:
            return make()
        except Invalid as err:
            self.wrong(path, err.message)
        except ValueError as err:
            self.wrong(path, str(err))


def default_nodes(os: Os, count: int, taken: Iterable[str] = ()) -> list[NodeDraft]:
    """``count`` nodes named lin01, lin02, ... (win01, ...), leaving out the names in ``taken``."""
    used, nodes, number = set(taken), list[NodeDraft](), 0
    while len(nodes) < count:
        number += 1
        name = f"{NAME_PREFIX[os]}{number:02}"
        if name not in used:
            nodes.append(NodeDraft(os=os, name=name))
    return nodes


def resolve(draft: Draft) -> ClusterConfig:
    """The cluster that ``draft`` describes, checked as a whole.

    Raises:
        Invalid: a value is wrong; the message names its place and what would be right.
    """
    draft.checked("name", partial(check_name, draft.name))
    networking = _networking(draft)
    asked = versions.asked(draft)
    version = releases.nearest_api(asked)
    nodes = draft.nodes
    if nodes is None:
        nodes = [row for os, count in DEFAULT_NODES.items() for row in default_nodes(os, count)]
    made = _nodes(draft, nodes, networking, asked)
    return ClusterConfig(
        name=draft.name,
        kubernetes=version,
        networking=networking,
        nodes=made,
        notes=(*draft.notes, *versions.notes(asked), *versions.unsupported(made)),
        access=draft.access,
        admission=draft.admission,
        runtime_config=_runtime_config(draft, version),
        registry_config_dir=draft.registry_config_dir,
        store=_store(draft),
        control_planes=_control_planes(draft),
        election=_election(draft),
        autoscaling=draft.autoscaling,
        scheduler=draft.scheduler,
        simulated_nodes=_simulated_nodes(draft),
        lint=draft.lint,
    )


def _simulated_nodes(draft: Draft) -> int:
    count = draft.simulated_nodes
    if not 0 <= count <= MAX_SIMULATED_NODES:
        draft.wrong("simulatedNodes", f"{count} must be 0 to {MAX_SIMULATED_NODES}")
    return count


def _runtime_config(draft: Draft, version: Version) -> dict[str, bool]:
    """What is asked for, beside the versions that old documents use."""
    asked = {**dict.fromkeys(DOCUMENTED, True), **draft.runtime_config}
    if draft.runtime_config:
        # The table of types: 5 ms that clusters without the section do without.
        types = schema.load(".".join(map(str, version)))
        draft.checked("apiServer.runtimeConfig", partial(serving.check, asked, types))
    return asked


def _store(draft: Draft) -> store_config.StoreConfig:
    files = {"ca": draft.store_ca, "cert": draft.store_cert, "key": draft.store_key}
    return draft.checked("store", partial(store_config.parse, draft.store, **files))


def _control_planes(draft: Draft) -> int:
    count = draft.control_planes
    if not 1 <= count <= store_config.MOST_CONTROL_PLANES:
        draft.wrong("controlPlanes", f"{count} must be 1 to {store_config.MOST_CONTROL_PLANES}")
    if count > 1 and draft.store == store_config.SQLITE:
        draft.wrong("controlPlanes", f"{count} need a store for several; add --store etcd")
    return count


def _election(draft: Draft) -> ElectionConfig | None:
    several = draft.control_planes > 1
    if several and draft.leader_elect is False:
        draft.wrong("leaderElection", "leaderElect must be true with several control planes")
    wanted = several if draft.leader_elect is None else draft.leader_elect
    return draft.election if wanted else None


def check_name(name: str) -> None:
    """Raise Invalid unless ``name`` can be a cluster's or a node's."""
    if not _NAME.fullmatch(name):
        raise Invalid(f"{name!r} must be at most 32 lower-case letters, digits and '-'")


def check_label(key: str, value: str) -> None:
    """Raise Invalid unless ``key: value`` is a label the API takes."""
    prefix, slash, name = key.rpartition("/")
    if not _LABEL_NAME.fullmatch(name) or (slash and not _LABEL_PREFIX.fullmatch(prefix)):
        raise Invalid(f"label key {key!r} must be like tier or example.com/tier")
    if value and not _LABEL_NAME.fullmatch(value):
        raise Invalid(
            f"label value {value!r} must be at most 63 letters, digits, '-', '_' and '.', "
            "beginning and ending with a letter or digit"
        )


def parse_taint(text: str) -> Taint:
    """``key=value:Effect`` or ``key:Effect``, as kubectl taint takes it."""
    left, colon, effect = text.rpartition(":")
    key, _, value = left.partition("=")
    if not colon or effect not in TAINT_EFFECTS:
        raise Invalid(
            f"taint {text!r} must be KEY=VALUE:EFFECT, EFFECT one of {_list(TAINT_EFFECTS)}"
        )
    check_label(key, value)
    return Taint(key=key, value=value, effect=effect)


def _networking(draft: Draft) -> Networking:
    subnets = {
        "networking.podSubnet": draft.pod_subnet,
        "networking.serviceSubnet": draft.service_subnet,
        "networking.nodeSubnet": draft.node_subnet,
        "networking.outsideSubnet": draft.outside_subnet,
        "networking.loadBalancerSubnet": draft.load_balancer_subnet,
    }
    parsed = {path: draft.checked(path, partial(_subnet, text)) for path, text in subnets.items()}
    paths = list(parsed)
    for index, path in enumerate(paths):
        for other in paths[:index]:
            if parsed[path].overlaps(parsed[other]):
                draft.wrong(
                    path, f"{parsed[path]} overlaps {other} {parsed[other]}; choose another"
                )
    pods, services, nodes, outside, balancers = parsed.values()
    if services.prefixlen > 27:
        draft.wrong("networking.serviceSubnet", f"{services} is too small; use /27 or larger")
    if outside.prefixlen > 28:
        draft.wrong("networking.outsideSubnet", f"{outside} is too small; use /28 or larger")
    if not 1 <= draft.api_server_port <= 65535:
        draft.wrong("networking.apiServerPort", f"{draft.api_server_port} must be 1 to 65535")
    if not _DOMAIN.fullmatch(draft.dns_domain):
        draft.wrong("networking.dnsDomain", f"{draft.dns_domain!r} must be like cluster.local")
    return Networking(
        pod_subnet=pods,
        service_subnet=services,
        node_subnet=nodes,
        outside_subnet=outside,
        load_balancer_subnet=balancers,
        dns_domain=draft.dns_domain,
        api_server_port=draft.api_server_port,
        egress=draft.egress,
        egress_allow=_subnets(draft, "networking.egress.allow", draft.egress_allow),
        egress_deny=_subnets(draft, "networking.egress.deny", draft.egress_deny),
    )


def _subnets(draft: Draft, path: str, texts: list[str]) -> tuple[IPv4Network, ...]:
    return tuple(
        draft.checked(f"{path}[{index}]", partial(_subnet, text))
        for index, text in enumerate(texts)
    )


def _subnet(text: str) -> IPv4Network:
    try:
        return ipaddress.IPv4Network(text)
    except ValueError as err:
        try:
            right = f"; did you mean {ipaddress.IPv4Network(text, strict=False)}?"
        except ValueError:
            right = "; write it like 10.244.0.0/16"
        raise Invalid(f"{text!r} is not an IPv4 subnet{right}") from err


def _nodes(
    draft: Draft, rows: list[NodeDraft], networking: Networking, version: Version
) -> tuple[NodeConfig, ...]:
    capacity = networking.node_subnet.num_addresses - FIRST_NODE_OFFSET - 1
    if len(rows) > capacity:
        draft.wrong(
            "networking.nodeSubnet",
            f"{networking.node_subnet} has room for {max(0, capacity)} nodes, not {len(rows)}",
        )
    pod_bits = POD_PREFIX_LENGTH - networking.pod_subnet.prefixlen
    if pod_bits < 0 or 1 << pod_bits < len(rows):
        room = 1 << pod_bits if pod_bits >= 0 else 0
        draft.wrong(
            "networking.podSubnet",
            f"{networking.pod_subnet} has room for {room} nodes (a /{POD_PREFIX_LENGTH} each), "
            f"not {len(rows)}",
        )
    named = with_names(rows)
    nodes = list[NodeConfig]()
    for index, row in enumerate(named):
        path = f"nodes[{index}]"
        draft.checked(f"{path}.name", partial(check_name, row.name))
        if row.name in PLACES:
            draft.wrong(f"{path}.name", f"{row.name} is a place of its own; use another name")
        if _PROCESS.fullmatch(row.name):
            draft.wrong(f"{path}.name", f"{row.name} is a process of its own; use another name")
        if row.name in (node.name for node in nodes):
            draft.wrong(f"{path}.name", f"{row.name} is taken by another node; use another name")
        nodes.append(_node(draft, path, row, networking.node_subnet, index, version))
    return tuple(nodes)


def with_names(rows: list[NodeDraft]) -> list[NodeDraft]:
    """``rows``, those without a name given the next free one (lin01, win01, ...)."""
    taken = [row.name for row in rows if row.name]
    spare = {os: iter(default_nodes(os, len(rows), taken)) for os in Os}
    for row in rows:
        row.name = row.name or next(spare[Os(row.os)]).name
    return rows


def _node(
    draft: Draft, path: str, row: NodeDraft, subnet: IPv4Network, index: int, version: Version
) -> NodeConfig:
    kubernetes = versions.of_node(draft, path, row, version)
    os = Os(row.os)
    return NodeConfig(
        name=row.name,
        os=os,
        address=subnet[FIRST_NODE_OFFSET + index],
        kubernetes=kubernetes,
        profile=versions.profile(draft, path, row, kubernetes) if os is Os.WINDOWS else None,
        labels=dict(row.labels),
        taints=tuple(row.taints),
        kubelet=row.kubelet,
    )


def _list(values: Iterable[str]) -> str:
    return ", ".join(values)
