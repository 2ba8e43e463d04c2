"""Values against a definition's schema: keywords, formats, ratcheting, CEL rules."""

import pytest

from muntin.model.custom import lists, pruning, rules
from muntin.model.custom.formats import ALL, checker
from muntin.model.custom.structural import parse
from muntin.model.custom.values import Validator, go_float
from muntin.model.validation.findings import Findings


def wrong(schema, value, *old):
    validator = Validator({"type": "object", "properties": {"a": schema}}, ALL)
    causes = validator.check({"a": value}, *({"a": item} for item in old))
    return [(cause.field, cause.reason.removeprefix("FieldValue"), cause.message)
            for cause in causes]  # fmt: skip


IN = "a in body should"
ROWS = [
    ({"type": "integer"}, "x", "TypeInvalid",
     'Invalid value: "string": a in body must be of type integer: "string"'),
    ({"type": "integer"}, 1.5, "TypeInvalid",
     'Invalid value: "number": a in body must be of type integer: "number"'),
    ({"type": "string"}, None, "TypeInvalid",
     'Invalid value: "null": a in body must be of type string: "null"'),
    ({"x-kubernetes-int-or-string": True}, True, "TypeInvalid",
     'Invalid value: "boolean": a in body must be of type integer,string: "boolean"'),
    ({"type": "integer", "maximum": 10}, 11, "Invalid",
     f"Invalid value: 11: {IN} be less than or equal to 10"),
    ({"type": "integer", "maximum": 10, "exclusiveMaximum": True}, 10, "Invalid",
     f"Invalid value: 10: {IN} be less than 10"),
    ({"type": "number", "minimum": 0.5}, 0.25, "Invalid",
     f"Invalid value: 0.25: {IN} be greater than or equal to 0.5"),
    ({"type": "number", "minimum": 1000000, "exclusiveMinimum": True}, 0.25, "Invalid",
     f"Invalid value: 0.25: {IN} be greater than 1e+06"),
    ({"type": "integer", "multipleOf": 5}, 7, "Invalid",
     f"Invalid value: 7: {IN} be a multiple of 5"),
    ({"type": "number", "multipleOf": 0.1}, 0.25, "Invalid",
     f"Invalid value: 0.25: {IN} be a multiple of 0.1"),
    ({"type": "string", "minLength": 3}, "ab", "Invalid",
     f'Invalid value: "ab": {IN} be at least 3 chars long'),
    ({"type": "string", "maxLength": 1}, "ab", "TooLong",
     "Too long: may not be more than 1 bytes"),
    ({"type": "string", "pattern": "^b"}, "ab", "Invalid",
     f"Invalid value: \"ab\": {IN} match '^b'"),
    ({"type": "string", "enum": ["x", "y"]}, "z", "NotSupported",
     'Unsupported value: "z": supported values: "x", "y"'),
    ({"type": "array", "minItems": 2, "items": {}}, [1], "Invalid",
     f"Invalid value: 1: {IN} have at least 2 items"),
    ({"type": "array", "maxItems": 2, "items": {}}, [1, 2, 3], "TooMany",
     "Too many: 3: must have at most 2 items"),
    ({"type": "array", "uniqueItems": True, "items": {}}, [1, 1], "Invalid",
     f"Invalid value: \"\": {IN}n't contain duplicates"),
    ({"type": "object", "minProperties": 1}, {}, "Invalid",
     f"Invalid value: 0: {IN} have at least 1 properties"),
    ({"type": "object", "maxProperties": 1}, {"x": 1, "y": 2}, "TooMany",
     "Too many: 2: must have at most 1 items"),
    ({"type": "string", "format": "ipv4"}, "x", "TypeInvalid",
     'Invalid value: "x": a in body must be of type ipv4: "x"'),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "reason", "message"), ROWS)
