"""Rows of HNS against hcnglobals.go, typed by hand."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, hns

# feature: (HNS versions where it works, HNS versions where it does not), from hcnglobals.go.
EDGES = {
    Feature.HNS_VERSION_QUERY: ("7.0", "6.0"),
    Feature.HCN_V2: ("9.2 15.0", "9.1 7.2"),
    Feature.ACL_LISTS: ("7.2 8.0", "7.1"),
    Feature.REMOTE_SUBNET: ("9.2", "9.1"),
    Feature.HOST_ROUTE: ("9.2", "9.1"),
    Feature.DSR: ("9.3 9.5 9.99 10.2 13.2", "9.2 10.0 10.1"),
    Feature.SLASH32_ENDPOINTS: ("9.3 9.9 10.4", "9.2 10.0 10.3"),
    Feature.ACL_PROTOCOL_252: ("11.0", "10.9"),
    Feature.VXLAN_PORT: ("10.3", "10.2 9.5"),
    Feature.SESSION_AFFINITY: ("12.0", "11.99 9.5"),
    Feature.IPV6_DUAL_STACK: ("11.10 12.0", "11.9 10.5"),
    Feature.SET_POLICY: ("13.0", "12.9"),
    Feature.L4_PROXY: ("9.5 10.5 11.11 12.1 13.1", "9.4 10.4 11.10 12.0 13.0"),
    Feature.L4_WFP_PROXY: ("13.2", "13.1"),
    Feature.TIER_ACL: ("14.0", "13.9"),
    Feature.NETWORK_ACL: ("15.0", "14.9"),
    Feature.NESTED_IP_SET: ("15.0", "14.9"),
    Feature.DISABLE_HOST_PORT: ("15.1", "15.0"),
    Feature.MODIFY_LOAD_BALANCER: ("15.4", "15.3"),
    Feature.ACCELNET: ("15.4", "15.3"),
}


EXPECTED = {
    feature: tuple(" | ".join(f"1.34 17763 hns={v}" for v in text.split()) for text in (*edges, ""))
    for feature, edges in EDGES.items()
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(hns.ROWS) == set(EDGES)
