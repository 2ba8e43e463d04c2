"""The client of the Kubernetes API: paths, errors, watches, repeats."""

import asyncio

import orjson
import pytest
from scripted_transport import ScriptedTransport, reset, status

from muntin.kit import errors
from muntin.kit.errors import Cause
from muntin.model.resources import DEPLOYMENTS, NODES, PODS
from muntin.seams.kube.client import Client
from muntin.seams.kube.discovery import preferred_resources
from muntin.seams.kube.http import ServerConfig, load_kubeconfig


def pod(name="a", **meta):
    return {"metadata": {"name": name, "namespace": "ns", **meta}}


@pytest.mark.parametrize(
    "call, method, path",
    [
        (lambda c: c.get(PODS, "a", "ns"), "GET", "/api/v1/namespaces/ns/pods/a"),
        (lambda c: c.get(NODES, "n"), "GET", "/api/v1/nodes/n"),
        (lambda c: c.list(DEPLOYMENTS), "GET", "/apis/apps/v1/deployments"),
        (
            lambda c: c.list(PODS, "ns", label_selector="a in (b)", field_selector="x=y"),
            "GET",
            "/api/v1/namespaces/ns/pods?labelSelector=a+in+%28b%29&fieldSelector=x%3Dy",
        ),
        (lambda c: c.create(PODS, pod()), "POST", "/api/v1/namespaces/ns/pods"),
        (
            lambda c: c.create(PODS, pod(), subresource="binding"),
            "POST",
            "/api/v1/namespaces/ns/pods/a/binding",
        ),
        (
            lambda c: c.update(PODS, pod(), subresource="status"),
            "PUT",
            "/api/v1/namespaces/ns/pods/a/status",
        ),
        (lambda c: c.patch(PODS, "a", {}, "ns"), "PATCH", "/api/v1/namespaces/ns/pods/a"),
        (lambda c: c.delete(PODS, "a", "ns"), "DELETE", "/api/v1/namespaces/ns/pods/a"),
    ],
)
def test_each_verb_asks_the_path_of_its_object(call, method, path):
    # a kind that had several versions is first looked up in discovery
    answer = {"metadata": {"resourceVersion": "7"}, "resources": [{"name": "deployments"}]}
    transport = ScriptedTransport(answers=[(200, answer)] * 2)
    asyncio.run(call(Client(transport)))
    assert transport.asked[-1][:2] == (method, path)


def test_delete_sends_its_options():
    transport = ScriptedTransport(answers=[(200, {})])
    asyncio.run(
        Client(transport).delete(
            PODS, "a", "ns", grace_period_s=0, uid="u", propagation_policy="Orphan"
        )
    )
    assert transport.asked[0][2] == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u"},
        "propagationPolicy": "Orphan",
    }


def test_items_of_a_list_get_their_kind():
    transport = ScriptedTransport(
        answers=[(200, {"metadata": {"resourceVersion": "7"}, "items": [pod()]})]
    )
    found = asyncio.run(Client(transport).list(PODS))
    assert found.resource_version == "7"
    assert found.items[0]["kind"] == "Pod"
    assert found.items[0]["apiVersion"] == "v1"


@pytest.mark.parametrize(
    "code, reason, error",
    [
        (404, "NotFound", errors.NotFound),
        (409, "AlreadyExists", errors.AlreadyExists),
        (409, "Conflict", errors.Conflict),
        (409, "", errors.Conflict),
        (422, "Invalid", errors.Invalid),
        (400, "BadRequest", errors.Invalid),
        (403, "Forbidden", errors.Forbidden),
        (401, "Unauthorized", errors.Forbidden),
        (405, "MethodNotAllowed", errors.Unsupported),
        (429, "TooManyRequests", errors.Exhausted),
        (410, "Expired", errors.Gone),
        (410, "Gone", errors.Gone),
        (503, "ServiceUnavailable", errors.Unavailable),
        (500, "InternalError", errors.Internal),
        (504, "Timeout", errors.TimedOut),
        (418, "Teapot", errors.Internal),
    ],
)
def test_a_status_is_the_error_it_stands_for(code, reason, error):
    transport = ScriptedTransport(answers=[(code, status(code, reason, "said so"))] * 3)
    with pytest.raises(error, match="said so") as info:
        asyncio.run(Client(transport).get(PODS, "a", "ns"))
    assert type(info.value) is error


def test_causes_arrive():
    cause = {"reason": "FieldValueInvalid", "field": "spec.x", "message": "bad"}
    transport = ScriptedTransport(answers=[(422, status(422, "Invalid", "no", [cause]))])
    with pytest.raises(errors.Invalid) as info:
        asyncio.run(Client(transport).create(PODS, pod()))
    assert info.value.causes == (Cause("FieldValueInvalid", "spec.x", "bad"),)


def test_an_error_that_is_no_status_says_what_was_answered():
    transport = ScriptedTransport(answers=[(502, b"<html>bad gateway")])
    with pytest.raises(errors.Unavailable, match="502: <html>bad gateway"):
        asyncio.run(Client(transport).create(PODS, pod()))


