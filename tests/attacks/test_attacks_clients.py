"""Attacks by clients of the API: odd input, odd HTTP, and rights that they do not have."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import socket
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from attack_lab import DRIVE, Target, memory_mib, pod
from whole_cluster import eventually

REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
DEEP = 100_000


@dataclass
class Client:
    """Requests to the API server with one set of credentials."""

    port: int
    context: ssl.SSLContext
    token: str = ""

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, Any]:
        """Status and answer of one request on a connection of its own."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self.context, timeout=20
        )
        with contextlib.closing(connection):
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            text = answer.read().decode()
        with contextlib.suppress(ValueError):
            return answer.status, json.loads(text)
        return answer.status, text

    def raw(self, data: bytes) -> bytes:
        """What the server answers to ``data``, up to 64 KiB, until it closes or is silent."""
        answer = b""
        with self.socket() as connection, contextlib.suppress(TimeoutError):
            connection.settimeout(3)
            connection.sendall(data)
            while len(answer) < 65536 and (part := connection.recv(65536)):
                answer += part
        return answer

    def socket(self) -> ssl.SSLSocket:
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        return self.context.wrap_socket(plain, server_hostname="127.0.0.1")


@pytest.fixture(scope="session")
def admin(target: Target, tmp_path_factory: pytest.TempPathFactory) -> Client:
    config = yaml.safe_load(target.cluster.kubeconfig.read_text())
    user = config["users"][0]["user"]
    folder = tmp_path_factory.mktemp("admin")
    for name in ("client-certificate-data", "client-key-data"):
        (folder / name).write_bytes(base64.b64decode(user[name]))
    context = _context(config)
    context.load_cert_chain(folder / "client-certificate-data", folder / "client-key-data")
    return Client(target.cluster.port, context)


@pytest.fixture(scope="session")
def anonymous(target: Target) -> Client:
    config = yaml.safe_load(target.cluster.kubeconfig.read_text())
    return Client(target.cluster.port, _context(config))


@pytest.fixture(scope="session")
def account(target: Target, anonymous: Client) -> Client:
    """What a container can do: the token in its pod, of an account without rights."""
    token = target.cluster.kubectl(
        *("exec", "attacker-lin", "--", "/usr/bin/busybox", "cat"),
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
    ).stdout
    return Client(anonymous.port, anonymous.context, token.strip())


def _context(config: dict[str, Any]) -> ssl.SSLContext:
    authority = config["clusters"][0]["cluster"]["certificate-authority-data"]
    return ssl.create_default_context(cadata=base64.b64decode(authority).decode())