def test_keywords(schema, value, reason, message):
    field, found, text = wrong(schema, value)[0]
    assert (field, found) == ("a", reason)
    assert text.removesuffix("s") == message.removesuffix("s")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 2.0),
        ({"type": "number"}, 2),
        ({"type": "string", "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, "50%"),
        ({"type": "string", "format": "unheard-of"}, "x"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"x": 1}),
        ({"type": "number", "multipleOf": 0.1}, 0.3),
    ],
)
def test_good_values(schema, value):
    assert wrong(schema, value) == []


def test_junctors():
    either = {"type": "object", "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}
    assert wrong(either, {"x": 1}) == []
    assert wrong(either, {"x": 1, "y": 1}) == [
        ("<nil>", "Invalid", 'Invalid value: "": "a" must validate one and only one schema '
         "(oneOf). Found 2 valid alternatives")
    ]  # fmt: skip
    assert wrong({"anyOf": either["oneOf"]}, {})[0][2].endswith(
        '"a" must validate at least one schema (anyOf)'
    )
    assert wrong({"allOf": either["oneOf"]}, {"x": 1}) == [
        ("a.y", "Required", "Required value"),
        ("<nil>", "Invalid", 'Invalid value: "": "a" must validate all the schemas (allOf)'),
    ]
    assert wrong({"not": {"enum": ["x"]}}, "x") == [
        ("<nil>", "Invalid", 'Invalid value: "": "a" must not validate the schema (not)')
    ]


def test_what_is_wrong_but_as_it_was_is_let_pass():
    schema = {
        "type": "object",
        "properties": {"x": {"type": "integer", "maximum": 1}, "y": {"type": "integer"}},
    }
    assert wrong(schema, {"x": 5, "y": 2}, {"x": 5, "y": 1}) == []
    assert wrong(schema, {"x": 6}, {"x": 5})
    keyed = {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": schema,
    }  # fmt: skip
    assert wrong(keyed, [{"k": 2}, {"k": 1, "x": 5}], [{"k": 1, "x": 5}]) == []
    plain = {"type": "array", "items": schema}
    assert wrong(plain, [{}, {"x": 5}], [{"x": 5}])
    assert wrong({**schema, "x-kubernetes-map-type": "atomic"}, {"x": 5, "y": 2}, {"x": 5})


@pytest.mark.parametrize(
    ("value", "text"),
    [(10.0, "10"), (0.5, "0.5"), (1e6, "1e+06"), (123456789.0, "1.23456789e+08"),
     (1e-5, "1e-05"), (-2.5, "-2.5"), (100000.0, "100000")],
)  # fmt: skip
def test_floats_as_go_prints_them(value, text):
    assert go_float(value) == text


FORMATS = [
    ("email", "a@b.c", "a b"), ("hostname", "a-b.c", "a..b"), ("ipv4", "10.0.0.1", "10.0.0"),
    ("ipv6", "::1", "1.2.3.4"), ("cidr", "10.0.0.0/8", "10.0.0.0"),
    ("mac", "01:23:45:67:89:ab", "01:23"), ("uri", "http://a/b", "a b"),
    ("uuid", "550e8400-e29b-41d4-a716-446655440000", "550e8400"),
    ("uuid4", "550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-31d4-a716-446655440000"),
    ("isbn10", "0321751043", "0321751044"), ("isbn13", "978-0321751041", "978-0321751042"),
    ("creditcard", "4111111111111111", "4111111111111112"), ("ssn", "111-22-3333", "111"),
    ("hexcolor", "#FFFFFF", "#GG"), ("rgbcolor", "rgb(255,0,7)", "rgb(256,0,7)"),
    ("byte", "YWJj", "a"), ("date", "2024-02-29", "2023-02-29"),
    ("date-time", "2014-12-15T19:30:20.000Z", "2014-12-15"), ("datetime", "2014-12-15T19:30:20Z",
     "2014-13-15T19:30:20Z"), ("duration", "1h30m", "1 fortnight"), ("duration", "22 ns", "x"),
    ("bsonobjectid", "507f1f77bcf86cd799439011", "507f"), ("k8s-short-name", "a-b", "A"),
    ("k8s-long-name", "a.b", "a_b"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "good", "bad"), FORMATS)
def test_formats(name, good, bad):
    assert checker(name)(good)
    assert not checker(name)(bad)


# -- pruning and defaults ---------------------------------------------------------------------


def shaped(schema, value):
    node, unknown = parse({"type": "object", **schema}).as_root, []
    pruning.prune(value, node, unknown)
    pruning.default(value, node)
    return value, unknown


STRING = {"type": "string"}


def test_unknown_fields_go():
    schema = {"properties": {
        "a": {"type": "object", "properties": {"b": STRING}},
        "l": {"type": "array", "items": {"type": "object", "properties": {"b": STRING}}},
        "m": {"type": "object", "additionalProperties": {"type": "object"}},
    }}  # fmt: skip
    value, unknown = shaped(
        schema,
        {"kind": "X", "metadata": {"any": 1}, "a": {"b": "1", "c": {"d": 1}}, "z": 1,
         "l": [{"b": "1", "c": 1}], "m": {"k": {"x": 1}}},
    )  # fmt: skip
    assert unknown == ["a.c", "l[0].c", "m.k.x", "z"]
    assert value == {
        "kind": "X", "metadata": {"any": 1}, "a": {"b": "1"}, "l": [{"b": "1"}], "m": {"k": {}}
    }  # fmt: skip


def test_what_is_open_keeps_all_but_what_is_known_below():
    known = {"type": "object", "properties": {"b": STRING}}
    schema = {"x-kubernetes-preserve-unknown-fields": True, "properties": {"a": known}}
    value, unknown = shaped(schema, {"a": {"b": "1", "c": 1}, "z": {"y": 1}})
    assert (value, unknown) == ({"a": {"b": "1"}, "z": {"y": 1}}, ["a.c"])


def test_embedded_objects_keep_their_metadata():
    inner = {"type": "object", "x-kubernetes-embedded-resource": True,
             "properties": {"spec": {"type": "object"}}}  # fmt: skip
    value, unknown = shaped(
        {"properties": {"t": inner}},
        {"t": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}, "x": 1}},
    )
    assert unknown == ["t.x"]
    assert value["t"]["metadata"] == {"name": "a"}


