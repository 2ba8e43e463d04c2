"""Answers in the form that a client accepts: JSON, YAML, protobuf, Tables, metadata only."""

import asyncio
import json
import struct

import pytest
import yaml
from api_in_process import MAPS, PODS, config_map, pod, run

from muntin.kit.protobuf import raw_fields
from muntin.model import protobuf

PROTOBUF = "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


async def asked(api, path, method="GET", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await api.transport.request(method, path, headers=named)


def test_yaml():
    async def scenario(_, api):
        await api("POST", MAPS, config_map("a", on="yes"))
        answer = await asked(api, f"{MAPS}/a", accept="application/yaml")
        assert answer.headers["content-type"] == "application/yaml"
        found = yaml.safe_load(answer.body)
        assert found["metadata"]["labels"] == {"on": "yes"}
        assert answer.body.startswith(b"apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\n")
        several = yaml.safe_load((await asked(api, MAPS, accept="application/yaml")).body)
        assert several["kind"] == "ConfigMapList"
        assert several["items"][0]["metadata"]["name"] == "a"
        missing = await asked(api, f"{MAPS}/none", accept="application/yaml")
        assert (missing.status, yaml.safe_load(missing.body)["reason"]) == (404, "NotFound")
        groups = yaml.safe_load((await asked(api, "/apis", accept="application/yaml")).body)
        assert groups["kind"] == "APIGroupList"

    run(scenario)


@pytest.mark.parametrize(
    ("query", "agent", "is_pretty"),
    [
        ("", "kubectl/v1.34", False),
        ("", "curl/8.0", True),
        ("", "Wget/1.21", True),
        ("", "Mozilla/5.0 (X11)", True),
        ("?pretty=true", "kubectl", True),
        ("?pretty=1", "kubectl", True),
        ("?pretty=false", "curl/8.0", False),
    ],
)
def test_json_for_human_eyes(query, agent, is_pretty):
    async def scenario(_, api):
        await api("POST", MAPS, config_map("a"))
        answer = await asked(api, f"{MAPS}/a{query}", user_agent=agent)
        assert answer.body.startswith(b'{\n  "kind"') == is_pretty
        assert json.loads(answer.body)["data"] == {"a": "b"}
        error = await asked(api, f"{MAPS}/none{query}", user_agent=agent)
        assert (b'\n  "status": "Failure"' in error.body) == is_pretty

    run(scenario)


# The ends of kube-apiserver's answers, recorded from 1.20.2 and 1.36.
ENDS = {
    MAPS: b"]}\n",
    f"{MAPS}/a": b"}\n",
    f"{MAPS}/none": b'"code":404}\n',
    "/api": b"]}\n",
    "/apis": b"]}\n",
    "/apis/apps": b"}}\n",
    "/apis/apps/v1": b"]}\n",
    "/api/v1/componentstatuses": b"]}\n",
    "/version": b'"\n}',
    "/openapi/v3": b"}}}",
    "/.well-known/openid-configuration": b'"]}',
}


@pytest.mark.parametrize("path", ENDS)
def test_an_object_ends_with_a_newline_and_a_document_with_none(path):
    async def scenario(_, api):
        await api("POST", MAPS, config_map("a"))
        answer = await asked(api, path, user_agent="kubectl")
        assert answer.body.endswith(ENDS[path])
        assert answer.body.count(b"\n") == ENDS[path].count(b"\n") or path == "/version"
        table = await asked(api, MAPS, accept=TABLE)
        assert table.body.endswith(b"]}\n")
        written = await asked(api, MAPS, "DELETE")
        assert written.body.endswith(b"]}\n")

    run(scenario)


def test_protobuf_only_for_those_who_take_nothing_else():
    async def scenario(_, api):
        await api("POST", MAPS, config_map("a"))
        both = await asked(api, f"{MAPS}/a", accept=f"{PROTOBUF},application/json")
        assert both.headers["content-type"] == "application/json"
        answer = await asked(api, f"{MAPS}/a", accept=PROTOBUF)
        assert answer.headers["content-type"] == PROTOBUF
        found = protobuf.decode_body(answer.body)
        assert (found["kind"], found["data"]) == ("ConfigMap", {"a": "b"})
        several = protobuf.decode_body((await asked(api, MAPS, accept=PROTOBUF)).body)
        assert several["kind"] == "ConfigMapList"
        assert several["items"][0]["metadata"]["name"] == "a"
        missing = await asked(api, f"{MAPS}/none", accept=PROTOBUF)
        assert missing.status == 404
        assert protobuf.decode_body(missing.body)["reason"] == "NotFound"
        groups = protobuf.decode_body((await asked(api, "/apis", accept=PROTOBUF)).body)
        assert groups["kind"] == "APIGroupList"
        form = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
        partial = protobuf.decode_body((await asked(api, f"{MAPS}/a", accept=form)).body)
        assert (partial["kind"], partial["metadata"]["name"]) == ("PartialObjectMetadata", "a")

    run(scenario)


def test_a_watch_in_protobuf():
    async def scenario(_, api):
        await api("POST", MAPS, config_map("a"))
        path = f"{MAPS}?watch=true&fieldSelector=metadata.name%3Da"
        async with api.transport.stream("GET", path, headers={"accept": PROTOBUF}) as answer:
            assert answer.headers["content-type"] == f"{PROTOBUF};stream=watch"
            frame = await asyncio.wait_for(anext(answer.chunks), 5)
        (size,) = struct.unpack(">I", frame[:4])
        event = {number: value for number, _, value in raw_fields(frame[4 : 4 + size])}
        ((_, _, raw),) = raw_fields(event[2])
        assert event[1] == b"ADDED"
        assert protobuf.decode_body(raw)["metadata"]["name"] == "a"

    run(scenario)


@pytest.mark.parametrize("accept", ["application/cbor", "text/html", "image/png;q=0.5"])
def test_what_cannot_be_had(accept):
    async def scenario(_, api):
        answer = await asked(api, MAPS, accept=accept)
        assert answer.status == 406
        found = json.loads(answer.body)
        assert found["reason"] == "NotAcceptable"
        assert found["message"].startswith(
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf"
        )
        stream = await asked(api, f"{MAPS}?watch=true", accept="application/yaml")
        assert stream.status == 406

    run(scenario)


@pytest.mark.parametrize(
    "path, body",
    [
        ("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
         {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}),
        ("/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {}}),
    ],
)  # fmt: skip
def test_reviews_and_token_requests_have_no_table(path, body):
    """Upstream: "should return a 406 for a backend which does not implement metadata"."""

    async def scenario(_, api):
        refused = await api("POST", path, body, headers={"accept": TABLE}, code=406)
        assert refused["reason"] == "NotAcceptable"
        for name in ("binding", "eviction"):
            pod = f"/api/v1/namespaces/default/pods/none/{name}"
            await api("POST", pod, {}, headers={"accept": TABLE}, code=406)
        either = {"accept": f"{TABLE},application/json"}
        assert "status" in await api("POST", path, body, headers=either)
        partial = {"accept": TABLE.replace("Table", "PartialObjectMetadata")}
        assert (await api("POST", path, body, headers=partial)).keys() == {
            "kind", "apiVersion", "metadata"
        }  # fmt: skip

    run(scenario)


def test_a_body_in_cbor_is_refused():
    async def scenario(_, api):
        headers = {"content-type": "application/cbor"}
        answer = await api.transport.request("POST", MAPS, headers=headers, body=b"\xa0")
        assert answer.status == 415

    run(scenario)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_metadata_alone(version):
    async def scenario(_, api):
        await api("POST", PODS, pod("a"))
        form = f"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v={version}"
        found = json.loads((await asked(api, f"{PODS}/a", accept=form)).body)
        assert (found["kind"], found["apiVersion"]) == (
            "PartialObjectMetadata",
            f"meta.k8s.io/{version}",
        )
        assert found.keys() == {"kind", "apiVersion", "metadata"}
        form = f"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v={version}"
        several = json.loads((await asked(api, PODS, accept=form)).body)
        assert several["kind"] == "PartialObjectMetadataList"
        assert several["items"][0]["kind"] == "PartialObjectMetadata"
        path = f"{PODS}?watch=true"
        async with api.transport.stream("GET", path, headers={"accept": form}) as answer:
            event = json.loads(await asyncio.wait_for(anext(answer.chunks), 5))
        assert event["object"]["kind"] == "PartialObjectMetadata"

    run(scenario)


def columns_of(table):
    return [column["name"] for column in table["columnDefinitions"]]


@pytest.mark.parametrize(
    ("version", "path", "wanted"),
    [
        ("1.20", "/apis/batch/v1/jobs", ["Name", "Completions", "Duration", "Age"]),
        ("1.34", "/apis/batch/v1/jobs", ["Name", "Status", "Completions", "Duration", "Age"]),
        ("1.20", "/api/v1/resourcequotas", ["Name", "Age", "Request", "Limit"]),
        ("1.34", "/api/v1/resourcequotas", ["Name", "Request", "Limit", "Age"]),
        ("1.34", "/api/v1/serviceaccounts", ["Name", "Secrets", "Age"]),
        ("1.35", "/api/v1/serviceaccounts", ["Name", "Age"]),
    ],
)
def test_the_columns_are_those_of_the_version(version, path, wanted):
    async def scenario(_, api):
        table = json.loads((await asked(api, path, accept=TABLE)).body)
        shown = [row["name"] for row in table["columnDefinitions"] if not row["priority"]]
        assert shown == wanted

    run(scenario, version=version)


def test_an_older_version_is_shown_as_the_newest_is():
    ingress = {
        "metadata": {"name": "a"},
        "spec": {
            "rules": [
                {
                    "host": "h",
                    "http": {"paths": [{"backend": {"serviceName": "s", "servicePort": 80}}]},
                }
            ]
        },
    }

    async def scenario(_, api):
        path = "/apis/extensions/v1beta1/namespaces/default/ingresses"
        await api("POST", path, ingress)
        old = json.loads((await asked(api, f"{path}?includeObject=Object", accept=TABLE)).body)
        new = path.replace("extensions/v1beta1", "networking.k8s.io/v1")
        table = json.loads((await asked(api, new, accept=TABLE)).body)
        assert old["rows"][0]["cells"] == table["rows"][0]["cells"]
        assert old["rows"][0]["cells"][:3] == ["a", "<none>", "h"]
        shown = old["rows"][0]["object"]
        assert shown["apiVersion"] == "extensions/v1beta1"
        paths = shown["spec"]["rules"][0]["http"]["paths"]
        assert paths[0]["backend"] == {"serviceName": "s", "servicePort": 80}
        gone = await api("DELETE", path)
        assert gone["apiVersion"] == "extensions/v1beta1"
        backend = gone["items"][0]["spec"]["rules"][0]["http"]["paths"][0]["backend"]
        assert backend["serviceName"] == "s"

    run(scenario, version="1.20")
