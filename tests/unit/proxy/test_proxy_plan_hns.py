"""Front ends as HNS documents: flags by kind, policy and the node's build."""

from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from muntin.model.windows_releases import build_named, profile_of
from muntin.proxy.plan import Backend, Frontend, FrontendKey, FrontendKind
from muntin.proxy.plan_hns import HnsFacts, backends, limits, load_balancer, remote_endpoint

SERVER_2019 = profile_of(build_named("2019"))
OLD_PROXY = replace(SERVER_2019, kubernetes=(1, 20))
NO_DSR = profile_of(build_named("1903"))
SERVER_2022 = profile_of(build_named("2022"))
VIP = IPv4Address("10.96.0.5")


def front(kind, **fields):
    vip = None if kind is FrontendKind.NODE_PORT else VIP
    key = FrontendKey(vip, 6, 80)
    base = {"service": "a/b", "port_name": "", "backends": (), "target_port": 8080}
    return Frontend(key=key, kind=kind, **base | fields)


CLUSTER, NODE, EXTERNAL, BALANCER = FrontendKind


@pytest.mark.parametrize(
    ("kind", "fields", "profile", "flags", "port_flags"),
    [
        (CLUSTER, {}, SERVER_2019, 1, 0),
        (CLUSTER, {}, OLD_PROXY, 0, 0),
        (CLUSTER, {}, NO_DSR, 0, 0),
        (NODE, {}, SERVER_2019, 0, 2),
        (NODE, {"local_only": True}, SERVER_2019, 1, 2),
        (NODE, {"local_only": True}, NO_DSR, 0, 2),
        (EXTERNAL, {}, SERVER_2019, 0, 16),
        (EXTERNAL, {"local_only": True}, SERVER_2019, 1, 16),
        (BALANCER, {}, SERVER_2019, 0, 16),
        (BALANCER, {"preserve_destination": True}, SERVER_2019, 1, 16 | 8 | 4),
        (BALANCER, {"preserve_destination": True}, NO_DSR, 0, 16),
    ],
)
def test_flags(kind, fields, profile, flags, port_flags):
    document = load_balancer(front(kind, **fields), ["e1"], HnsFacts(profile=profile))
    assert document["Flags"] == flags
    assert document["PortMappings"][0]["Flags"] == port_flags


def test_the_whole_document():
    facts = HnsFacts(profile=SERVER_2019, source_vip=IPv4Address("10.244.1.9"))
    document = load_balancer(front(CLUSTER, affinity_s=10800), ["e1", "e2"], facts)
    assert document == {
        "HostComputeEndpoints": ["e1", "e2"],
        "SourceVIP": "10.244.1.9",
        "FrontendVIPs": ["10.96.0.5"],
        "PortMappings": [
            {
                "Protocol": 6,
                "InternalPort": 8080,
                "ExternalPort": 80,
                "DistributionType": 2,
                "Flags": 0,
            }
        ],
        "Flags": 1,
    }
    assert load_balancer(front(NODE), ["e1"], facts)["FrontendVIPs"] == []


def test_a_remote_endpoint_has_a_mac_of_its_address():
    assert remote_endpoint(IPv4Address("192.168.2.9"), "net") == {
        "HostComputeNetwork": "net",
        "IpConfigurations": [{"IpAddress": "192.168.2.9"}],
        "MacAddress": "02-11-C0-A8-02-09",
        "Flags": 1,
    }


@pytest.mark.parametrize(
    ("profile", "affinity_s", "count"),
    [
        (SERVER_2019, 0, 0),
        (SERVER_2019, 10800, 1),
        (SERVER_2019, 60, 2),
        (SERVER_2022, 10800, 0),
        (SERVER_2022, 60, 1),
    ],
)
def test_affinity_limits_are_told(profile, affinity_s, count):
    told = limits(front(CLUSTER, affinity_s=affinity_s), HnsFacts(profile=profile))
    assert len(told) == count


HERE = Backend(IPv4Address("10.244.1.3"), 8080, True)
THERE = Backend(IPv4Address("10.244.2.3"), 8080, False)


@pytest.mark.parametrize(
    ("kind", "fields", "profile", "served"),
    [
        (NODE, {"local_only": True}, SERVER_2019, (HERE,)),
        # Both policies count for nothing where HNS has no direct server return.
        (NODE, {"local_only": True}, NO_DSR, (HERE, THERE)),
        (BALANCER, {"local_only": True}, NO_DSR, (HERE, THERE)),
        (BALANCER, {"preserve_destination": True}, SERVER_2019, (HERE,)),
        (NODE, {"preserve_destination": True}, SERVER_2019, (HERE,)),
        (EXTERNAL, {"preserve_destination": True}, SERVER_2019, (HERE, THERE)),
        (BALANCER, {"preserve_destination": True}, NO_DSR, (HERE, THERE)),
        (CLUSTER, {"preserve_destination": True}, SERVER_2019, (HERE, THERE)),
    ],
)
def test_traffic_from_outside_stays_on_the_node_only_with_direct_server_return(
    kind, fields, profile, served
):
    """reference: kube-proxy's kernelspace sync, steps B to D."""
    if "local_only" in fields:
        fields = {**fields, "backends": (HERE,), "inside_backends": (HERE, THERE)}
    else:
        fields = {**fields, "backends": (HERE, THERE)}
    assert backends(front(kind, **fields), HnsFacts(profile=profile)) == served


def test_a_policy_that_counts_for_nothing_is_told():
    facts = HnsFacts(profile=NO_DSR)
    assert len(limits(front(NODE, local_only=True), facts)) == 1
    assert limits(front(CLUSTER, local_only=True), facts) == ()
    assert limits(front(NODE, local_only=True), HnsFacts(profile=SERVER_2019)) == ()
