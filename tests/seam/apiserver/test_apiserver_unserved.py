"""Paths that are not served: refused to whoever may not ask, and only then not found.

As kube-apiserver 1.36 answers; what it says word by word is among its recorded answers.
"""

import json

import pytest
from api_in_process import run

from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.handler import Handler
from muntin.apiserver.request import User

NOBODY = User("jane", ("system:authenticated",))


def answers(user, method, path, **headers):
    """Status and body of one request of ``user``, or of an administrator."""

    async def scenario(server, api):
        transport = DirectTransport(Handler(server.core), user) if user else api.transport
        answer = await transport.request(method, path, headers=headers)
        found.append((answer.status, answer.body))

    found = []
    run(scenario)
    return found[0]


@pytest.mark.parametrize(
    ("method", "path", "words"),
    [
        ("GET", "/api/v1/things", 'cannot list resource "things" in API group "" at the cluster'),
        ("GET", "/apis/none.example/v1/things/x", 'cannot get resource "things" in API group'),
        ("DELETE", "/api/v1/pods", 'cannot deletecollection resource "pods"'),
        ("PUT", "/api/v1/namespaces/a/pods", 'cannot update resource "pods" in API group "" in'),
    ],
)
def test_who_may_not_ask_does_not_learn_what_there_is(method, path, words):
    status, body = answers(NOBODY, method, path)
    assert status == 403
    assert words in json.loads(body)["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/things", 404),
        ("GET", "/apis/apps/v9/things", 404),
        ("DELETE", "/api/v1/pods", 405),
        ("HEAD", "/api/v1/nodes", 405),
        ("GET", "/apis/apps/v1/namespaces/a/deployments/d/scale/more", 404),
        ("POST", "/version", 405),
    ],
)
def test_within_a_group_it_is_a_status(method, path, status):
    found, body = answers(None, method, path)
    assert found == status
    assert json.loads(body)["details"] == {}


@pytest.mark.parametrize(
    "path", ["/nothing", "/apis/none.example", "/apis/none.example/v1/things", "/metrics/", "/ui"]
)
def test_beyond_all_groups_there_is_no_page(path):
    assert answers(None, "GET", path) == (404, b"404 page not found\n")


@pytest.mark.parametrize("path", ["/api", "/apis/apps/v1", "/api/v1/namespaces/default"])
def test_unknown_media_types_are_refused(path):
    status, body = answers(None, "GET", path, accept="application/xml")
    assert status == 406
    assert json.loads(body)["message"].startswith("406: Not Acceptable\n\nAvailable represent")


def test_members_of_a_list_do_not_repeat_their_kind():
    _, body = answers(None, "GET", "/api/v1/namespaces")
    found = json.loads(body)
    assert found["kind"] == "NamespaceList"
    assert len(found["items"]) == 4
    assert not any({"kind", "apiVersion"} & item.keys() for item in found["items"])
