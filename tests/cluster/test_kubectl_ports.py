"""kubectl port-forward and proxy, to Linux and Windows pods and their Services."""

from __future__ import annotations

import concurrent.futures
import re
import socket
import urllib.request
from collections.abc import Iterator

import pytest
from samples import Lines, User
from whole_cluster import eventually


@pytest.fixture
def service(user: User, system: str) -> Iterator[str]:
    name = f"{system}-web"
    user("expose", "pod", system, f"--name={name}", "--port=8080", "--target-port=80")
    try:
        address = "jsonpath={.subsets[*].addresses[*].ip}"
        eventually(lambda: user("get", "endpoints", name, "-o", address), what="an endpoint")
        yield name
    finally:
        user("delete", "service", name)


def _port(lines: Lines) -> int:
    found = re.search(r"127\.0\.0\.1:(\d+) ->", lines.wait("Forwarding from 127.0.0.1"))
    assert found
    return int(found[1])


def _get(port: int, path: str = "/") -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        text: str = answer.read().decode()
    return text


def test_to_a_pod_with_several_connections(user: User, system: str):
    with user.running("port-forward", f"pod/{system}", ":80") as lines:
        port = _port(lines)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(_get, [port] * 8))
        assert [answer.strip() for answer in answers] == [f"hello from {system}"] * 8


def test_to_a_service(user: User, system: str, service: str):
    with user.running("port-forward", f"service/{service}", ":8080") as lines:
        assert _get(_port(lines)).strip() == f"hello from {system}"
    error = user.fails("port-forward", f"service/{service}", ":81")
    assert "does not have a service port 81" in error


def test_a_port_where_nobody_listens(user: User, system: str):
    with user.running("port-forward", f"pod/{system}", ":9999") as lines:
        with socket.create_connection(("127.0.0.1", _port(lines)), timeout=10) as connection:
            assert connection.recv(100) == b""
        line = lines.wait("error forwarding port 9999")
        assert {"lin": "connection refused", "win": "actively refused"}[system] in line


def test_to_what_does_not_run(user: User):
    assert 'pods "nosuch" not found' in user.fails("port-forward", "pod/nosuch", ":80")


def test_the_api_servers_proxy_reaches_pods_and_services(user: User, system: str, service: str):
    base = "/api/v1/namespaces/samples"
    hello = f"hello from {system}"
    assert user("get", "--raw", f"{base}/pods/{system}:80/proxy/").strip() == hello
    assert user("get", "--raw", f"{base}/services/{service}:8080/proxy/").strip() == hello


def test_kubectl_proxy(user: User, system: str):
    with user.running("proxy", "--port=0") as lines:
        found = re.search(r"127\.0\.0\.1:(\d+)", lines.wait("Starting to serve on"))
        assert found
        text = _get(int(found[1]), f"/api/v1/namespaces/samples/pods/{system}")
        assert f'"name":"{system}"' in text.replace(" ", "")
