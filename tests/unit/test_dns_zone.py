"""Cluster names to records, by the Kubernetes DNS specification and CoreDNS' kubernetes plugin."""

import asyncio

import pytest
from dnslib import QTYPE, DNSRecord

from muntin.dns.answer import answer
from muntin.dns.forward import parse_upstream, read_resolv_conf
from muntin.dns.zone import Record, Zone


def service(cluster_ip="10.96.0.20", *, ports=(("http", 80),), **spec):
    rows = [{"name": name, "port": port, "protocol": "TCP"} for name, port in ports]
    return {"spec": {"clusterIP": cluster_ip, "ports": rows, **spec}}


def endpoints(*rows):
    """Rows are (address, ready, hostname)."""
    return {
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": [
            {"addresses": [address], "conditions": {"ready": ready}, "hostname": hostname}
            for address, ready, hostname in rows
        ],
    }


@pytest.fixture
def zone():
    made = Zone("cluster.local")
    for namespace in ("default", "kube-system", "empty"):
        made.set_namespace(namespace, exists=True)
    made.update(("default", "web"), service(), [endpoints(("10.244.1.5", True, None))])
    made.update(
        ("default", "db"),
        service("None"),
        [endpoints(("10.244.1.3", True, "db-0"), ("10.244.2.3", False, "db-1"))],
    )
    made.update(("default", "all"), service("None", publishNotReadyAddresses=True),
                [endpoints(("10.244.2.9", False, None))])  # fmt: skip
    made.update(("default", "empty"), service("None"), [])
    external = {"spec": {"type": "ExternalName", "externalName": "Example.org."}}
    made.update(("kube-system", "far"), external, [])
    made.update(
        ("kube-system", "near"),
        {"spec": {"type": "ExternalName", "externalName": "web.default.svc.cluster.local"}},
        [],
    )
    return made


@pytest.mark.parametrize(
    "name, kind, targets",
    [
        ("web.default.svc", "A", ["10.96.0.20"]),
        ("web.default.svc", "AAAA", []),
        ("web.default.svc", "TXT", []),
        ("db.default.svc", "A", ["10.244.1.3"]),
        ("all.default.svc", "A", ["10.244.2.9"]),
        ("db-0.db.default.svc", "A", ["10.244.1.3"]),
        ("10-244-1-5.web.default.svc", "A", ["10.244.1.5"]),
        ("10-244-2-9.all.default.svc", "A", ["10.244.2.9"]),
        ("10-1-2-3.default.pod", "A", ["10.1.2.3"]),
        ("10-244-0-32.empty.pod", "A", ["10.244.0.32"]),
        ("10-244-0-32.empty.pod", "AAAA", []),
        ("fd00--1.empty.pod", "AAAA", ["fd00::1"]),
        ("empty.pod", "A", []),
        ("empty.svc", "A", []),
        ("far.kube-system.svc", "A", ["example.org"]),
        ("dns-version", "TXT", ["1.1.0"]),
        ("dns-version", "A", []),
        ("default.svc", "A", []),
        ("svc", "A", []),
    ],
)
def test_names_that_exist(zone, name, kind, targets):
    found = zone.find(f"{name}.cluster.local", kind)
    assert found.exists
    assert [record.target for record in found.records] == targets


@pytest.mark.parametrize(
    "name",
    [
        "missing.default.svc",
        "web.other.svc",
        "empty.default.svc",
        "db-1.db.default.svc",
        "x-y.default.pod",
        "10-1-2-3.other.pod",
        "10-1-2-3-4.default.pod",
        "_ftp._tcp.web.default.svc",
        "http._tcp.web.default.svc",
        "a.b.c.d.e",
        "other.svc",
    ],
)
def test_names_that_do_not(zone, name):
    assert not zone.find(f"{name}.cluster.local", "A").exists
    assert not zone.find(f"{name}.cluster.local", "SRV").exists


def test_srv_of_a_service_and_of_a_headless_one(zone):
    found = zone.find("_http._tcp.web.default.svc.cluster.local", "SRV")
    assert [(r.target, r.port) for r in found.records] == [("web.default.svc.cluster.local", 80)]
    assert found.extra == (Record("web.default.svc.cluster.local", "A", "10.96.0.20"),)
    found = zone.find("_http._tcp.db.default.svc.cluster.local", "SRV")
    assert [(r.target, r.port) for r in found.records] == [
        ("db-0.db.default.svc.cluster.local", 8080)
    ]


def test_an_srv_name_has_no_address_but_exists(zone):
    found = zone.find("_http._tcp.web.default.svc.cluster.local", "A")
    assert (found.exists, found.records) == (True, ())


def test_reverse_names(zone):
    assert [r.target for r in zone.reverse("10.96.0.20").records] == [
        "web.default.svc.cluster.local"
    ]
    assert [r.target for r in zone.reverse("10.244.1.3").records] == [
        "db-0.db.default.svc.cluster.local"
    ]
    assert not zone.reverse(
        "10.244.1.5"
    ).exists  # endpoints of a service with an address of its own


