"""Namespaces, rtnetlink, nftables and conntrack of the kit, against the kernel."""

from __future__ import annotations

import errno
import os
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

import pytest
from netlab import PREFIX

from muntin.kit import conntrack, netns, nft
from muntin.kit import rtnetlink as rt
from muntin.kit.errors import AlreadyExists, Invalid, NotFound

NAME = f"{PREFIX}kit"


@pytest.fixture
def space():
    netns.delete(NAME)
    netns.create(NAME)
    yield NAME
    netns.delete(NAME)


def here() -> int:
    return os.stat("/proc/thread-self/ns/net").st_ino


def test_namespaces(space):
    before = here()
    assert netns.run(space, here) != before
    assert here() == before
    with pytest.raises(AlreadyExists):
        netns.create(space)
    with pytest.raises(ZeroDivisionError):
        netns.run(space, lambda: 1 // 0)
    assert here() == before
    netns.delete(space)
    netns.delete(space)
    with pytest.raises(NotFound):
        netns.run(space, here)
    # A plain file that a kill -9 left is taken over.
    netns.path_of(space).touch()
    assert not netns.exists(space)
    netns.create(space)
    assert netns.exists(space)
    assert netns.names(space) == [space]


def test_sysctls_stay_inside(space):
    before = netns.read_sysctl(None, "net.ipv4.ip_forward")
    wanted = "0" if before == "1" else "1"
    netns.write_sysctls(space, {"net.ipv4.ip_forward": wanted})
    assert netns.read_sysctl(space, "net.ipv4.ip_forward") == wanted
    assert netns.read_sysctl(None, "net.ipv4.ip_forward") == before
    assert netns.read_sysctl(space, "net.ipv4.no_such_key") is None
    with pytest.raises(ValueError, match="not under net"):
        netns.write_sysctls(space, {"kernel.hostname": "x"})


def test_links_addresses_routes_and_neighbours(space):
    with rt.RouteSocket(space) as routes:
        routes.request(rt.link_set(rt.LOOPBACK, up=True), rt.bridge("br0", mac="02-11-00-00-00-01"))
        bridge = routes.link("br0")
        assert (bridge.kind, bridge.mac, bridge.is_up) == ("bridge", "02:11:00:00:00:01", True)
        routes.request(
            rt.veth("a", "b", master=bridge.index, mtu_bytes=1400),
            rt.address_add(bridge.index, IPv4Interface("10.1.0.1/24")),
            rt.address_add(bridge.index, IPv4Interface("10.1.0.1/24")),
            rt.route_replace(IPv4Network("10.2.0.0/24"), IPv4Address("10.1.0.2")),
            rt.neighbour_replace(bridge.index, IPv4Address("10.1.0.9"), "02:11:00:00:00:09"),
        )
        port = routes.link("a")
        assert (port.master, port.mtu_bytes) == (bridge.index, 1400)
        routes.request(rt.bridge_port(port.index, hairpin=True, isolated=True))
        assert IPv4Interface("10.1.0.1/24") in routes.addresses(bridge.index)
        wanted = rt.Route(IPv4Network("10.2.0.0/24"), IPv4Address("10.1.0.2"), bridge.index)
        assert wanted in routes.routes()
        entry = rt.Neighbour(IPv4Address("10.1.0.9"), "02:11:00:00:00:09", bridge.index)
        assert entry in routes.neighbours()
        gone = rt.route_delete(IPv4Network("10.2.0.0/24"))
        routes.request(gone, gone, rt.link_delete(name="a"), rt.link_delete(name="a"))
        assert wanted not in routes.routes()
        assert routes.link("b") is None
        with pytest.raises(OSError, match="add bridge br0") as caught:
            routes.request(rt.bridge("br0"), rt.bridge("br1"))
        assert caught.value.errno == errno.EEXIST
        assert routes.link("br1")  # the later messages are tried all the same


def test_vxlan(space):
    with rt.RouteSocket(space) as routes:
        routes.request(rt.bridge("br0"))
        under = routes.index("br0")
        local = IPv4Address("10.1.0.1")
        routes.request(rt.vxlan("vx", vni=4096, local=local, link=under, mtu_bytes=1450))
        link = routes.link("vx")
        assert (link.kind, link.mtu_bytes) == ("vxlan", 1450)
        mac = "02:11:00:00:00:09"
        routes.request(rt.fdb_append(link.index, mac, IPv4Address("10.1.0.2")))
        routes.request(rt.fdb_delete(link.index, mac), rt.fdb_delete(link.index, mac))


def test_set_batches_are_atomic(space):
    nft.run(
        "table ip t { map m { type ipv4_addr . inet_service : verdict; }\n chain c { }\n }", space
    )
    key = nft.key(IPv4Address("10.0.0.1"), nft.port_part(80))
    other = nft.key(IPv4Address("10.0.0.2"), nft.port_part(80))
    with nft.NftSocket(space) as socket:
        batch = nft.SetBatch("t")
        batch.add("m", [nft.Element(key, goto="c")])
        batch.commit(socket)
        assert "10.0.0.1 . 80 : goto c" in nft.run("list map ip t m", space)
        batch.add("m", [nft.Element(other, goto="c")])
        batch.delete("m", [nft.Element(nft.key(IPv4Address("10.0.0.3"), nft.port_part(1)))])
        with pytest.raises(FileNotFoundError, match="delete from t m"):
            batch.commit(socket)
        assert "10.0.0.2" not in nft.run("list map ip t m", space)
    assert nft.table_exists("t", space)
    assert not nft.table_exists("t")
    with pytest.raises(Invalid, match="syntax error"):
        nft.run("add nonsense", space)


def test_ten_thousand_elements_in_one_batch(space):
    nft.run("table ip t {\n map m { type ipv4_addr : ipv4_addr; }\n}", space)
    base = int(IPv4Address("10.0.0.0"))
    elements = [
        nft.Element(nft.key(IPv4Address(base + n)), data=nft.key(IPv4Address(base + n)))
        for n in range(10_000)
    ]
    with nft.NftSocket(space) as socket:
        batch = nft.SetBatch("t")
        batch.add("m", elements)
        batch.commit(socket)
    (found,) = [item["map"] for item in nft.listing("list map ip t m", space) if "map" in item]
    assert len(found["elem"]) == 10_000


def test_no_flows_to_forget(space):
    assert conntrack.forget(space, lambda flow: True) == 0
