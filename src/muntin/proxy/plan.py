"""Services and EndpointSlices to front ends: what traffic to which address goes to which pods.

Pure: one Service with its slices gives its front ends, the same for every data plane. What a data
plane cannot do is its own affair. Source: kubernetes v1.34 pkg/proxy (servicechangetracker.go,
topology.go) as documented under "Virtual IPs and Service Proxies".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network
from typing import Any, NamedTuple

Object = dict[str, Any]

PROTOCOLS = {"TCP": 6, "UDP": 17, "SCTP": 132}
SERVICE_NAME_LABEL = "kubernetes.io/service-name"
PROXY_NAME_LABEL = "service.kubernetes.io/service-proxy-name"
HEADLESS_LABEL = "service.kubernetes.io/headless"
PRESERVE_DESTINATION = "preserve-destination"
DEFAULT_AFFINITY_S = 10800
_OCTETS = {str(number): number for number in range(256)}


class FrontendKind(StrEnum):
    """Which of a Service's addresses a front end is."""

    CLUSTER_IP = "ClusterIP"
    NODE_PORT = "NodePort"
    EXTERNAL_IP = "ExternalIP"
    LOAD_BALANCER = "LoadBalancer"


@dataclass(frozen=True, slots=True)
class FrontendKey:
    """What packets are told by; ``vip`` None means every address of the node."""

    vip: IPv4Address | None
    protocol: int
    port: int


