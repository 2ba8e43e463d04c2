"""Discovery and OpenAPI documents, as clients read them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.kit.protobuf import raw_fields
from muntin.model import discovery, openapi, resources, schema
from muntin.model.openapi import gnostic

TYPES = schema.load("1.34")
ROWS = resources.served(TYPES)


def test_legacy_and_aggregated_say_the_same() -> None:
    legacy = set()
    for group, versions in discovery.groups(ROWS).items():
        for version in versions:
            document = discovery.api_resource_list(ROWS, group, version)
            assert document is not None
            legacy |= {(group, version, row["name"]) for row in document["resources"]}
    aggregated = set()
    for core in (True, False):
        for item in discovery.aggregated(ROWS, core=core)["items"]:
            group = item["metadata"].get("name", "")
            for version in item["versions"]:
                for row in version["resources"]:
                    aggregated.add((group, version["version"], row["resource"]))
                    aggregated |= {
                        (group, version["version"], f"{row['resource']}/{sub['subresource']}")
                        for sub in row.get("subresources", ())
                    }
    assert legacy == aggregated


def test_pods_in_discovery() -> None:
    document = discovery.api_resource_list(ROWS, "", "v1")
    assert document is not None
    rows = {row["name"]: row for row in document["resources"]}
    assert rows["pods"]["shortNames"] == ["po"]
    assert rows["pods/eviction"] == {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "group": "policy",
        "version": "v1",
        "kind": "Eviction",
        "verbs": ["create"],
    }
    # Upstream's own value for core v1 Pod.
    assert rows["pods"]["storageVersionHash"] == "xPOwRZ+Yhw8="


def test_groups() -> None:
    group = discovery.api_group(ROWS, "autoscaling")
    assert group is not None
    assert group["preferredVersion"]["version"] == "v2"
    assert discovery.api_group(ROWS, "nope") is None
    assert discovery.api_resource_list(ROWS, "apps", "v9") is None
    assert "" not in [row["name"] for row in discovery.api_group_list(ROWS)["groups"]]


def test_openapi_v3_document() -> None:
    index = json.loads(openapi.v3_index(TYPES, ROWS))["paths"]
    assert index["apis/apps/v1"]["serverRelativeURL"].startswith("/openapi/v3/apis/apps/v1?hash=")
    document = json.loads(openapi.v3_document(TYPES, ROWS, "apis/apps/v1"))
    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Deployment"
    assert "fieldValidation" in {row["name"] for row in patch["parameters"]}
    spec = document["components"]["schemas"]["io.k8s.api.apps.v1.DeploymentSpec"]
    assert spec["required"] == ["selector", "template"]


@pytest.mark.parametrize("version", ["1.20", "1.34"])
def test_every_reference_of_the_v2_document_is_defined(version: str) -> None:
    types = schema.load(version)
    rows = resources.served(types)
    text = openapi.v2_json(types, rows).decode()
    definitions = json.loads(text)["definitions"]
    references = {part.split('"')[0] for part in text.split("#/definitions/")[1:]}
    assert references <= definitions.keys()


def test_hash_depends_on_version_group_and_resources() -> None:
    old, rows = schema.load("1.20"), resources.served(TYPES)
    core = openapi.v3_hash(TYPES, rows, "api/v1")
    assert openapi.v3_hash(old, rows, "api/v1") != core
    assert openapi.v3_hash(TYPES, rows, "apis/apps/v1") != core
    assert openapi.v3_hash(TYPES, rows[1:], "api/v1") != core
    assert openapi.v3_hash(TYPES, rows[:-1], "api/v1") == core


def values(data: bytes, number: int) -> list[bytes]:
    return [value for at, _, value in raw_fields(data) if at == number and isinstance(value, bytes)]


def test_gnostic_document_has_the_definitions_where_clients_look() -> None:
    document = openapi.v2_document(TYPES, ROWS)
    encoded = openapi.v2_gnostic(TYPES, ROWS)
    (definitions,) = values(encoded, 9)
    named = {values(row, 1)[0].decode(): values(row, 2)[0] for row in values(definitions, 1)}
    assert named.keys() == document["definitions"].keys()
    pod = named["io.k8s.api.core.v1.Pod"]
    extensions = {values(row, 1)[0]: values(values(row, 2)[0], 2)[0] for row in values(pod, 31)}
    kinds = json.loads(extensions[b"x-kubernetes-group-version-kind"])
    assert kinds == [{"group": "", "kind": "Pod", "version": "v1"}]
    (properties,) = values(pod, 25)
    members = {values(row, 1)[0].decode() for row in values(properties, 1)}
    assert members == {"apiVersion", "kind", "metadata", "spec", "status"}


def test_gnostic_paths_tell_that_patch_takes_dry_run() -> None:
    (paths,) = values(openapi.v2_gnostic(TYPES, ROWS), 8)
    items = {values(row, 1)[0].decode(): values(row, 2)[0] for row in values(paths, 2)}
    (patch,) = values(items["/api/v1/namespaces/{namespace}/pods/{name}"], 8)
    others = [other for row in values(patch, 8) for other in values(values(row, 1)[0], 2)]
    queries = [values(other, 3)[0] for other in others]
    assert b"dryRun" in {values(query, 4)[0] for query in queries}


@given(st.text(max_size=5), st.sampled_from(["string", "integer"]))
def test_gnostic_schema_keeps_type_and_description(text: str, kind: str) -> None:
    info = {"title": "t", "version": "v"}
    definitions = {"a": {"type": kind, "description": text}}
    document = {"swagger": "2.0", "info": info, "paths": {}, "definitions": definitions}
    (found,) = values(gnostic.encode(document), 9)
    (schema_,) = values(values(found, 1)[0], 2)
    assert values(schema_, 4) == [text.encode()]
    assert values(values(schema_, 22)[0], 1) == [kind.encode()]
