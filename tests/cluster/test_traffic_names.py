"""Services by name from Linux and Windows pods, the API from inside, and the way out."""

from __future__ import annotations

import json
import socket

import pytest
from dnslib import QTYPE, RCODE, DNSRecord
from traffic_lab import NO_ROUTE, PORT, REFUSED, SILENT, service_object

from muntin.cluster import egress
from muntin.cluster.fabric_plan import RELAY_GATEWAY
from muntin.kit import netns
from muntin.model.windows import Feature

DNS = "10.96.0.10"
OUTSIDE = "192.0.2.10"
HTTP_PORT = 8081
HOST_PORT = 8082
# Windows has the one suffix of its namespace, and takes a name with a dot as it stands.
NAMES = {
    "to-l2": (True, True),
    "to-w1": (True, True),
    "to-l2.default": (True, False),
    "to-l2.default.svc": (True, False),
    "to-l2.default.svc.cluster.local": (True, True),
    "to-w1.default.svc.cluster.local": (True, True),
    "pods-by-name": (True, True),
    "another-name": (True, True),
    "no-such-name": (False, False),
}


@pytest.fixture(scope="module")
def sites(traffic):
    """A web server in l2, w1 and ``outside``, and Services without an address of their own."""
    headless = service_object("pods-by-name", {"pod": "w2"}, clusterIP="None")
    headless["spec"]["ports"] = [{"port": HTTP_PORT}]
    alias = service_object("another-name", None, type="ExternalName")
    alias["spec"] |= {"externalName": "to-l2.default.svc.cluster.local", "ports": []}
    ports = [
        {"op": "add", "path": "/spec/ports/-", "value": {"name": "http", "port": HTTP_PORT}},
    ]
    for name in ("to-l2", "to-w1"):
        traffic.cluster.kubectl("patch", "service", name, "--type=json", f"-p={json.dumps(ports)}")
    traffic.apply(headless, alias)
    with traffic.web_servers(HTTP_PORT, "l2", "w1", "w2", "outside"):
        for name in ("to-l2", "to-w1"):
            vip = traffic.vip(name)
            for pod in ("l1", "w1b"):
                assert traffic.answers(pod, vip, HTTP_PORT)
        yield traffic


@pytest.mark.parametrize("name", NAMES)
def test_names_from_a_linux_pod(sites, name):
    text = sites.run_in("l1", "wget", "-q", "-O", "-", f"http://{name}:{HTTP_PORT}/")
    if NAMES[name][0]:
        assert text.startswith("hello from "), text
    else:
        assert "bad address" in text


@pytest.mark.reproduces(Feature.DNS_PARTLY_QUALIFIED_NAMES, Feature.DNS_SEVERAL_SUFFIXES)
@pytest.mark.parametrize("name", NAMES)
def test_names_from_a_windows_pod(sites, name):
    url = f"http://{name}:{HTTP_PORT}/"
    text = sites.run_in("w1b", "curl.exe", "-sS", "-m", "5", url)
    if NAMES[name][1]:
        assert text.startswith("hello from "), text
    else:
        assert f"curl: (6) Could not resolve host: {name}" in text


def test_ipconfig_and_the_registry_name_address_and_dns(traffic):
    ip = traffic.ips["w1b"]
    text = traffic.run_in("w1b", "ipconfig", "/all")
    assert f"IPv4 Address. . . . . . . . . . . : {ip}(Preferred)" in text
    assert f"DNS Servers . . . . . . . . . . . : {DNS}" in text
    assert "Connection-specific DNS Suffix  . : default.svc.cluster.local" in text
    key = r"HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters\Interfaces"
    values = traffic.run_in("w1b", "reg", "query", key, "/s")
    assert "4E6574446576}" in values
    for value in (ip, DNS, "default.svc.cluster.local"):
        assert value in values


@pytest.mark.parametrize("source", ["l1", "w1", "w3", "lin01", "master"])
@pytest.mark.parametrize("tcp", [False, True], ids=["udp", "tcp"])
def test_cluster_dns(traffic, source, tcp):
    place = traffic.place(source)
    answer = ask(place, "to-l1.default.svc.cluster.local", tcp=tcp)
    assert [str(row.rdata) for row in answer.rr] == [traffic.vip("to-l1")]
    assert ask(place, "nobody.default.svc.cluster.local", tcp=tcp).header.rcode == RCODE.NXDOMAIN


@pytest.mark.reproduces(Feature.NODE_REACHES_SERVICE_IP)
@pytest.mark.parametrize("tcp", [False, True], ids=["udp", "tcp"])
def test_a_windows_node_itself_does_not_reach_the_dns_service(traffic, tcp):
    with pytest.raises(TimeoutError):
        ask(traffic.place("win01"), "to-l1.default.svc.cluster.local", tcp=tcp, wait_s=0.3)


