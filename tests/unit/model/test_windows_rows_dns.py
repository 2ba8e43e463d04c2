"""Rows of name resolution, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, dns

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
EXPECTED = {
    F.DNS_TCP_RETRY_ONLY_1_5: ("1.6 14393 docker | 1.34 20348", "1.5 14393 docker", ""),
    F.CLUSTER_FIRST_WITH_HOST_NET: ("", EVERYWHERE, ""),
    F.DNS_PARTLY_QUALIFIED_NAMES: ("", EVERYWHERE, ""),
    F.DNS_SEVERAL_SUFFIXES: ("", EVERYWHERE, ""),
    F.DNS_MULTIPLE_RESOLVERS: ("", EVERYWHERE, ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(dns.ROWS) == set(EXPECTED)