YAML_BOMBS = {
    "sequences": b"- " * DEEP + b"a",
    "keys": b"? " * DEEP + b"a",
    "brackets": b"[" * DEEP,
    "braces": b"{a: " * DEEP,
    "indentation": b"".join(b" " * n + b"a:\n" for n in range(1500)),
    "aliases": b"a: &a [x, x, x, x, x, x, x, x, x]\n"
    + b"".join(
        b"%c: &%c [%s]\n" % (n, n, b", ".join([b"*%c" % (n - 1)] * 9)) for n in range(98, 110)
    ),
    "tags": b"!!python/object/apply:os.system ['true']",
    "directives": b"%YAML 1.1\n" * 20_000,
}
JSON_BOMBS = {
    "arrays": b'{"spec": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "digits": b'{"spec": {"a": ' + b"9" * 1_000_000 + b"}}",
    "exponent": b'{"spec": {"a": 1e999999999}}',
    "keys": b'{"spec": {' + b",".join(b'"%d": 1' % n for n in range(200_000)) + b"}}",
}


@pytest.mark.parametrize("name", YAML_BOMBS)
def test_yaml_from_an_account_without_rights_is_refused(account: Client, name: str) -> None:
    status, _ = account.send("POST", REVIEW, YAML_BOMBS[name], Content_Type="application/yaml")
    assert 400 <= status < 500


@pytest.mark.parametrize("name", JSON_BOMBS)
def test_json_from_an_account_without_rights_is_refused(account: Client, name: str) -> None:
    status, _ = account.send("POST", REVIEW, JSON_BOMBS[name], Content_Type="application/json")
    assert 400 <= status < 500


def test_protobuf_that_is_nested_or_cut_is_refused(account: Client) -> None:
    nested = b""
    for _ in range(3000):
        nested = b"\x0a" + _varint(len(nested)) + nested
    for body in (
        b"k8s\0" + nested,
        b"k8s\0" + b"\x0a\xff\xff\xff\xff\x0f",
        b"k8s\0" + b"\xff" * 99,
    ):
        kind = "application/vnd.kubernetes.protobuf"
        status, _ = account.send("POST", REVIEW, body, Content_Type=kind)
        assert 400 <= status < 500


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/pods?limit=" + "9" * 5000,
        "/api/v1/pods?resourceVersion=" + "9" * 5000,
        "/api/v1/pods?watch=1&timeoutSeconds=" + "9" * 5000,
        "/api/v1/pods?fieldSelector=" + "a=b," * 2000,
        "/api/v1/pods?labelSelector=" + "(" * 4000,
        "/api/v1/pods?continue=" + "A" * 4000,
        "/api/v1/namespaces/default/pods/attacker-lin/log?tailLines=" + "9" * 5000,
        "/api/v1/namespaces/default/pods/attacker-lin/log?sinceTime=9999-99-99T99:99:99Z",
        "/api/v1/namespaces/default/pods/attacker-lin:%C2%B2/proxy/",
        "/api/v1/namespaces/default/pods/attacker-lin:99999/proxy/",
        "/api/v1/nodes/lin01:abc/proxy/",
        "/api/v1/nodes/lin01:-1/proxy/",
        "/api/v1/nodes/http:lin01:x@127.0.0.1/proxy/",
        "/api/v1/nodes/http:lin01:80@127.0.0.1:6443/proxy/",
    ],
)
def test_odd_parameters_are_refused(admin: Client, path: str) -> None:
    status, _ = admin.send("GET", path)
    assert 400 <= status < 500


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/v1/secrets", None),
        ("GET", "/api/v1/nodes/lin01/proxy/pods", None),
        ("GET", "/api/v1/namespaces/kube-system/configmaps", None),
        ("POST", "/api/v1/namespaces/kube-system/serviceaccounts/default/token", {
            "kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}),
        ("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "kind": "ClusterRoleBinding", "apiVersion": "rbac.authorization.k8s.io/v1",
            "metadata": {"name": "x"}, "roleRef": {"kind": "ClusterRole", "name": "cluster-admin",
            "apiGroup": "rbac.authorization.k8s.io"}}),
        ("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {}),
        ("POST", "/api/v1/namespaces/default/pods", {}),
        ("GET", "/api/v1/namespaces/default/pods/attacker-win/exec?command=cmd", None),
        ("PATCH", "/api/v1/nodes/lin01/status", {}),
        ("GET", "/metrics", None),
        ("GET", "/debug/pprof/", None),
        ("GET", "/logs/", None),
    ],
)  # fmt: skip
def test_the_token_of_a_pod_opens_nothing(
    account: Client, method: str, path: str, body: dict[str, Any] | None
) -> None:
    data = None if body is None else json.dumps(body).encode()
    status, _ = account.send(method, path, data, Content_Type="application/json")
    assert status in (403, 404), (method, path)


def test_impersonation_is_refused(account: Client, anonymous: Client) -> None:
    fields = {"Impersonate_User": "admin", "Impersonate_Group": "system:masters"}
    for client in (account, anonymous):
        status, _ = client.send("GET", "/api/v1/secrets", **fields)
        assert status == 403


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_forged_tokens_are_refused(account: Client, algorithm: str) -> None:
    _, payload, signature = account.token.split(".")
    head = base64.urlsafe_b64encode(json.dumps({"alg": algorithm}).encode()).rstrip(b"=").decode()
    for forged in (f"{head}.{payload}.", f"{head}.{payload}.{signature}"):
        client = Client(account.port, account.context, forged)
        assert client.send("GET", "/api/v1/namespaces/default")[0] == 401


def test_the_token_of_a_deleted_pod_is_refused(target: Target, account: Client) -> None:
    target.run_pod("lin", "short")
    target.cluster.wait_ready("short")
    token = target.cluster.kubectl(
        *("exec", "short", "--", "/usr/bin/busybox", "cat"),
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
    ).stdout
    client = Client(account.port, account.context, token.strip())
    assert client.send("GET", "/version")[0] == 200
    target.cluster.kubectl("delete", "pod", "short", "--timeout=30s")
    eventually(lambda: client.send("GET", "/version")[0] == 401, what="the token is refused")


def test_trailers_are_not_headers(admin: Client, account: Client) -> None:
    kind = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    review = json.dumps(kind).encode()
    request = (
        b"POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/json\r\nConnection: close\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\nImpersonate-User: x\r\n\r\n"
    ) % (len(review), review)
    answer = admin.raw(request)
    assert answer.startswith((b"HTTP/1.1 201", b"HTTP/1.1 400")), answer[:200]
    assert b'"username":"x"' not in answer


