"""What is wrong with definitions: one row per rule, with upstream's fields and words."""

from copy import deepcopy

import pytest

from muntin.model.custom import definition_rules
from muntin.model.validation.findings import Findings

STRING = {"type": "string"}
# What the only version says is said for all versions, but for its own name and deprecation.
V = "spec"
S = f"{V}.validation.openAPIV3Schema"
PLAIN = {"type": "object", "properties": {"spec": {"type": "object", "properties": {}}}}


def definition(schema=None, *, group="example.com", version=None, **spec):
    found = {
        "name": "v1", "served": True, "storage": True,
        "schema": {"openAPIV3Schema": schema or PLAIN}, **(version or {}),
    }  # fmt: skip
    names = {"plural": "dogs", "singular": "dog", "kind": "Dog", "listKind": "DogList"}
    return {
        "metadata": {"name": f"dogs.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": names,
            "versions": [found],
            "conversion": {"strategy": "None"},
            **spec,
        },
        "status": {"storedVersions": ["v1"]},
    }


def wrong(obj):
    found = Findings()
    definition_rules.validate_create(obj, found)
    return [(cause.field, cause.message) for cause in found.causes]


def field(schema, **more):
    return {"type": "object", "properties": {"a": schema}, **more}


def test_a_plain_definition_is_good():
    assert wrong(definition()) == []


def test_the_name_is_plural_and_group():
    obj = definition()
    obj["metadata"]["name"] = "cats.example.com"
    assert wrong(obj) == [
        ("metadata.name",
         'Invalid value: "cats.example.com": must be spec.names.plural+"."+spec.group')
    ]  # fmt: skip


LABEL = "a DNS-1035 label must consist of lower case alphanumeric characters or '-'"
SPECS = [
    ({"group": "dogs"}, "spec.group",
     'Invalid value: "dogs": should be a domain with at least one dot'),
    ({"scope": "Galaxy"}, "spec.scope",
     'Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'),
    ({"scope": ""}, "spec.scope", "Required value"),
    ({"names": {"plural": "dogs", "singular": "dog", "kind": "Dog", "listKind": "Dog"}},
     "spec.names.listKind", 'Invalid value: "Dog": kind and listKind may not be the same'),
    ({"names": {"plural": "dogs", "singular": "dog", "kind": "Dog"}}, "spec.names.listKind",
     "Required value"),
    ({"conversion": {"strategy": "Magic"}}, "spec.conversion.strategy",
     'Unsupported value: "Magic": supported values: "None", "Webhook"'),
    ({"conversion": {"strategy": "Webhook"}}, "spec.conversion.webhookClientConfig",
     "Required value: required when strategy is set to Webhook"),
    ({"conversion": {"strategy": "None", "webhook": {"clientConfig": {}}}},
     "spec.conversion.webhookClientConfig",
     "Forbidden: should not be set when strategy is not set to Webhook"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "place", "message"), SPECS)
def test_the_spec(spec, place, message):
    assert (place, message) in wrong(definition(**spec))


@pytest.mark.parametrize(
    ("client", "place", "message"),
    [
        ({}, "", "Required value: exactly one of url or service is required"),
        ({"url": "http://a"}, ".url",
         "Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: "
         "https://host[/path]"),
        ({"url": "https://u@a"}, ".url",
         'Invalid value: "u": user information is not permitted in the URL'),
        ({"url": "https://a?b=c"}, ".url",
         'Invalid value: "b=c": query parameters are not permitted in the URL'),
        ({"service": {"namespace": "a"}}, ".service.name",
         "Required value"),
    ],
)  # fmt: skip
def test_webhooks(client, place, message):
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    found = wrong(definition(conversion={"strategy": "Webhook", "webhook": webhook}))
    assert (f"spec.conversion.webhookClientConfig{place}", message) in found


