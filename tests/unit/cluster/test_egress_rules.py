"""What leaves the cluster, and what must not."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest

from muntin.cluster import config_store, egress
from muntin.cluster.config import Networking
from muntin.cluster.settings import Draft, resolve
from muntin.cluster.settings_file import decode
from muntin.kit.errors import Invalid

NET = resolve(Draft()).networking


def test_pods_of_linux_nodes_are_masked_only_on_their_way_out():
    assert (
        "ip saddr 10.244.0.0/16 ip daddr != { 10.244.0.0/16, 10.96.0.0/12, 172.31.0.0/24 } "
        "masquerade" in egress.pod_rules(NET)
    )


def test_the_router_loses_what_windows_nodes_send_to_service_addresses():
    rule = 'oifname "eth1" ip daddr { 10.244.0.0/16, 10.96.0.0/12 } drop'
    assert rule in egress.edge_rules(NET)


def test_the_relay_is_never_handed_an_address_of_the_cluster():
    assert decide(NET, "10.244.1.2") == decide(NET, "10.96.0.1") == "reject"
    assert 'oifname "tap0" masquerade' in egress.relay_rules(NET, [])


def decide(net: Networking, address: str, port: int = 80) -> str:
    """What becomes of a packet to ``address``; the same for pods and for ``outside`` itself."""
    text = egress.relay_rules(net, [IPv4Address("192.168.7.8")])
    verdicts = []
    for chain in ("output", "forward"):
        body = text.partition(f"hook {chain} ")[2].partition("}\n chain")[0]
        rows = [line for line in body.splitlines() if "ip daddr" in line]
        assert all('oifname "tap0"' in row for row in rows)
        verdicts.append(next((row.split()[-1] for row in rows if fits(row, address, port)), "go"))
    assert len(set(verdicts)) == 1
    return verdicts[0]


def fits(row: str, address: str, port: int) -> bool:
    words = row.partition("ip daddr ")[2]
    listed = words[1:].partition("}")[0].split(", ")
    if not words.startswith("{"):
        listed = words.split()[:1]
    if "dport" in row and str(port) != row.partition("dport ")[2].split()[0]:
        return False
    return any(IPv4Address(address) in IPv4Network(text.strip()) for text in listed)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "0.0.0.0", "169.254.169.254", "10.0.2.2", "192.168.7.8"],
)
def test_what_is_the_hosts_is_refused_unless_it_is_allowed(address: str):
    assert decide(NET, address) == "reject"
    assert decide(of("allow: [10.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16]"), "192.168.7.8") == "reject"
    assert decide(of(f"allow: [{address}]"), address) == "accept"


def test_the_world_and_names_are_reached_by_default():
    assert decide(NET, "8.8.8.8") == decide(NET, "192.168.7.9") == "go"
    assert decide(NET, "10.0.2.3", 53) == "accept"


def test_a_list_of_what_is_allowed_wins_over_what_is_denied():
    only = of("deny: [0.0.0.0/0], allow: [10.1.0.0/16, 10.1.2.3/32]")
    assert decide(only, "10.1.9.9") == "accept"
    assert decide(only, "10.2.0.1") == decide(only, "8.8.8.8") == "reject"
    assert decide(only, "10.0.2.3", 53) == "accept"
    assert decide(only, "10.244.0.9") == "reject"


def test_the_stored_configuration_keeps_what_is_allowed():
    config = resolve(decode(file_with("deny: [8.8.8.0/24], allow: [8.8.8.8]"), "c.yaml"))
    assert config_store.decode(config_store.encode(config)) == config


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("deny: [8.8.8.8/24]", "networking.egress.deny[0]: '8.8.8.8/24' is not an IPv4 subnet"),
        ("allow: [example.com]", "networking.egress.allow[0]: 'example.com' is not an IPv4 subnet"),
        ("refuse: [8.8.8.8]", "networking.egress.refuse"),
        ("deny: 8.8.8.8", "networking.egress.deny: must be a list"),
    ],
)
def test_invalid_lists_are_reported_with_their_place(rows: str, message: str):
    with pytest.raises(Invalid) as caught:
        of(rows)
    assert message in caught.value.message


def file_with(rows: str) -> str:
    head = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\n"
    return f"{head}networking: {{egress: {{{rows}}}}}\n"


def of(rows: str) -> Networking:
    return resolve(decode(file_with(rows), "c.yaml")).networking
