"""Rows of the Host Networking Service itself: which objects and policies a version takes."""

from __future__ import annotations

from muntin.model.gates import Condition, Evidence, Gate, Otherwise, Range, row, since
from muntin.model.windows.features import Feature


def _hns(
    summary: str, *ranges: Range, applies_to: str, otherwise: Otherwise = Otherwise.REJECT
) -> Gate:
    return row(
        summary,
        holds=tuple(Condition(hns=wanted) for wanted in ranges),
        applies_to=applies_to,
        otherwise=otherwise,
        source="hcn",
        evidence=Evidence.READ_FROM_CODE,
    )


ROWS: dict[Feature, Gate] = {
    Feature.HNS_VERSION_QUERY: _hns(
        "HNS answers which version it is.",
        since(7, 0),
        applies_to="HNS GET /globals/version",
    ),
    Feature.HCN_V2: _hns(
        "HNS serves the version 2 (HCN) objects.",
        since(9, 2),
        applies_to="HNS API V2",
    ),
    Feature.ACL_LISTS: _hns(
        "ACL policies take lists of addresses, port ranges and rule ids.",
        since(7, 2),
        applies_to="HNS policy ACL",
    ),
    Feature.REMOTE_SUBNET: _hns(
        "Overlay networks take routes to remote subnets.",
        since(9, 2),
        applies_to="HNS policy RemoteSubnetRoute",
    ),
    Feature.HOST_ROUTE: _hns(
        "Networks take a host route.",
        since(9, 2),
        applies_to="HNS policy HostRoute",
    ),
    Feature.DSR: _hns(
        "Load balancers can use direct server return.",
        Range((9, 3), (9,)),
        since(10, 2),
        applies_to="HNS load balancer flag DSR",
    ),
    Feature.SLASH32_ENDPOINTS: _hns(
        "Endpoints may have a /32 prefix.",
        Range((9, 3), (9,)),
        since(10, 4),
        applies_to="HNS endpoint IpConfigurations[].PrefixLength",
    ),
    Feature.ACL_PROTOCOL_252: _hns(
        "ACL policies take protocol 252.",
        since(11, 0),
        applies_to="HNS policy ACL Protocols",
    ),
    Feature.VXLAN_PORT: _hns(
        "Overlay networks can use another UDP port than 4789.",
        since(10, 3),
        applies_to="HNS policy VxlanPort",
    ),
    Feature.SESSION_AFFINITY: _hns(
        "Load balancers can keep a client on one backend.",
        since(12, 0),
        applies_to="HNS load balancer DistributionType",
        otherwise=Otherwise.IGNORE,
    ),
    Feature.IPV6_DUAL_STACK: _hns(
        "Endpoints can have an IPv4 and an IPv6 address.",
        since(11, 10),
        applies_to="HNS endpoint IpConfigurations",
    ),
    Feature.SET_POLICY: _hns(
        "Networks take sets of addresses for ACLs.",
        since(13, 0),
        applies_to="HNS policy SetPolicy",
    ),
    Feature.L4_PROXY: _hns(
        "Endpoints take a layer 4 proxy policy.",
        Range((9, 5), (9,)),
        Range((10, 5), (10,)),
        Range((11, 11), (11,)),
        Range((12, 1), (12,)),
        since(13, 1),
        applies_to="HNS policy L4Proxy",
    ),
    Feature.L4_WFP_PROXY: _hns(
        "Endpoints take a layer 4 proxy policy of the filtering platform.",
        since(13, 2),
        applies_to="HNS policy L4WFPPROXY",
    ),
    Feature.TIER_ACL: _hns(
        "ACLs can stand in tiers.",
        since(14, 0),
        applies_to="HNS policy TierAcl",
    ),
    Feature.NETWORK_ACL: _hns(
        "ACLs can stand on networks.",
        since(15, 0),
        applies_to="HNS policy NetworkACL",
    ),
    Feature.NESTED_IP_SET: _hns(
        "Sets of addresses can hold sets.",
        since(15, 0),
        applies_to="HNS policy NestedIpSet",
    ),
    Feature.DISABLE_HOST_PORT: _hns(
        "Networks can be made without a host port.",
        since(15, 1),
        applies_to="HNS network flag DisableHostPort",
    ),
    Feature.MODIFY_LOAD_BALANCER: _hns(
        "Load balancers can be changed in place.",
        since(15, 4),
        applies_to="HNS load balancer ModifyRequestType",
    ),
    Feature.ACCELNET: _hns(
        "Endpoints can use accelerated networking.",
        since(15, 4),
        applies_to="HNS /accelnet",
    ),
}
