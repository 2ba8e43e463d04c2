"""Strict field validation reports errors in document order, as upstream."""

from __future__ import annotations

import pytest

from muntin.model import schema, strict_fields
from muntin.model.decoding import Undecodable
from muntin.model.resources import CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, Resource

TYPES = schema.load("1.34")


def reported(text: str, resource: Resource = DEPLOYMENTS) -> list[str]:
    return strict_fields.of_json(TYPES, TYPES.type_of(resource), text.encode())


def test_unknown_and_duplicate_fields_are_reported_in_document_order() -> None:
    """Upstream: "should detect unknown and duplicate fields of a typed object"."""
    assert reported("""{
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "labels": {"app": "nginx", "app": "x"}},
        "spec": {
            "unknown1": "v1", "unknownDup": "v1", "unknownDup": "v2",
            "paused": true, "paused": false,
            "selector": {"matchLabels": {"app": "nginx"}},
            "template": {"spec": {"containers": [{
                "name": "nginx", "unknownNested": {"a": 1, "a": 2},
                "imagePullPolicy": "Always", "imagePullPolicy": "Never"
            }]}}
        },
        "zzz": 1
    }""") == [
        'duplicate field "metadata.labels.app"',
        'unknown field "spec.unknown1"',
        'unknown field "spec.unknownDup"',
        'duplicate field "spec.paused"',
        'unknown field "spec.template.spec.containers[0].unknownNested"',
        'duplicate field "spec.template.spec.containers[0].imagePullPolicy"',
        'unknown field "zzz"',
    ]


def test_a_value_that_a_later_one_replaces_is_looked_at() -> None:
    assert reported('{"spec": {"a": 1}, "spec": {"b": 1}}') == [
        'unknown field "spec.a"', 'duplicate field "spec"', 'unknown field "spec.b"'
    ]  # fmt: skip


def test_values_of_any_type_have_no_unknown_fields() -> None:
    managed = '[{"fieldsV1": {"f:x": {}, "f:x": {}}}]'
    schema = '{"properties": {"a": {"items": {"odd": 1}, "default": {"x": 1}}}}'
    versions = f'[{{"schema": {{"openAPIV3Schema": {schema}}}}}]'
    text = f'{{"metadata": {{"managedFields": {managed}}}, "spec": {{"versions": {versions}}}}}'
    place = "spec.versions[0].schema.openAPIV3Schema.properties.a.items"
    assert reported(text, CUSTOM_RESOURCE_DEFINITIONS) == [f'unknown field "{place}.odd"']


def test_a_hundred_errors_at_most() -> None:
    fields = ", ".join(f'"x{number}": 1' for number in range(200))
    assert len(reported(f"{{{fields}}}")) == 100


@pytest.mark.parametrize("text", ["{", '{"a":' * 5000 + "1" + "}" * 5000])
def test_what_is_not_json(text: str) -> None:
    with pytest.raises(Undecodable, match="the body is not JSON"):
        reported(text)
