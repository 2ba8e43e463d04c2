"""Which schemas are structural: one row per rule, with upstream's words."""

import pytest

from muntin.model.custom.structural_rules import violations

OBJECT = {"type": "object"}
STRING = {"type": "string"}
EITHER = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}


def props(**properties):
    return {"type": "object", "properties": properties}


GOOD = [
    OBJECT,
    props(a=STRING, b={"type": "array", "items": STRING}),
    props(a={"type": "object", "additionalProperties": STRING}),
    props(a={"x-kubernetes-preserve-unknown-fields": True}),
    props(a=EITHER),
    props(a={"x-kubernetes-int-or-string": True,
             "allOf": [{"anyOf": EITHER["anyOf"]}, {"pattern": "a"}]}),
    props(a={"type": "object", "x-kubernetes-embedded-resource": True,
             "x-kubernetes-preserve-unknown-fields": True}),
    props(a={"type": "object", "x-kubernetes-embedded-resource": True, "properties":
             {"kind": STRING, "metadata": OBJECT}}),
    props(metadata=props(name={"type": "string", "pattern": "^a"}, generateName=STRING)),
    {**props(a=STRING, b=STRING), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {**props(a=STRING), "allOf": [{"properties": {"a": {"minLength": 1}}}],
     "not": {"properties": {"a": {"enum": ["x"]}}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", GOOD)
def test_structural_schemas(schema):
    assert violations(schema, "s") == []


NESTED = "anyOf[0]"
BAD = [
    ({}, "type", "Required value: must not be empty at the root"),
    (STRING, "type", 'Invalid value: "string": must be object at the root'),
    (props(a={}), "properties[a].type",
     "Required value: must not be empty for specified object fields"),
    (props(a={"type": "array"}), "properties[a].items", "Required value: must be specified"),
    (props(a={"type": "array", "items": {}}), "properties[a].items.type",
     "Required value: must not be empty for specified array items"),
    ({**OBJECT, "additionalProperties": STRING}, "additionalProperties",
     "Forbidden: must not be used at the root"),
    (props(a={"type": "object", "additionalProperties": {}}),
     "properties[a].additionalProperties.type",
     "Required value: must not be empty for specified object fields"),
    (props(a={"x-kubernetes-embedded-resource": True,
              "x-kubernetes-preserve-unknown-fields": True}), "properties[a].type",
     "Required value: must be object if x-kubernetes-embedded-resource is true"),
    (props(a={"type": "string", "x-kubernetes-embedded-resource": True,
              "x-kubernetes-preserve-unknown-fields": True}), "properties[a].type",
     'Invalid value: "string": must be object if x-kubernetes-embedded-resource is true'),
    (props(a={"type": "object", "x-kubernetes-embedded-resource": True}),
     "properties[a].properties",
     "Required value: must not be empty if x-kubernetes-embedded-resource is true without "
     "x-kubernetes-preserve-unknown-fields"),
    (props(a={"type": "object", "x-kubernetes-embedded-resource": True,
              "x-kubernetes-preserve-unknown-fields": True, "additionalProperties": STRING}),
     "properties[a].additionalProperties",
     "Forbidden: must not be used if x-kubernetes-embedded-resource is set"),
    (props(a={**EITHER, "x-kubernetes-preserve-unknown-fields": True}),
     "properties[a].x-kubernetes-preserve-unknown-fields",
     "Invalid value: true: must be false if x-kubernetes-int-or-string is true"),
    (props(kind={"type": "integer"}), "properties[kind].type",
     'Invalid value: "integer": must be string'),
    (props(apiVersion=OBJECT), "properties[apiVersion].type",
     'Invalid value: "object": must be string'),
    (props(metadata=STRING), "properties[metadata].type",
     'Invalid value: "string": must be object'),
    (props(metadata=props(labels=OBJECT)), "properties[metadata]",
     "Forbidden: must not specify anything other than name and generateName, but metadata is "
     "implicitly specified"),
    (props(a={"type": "string", "pattern": "("}), "properties[a].pattern",
     'Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: '
     "missing closing ): `(`"),
    ({**OBJECT, "anyOf": [{"type": "object"}]}, f"{NESTED}.type",
     "Forbidden: must be empty to be structural"),
    ({**OBJECT, "anyOf": [{"additionalProperties": False}]}, f"{NESTED}.additionalProperties",
     "Forbidden: must be undefined to be structural"),
    ({**OBJECT, "anyOf": [{"default": {"a": 1}}]}, f"{NESTED}.default",
     "Forbidden: must be undefined to be structural"),
    ({**OBJECT, "anyOf": [{"title": "x"}]}, f"{NESTED}.title",
     "Forbidden: must be empty to be structural"),
    ({**OBJECT, "anyOf": [{"description": "x"}]}, f"{NESTED}.description",
     "Forbidden: must be empty to be structural"),
    ({**OBJECT, "anyOf": [{"nullable": True}]}, f"{NESTED}.nullable",
     "Forbidden: must be false to be structural"),
    ({**OBJECT, "anyOf": [{"x-kubernetes-preserve-unknown-fields": True}]},
     f"{NESTED}.x-kubernetes-preserve-unknown-fields", "Forbidden: must be false to be structural"),
    ({**OBJECT, "anyOf": [{"x-kubernetes-embedded-resource": True}]},
     f"{NESTED}.x-kubernetes-embedded-resource", "Forbidden: must be false to be structural"),
    ({**OBJECT, "anyOf": [{"x-kubernetes-int-or-string": True}]},
     f"{NESTED}.x-kubernetes-int-or-string", "Forbidden: must be false to be structural"),
    ({**OBJECT, "anyOf": [{"x-kubernetes-list-map-keys": ["a"]}]},
     f"{NESTED}.x-kubernetes-list-map-keys", "Forbidden: must be empty to be structural"),
    ({**OBJECT, "anyOf": [{"x-kubernetes-list-type": "set"}]},
     f"{NESTED}.x-kubernetes-list-type", "Forbidden: must be undefined to be structural"),
    ({**OBJECT, "anyOf": [{"x-kubernetes-map-type": "atomic"}]},
     f"{NESTED}.x-kubernetes-map-type", "Forbidden: must be undefined to be structural"),
    ({**OBJECT, "anyOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]},
     f"{NESTED}.x-kubernetes-validations", "Forbidden: must be empty to be structural"),
    ({**props(metadata=OBJECT), "not": {"properties": {"metadata": {}}}},
     "not.properties[metadata]", "Forbidden: must not be specified in a nested context"),
    ({**OBJECT, "allOf": [{"properties": {"a": {"minimum": 1}}}]}, "properties[a]",
     "Required value: because it is defined in s.allOf[0].properties[a]"),
    ({**props(a={"type": "object"}), "oneOf": [{"properties": {"a": {"items": {}}}}]},
     "properties[a].items",
     "Required value: because it is defined in s.oneOf[0].properties[a].items"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "place", "message"), BAD, ids=[row[1] for row in BAD])
def test_what_keeps_a_schema_from_being_structural(schema, place, message):
    found = [(cause.field, cause.message) for cause in violations(schema, "s")]
    assert (f"s.{place}", message) in found
    assert len(found) == 1, found
