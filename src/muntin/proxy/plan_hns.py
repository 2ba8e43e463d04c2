"""Front ends as HNS load balancers, and backends as HNS endpoints: documents only.

Source: kubernetes v1.34 pkg/proxy/winkernel (proxier.go, hns.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from muntin.model.windows import Feature, Profile, gate, is_open
from muntin.proxy.plan import DEFAULT_AFFINITY_S, Backend, Frontend, FrontendKind

Object = dict[str, Any]

DSR = 1
REMOTE_ENDPOINT = 1
LOCAL_ROUTED_VIP, USE_MUX, PRESERVE_DIP, VIP_EXTERNAL_IP = 2, 4, 8, 16
BY_CLIENT = 2  # the distribution that ClientIP affinity asks for
_EXTERNAL = (FrontendKind.EXTERNAL_IP, FrontendKind.LOAD_BALANCER)


@dataclass(frozen=True, slots=True, kw_only=True)
class HnsFacts:
    """What the documents of one node depend on."""

    profile: Profile
    source_vip: IPv4Address | None = None

    @property
    def keeps_local(self) -> bool:
        return is_open(Feature.LOCAL_TRAFFIC_POLICY_DSR, self.profile)

    @property
    def preserves(self) -> bool:
        return is_open(Feature.SVC_PRESERVE_DESTINATION, self.profile)

    @property
    def uses_dsr(self) -> bool:
        return is_open(Feature.DSR_BY_DEFAULT, self.profile)


def load_balancer(frontend: Frontend, endpoint_ids: Sequence[str], facts: HnsFacts) -> Object:
    """The load balancer of one front end.

    All its backends get the same port. Traffic from outside is only sent to this node's own
    endpoints without translation (direct server return), so that needs a Local policy.
    """
    local = frontend.local_only and facts.keeps_local
    preserve = frontend.preserve_destination and facts.preserves
    is_inner = frontend.kind is FrontendKind.CLUSTER_IP
    is_balancer = frontend.kind is FrontendKind.LOAD_BALANCER
    dsr = facts.uses_dsr if is_inner else local or (is_balancer and preserve)
    port_flags = 0
    if frontend.kind is FrontendKind.NODE_PORT:
        port_flags |= LOCAL_ROUTED_VIP
    if frontend.kind in _EXTERNAL:
        port_flags |= VIP_EXTERNAL_IP
    if is_balancer and preserve:
        port_flags |= USE_MUX | PRESERVE_DIP
    mapping = {
        "Protocol": frontend.key.protocol,
        "InternalPort": frontend.target_port,
        "ExternalPort": frontend.key.port,
        "DistributionType": BY_CLIENT if frontend.affinity_s else 0,
        "Flags": port_flags,
    }
    return {
        "HostComputeEndpoints": list(endpoint_ids),
        "SourceVIP": str(facts.source_vip) if facts.source_vip else "",
        "FrontendVIPs": [str(frontend.key.vip)] if frontend.key.vip else [],
        "PortMappings": [mapping],
        "Flags": DSR if dsr else 0,
    }


def backends(frontend: Frontend, facts: HnsFacts) -> tuple[Backend, ...]:
    """Which backends the load balancer of one front end gets.

    Traffic from outside that must stay on the node needs direct server return: without it the
    policy counts for nothing, and all backends serve.
    """
    if frontend.kind is FrontendKind.CLUSTER_IP:
        return frontend.backends
    if not facts.keeps_local:
        inside = frontend.inside_backends
        return frontend.backends if inside is None else inside
    preserve = frontend.preserve_destination and facts.preserves
    if preserve and frontend.kind is not FrontendKind.EXTERNAL_IP:
        return tuple(backend for backend in frontend.backends if backend.is_local)
    return frontend.backends


def limits(frontend: Frontend, facts: HnsFacts) -> tuple[str, ...]:
    """What this front end asks for and the node's Windows cannot do, in the gates' words."""
    asked = []
    if frontend.affinity_s:
        asked.append(Feature.SVC_SESSION_AFFINITY)
        if frontend.affinity_s != DEFAULT_AFFINITY_S:
            asked.append(Feature.SESSION_AFFINITY_TIMEOUT)
    if frontend.local_only and frontend.kind is not FrontendKind.CLUSTER_IP:
        asked.append(Feature.LOCAL_TRAFFIC_POLICY_DSR)
    if frontend.preserve_destination and frontend.kind is not FrontendKind.CLUSTER_IP:
        asked.append(Feature.SVC_PRESERVE_DESTINATION)
    if frontend.source_ranges:
        asked.append(Feature.LOAD_BALANCER_SOURCE_RANGES)
    shut = [gate(feature) for feature in asked if not is_open(feature, facts.profile)]
    return tuple(f"not on this node: {row.summary}" for row in shut)


def remote_endpoint(address: IPv4Address, network_id: str) -> Object:
    """The directory entry of a pod (or host) elsewhere; its MAC is made from its address."""
    return {
        "HostComputeNetwork": network_id,
        "IpConfigurations": [{"IpAddress": str(address)}],
        "MacAddress": "02-11-" + "-".join(f"{byte:02X}" for byte in address.packed),
        "Flags": REMOTE_ENDPOINT,
    }