def test_defaults_and_nulls():
    schema = {"properties": {
        "a": {"type": "object", "default": {}, "properties": {"b": {"type": "string",
                                                                    "default": "x"}}},
        "n": {"type": "string", "nullable": True, "default": "y"},
        "m": {"type": "string", "default": "z"},
        "o": STRING,
        "l": {"type": "array", "items": {"type": "object", "properties": {"c": {
            "type": "integer", "default": 1}}}},
    }}  # fmt: skip
    value, _ = shaped(schema, {"n": None, "m": None, "o": None, "l": [{}, {"c": 2}]})
    assert value == {"a": {"b": "x"}, "n": None, "m": "z", "l": [{"c": 1}, {"c": 2}]}


def test_defaults_are_copies():
    schema = parse({"type": "object", "properties": {"a": {"type": "object", "default": {"b": 1},
                    "x-kubernetes-preserve-unknown-fields": True}}}).as_root  # fmt: skip
    one, two = {}, {}
    pruning.default(one, schema)
    pruning.default(two, schema)
    one["a"]["b"] = 2
    assert two == {"a": {"b": 1}}


def test_lists_that_are_sets_or_maps():
    keyed = {"type": "array", "x-kubernetes-list-type": "map",
             "x-kubernetes-list-map-keys": ["k", "p"], "items": {"type": "object"}}  # fmt: skip
    schema = parse({"type": "object", "properties": {
        "s": {"type": "array", "x-kubernetes-list-type": "set", "items": STRING},
        "m": {"type": "object", "additionalProperties": keyed},
    }})  # fmt: skip
    found = Findings()
    value = {"s": ["a", "b", "a", "a"], "m": {"x": [{"k": 1}, {"k": 1, "p": 2}, {"k": 1}]}}
    lists.check(value, schema, found)
    assert [(cause.field, cause.message) for cause in found.causes] == [
        ("s[2]", 'Duplicate value: "a"'),
        ("m[x][2]", 'Duplicate value: {"k":1}'),
    ]


