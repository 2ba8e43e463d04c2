"""A server that is killed in the midst of custom resources: nothing is lost, nothing leaks."""

import json
import ssl
import time
import urllib.error
import urllib.request

import pytest
from apiserver_process import ServerProcess
from crontabs import CRDS, CRON, GROUP, NAME, crontab, definition


@pytest.fixture
def own_server(tmp_path):
    server = ServerProcess(tmp_path)
    server.start()
    yield server
    server.stop()


def ask(server, method, path, body=None, content_type="application/json"):
    """The status and the object of one answer; each call has a connection of its own."""
    context = ssl.create_default_context(cafile=server.directory / "ca.crt")
    context.load_cert_chain(server.directory / "admin.crt", server.directory / "admin.key")
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"https://127.0.0.1:{server.port}{path}",
        data,
        {"Content-Type": content_type, "Connection": "close"},
        method=method,
    )
    try:
        with urllib.request.urlopen(request, context=context, timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as err:
        with err:
            is_json = "json" in err.headers["Content-Type"]  # what is not served at all is text
            return err.code, json.loads(err.read()) if is_json else None


def until(server, path, code):
    end = time.monotonic() + 5
    while time.monotonic() < end:
        found = ask(server, "GET", path)
        if found[0] == code:
            return found[1]
        time.sleep(0.01)
    raise AssertionError(found)


def test_killed_right_after_a_definition_was_made(own_server):
    assert ask(own_server, "POST", CRDS, definition())[0] == 201
    own_server.stop(kill=True)
    own_server.start()
    until(own_server, CRON, 200)
    assert ask(own_server, "POST", CRON, crontab())[0] == 201


def test_killed_while_a_definition_goes(own_server):
    ask(own_server, "POST", CRDS, definition())
    until(own_server, CRON, 200)
    for number in range(200):
        assert ask(own_server, "POST", CRON, crontab(f"c{number}"))[0] == 201
    assert ask(own_server, "DELETE", f"{CRDS}/{NAME}")[0] == 200
    own_server.stop(kill=True)
    own_server.start()
    until(own_server, f"{CRDS}/{NAME}", 404)
    assert ask(own_server, "GET", CRON)[0] == 404
    # Made anew, it has none of the old objects.
    ask(own_server, "POST", CRDS, definition())
    found = until(own_server, CRON, 200)
    assert found["items"] == []
    assert found["kind"] == "CronTabList"
    assert found["apiVersion"] == f"{GROUP}/v1"