def test_review_versions():
    webhook = {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v9", "v9"]}
    found = wrong(definition(conversion={"strategy": "Webhook", "webhook": webhook}))
    path = "spec.conversion.conversionReviewVersions"
    assert found == [
        (f"{path}[1]", 'Invalid value: "v9": duplicate version'),
        (path, 'Invalid value: ["v9","v9"]: must include at least one of v1, v1beta1'),
    ]


def test_versions_are_unique_and_one_is_stored():
    obj = definition()
    obj["spec"]["versions"].append(deepcopy(obj["spec"]["versions"][0]))
    found = [message.rpartition(": ")[2] for _, message in wrong(obj)]
    assert found == [
        "must contain unique version names",
        "must have exactly one version marked as storage version",
    ]


COLUMN = {"name": "A", "type": "string", "jsonPath": ".a"}
SCALE = {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"}
VERSIONS = [
    ({"schema": {}}, "versions[0].schema.openAPIV3Schema", "Required value"),
    ({"deprecationWarning": "x"}, "versions[0].deprecationWarning",
     'Invalid value: "x": can only be set for deprecated versions'),
    ({"deprecated": True, "deprecationWarning": ""}, "versions[0].deprecationWarning",
     'Invalid value: "": must not be an empty string'),
    ({"additionalPrinterColumns": [{**COLUMN, "type": "bytes"}]},
     "additionalPrinterColumns[0].type",
     'Invalid value: "bytes": must be one of boolean,date,integer,number,string'),
    ({"additionalPrinterColumns": [{**COLUMN, "format": "x"}]},
     "additionalPrinterColumns[0].format",
     'Invalid value: "x": must be one of '
     "byte,date,date-time,double,float,int32,int64,password"),
    ({"additionalPrinterColumns": [{**COLUMN, "jsonPath": "a"}]},
     "additionalPrinterColumns[0].JSONPath",
     'Invalid value: "a": must be a simple json path starting with .'),
    ({"additionalPrinterColumns": [{"type": "string", "jsonPath": ".a"}]},
     "additionalPrinterColumns[0].name", "Required value"),
    ({"subresources": {"scale": {**SCALE, "specReplicasPath": ".status.a"}}},
     "subresources.scale.specReplicasPath",
     'Invalid value: ".status.a": should be a json path under .spec'),
    ({"subresources": {"scale": {**SCALE, "statusReplicasPath": ""}}},
     "subresources.scale.statusReplicasPath", "Required value"),
    ({"subresources": {"scale": {**SCALE, "labelSelectorPath": ".x"}}},
     "subresources.scale.labelSelectorPath",
     'Invalid value: ".x": should be a json path under either .spec or .status'),
    ({"selectableFields": [{"jsonPath": ".spec.none"}]}, "selectableFields[0].jsonPath",
     'Invalid value: ".spec.none": is an invalid path: does not refer to a valid field'),
    ({"selectableFields": [{"jsonPath": ".spec"}]}, "selectableFields[0].jsonPath",
     'Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum '
     "string fields and strings with formats are allowed."),
]  # fmt: skip


def test_what_versions_say_alike_is_judged_once():
    """Observed of kube-apiserver 1.36: the server's own form says it once for all versions."""
    column = {**COLUMN, "type": "bytes"}
    rows = [
        {"name": name, "served": True, "storage": name == "v1",
         "additionalPrinterColumns": [column],
         "schema": {"openAPIV3Schema": PLAIN}}
        for name in ("v1", "v2")
    ]  # fmt: skip
    places = [place for place, _ in wrong(definition(versions=rows))]
    assert places == ["spec.additionalPrinterColumns[0].type"]
    rows[1]["additionalPrinterColumns"] = [column, column]
    places = [place for place, _ in wrong(definition(versions=rows))]
    assert places == [
        f"spec.versions[{version}].additionalPrinterColumns[{column}].type"
        for version, column in ((0, 0), (1, 0), (1, 1))
    ]


@pytest.mark.parametrize(("version", "place", "message"), VERSIONS)
def test_versions(version, place, message):
    assert (f"{V}.{place}", message) in wrong(definition(version=version))


LIST = {"type": "array", "items": {"type": "object", "properties": {"k": STRING}}}
KEYS = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
A = "properties[a]"
SCHEMAS = [
    (field({"type": "thing"}), f"{A}.type",
     'Unsupported value: "thing": supported values: "array", "boolean", "integer", "number", '
     '"object", "string"'),
    (field({**LIST, "uniqueItems": True}), f"{A}.uniqueItems",
     "Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"),
    (field({"type": "object", "properties": {"b": STRING}, "additionalProperties": STRING}),
     f"{A}.additionalProperties",
     "Forbidden: additionalProperties and properties are mutual exclusive"),
    (field({**STRING, "$ref": "x"}), f"{A}.$ref", "Forbidden: $ref is not supported"),
    (field({**STRING, "definitions": {"a": STRING}}), f"{A}.definitions",
     "Forbidden: definitions is not supported"),
    (field({"type": "object", "x-kubernetes-preserve-unknown-fields": False}),
     f"{A}.x-kubernetes-preserve-unknown-fields",
     "Invalid value: false: must be true or undefined"),
    (field({**STRING, "x-kubernetes-map-type": "atomic"}), f"{A}.type",
     'Invalid value: "string": must be object if x-kubernetes-map-type is specified'),
    (field({"type": "object", "x-kubernetes-map-type": "loose"}), f"{A}.x-kubernetes-map-type",
     'Unsupported value: "loose": supported values: "atomic", "granular"'),
    (field({**STRING, "x-kubernetes-list-type": "set"}), f"{A}.type",
     'Invalid value: "string": must be array if x-kubernetes-list-type is specified'),
    (field({**LIST, "x-kubernetes-list-type": "bag"}), f"{A}.x-kubernetes-list-type",
     'Unsupported value: "bag": supported values: "atomic", "set", "map"'),
    (field({**LIST, "x-kubernetes-list-type": "set"}), f"{A}.items.x-kubernetes-map-type",
     "Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set"),
    (field({**LIST, "x-kubernetes-list-map-keys": ["k"]}), f"{A}.x-kubernetes-list-type",
     "Required value: must be map if x-kubernetes-list-map-keys is non-empty"),
    (field({**LIST, "x-kubernetes-list-type": "map"}), f"{A}.x-kubernetes-list-map-keys",
     "Required value: must not be empty if x-kubernetes-list-type is map"),
    (field({"type": "array", "items": STRING, **KEYS}), f"{A}.items.type",
     "Invalid value: \"string\": must be object if parent array's x-kubernetes-list-type is map"),
    (field({**LIST, **KEYS}), f"{A}.items.properties[k].default",
     "Required value: this property is in x-kubernetes-list-map-keys, so it must have a default "
     "or be a required property"),
    (field({**LIST, **KEYS, "x-kubernetes-list-map-keys": ["none"]}),
     f"{A}.x-kubernetes-list-map-keys",
     'Invalid value: ["none"]: entries must all be names of item properties'),
    (field({"type": "integer", "default": "x"}), f"{A}.default",
     'Invalid value: "string":  in body must be of type integer: "string"'),
    (field({"type": "object", "default": {"b": 1}}), f"{A}.default",
     'Invalid value: {"b":1}: must not have unknown fields'),
    (field(STRING, nullable=True), "nullable", "Forbidden: nullable cannot be true at the root"),
    ({"type": "object", "properties": {"kind": {**STRING, "default": "x"}}},
     "properties[kind].default", "Forbidden: must not be set in top-level kind"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "place", "message"), SCHEMAS, ids=[row[1] for row in SCHEMAS])
def test_schemas(schema, place, message):
    found = wrong(definition(schema))
    assert (f"{S}.{place}", message) in found


def test_the_root_of_a_schema_whose_status_is_written_alone():
    schema = {**PLAIN, "maxProperties": 5}
    found = wrong(definition(schema, version={"subresources": {"status": {}}}))
    assert found[0][0] == S
    assert found[0][1].endswith(
        "fields are allowed at the root of the schema if the status subresource is enabled"
    )


R = f"{S}.{A}.x-kubernetes-validations[0]"
RULES = [
    ({"rule": ""}, "rule", "Required value: rule is not specified"),
    ({"rule": "self == 'a'", "message": " "}, "message",
     'Invalid value: " ": must be non-empty if specified'),
    ({"rule": "self == 'a'", "message": "a\nb"}, "message",
     'Invalid value: "a\\nb": must not contain line breaks'),
    ({"rule": "self\n== 'a'"}, "message",
     "Required value: message must be specified if rule contains line breaks"),
    ({"rule": "self == 'a'", "reason": "Because"}, "reason",
     'Unsupported value: "Because": supported values: "FieldValueDuplicate", '
     '"FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"'),
    ({"rule": "self == 'a'", "fieldPath": ".none"}, "fieldPath",
     'Invalid value: ".none": must be a valid path'),
    ({"rule": "self == 'a'", "optionalOldSelf": True}, "optionalOldSelf",
     "Invalid value: true: may not be set if oldSelf is not used in rule"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "place", "message"), RULES)
def test_rules(rule, place, message):
    found = wrong(definition(field({**STRING, "x-kubernetes-validations": [rule]})))
    assert (f"{R}.{place}", message) in found


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("self == 1", "compilation failed: ERROR: <input>:1:6: found no matching overload"),
        ("self.size()", "cel expression must evaluate to a bool"),
        ("self ==", "compilation failed: ERROR: <input>:1:"),
    ],
)
def test_rules_that_are_no_rules(rule, words):
    found = wrong(definition(field({**STRING, "x-kubernetes-validations": [{"rule": rule}]})))
    assert found[0][0] == f"{R}.rule"
    assert words in found[0][1]


