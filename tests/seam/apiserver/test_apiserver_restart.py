"""A server that is killed forgets nothing that it acknowledged, and watches go on."""

import http.client
import json
import ssl

import pytest
from apiserver_process import ServerProcess

PATH = "/api/v1/namespaces/default/configmaps"


class Client:
    def __init__(self, server):
        context = ssl.create_default_context(cafile=server.directory / "ca.crt")
        context.load_cert_chain(server.directory / "admin.crt", server.directory / "admin.key")
        self._connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context)

    def __call__(self, method, path, body=None):
        data = None if body is None else json.dumps(body)
        self._connection.request(method, path, data, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        found = json.loads(answer.read())
        assert answer.status < 400, found
        return found

    def first_events(self, path, count):
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        return [json.loads(answer.readline()) for _ in range(count)]

    def close(self):
        self._connection.close()


@pytest.fixture
def own_server(tmp_path):
    server = ServerProcess(tmp_path)
    server.start()
    yield server
    server.stop()


def test_kill_9_and_restart(own_server):
    client = Client(own_server)
    made = [client("POST", PATH, {"metadata": {"name": f"c{n}"}}) for n in range(20)]
    client("DELETE", f"{PATH}/c3")
    client.close()
    own_server.stop(kill=True)
    own_server.start()
    client = Client(own_server)
    names = [item["metadata"]["name"] for item in client("GET", PATH)["items"]]
    assert len(names) == 19
    assert "c3" not in names
    again = client("GET", f"{PATH}/c7")
    assert again["metadata"] == made[7]["metadata"]
    newest = client("POST", PATH, {"metadata": {"name": "new"}})["metadata"]["resourceVersion"]
    assert int(newest) > int(made[-1]["metadata"]["resourceVersion"])
    version = made[18]["metadata"]["resourceVersion"]
    events = client.first_events(f"{PATH}?watch=1&resourceVersion={version}", 3)
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in events] == [
        ("ADDED", "c19"),
        ("DELETED", "c3"),
        ("ADDED", "new"),
    ]
    client.close()


def test_a_certificate_of_a_stranger_is_not_let_in(own_server, tmp_path_factory):
    other = ServerProcess(tmp_path_factory.mktemp("other"))
    other.port = own_server.port
    context = ssl.create_default_context(cafile=own_server.directory / "ca.crt")
    context.load_cert_chain(other.directory / "admin.crt", other.directory / "admin.key")
    connection = http.client.HTTPSConnection("127.0.0.1", own_server.port, context=context)

    def ask():
        connection.request("GET", "/version")
        connection.getresponse()

    with pytest.raises((ssl.SSLError, ConnectionError)):
        ask()
    connection.close()


def test_a_wrong_token_is_unauthorized(own_server):
    context = ssl.create_default_context(cafile=own_server.directory / "ca.crt")
    connection = http.client.HTTPSConnection("127.0.0.1", own_server.port, context=context)
    connection.request("GET", "/api/v1/pods", headers={"Authorization": "Bearer a.b.c"})
    answer = connection.getresponse()
    status = json.loads(answer.read())
    assert (answer.status, status["reason"]) == (401, "Unauthorized")
    connection.close()
