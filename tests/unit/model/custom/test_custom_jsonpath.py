"""Paths of printer columns and of rules."""

import pytest

from muntin.kit.errors import Invalid
from muntin.model.custom import columns, paths
from muntin.model.custom.jsonpath import find, parse
from muntin.model.custom.structural import parse as parse_schema

OBJECT = {
    "metadata": {"name": "one", "creationTimestamp": "2024-01-01T00:00:00Z",
                 "labels": {"a.b/c": "d"}},
    "spec": {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}], "on": True,
             "ratio": 0.5},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".spec.on", [True]),
        ("{.spec.on}", [True]),
        (".spec.none", []),
        (".spec.ports[0].name", ["a"]),
        (".spec.ports[-1].name", ["b"]),
        (".spec.ports[5].name", []),
        (".spec.ports[*].port", [1, 2]),
        (".spec.ports[0:1].port", [1]),
        (".spec.ports[0,1].port", [1, 2]),
        (".metadata.labels['a.b/c']", ["d"]),
        (r".metadata.labels.a\.b/c", ["d"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".spec.ports[?(@.port>1)].name", ["b"]),
        ("..port", [1, 2]),
    ],
)
def test_values(path, values):
    assert find(parse(path), OBJECT) == values


@pytest.mark.parametrize("path", ["a b[", ".a[x]", ".a[?(b)]"])
def test_what_is_no_path(path):
    with pytest.raises(Invalid):
        parse(path)


def test_cells():
    rows = [
        {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
        {"name": "Ratio", "type": "number", "jsonPath": ".spec.ratio"},
        {"name": "Port", "type": "integer", "jsonPath": ".spec.ports[0].port", "priority": 1},
        {"name": "Ports", "type": "string", "jsonPath": ".spec.ports[0]"},
        {"name": "Wrong", "type": "integer", "jsonPath": ".metadata.name"},
        {"name": "None", "type": "string", "jsonPath": ".spec.none"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    printer = columns.printer(rows)
    assert printer.cells(OBJECT, 1704067200 + 90) == [
        "one", True, 0.5, 1, '{"name":"a","port":1}', None, None, "90s"
    ]  # fmt: skip
    assert printer.columns[3].definition() == {
        "name": "Port", "type": "integer", "format": "", "priority": 1, "description":
        "Custom resource definition column (in JSONPath format): .spec.ports[0].port",
    }  # fmt: skip
    assert [column.name for column in columns.printer([]).columns] == ["Name", "Age"]


SCHEMA = parse_schema({"type": "object", "properties": {
    "a": {"type": "object", "properties": {"b.c": {"type": "string"}}},
    "m": {"type": "object", "additionalProperties": {"type": "integer"}},
}})  # fmt: skip


@pytest.mark.parametrize(
    ("path", "shown", "kind"),
    [(".a['b.c']", "a.b.c", "string"), (".m['k']", "m[k]", "integer"), (".m.k", "m[k]", "integer")],
)
def test_field_paths(path, shown, kind):
    found, _, place = paths.resolve(path, SCHEMA)
    assert (found, place.type) == (shown, kind)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".a.none", "does not refer to a valid field"),
        ("a", "expected [ or . but got: a"),
        (".", "unexpected end of JSON path"),
        (".a[b]", "expected single quoted string but got b"),
        (".a['b.c'", "unexpected end of JSON path"),
    ],
)
def test_field_paths_that_lead_nowhere(path, message):
    with pytest.raises(Invalid, match=message.replace("[", r"\[").replace(".", r"\.")):
        paths.resolve(path, SCHEMA)