def test_old_values_that_cannot_be_told():
    items = {**STRING, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    items["maxLength"] = 10
    found = wrong(definition(field({"type": "array", "maxItems": 10, "items": items})))
    assert found == [
        (f"{S}.{A}.items.x-kubernetes-validations[0].rule",
         'Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion '
         f"of the schema within {S}.{A}")
    ]  # fmt: skip


def test_protected_groups_need_an_approval():
    path = "metadata.annotations[api-approved.kubernetes.io]"
    obj = definition(group="x.k8s.io")
    assert wrong(obj)[0][0] == path
    assert wrong(obj)[0][1].startswith("Required value: protected groups must have approval")
    obj["metadata"]["annotations"] = {"api-approved.kubernetes.io": "perhaps"}
    assert wrong(obj)[0][1].startswith('Invalid value: "perhaps": protected groups must have')
    for good in ("unapproved, experimental", "https://github.com/kubernetes/enhancements/pull/1"):
        obj["metadata"]["annotations"] = {"api-approved.kubernetes.io": good}
        assert wrong(obj) == []


def changed(new, old):
    found = Findings()
    definition_rules.validate_update(new, old, found)
    return [(cause.field, cause.message) for cause in found.causes]


def test_what_cannot_change_once_it_is_established():
    old = definition()
    old["status"]["conditions"] = [{"type": "Established", "status": "True"}]
    new = deepcopy(old)
    new["spec"]["scope"] = "Cluster"
    new["spec"]["names"]["kind"] = "Cat"
    assert changed(new, old) == [
        ("spec.scope", 'Invalid value: "Cluster": field is immutable'),
        ("spec.names.kind", 'Invalid value: "Cat": field is immutable'),
    ]


def test_stored_versions_stay():
    old = definition()
    new = deepcopy(old)
    new["status"]["storedVersions"] = ["v1", "v0"]
    assert changed(new, old)[0][0] == "status.storedVersions[1]"
    new["status"]["storedVersions"] = []
    assert changed(new, old) == [
        ("status.storedVersions", "Invalid value: null: must have at least one stored version")
    ]


def _with_rules(*rules):
    rows = [{"rule": rule} for rule in rules]
    return definition(field({**STRING, "maxLength": 9, "x-kubernetes-validations": rows}))


@pytest.mark.parametrize(("minor", "is_known"), [(34, False), (35, True)])
def test_new_rules_use_what_the_api_before_knew(minor, is_known):
    found = Findings(server=(1, minor))
    definition_rules.validate_create(_with_rules("[1].reverse() == [1]"), found)
    said = [(cause.field, cause.message.partition("ERROR: ")[2]) for cause in found.causes]
    text = "<input>:1:12: undeclared reference to 'reverse' (in container '')"
    mark = f"\n | [1].reverse() == [1]\n | {'.' * 11}^"
    assert said == ([] if is_known else [(f"{R}.rule", text + mark)])


def test_rules_that_were_there_stay_beside_new_ones():
    """A cluster may have gone back to an older API."""
    before, rule = _with_rules("[1].reverse() == [1]"), "[1].sort() == [1]"
    after = _with_rules("[1].reverse() == [1]", "self == 'a'")
    found = Findings(server=(1, 34))
    definition_rules.validate_update(after, before, found)
    assert found.causes == []
    definition_rules.validate_update(_with_rules("[1].reverse() == [1]", rule), before, found)
    assert [cause.field for cause in found.causes] == [f"{R[:-2]}1].rule"]