def test_a_service_that_goes_takes_all_its_names(zone):
    zone.update(("default", "db"), None, [])
    assert not zone.find("db.default.svc.cluster.local", "A").exists
    assert not zone.reverse("10.244.1.3").exists
    assert zone.find("default.svc.cluster.local", "A").exists
    zone.set_namespace("default", exists=False)
    assert not zone.find("default.svc.cluster.local", "A").exists
    assert not zone.find("10-1-2-3.default.pod.cluster.local", "A").exists


def ask(zone, name, kind="A", *, upstream=None, tcp=False, edns=None):
    query = DNSRecord.question(name, kind)
    if edns:
        from dnslib import EDNS0

        query.add_ar(EDNS0(udp_len=edns))

    async def forward(packet):
        return upstream(packet) if upstream else None

    return DNSRecord.parse(asyncio.run(answer(zone, 5, query.pack(), forward, tcp=tcp)))


def test_an_answer_on_the_wire(zone):
    reply = ask(zone, "WEB.default.svc.cluster.local.")
    assert (reply.header.rcode, reply.header.aa, reply.header.ra) == (0, 1, 1)
    assert [(str(r.rdata), r.ttl) for r in reply.rr] == [("10.96.0.20", 5)]


def test_nodata_and_nxdomain_carry_the_soa(zone):
    nodata = ask(zone, "web.default.svc.cluster.local", "AAAA")
    missing = ask(zone, "nope.default.svc.cluster.local")
    assert (nodata.header.rcode, missing.header.rcode) == (0, 3)
    assert [r.rtype for r in (*nodata.auth, *missing.auth)] == [QTYPE.SOA, QTYPE.SOA]


def test_an_alias_within_the_cluster_is_followed(zone):
    reply = ask(zone, "near.kube-system.svc.cluster.local")
    assert [str(r.rdata) for r in reply.rr] == ["web.default.svc.cluster.local.", "10.96.0.20"]


def test_an_alias_outside_is_asked_of_the_upstream(zone):
    def upstream(packet):
        from dnslib import RR

        reply = DNSRecord.parse(packet).reply()
        reply.add_answer(*RR.fromZone("example.org 60 A 192.0.2.80"))
        return reply.pack()

    reply = ask(zone, "far.kube-system.svc.cluster.local", upstream=upstream)
    assert [str(r.rdata) for r in reply.rr] == ["example.org.", "192.0.2.80"]


def test_other_names_are_forwarded_or_fail(zone):
    assert ask(zone, "example.org").header.rcode == 2
    raw = DNSRecord.question("example.org").reply().pack()
    assert ask(zone, "example.org", upstream=lambda _: raw).header.rcode == 0


def test_partly_qualified_names_are_not_the_clusters(zone):
    assert ask(zone, "web.default").header.rcode == 2


def test_a_large_answer_is_cut_for_udp_and_whole_for_tcp(zone):
    many = endpoints(*((f"10.244.{i}.{j}", True, None) for i in range(1, 4) for j in range(2, 30)))
    zone.update(("default", "big"), service("None"), [many])
    name = "big.default.svc.cluster.local"
    cut = ask(zone, name)
    assert (cut.header.tc, len(cut.rr)) == (1, 0)
    assert len(ask(zone, name, tcp=True).rr) == 84
    assert ask(zone, name, edns=4096).header.tc == 1
    web = ask(zone, "web.default.svc.cluster.local", edns=4096)
    assert [r.rtype for r in web.ar] == [QTYPE.OPT]


@pytest.mark.parametrize("packet", [b"", b"short", bytes(3)])
def test_what_is_no_query_gets_no_answer(zone, packet):
    async def forward(_):
        raise AssertionError

    assert asyncio.run(answer(zone, 5, packet, forward, tcp=False)) == b""


def test_a_broken_query_is_a_format_error(zone):
    packet = b"\x12\x34\x01\x00\x00\x01" + bytes(6) + b"\xff"

    async def forward(_):
        raise AssertionError

    reply = asyncio.run(answer(zone, 5, packet, forward, tcp=False))
    assert reply[:2] == b"\x12\x34"
    assert reply[3] & 15 == 1


def test_resolv_conf():
    text = "search a b\nnameserver 192.0.2.1\n# x\nnameserver 192.0.2.2 # y\noptions ndots:5\n"
    assert read_resolv_conf(text) == ("192.0.2.1", "192.0.2.2")
    assert parse_upstream("192.0.2.1#5353") == ("192.0.2.1", 5353)


def test_a_target_that_is_no_dns_name_is_a_server_failure(zone):
    external = {"spec": {"type": "ExternalName", "externalName": "a" * 64 + ".example"}}
    zone.update(("default", "broken"), external, [])
    assert ask(zone, "broken.default.svc.cluster.local").header.rcode == 2