class Backend(NamedTuple):
    """One endpoint of a Service port."""

    address: IPv4Address
    port: int
    is_local: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontend:
    """One address and port of a Service.

    ``backends`` serve everybody, unless ``inside_backends`` is given: then they serve clients from
    outside, and those of the cluster get ``inside_backends``. ``local_only`` says that the policy
    is Local, so clients keep their address. ``is_served`` is false where no node has an endpoint.
    """

    key: FrontendKey
    kind: FrontendKind
    service: str
    port_name: str
    backends: tuple[Backend, ...]
    inside_backends: tuple[Backend, ...] | None = None
    local_only: bool = False
    is_served: bool = True
    target_port: int = 0
    affinity_s: int = 0
    source_ranges: tuple[IPv4Network, ...] = ()
    preserve_destination: bool = False


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A port on which cloud load balancers ask whether this node has endpoints of a Service."""

    port: int
    service: str
    local_endpoints: int


class _Endpoint(NamedTuple):
    address: IPv4Address
    is_local: bool
    is_ready: bool
    is_draining: bool


def is_proxied(service: Object) -> bool:
    """Whether kube-proxy has anything to do for ``service``."""
    meta, spec = service["metadata"], service.get("spec") or {}
    if PROXY_NAME_LABEL in (meta.get("labels") or {}) or spec.get("type") == "ExternalName":
        return False
    return spec.get("clusterIP") not in (None, "", "None")


def service_of(slice_: Object) -> str | None:
    """``namespace/name`` of the Service whose endpoints the slice holds."""
    labels = slice_["metadata"].get("labels") or {}
    name = labels.get(SERVICE_NAME_LABEL)
    return f"{slice_['metadata']['namespace']}/{name}" if name else None


def frontends(service: Object, slices: Iterable[Object], node_name: str) -> tuple[Frontend, ...]:
    """All front ends of ``service`` as the node called ``node_name`` should have them."""
    if not is_proxied(service):
        return ()
    spec, known = service["spec"], list(slices)
    made: list[Frontend] = []
    for port in spec.get("ports") or ():
        made += _port_frontends(service, port, _endpoints(port, known, node_name))
    return tuple(made)


def health_check(service: Object, slices: Iterable[Object], node_name: str) -> HealthCheck | None:
    """The health check port of a Service whose external traffic stays local."""
    spec = service.get("spec") or {}
    number = spec.get("healthCheckNodePort")
    if not is_proxied(service) or not number or spec.get("externalTrafficPolicy") != "Local":
        return None
    known = list(slices)
    local: set[IPv4Address] = set()
    for port in spec.get("ports") or ():
        pairs = _endpoints(port, known, node_name)
        local |= {item.address for item, _ in pairs if item.is_local and item.is_ready}
    return HealthCheck(int(number), _name(service), len(local))


def _port_frontends(
    service: Object, port: Object, pairs: list[tuple[_Endpoint, int]]
) -> Iterator[Frontend]:
    spec, meta = service["spec"], service["metadata"]
    everywhere = _chosen(pairs)
    here = _chosen([pair for pair in pairs if pair[0].is_local])
    inside = here if spec.get("internalTrafficPolicy") == "Local" else everywhere
    local = spec.get("externalTrafficPolicy") == "Local"
    outside = here if local else everywhere
    annotations = meta.get("annotations") or {}
    for kind, vip in _addresses(service, port):
        is_inner = kind is FrontendKind.CLUSTER_IP
        number = port["nodePort"] if kind is FrontendKind.NODE_PORT else port["port"]
        ranges = spec.get("loadBalancerSourceRanges") or ()
        yield Frontend(
            key=FrontendKey(vip, PROTOCOLS[port.get("protocol") or "TCP"], number),
            kind=kind,
            service=_name(service),
            port_name=port.get("name") or "",
            backends=inside if is_inner else outside,
            inside_backends=inside if local and not is_inner and inside != outside else None,
            local_only=spec.get("internalTrafficPolicy") == "Local" if is_inner else local,
            is_served=bool(everywhere),
            target_port=_target_port(port, everywhere),
            affinity_s=_affinity_s(spec),
            source_ranges=(
                tuple(IPv4Network(text.strip(), strict=False) for text in ranges if ":" not in text)
                if kind is FrontendKind.LOAD_BALANCER
                else ()
            ),
            preserve_destination=annotations.get(PRESERVE_DESTINATION) == "true",
        )


def _addresses(service: Object, port: Object) -> Iterator[tuple[FrontendKind, IPv4Address | None]]:
    spec = service["spec"]
    for text in spec.get("clusterIPs") or [spec["clusterIP"]]:
        if address := _ipv4(text):
            yield FrontendKind.CLUSTER_IP, address
    if spec.get("type") in ("NodePort", "LoadBalancer") and port.get("nodePort"):
        yield FrontendKind.NODE_PORT, None
    for text in spec.get("externalIPs") or ():
        if address := _ipv4(text):
            yield FrontendKind.EXTERNAL_IP, address
    status = (service.get("status") or {}).get("loadBalancer") or {}
    if spec.get("type") == "LoadBalancer":
        for ingress in status.get("ingress") or ():
            address = _ipv4(ingress.get("ip"))
            if address and ingress.get("ipMode", "VIP") == "VIP":
                yield FrontendKind.LOAD_BALANCER, address


def _endpoints(
    port: Object, slices: Sequence[Object], node_name: str
) -> list[tuple[_Endpoint, int]]:
    """(endpoint, port number) of one service port, each address once."""
    found: dict[tuple[IPv4Address, int], _Endpoint] = {}
    wanted = port.get("name") or ""
    for slice_ in slices:
        if slice_.get("addressType") != "IPv4":
            continue
        for item in slice_.get("ports") or ():
            same = (item.get("name") or "") == wanted
            if not same or not item.get("port") or not _same_protocol(item, port):
                continue
            for endpoint in slice_.get("endpoints") or ():
                made = _endpoint(endpoint, node_name)
                if made:
                    found.setdefault((made.address, item["port"]), made)
    return [(endpoint, number) for (_, number), endpoint in found.items()]


def _same_protocol(item: Object, port: Object) -> bool:
    return (item.get("protocol") or "TCP") == (port.get("protocol") or "TCP")


def _endpoint(item: Object, node_name: str) -> _Endpoint | None:
    address = _ipv4((item.get("addresses") or [None])[0])
    if address is None:
        return None
    conditions = item.get("conditions") or {}
    ready = conditions.get("ready") is not False
    serving = conditions.get("serving", ready) is not False
    return _Endpoint(
        address=address,
        is_local=item.get("nodeName") == node_name,
        is_ready=ready,
        is_draining=serving and bool(conditions.get("terminating")),
    )


def _chosen(pairs: Sequence[tuple[_Endpoint, int]]) -> tuple[Backend, ...]:
    """The ready endpoints; where there is none, those that end but still serve."""
    ready = [pair for pair in pairs if pair[0].is_ready]
    use = ready or [pair for pair in pairs if pair[0].is_draining]
    made = [Backend(item.address, port, item.is_local) for item, port in use]
    # An address is compared by slow Python code, its number is not.
    return tuple(sorted(made, key=lambda item: (int(item.address), item.port)))


def _target_port(port: Object, backends: Sequence[Backend]) -> int:
    """The one port of all backends where a data plane has no more: a named one is the first's."""
    target = port.get("targetPort")
    if isinstance(target, int) and target:
        return target
    return backends[0].port if backends else int(port["port"])


def _affinity_s(spec: Object) -> int:
    if spec.get("sessionAffinity") != "ClientIP":
        return 0
    config = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
    return int(config.get("timeoutSeconds") or DEFAULT_AFFINITY_S)


def _ipv4(text: str | None) -> IPv4Address | None:
    """The address, or None for another family's."""
    if not text:
        return None
    try:
        # Five times as fast as IPv4Address(text), which the many endpoints are glad of.
        first, second, third, fourth = text.split(".")
        number = _OCTETS[first] << 24 | _OCTETS[second] << 16
        return IPv4Address(number | _OCTETS[third] << 8 | _OCTETS[fourth])
    except (ValueError, KeyError):
        return None


def _name(obj: Object) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"
