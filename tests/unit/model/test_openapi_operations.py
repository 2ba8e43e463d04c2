"""The operations of the OpenAPI documents are those of kube-apiserver's.

tests/golden/upstream/openapi/VERSION.tsv was recorded from /openapi/v2 of kube-apiserver: method,
path, operationId, action, kind, query parameters, type of the body (? if it may be left out), and
the types of the answers.
"""

import json
from pathlib import Path

import pytest

from muntin.model import openapi, schema
from muntin.model.resources import served

RECORDED = Path(__file__).parent.parent.parent / "golden" / "upstream" / "openapi"
# Parameters that one of the two has and the other has not, with the reason.
PARAMETERS = {
    "shardSelector": "an alpha feature that is off",
    "exact": "export went with 1.21 and was of no use before",
    "export": "export went with 1.21 and was of no use before",
}
OLD = {
    "fieldValidation": "an old API validates fields as newer ones do",
    "sendInitialEvents": "an old API streams lists as newer ones do",
}
NOT_SERVED = ("/logs/",)


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield row(path, method, operation, item.get("parameters", []))


def row(path, method, operation, shared):
    parameters = [*operation.get("parameters", ()), *shared]
    kind = operation.get("x-kubernetes-group-version-kind") or {}
    body = [one for one in parameters if one["in"] == "body"]
    text = "".join(reference(one) + ("" if one.get("required") else "?") for one in body)
    answers = operation["responses"].items()
    return (
        method,
        path,
        operation["operationId"],
        operation.get("x-kubernetes-action", ""),
        " ".join(kind.get(name, "") for name in ("group", "version", "kind")).strip(),
        frozenset(one["name"] for one in parameters if one["in"] == "query"),
        text,
        {code: reference(answer) for code, answer in answers if code != "401"},
    )


def reference(holder):
    return holder.get("schema", {}).get("$ref", "").rpartition("/")[2]


def recorded(version):
    for line in (RECORDED / f"{version}.tsv").read_text().splitlines():
        *front, query, body, answers = line.split("\t")
        pairs = dict(one.split("=") for one in answers.split(";")) if answers else {}
        yield (*front, frozenset(query.split(",")) - {""} - PARAMETERS.keys(), body, pairs)


@pytest.mark.parametrize("version", ["1.20", "1.36"])
def test_operations_are_those_of_kube_apiserver(version):
    types = schema.load(version)
    ours = {found[:2]: found for found in operations(openapi.v2_document(types, served(types)))}
    theirs = {found[:2]: found for found in recorded(version)}
    missing = {path for _, path in theirs.keys() - ours.keys()}
    assert {path for path in missing if not any(name in path for name in NOT_SERVED)} == set()
    assert ours.keys() - theirs.keys() == set()
    for key in ours.keys() & theirs.keys():
        assert comparable(ours[key], version) == comparable(theirs[key], version), key


def comparable(found, version):
    *front, query, body, answers = found
    if version == "1.20":
        # a patch that creates was not yet announced
        answers = {
            code: kind for code, kind in answers.items() if (found[0], code) != ("patch", "201")
        }
        query -= OLD.keys()
    return (*front, query, body, answers)


@pytest.mark.parametrize("version", ["1.20", "1.36"])
def test_both_forms_have_the_same_operations(version):
    types = schema.load(version)
    rows = served(types)
    two = openapi.v2_document(types, rows)
    paths = {}
    for name in json.loads(openapi.v3_index(types, rows))["paths"]:
        document = json.loads(openapi.v3_document(types, rows, name))
        known = document["components"]["schemas"].keys()
        named = set(references(document))
        assert {one.removeprefix("#/components/schemas/") for one in named} <= known, name
        paths |= document["paths"]
    assert paths.keys() == two["paths"].keys()
    for path, item in paths.items():
        assert item.keys() == two["paths"][path].keys(), path
    assert {one.removeprefix("#/definitions/") for one in references(two)} <= two[
        "definitions"
    ].keys()


def references(value):
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref" and isinstance(item, str):  # a field may have that name
                yield item
            else:
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def test_identifiers_are_unique():
    types = schema.load("1.36")
    names = [found[2] for found in operations(openapi.v2_document(types, served(types)))]
    assert len(set(names)) == len(names) > 700
