"""curl, nslookup and the small tools, and the names that Windows' resolver asks for."""

from __future__ import annotations

import http.server
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from dnslib import QTYPE, RCODE, RR, SRV, A, DNSRecord

from muntin.winruntime.inside import PROGRAMS, install, nslookup
from muntin.winruntime.inside.powershell import resolver


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        routes = {"/moved": 302, "/missing": 404}
        status = routes.get(self.path, 200)
        size = int(self.headers.get("Content-Length", "0"))
        body = f"{self.command} {self.path} {self.headers['X-A']} ".encode() + self.rfile.read(size)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/final")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_POST = do_HEAD = do_PUT = do_GET

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def web() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("args", "code", "out"),
    [
        (["-s", "URL/a"], 0, b"GET /a None "),
        (["-s", "-H", "X-A: 7", "-d", "k=v", "-d", "q", "URL/p"], 0, b"POST /p 7 k=v&q"),
        (["-sX", "PUT", "--data-raw", "@x", "URL/p"], 0, b"PUT /p None @x"),
        (["-sG", "-d", "k=v", "URL/p"], 0, b"GET /p?k=v None "),
        (["-s", "-L", "URL/moved"], 0, b"GET /final None "),
        (["-s", "URL/moved", "-o", "NUL", "-w", "%{http_code} %{num_redirects}\\n"], 0, b"302 0\n"),
        (["-sS", "-f", "URL/missing"], 22, b""),
        (["-s", "-o", "NUL", "-w", "%{http_code}", "http://127.0.0.1:1/"], 7, b"000"),
        (["-s", "http://nosuch.invalid/"], 6, b""),
        (["-s", "ftp://x/"], 1, b""),
        (["--nonsense", "URL"], 2, b""),
        (["-x", "http://nosuch.invalid", "URL"], 5, b""),
        ([], 2, b""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_curl(container_program, web, args, code, out):
    result = container_program("curl", *[arg.replace("URL", web) for arg in args])
    assert (result.returncode, result.stdout) == (code, out)


def test_curl_shows_headers_and_errors(container_program, web, drive_c):
    shown = container_program("curl", "-sI", f"{web}/a").stdout
    assert shown.startswith(b"HTTP/1.1 200 OK\r\n")
    assert shown.endswith(b"\r\n\r\n")
    failed = container_program("curl", "-sSf", f"{web}/missing")
    assert failed.stderr == b"curl: (22) The requested URL returned error: 404\n"
    container_program("curl", "-s", "-o", "C:\\data\\page.txt", f"{web}/a")
    assert (drive_c / "data/page.txt").read_bytes() == b"GET /a None "
    assert container_program("curl", "-s", "-o", "C:\\no\\x", f"{web}/a").returncode == 23


def test_curl_times_out(container_program):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        result = container_program("curl", "-sS", "-m", "0.2", url)
    assert result.returncode == 28
    assert b"curl: (28) Operation timed out after" in result.stderr


# --- names ---------------------------------------------------------------------------------

RECORDS = {
    ("kubernetes.default.svc.cluster.local", "A"): [A("10.96.0.1")],
    ("_https._tcp.kubernetes.default.svc.cluster.local", "SRV"): [
        SRV(0, 100, 443, "kubernetes.default.svc.cluster.local")
    ],
}


class Names(socketserver.BaseRequestHandler):
    asked: list[str] = []  # noqa: RUF012 - one list for the server of one test

    def handle(self) -> None:
        data, sock = self.request
        query = DNSRecord.parse(data)
        name, kind = str(query.q.qname).rstrip("."), str(QTYPE[query.q.qtype])
        self.asked.append(f"{name} {kind}")
        reply = query.reply()
        rows = RECORDS.get((name, kind))
        if rows is None and not any(known == name for known, _ in RECORDS):
            reply.header.rcode = RCODE.NXDOMAIN
        for row in rows or []:
            reply.add_answer(RR(name, getattr(QTYPE, kind), rdata=row, ttl=5))
        sock.sendto(reply.pack(), self.client_address)


@pytest.fixture
def asked(monkeypatch) -> Iterator[list[str]]:
    """A DNS server with one pod's configuration; what it was asked."""
    Names.asked = []
    with socketserver.UDPServer(("127.0.0.1", 0), Names) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        config = resolver.Configuration(("127.0.0.1",), "default.svc.cluster.local")
        monkeypatch.setattr(resolver, "PORT", server.server_address[1])
        monkeypatch.setattr(resolver, "TIMEOUTS_S", (30.0,))
        monkeypatch.setattr(resolver, "configuration", lambda: config)
        monkeypatch.setattr(nslookup, "configuration", lambda: config)
        yield Names.asked
        server.shutdown()
        thread.join()


def test_windows_adds_its_one_suffix_to_names_without_a_dot(asked, powershell):
    result = powershell('Resolve-DnsName kubernetes -Type A | % { "$($_.Name) $($_.IPAddress)" }')
    assert result.out == "kubernetes.default.svc.cluster.local 10.96.0.1\n"
    assert asked == ["kubernetes.default.svc.cluster.local A"]


def test_in_between_names_do_not_resolve(asked, powershell):
    result = powershell("Resolve-DnsName kubernetes.default -Type A")
    assert result.code == 1
    assert result.err.startswith("Resolve-DnsName : kubernetes.default : DNS name does not exist\n")
    assert asked == ["kubernetes.default A"]


def test_service_records(asked, powershell):
    name = "_https._tcp.kubernetes.default.svc.cluster.local"
    result = powershell(f"$r = Resolve-DnsName {name} -Type SRV; $r.Port; $r.NameTarget")
    assert result.out == "443\nkubernetes.default.svc.cluster.local\n"


def test_nslookup(asked, capfdbinary):
    assert nslookup.main(["kubernetes.default.svc.cluster.local"]) == 0
    out, _ = capfdbinary.readouterr()
    assert out == (
        b"Server:  UnKnown\r\nAddress:  127.0.0.1\r\n\r\n"
        b"Name:    kubernetes.default.svc.cluster.local\r\nAddress:  10.96.0.1\r\n\r\n"
    )
    assert nslookup.main(["nope.default"]) == 1
    assert (
        b"*** UnKnown can't find nope.default: Non-existent domain" in capfdbinary.readouterr().err
    )


# --- the rest ------------------------------------------------------------------------------


def test_findstr(container_program):
    assert container_program("findstr", "/n", "/i", "B", stdin=b"a\nxb\n").stdout == b"2:xb\r\n"
    assert container_program("findstr", "/v", "/c:a b", stdin=b"a b\nc\n").stdout == b"c\r\n"
    assert container_program("findstr", "zzz", stdin=b"a\n").returncode == 1


def test_where_and_timeout(container_program, drive_c):
    (drive_c / "windows/system32/Tool.EXE").write_bytes(b"MZ")
    found = container_program("where", "tool").stdout
    assert found.lower() == b"c:\\windows\\system32\\tool.exe\r\n"
    assert container_program("where", "nosuch").returncode == 1
    assert container_program("timeout", "/t", "0", "/nobreak").returncode == 0
    assert container_program("timeout", "x").returncode == 1


def test_every_program_starts(container_program):
    for name in PROGRAMS:
        result = container_program(name, "/?", stdin=b"")
        assert b"Traceback" not in result.stderr, name
    assert container_program("format").returncode == 127


def test_install_compiles_for_the_systems_python(tmp_path: Path):
    target = tmp_path / "inside"
    install.install(target)
    assert list((target / "powershell/__pycache__").glob("evaluator.*.pyc"))
    assert not (target / "install.py").exists()


def test_tar_there_and_back(container_program, tmp_path):
    drive = tmp_path / "drive_c"
    (drive / "From/Deep").mkdir(parents=True)
    (drive / "From/a.txt").write_bytes(b"first")
    (drive / "From/Deep/b.bin").write_bytes(bytes(range(256)))
    made = container_program("tar", "cf", "-", "c:\\from")
    assert made.returncode == 0
    listed = container_program("tar", "-tf", "-", stdin=made.stdout).stdout.split()
    assert sorted(listed) == [b"from", b"from/Deep", b"from/Deep/b.bin", b"from/a.txt"]
    (drive / "to").mkdir()
    options = ("--no-same-permissions", "--no-same-owner", "-xmf", "-", "-C", "/to")
    assert container_program("tar", *options, stdin=made.stdout).returncode == 0
    assert (drive / "to/from/Deep/b.bin").read_bytes() == bytes(range(256))


def test_tar_says_what_is_wrong(container_program):
    missing = container_program("tar", "cf", "-", "nosuch")
    assert (missing.returncode, b"nosuch: Couldn't find file" in missing.stderr) == (1, True)
    assert container_program("tar", "-f", "-").returncode == 1
    assert container_program("tar", "-xf", "-", "-C", "C:\\nosuch").returncode == 1
    assert container_program("tar", "-xf", "-", stdin=b"no archive").returncode == 1