def test_bodies_of_unauthenticated_clients_are_not_read(anonymous: Client, target: Target) -> None:
    """40 connections announce 2.9 MB each and send most of it."""
    before = memory_mib(target, "control-plane")
    head = (
        b"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/json\r\nContent-Length: 2900000\r\n\r\n"
    )
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(anonymous.socket()) for _ in range(40)]
        for connection in sockets:
            connection.settimeout(0.5)
            with contextlib.suppress(OSError):
                connection.sendall(head)
                for _ in range(44):
                    connection.sendall(b" " * 65536)
        assert memory_mib(target, "control-plane") < before + 40
        assert anonymous.send("GET", "/readyz")[0] == 200


def test_slow_connections_do_not_delay_others(anonymous: Client) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            connection = stack.enter_context(anonymous.socket())
            connection.sendall(b"GET /version HTTP/1.1\r\nHost: ")
        began = time.monotonic()
        assert anonymous.send("GET", "/version")[0] == 200
        assert time.monotonic() - began < 5


def test_periods_without_end_can_be_deleted(target: Target, admin: Client) -> None:
    row = pod("lin", "eternal", terminationGracePeriodSeconds=2**63 - 1)
    target.cluster.apply(row)
    path = "/api/v1/namespaces/default/pods/eternal"
    for period in ("1" + "0" * 12, str(2**63 - 1)):
        body = f'{{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":{period}}}'
        status, _ = admin.send("DELETE", path, body.encode(), Content_Type="application/json")
        assert status < 500
    target.cluster.kubectl(
        *("delete", "pod", "eternal", "--ignore-not-found", "--grace-period=0", "--force")
    )


def test_a_health_port_without_newlines_ends_nothing(target: Target) -> None:
    command = ["/usr/bin/python3", "-ISE", "/attack/servers.py", "one-line", "32111"]
    port = {"containerPort": 32111, "hostPort": 32111}
    target.cluster.apply(pod("lin", "one-line", [{"command": command, "ports": [port]}]))
    target.cluster.apply({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "one-line"},
        "spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local",
                 "healthCheckNodePort": 32111, "selector": {"app": "none"},
                 "ports": [{"port": 80}]}})  # fmt: skip
    target.cluster.wait_ready("one-line")
    end = time.monotonic() + 6
    while time.monotonic() < end:
        assert target.components() == target.before
        time.sleep(1)
    target.cluster.kubectl("delete", "service,pod", "one-line")


@pytest.mark.parametrize(
    "addresses",
    [
        [None], [{"type": "InternalIP", "address": ""}], [{"type": "InternalIP", "address": "x"}],
        [{"type": "InternalIP", "address": "::1"}], [{"type": "Hostname", "address": None}],
        [{"type": "InternalIP", "address": "127.0.0.1"}],
    ],
)  # fmt: skip
def test_odd_addresses_of_a_node_end_nothing(
    target: Target, admin: Client, addresses: list[Any]
) -> None:
    """With a node's own rights; a proxied request to it never comes back to the control plane."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "odd"}}
    target.cluster.apply(node)
    patch = json.dumps({"status": {"addresses": addresses}}).encode()
    status, _ = admin.send(
        *("PATCH", "/api/v1/nodes/odd/status", patch),
        Content_Type="application/merge-patch+json",
        Impersonate_User="system:node:odd",
        Impersonate_Group="system:nodes",
    )
    assert status < 500
    status, text = admin.send("GET", f"/api/v1/nodes/http:odd:{target.cluster.port}/proxy/")
    assert status >= 400
    assert "HTTP request to an HTTPS server" not in str(text)
    time.sleep(0.5)
    assert target.components() == target.before
    target.cluster.kubectl("delete", "node", "odd")


def test_a_probe_without_end_fills_no_node(target: Target, system: str) -> None:
    name = f"endless-{system}"
    raw = [r"C:\attack\raw.exe", "/dev/null", f"{DRIVE}/attack/servers.py"]
    script = {"lin": ["/usr/bin/python3", "-ISE", "/attack/servers.py"], "win": raw}
    probe = {"httpGet": {"port": 8080}, "timeoutSeconds": 4, "periodSeconds": 1}
    row = {"command": [*script[system], "endless", "8080"], "readinessProbe": probe}
    target.cluster.apply(pod(system, name, [row]))
    node = {"lin": "lin01", "win": "win01"}[system]
    before = memory_mib(target, node)
    eventually(lambda: target.cluster.get("pod", name)["status"]["phase"] == "Running")
    time.sleep(6)
    assert memory_mib(target, node) < before + 30
    target.cluster.kubectl("delete", "pod", name, "--timeout=30s")


def test_the_kubeconfig_is_private(target: Target) -> None:
    assert Path(target.cluster.kubeconfig).stat().st_mode & 0o077 == 0
