"""The small JSON codec agrees with the standard one."""

import json

import pytest

from muntin.cni import plugin_json

VALUES = [
    {"a": [1, 2.5, -3, 1e30], "b": {"c": None, "d": True, "é": 'q"\\\n'}},
    [],
    {},
    "text",
    0,
]


@pytest.mark.parametrize("value", VALUES)
def test_both_ways(value):
    assert plugin_json.loads(plugin_json.dumps(value)) == value
    assert json.loads(plugin_json.dumps(value)) == value
    assert plugin_json.loads(f" \n{json.dumps(value, indent=2)}\n") == value


@pytest.mark.parametrize("text", ["", "{", '{"a":}', "[1,]", "{} {}", "nope"])
def test_what_is_not_json(text):
    with pytest.raises(ValueError):
        plugin_json.loads(text)