def test_reads_and_conditional_writes_are_repeated_when_the_connection_breaks():
    transport = ScriptedTransport(answers=[reset(), reset(), (200, {})])
    asyncio.run(Client(transport).get(PODS, "a", "ns"))
    assert len(transport.asked) == 3
    transport = ScriptedTransport(answers=[reset(), (201, {})])
    with pytest.raises(errors.Unavailable):
        asyncio.run(Client(transport).create(PODS, pod()))
    assert len(transport.asked) == 1


def watch(transport):
    async def main():
        return [event async for event in Client(transport).watch(PODS, resource_version="5")]

    return asyncio.run(main())


def test_watch_events_are_parsed_however_they_were_cut():
    lines = b"".join(
        orjson.dumps({"type": kind, "object": pod(name)}) + b"\n"
        for kind, name in (("ADDED", "a"), ("MODIFIED", "b"), ("BOOKMARK", "c"))
    )
    cuts = [lines[at : at + 7] for at in range(0, len(lines), 7)]
    transport = ScriptedTransport(streams=[cuts])
    events = watch(transport)
    assert [(event.type, event.object["metadata"]["name"]) for event in events] == [
        ("ADDED", "a"),
        ("MODIFIED", "b"),
        ("BOOKMARK", "c"),
    ]
    assert transport.asked[0][1] == (
        "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=5"
    )


def test_an_error_event_is_raised():
    gone = {"type": "ERROR", "object": status(410, "Expired", "too old")}
    with pytest.raises(errors.Gone, match="too old"):
        watch(ScriptedTransport(streams=[[orjson.dumps(gone) + b"\n"]]))


@pytest.mark.parametrize("line", [b"<html>", b"[]", b'{"type": "ADDED"}'])
def test_what_is_no_event_is_an_error_of_ours(line):
    with pytest.raises(errors.Internal):
        watch(ScriptedTransport(streams=[[line + b"\n"]]))


def test_an_answer_that_is_not_json_is_an_error_of_ours():
    with pytest.raises(errors.Internal, match="not JSON"):
        asyncio.run(Client(ScriptedTransport(answers=[(200, b"<html>")])).get(PODS, "a", "ns"))


def test_discovery_of_an_aggregated_server_gives_each_resource_once():
    def entry(name, kind, scope="Namespaced"):
        return {
            "resource": name,
            "responseKind": {"kind": kind},
            "scope": scope,
            "verbs": ["get", "list"],
        }

    core = {"items": [{"versions": [{"version": "v1", "resources": [entry("pods", "Pod")]}]}]}
    named = {
        "items": [
            {
                "metadata": {"name": "policy"},
                "versions": [
                    {"version": "v1", "resources": [entry("x", "X", "Cluster")]},
                    {"version": "v1beta1", "resources": [entry("x", "X"), entry("y", "Y")]},
                ],
            }
        ]
    }
    for answer in (core, named):
        answer["kind"] = "APIGroupDiscoveryList"
    transport = ScriptedTransport(answers=[(200, core), (200, named)])
    found = asyncio.run(preferred_resources(Client(transport)))
    assert [(row.api_version, row.plural, row.namespaced) for row in found] == [
        ("v1", "pods", True),
        ("policy/v1", "x", False),
        ("policy/v1beta1", "y", True),
    ]


def test_discovery_of_an_older_server_reads_its_documents():
    pods = {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["list"]}
    answers = [
        (200, {"kind": "APIVersions", "versions": ["v1"]}),
        (200, {"resources": [pods, {**pods, "name": "pods/status"}]}),
        (200, {"kind": "APIGroupList", "groups": [{"name": "g", "versions": [{"version": "v2"}]}]}),
        (200, {"resources": [{**pods, "name": "gs", "kind": "G"}]}),
    ]
    transport = ScriptedTransport(answers=answers)
    found = asyncio.run(preferred_resources(Client(transport)))
    assert [(row.api_version, row.plural) for row in found] == [("v1", "pods"), ("g/v2", "gs")]
    assert [path for _, path, _ in transport.asked] == ["/api", "/api/v1", "/apis", "/apis/g/v2"]


KUBECONFIG = """
current-context: one
contexts:
- {name: one, context: {cluster: c, user: u}}
- {name: two, context: {cluster: c, user: plugin}}
clusters:
- {name: c, cluster: {server: "https://h:6443", certificate-authority-data: Y2E=}}
users:
- {name: u, user: {client-certificate: cert.pem, client-key-data: a2V5}}
- {name: plugin, user: {exec: {command: x}}}
"""


def test_a_kubeconfig_is_read_with_the_files_beside_it(tmp_path):
    (tmp_path / "config").write_text(KUBECONFIG)
    (tmp_path / "cert.pem").write_text("cert")
    assert load_kubeconfig(tmp_path / "config") == ServerConfig(
        server="https://h:6443", ca=b"ca", certificate=b"cert", key=b"key"
    )
    with pytest.raises(errors.Invalid, match="credential plugin"):
        load_kubeconfig(tmp_path / "config", "two")
    with pytest.raises(errors.NotFound, match="no context 'three'; it has: one, two"):
        load_kubeconfig(tmp_path / "config", "three")
    with pytest.raises(errors.NotFound, match="No such file"):
        load_kubeconfig(tmp_path / "none")


def test_secrets_do_not_show_in_logs():
    shown = repr(ServerConfig(server="https://h", key=b"s3cret", token="s3cret"))
    assert "s3cret" not in shown
