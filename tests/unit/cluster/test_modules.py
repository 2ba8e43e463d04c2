"""Which kernel modules go with a cluster, and which rules lead out of it."""

from __future__ import annotations

from muntin.cluster import egress, modules
from muntin.cluster.settings import Draft, resolve

TABLE = """\
nft_masq 16384 2 - Live 0x0
veth 45056 0 - Live 0x0
bridge 421888 1 br_netfilter, Live 0x0
tun 69632 0 - Live 0x0
wireguard 118784 0 - Live 0x0
"""


def test_only_unused_modules_of_clusters_that_came_later_go():
    now = modules.loaded(TABLE)
    assert now == {"nft_masq": 2, "veth": 0, "bridge": 1, "tun": 0, "wireguard": 0}
    assert modules.to_unload({"tun"}, now) == ["veth"]


def test_the_first_record_counts(tmp_path, monkeypatch):
    table = tmp_path / "modules"
    monkeypatch.setattr(modules, "_LOADED", table)
    record = tmp_path / "state" / "modules"
    table.write_text("tun 1 0 - Live 0x0\n")
    modules.record(record)
    table.write_text(TABLE)
    modules.record(record)
    assert record.read_text() == "tun"


def test_restoring_ends_when_the_kernel_refuses(tmp_path, monkeypatch):
    table, record = tmp_path / "modules", tmp_path / "record"
    monkeypatch.setattr(modules, "_LOADED", table)
    table.write_text("xt_of_no_kernel 1 0 - Live 0x0\n")
    record.write_text("")
    modules.restore(record)
    modules.restore(tmp_path / "absent")


def test_pods_leave_under_the_nodes_address_but_not_inside():
    rules = egress.pod_rules(resolve(Draft()).networking)
    assert (
        "ip saddr 10.244.0.0/16 ip daddr != { 10.244.0.0/16, 10.96.0.0/12, 172.31.0.0/24 }" in rules
    )


def test_a_resolver_on_the_hosts_loopback_is_led_to_the_relay():
    rules = egress.resolver_rules("# x\nnameserver 127.0.0.53\nnameserver 192.0.2.53\noptions a\n")
    assert "ip daddr { 127.0.0.53 }" in rules
    assert "dnat to 10.0.2.3" in rules
    assert egress.resolver_rules("nameserver 192.0.2.53\n") == ""
