"""Well-formed requests with one odd value each: no answer is a 500, and what was stored can go.

Each poisoned object that a client may store is deleted again, with its whole grace period, and its
namespace is read as a list and a Table.
"""

import http.client
import json
import re
import ssl
import time

import poisoned_requests
import pytest
from apiserver_process import ServerProcess
from crontabs import crontab, definition

SLOW_S = 10.0
# Upstream answers with these codes, too: for a timeout of a nanosecond, and for a node or pod that
# has no address.
BY_CONTRACT = (501, 502, 503, 504)


class Client:
    def __init__(self, process):
        context = ssl.create_default_context(cafile=process.directory / "ca.crt")
        context.load_cert_chain(process.directory / "admin.crt", process.directory / "admin.key")
        self._new = lambda: http.client.HTTPSConnection(
            "127.0.0.1", process.port, context=context, timeout=30
        )
        self._connection = self._new()

    def __call__(self, method, path, headers=None, body=b""):
        """Status and body; 0 when the server closes without an answer."""
        connection = self._connection
        try:
            # As bytes: http.client refuses characters that a peer may send.
            connection.putrequest(method, "/", skip_host=True, skip_accept_encoding=True)
            connection._buffer[0] = f"{method} {path} HTTP/1.1".encode()
            connection.putheader("Host", "x")
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, ConnectionError):
            connection.close()
            self._connection = self._new()
            return 0, b""

    def close(self):
        self._connection.close()

    def json(self, method, path, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        return self(method, path, {"content-type": "application/json"}, data)


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    server = ServerProcess(tmp_path_factory.mktemp("poisoned"), version="1.36")
    server.start()
    yield server
    server.stop()


def seed(client):
    core = poisoned_requests.CORE
    pod = poisoned_requests.pod("run")
    crds = poisoned_requests.GROUPS["definitions"]
    for path, body in (
        (f"{core}/serviceaccounts", {"metadata": {"name": "default"}}),
        (f"{core}/configmaps", {"metadata": {"name": "one"}}),
        ("/api/v1/nodes", {"metadata": {"name": "node"}}),
        (f"{core}/pods", {**pod, "spec": {**pod["spec"], "nodeName": "node"}}),
        (crds, definition()),
        (crds, poisoned_requests.FORMATTED),
    ):
        code, answer = client.json("POST", path, body)
        assert code == 201, answer
    where = "/apis/stable.example.com/v1/namespaces/default/crontabs"
    for path, body in (
        (where, crontab("one")),
        ("/apis/poison.example.com/v1/namespaces/default/poisons",
         {"apiVersion": "poison.example.com/v1", "kind": "Poisons", "metadata": {"name": "p"}}),
    ):  # fmt: skip
        deadline = time.monotonic() + 10
        while (answer := client.json("POST", path, body))[0] != 201:
            assert time.monotonic() < deadline, answer
            time.sleep(0.05)


@pytest.fixture
def client(process):
    api = Client(process)
    seed(api)
    yield api
    api.close()


def test_no_poisoned_request_is_answered_with_a_500(process, client):
    wrong, slow, codes = [], [], {}
    for name, method, path, headers, body in poisoned_requests.requests():
        began = time.monotonic()
        code, answer = client(method, path, headers, body)
        if time.monotonic() - began > SLOW_S:
            slow.append(name)
        codes[code] = codes.get(code, 0) + 1
        if code >= 500 and code not in BY_CONTRACT:
            wrong.append((code, name, answer[:300]))
        if code == 201 and "/pods" not in path:
            removed(client, path, answer, wrong)
        elif code == 201:
            deleted_gracefully(client, path, answer, wrong)
    assert wrong == [], (len(wrong), codes)
    assert slow == []
    assert codes[400] + codes[422] > 500, codes
    assert sum(codes.values()) > 1_000
    assert unexpected(client) == 0
    assert "Traceback" not in process.log


def removed(client, path, answer, wrong):
    """What could be stored can be listed and deleted."""
    name = json.loads(answer).get("metadata", {}).get("name")
    if not name:
        return
    target = f"{path.partition('?')[0]}/{name}"
    code, text = client("DELETE", target)
    if code >= 500:
        wrong.append((code, f"DELETE {target}", text[:300]))


def deleted_gracefully(client, path, answer, wrong):
    """A pod that runs somewhere is deleted with its own grace period, evicted, and forced."""
    meta = json.loads(answer)["metadata"]
    target = f"{path}/{meta['name']}"
    bound = {"target": {"kind": "Node", "name": "node"}, "metadata": {"name": meta["name"]}}
    client.json("POST", f"{target}/binding", bound)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": meta["name"]}}
    for method, where, body in (
        ("POST", f"{target}/eviction", eviction),
        ("DELETE", target, {"gracePeriodSeconds": 2**63 - 1}),
        ("DELETE", target, {"gracePeriodSeconds": 10**12}),
        ("DELETE", target, None),
        ("GET", path, None),
        ("DELETE", f"{target}?gracePeriodSeconds=0", None),
    ):
        code, body_text = client.json(method, where, body)
        if code >= 500:
            wrong.append((code, f"{method} {where}", body_text[:300]))


def unexpected(client):
    """The server's own count of exceptions that it did not expect."""
    code, text = client("GET", "/metrics")
    assert code == 200
    assert b"# TYPE muntin_apiserver_unexpected_errors_total counter" in text
    rows = re.findall(rb"(?m)^muntin_apiserver_unexpected_errors_total\{.*\} (\d+)", text)
    return sum(map(int, rows))