def ask(place, name, *, tcp, wait_s=4.0):
    kind = socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM
    question = DNSRecord.question(name, "A").pack()
    with netns.socket_in(place.netns, kind=kind) as client:
        client.settimeout(wait_s)
        client.connect((DNS, 53))
        if not tcp:
            client.send(question)
            return DNSRecord.parse(client.recv(4096))
        client.sendall(len(question).to_bytes(2, "big") + question)
        stream = client.makefile("rb")
        with stream:
            length = int.from_bytes(stream.read(2), "big")
            answer = DNSRecord.parse(stream.read(length))
    assert answer.q.qtype == QTYPE.A
    return answer


@pytest.mark.parametrize("source", ["l1", "w1", "w3", "w4", "lin01", "master"])
def test_the_service_of_the_api_server_leads_to_a_node_address(traffic, source):
    """Its backend is no pod: the API server of ``master``."""
    answer = traffic.place(source).http("10.96.0.1", 443, wait_s=4)
    assert answer not in (REFUSED, SILENT, NO_ROUTE)
    assert traffic.place("win01").http("10.96.0.1", 443, wait_s=0.2) == SILENT


def test_a_linux_pod_asks_the_api_server_with_its_token(traffic):
    script = (
        "cd /var/run/secrets/kubernetes.io/serviceaccount && "
        'wget -q -O - --no-check-certificate --header "Authorization: Bearer $(cat token)" '
        "https://10.96.0.1:443/version https://kubernetes.default.svc/version"
    )
    text = traffic.run_in("l1", "sh", "-c", script)
    assert text.count('"gitVersion"') == 2, text


def test_a_windows_pod_asks_the_api_server_with_its_token(traffic):
    script = (
        "$dir = 'C:\\var\\run\\secrets\\kubernetes.io\\serviceaccount'; "
        "$token = Get-Content $dir\\token; "
        "foreach ($name in '10.96.0.1', 'kubernetes.default.svc.cluster.local') { "
        'curl.exe -sS -m 5 --cacert $dir\\ca.crt -H "Authorization: Bearer $token" '
        "https://${name}:443/version }"
    )
    text = traffic.run_in("w1", "powershell.exe", "-Command", script)
    assert text.count('"gitVersion"') == 2, text


@pytest.mark.parametrize("source", ["l1", "w1", "w3", "w4"])
def test_out_of_the_cluster_under_the_address_of_the_node(traffic, source):
    outside, place = traffic.place("outside"), traffic.place(source)
    node = traffic.nodes[{"l": "lin0", "w": "win0"}[source[0]] + source[1]]
    with traffic.serving(outside):
        assert place.tcp(OUTSIDE, PORT, wait_s=4) == f"outside {node}"
        assert place.udp(OUTSIDE, PORT, wait_s=4) == f"outside {node}"


@pytest.mark.parametrize("source", ["l1", "lin01", "win01", "master"])
def test_ping_out_of_the_cluster(traffic, source):
    assert traffic.place(source).ping(OUTSIDE)


@pytest.mark.reproduces(Feature.OUTBOUND_ICMP)
@pytest.mark.parametrize("source", ["w1", "w3", "w4"])
def test_windows_pods_cannot_ping_out_of_the_cluster(traffic, source):
    place = traffic.place(source)
    assert place.ping(OUTSIDE, wait_s=0.3) is None
    assert place.ping(traffic.nodes["lin01"]), "nodes they can"


def test_ping_exe_says_what_works(traffic):
    assert "Request timed out." in traffic.run_in("w1", "ping.exe", "-n", "1", OUTSIDE)
    other = traffic.ips["l2"]
    assert f"Reply from {other}" in traffic.run_in("w1", "ping.exe", "-n", "1", other)


def test_pods_reach_what_the_host_reaches(traffic):
    """By name, where this machine has a way out; a way that it has not, pods have not either."""
    try:
        socket.create_connection(("example.com", 80), timeout=3).close()
        expected = "Example Domain"
    except OSError:
        expected = ""
    for pod, command in (
        ("l1", ("wget", "-q", "-O", "-", "http://example.com/")),
        ("w1", ("curl.exe", "-s", "-m", "5", "http://example.com/")),
    ):
        text = traffic.run_in(pod, *command)
        assert expected in text
        assert expected or "Example Domain" not in text


def test_no_listener_of_the_host_is_reached(traffic):
    """Neither on its loopback, nor on its own addresses, nor by the relay's name for it."""
    host, port = traffic.place("shell"), traffic.cluster.port
    names = {*map(str, [*egress.host_addresses(), RELAY_GATEWAY])}
    with traffic.serving(host, HOST_PORT):
        assert host.tcp("127.0.0.1", HOST_PORT).startswith("shell")
        for source in ("l1", "w1", "lin01", "win01", "outside", "master"):
            for name in sorted(names):
                for number in (HOST_PORT, port):
                    answer = traffic.place(source).tcp(name, number, wait_s=0.3)
                    assert answer in (REFUSED, SILENT, NO_ROUTE), (source, name, number)


def test_what_a_windows_node_means_for_a_service_never_leaves_the_router(traffic):
    """It used to reach the host's network through the relay, where something may answer."""
    node, vip = traffic.place("win01"), traffic.vip("to-l1")
    assert (node.tcp(vip, 80, wait_s=0.3), node.udp(vip, 80, wait_s=0.3)) == (SILENT, SILENT)
