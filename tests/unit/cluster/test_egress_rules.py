"""What leaves the cluster, and what must not."""

from __future__ import annotations

from muntin.cluster import egress
from muntin.cluster.settings import Draft, resolve

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
    rule = 'oifname "tap0" ip daddr { 10.244.0.0/16, 10.96.0.0/12 } reject'
    assert rule in egress.relay_rules(NET)
    assert 'oifname "tap0" masquerade' in egress.relay_rules(NET)