# -- rules ------------------------------------------------------------------------------------


def judged(rule, value, *old, schema=None, **place):
    schema = schema or {"type": "integer"}
    whole = {"type": "object", "properties": {
        "a": {**schema, "x-kubernetes-validations": [{"rule": rule, **place}]}}}  # fmt: skip
    program = rules.compile_rules(parse(whole).as_root)
    earlier = [{"a": item} for item in old] or [None]
    causes = rules.evaluate(program, {"a": value}, *earlier)
    return [(cause.field, cause.reason.removeprefix("FieldValue"), cause.message)
            for cause in causes]  # fmt: skip


def test_what_was_wrong_before_is_let_pass_and_told():
    item = {"type": "object", "properties": {"x": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": "self.x > 5", "message": "small"}]}  # fmt: skip
    whole = {"type": "object", "properties": {"l": {"type": "array", "items": item}}}
    program = rules.compile_rules(parse(whole).as_root)
    old = {"l": [{"x": 1}]}
    for new, refused, told in (
        (old, [], ["l[0]"]),
        ({"l": [{"x": 2}]}, ["l[0]"], []),
        ({"l": [{"x": 7}]}, [], []),
    ):
        passed = []
        causes = rules.evaluate(program, new, old, passed=passed)
        assert [cause.field for cause in causes] == refused
        assert [cause.field for cause in passed] == told


def test_a_rule_that_does_not_hold():
    assert judged("self < 3", 2) == []
    assert judged("self < 3", 4) == [("a", "Invalid", "Invalid value: 4: failed rule: self < 3")]
    assert judged("self < 3", 4, message="small!", reason="FieldValueForbidden") == [
        ("a", "Forbidden", "Forbidden: small!")
    ]
    assert judged("self < 3", 4, messageExpression="'not ' + string(self)") == [
        ("a", "Invalid", "Invalid value: 4: not 4")
    ]
    assert judged("self < 3", 4, messageExpression="''", message="m")[0][2].endswith(": m")


def test_transition_rules_ask_only_where_there_was_something():
    assert judged("self >= oldSelf", 1) == []
    assert judged("self >= oldSelf", 1, 2)[0][2] == (
        "Invalid value: 1: failed rule: self >= oldSelf"
    )
    rule = "oldSelf.hasValue() || self == 1"
    assert judged(rule, 2, optionalOldSelf=True) != []
    assert judged(rule, 2, 3, optionalOldSelf=True) == []


def test_rules_are_let_pass_where_nothing_changed():
    assert judged("self < 3", 4, 4) == []
    assert judged("self < 3", 4, 5) != []
    assert judged("self < oldSelf", 4, 4) != []


def test_an_evaluation_that_fails():
    found = judged("self.all(x, 10 / x > 1)", [0], schema={"type": "array", "items": {
        "type": "integer"}})  # fmt: skip
    assert found == [
        ("a", "Invalid",
         'Invalid value: "array": division by zero evaluating rule: self.all(x, 10 / x > 1)')
    ]  # fmt: skip


def test_names_that_need_an_escape_and_formats():
    schema = {"type": "object", "properties": {
        "my-field": STRING, "when": {"type": "string", "format": "date-time"},
        "for": {"type": "string", "format": "duration"},
    }}  # fmt: skip
    value = {"my-field": "x", "when": "2024-01-01T00:00:00Z", "for": "90s"}
    rule = (
        "self.my__dash__field == 'x' && self.when < timestamp('2025-01-01T00:00:00Z') && "
        "self.__for__ == duration('1m30s')"
    )
    assert judged(rule, value, schema=schema) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("self == oldSelf", True), ("self == 'oldSelf'", False), ("self.oldSelf", False),
     ("oldSelfish == 1", False), ("[oldSelf].size() == 1", True)],
)  # fmt: skip
def test_which_rules_speak_of_the_old(text, expected):
    assert rules.names_old_self(text) is expected
