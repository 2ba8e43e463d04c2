"""Custom resources in OpenAPI documents, as kubectl and upstream's specs read them."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.model.custom import openapi
from muntin.model.custom.definition import Definition, Version

Json = dict[str, Any]
KIND, LIST = "com.example.v1.Tab", "com.example.v1.TabList"
OPEN = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
GVK = "x-kubernetes-group-version-kind"


def version(schema: Json | None, **spec: Any) -> Version:
    names = {"kind": "Tab", "plural": "tabs", "listKind": "TabList"}
    raw: Json = {"name": "v1", "served": True, "storage": True}
    if schema is not None:
        raw["schema"] = {"openAPIV3Schema": schema}
    obj = {
        "metadata": {"name": "tabs.example.com"},
        "spec": {"group": "example.com", "names": names, "versions": [raw], **spec},
    }
    return Definition(obj).versions["v1"]


def test_fields_of_all_objects_are_described() -> None:
    made = version({"type": "object", "properties": {"spec": {"type": "object"}}})
    two, three = openapi.v2(made)[KIND]["properties"], openapi.v3(made)[KIND]["properties"]
    assert two.keys() == three.keys() == {"apiVersion", "kind", "metadata", "spec"}
    for name in ("apiVersion", "kind"):
        assert two[name] == three[name]
        assert two[name]["description"].lower().startswith(f"{name.lower()} ")
    text = (
        "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/"
        "sig-architecture/api-conventions.md#metadata"
    )
    meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    assert two["metadata"] == {"$ref": f"#/definitions/{meta}", "description": text}
    wrapped = [{"$ref": f"#/components/schemas/{meta}"}]
    assert three["metadata"] == {"allOf": wrapped, "description": text}


def test_lists_are_described() -> None:
    listed = openapi.v2(version(None))[LIST]
    assert listed["description"] == "TabList is a list of Tab"
    assert listed["properties"]["items"]["description"].startswith("List of tabs. More info: ")
    assert listed["properties"]["items"]["items"] == {"$ref": f"#/definitions/{KIND}"}


@pytest.mark.parametrize(
    "schema, spec",
    [
        (None, {}),
        ({"type": "object", OPEN: True, "properties": {"spec": {"type": "object"}}}, {}),
        ({"type": "object"}, {"preserveUnknownFields": True}),
    ],
)
def test_kubectl_takes_any_field_where_the_root_is_open(schema: Json | None, spec: Json) -> None:
    made = version(schema, **spec)
    place = [{"group": "example.com", "version": "v1", "kind": "Tab"}]
    assert openapi.v2(made)[KIND] == {"type": "object", GVK: place}
    assert ("properties" in openapi.v3(made)[KIND]) is (schema is not None)


def test_an_embedded_object_has_what_objects_have() -> None:
    inner = {"type": "object", EMBEDDED: True, "required": ["kind", "spec"]}
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": inner},
            "any": {**inner, OPEN: True},
        },
    }
    two = openapi.v2(version(schema))[KIND]["properties"]
    items = two["list"]["items"]
    assert items["properties"].keys() == {"apiVersion", "kind", "metadata"}
    assert items["properties"]["kind"]["description"].startswith("kind is a string value")
    assert items["required"] == ["kind", "spec", "apiVersion"]
    assert "properties" not in two["any"]  # kubectl would refuse all others
    three = openapi.v3(version(schema))[KIND]["properties"]["any"]
    assert three["properties"].keys() == {"apiVersion", "kind", "metadata"}
