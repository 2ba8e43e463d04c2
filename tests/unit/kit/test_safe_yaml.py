"""YAML from outside: limits hold while it is composed, and every refusal is one error."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

import muntin
from muntin.kit import safe_yaml
from muntin.kit.depth import MAX_DEPTH
from muntin.kit.errors import Invalid

DEEP = {
    "items": b"- " * 30_000 + b"a",
    "keys": b"? " * 100_000,
    "brackets": b"[" * 100_000,
    "braces": b"{a: " * 100_000,
    "indentation": b"".join(b" " * n + b"a:\n" for n in range(2_000)),
    "tags": b"- !!seq\n  " + b"- " * 30_000,
    "items in keys": b"? - " * 20_000,
    "aliases": b"a0: &a0 [x]\n"
    + b"".join(b"a%d: &a%d [*a%d]\n" % (n, n, n - 1) for n in range(1, 1_000)),
}
BROKEN = {
    "a list of itself": b"&a [*a]",
    "a map of itself": b"&a {b: *a}",
    "aliases of aliases": b"a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        b"a%d: &a%d [%b]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)
    ),
    "merges of merges": b"a0: &a0 {x: y}\n"
    + b"".join(b"a%d: &a%d {<<: [*a%d, *a%d]}\n" % (n, n, n - 1, n - 1) for n in range(1, 40)),
    "a date that is none": b"2024-13-99",
    "a number of 5,000 digits": b"9" * 5_000,
    "a tagged number that is none": b"!!int x",
    "a tagged float that is none": b"!!float ''",
    "a tagged truth that is none": b"!!bool x",
    "a time zone that is none": b"2024-01-01 00:00:00 +99:99",
    "a key that is a map": b"? {a: b}\n: c",
    "two documents": b"--- {}\n--- {}",
    "a Python object": b"!!python/object/apply:os.system ['true']",
    "a huge version": b"%YAML 99999999999999999999.1\n--- a",
    "not UTF-8": b"\xff\xff\xc0",
    "half UTF-16": b"\xff\xfea",
    "a code point that is none": b'"\\UFFFFFFFF"',
    "a surrogate": b'"\\uD800"',
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_depth_is_limited_before_nodes_are_made(text: bytes) -> None:
    with pytest.raises(Invalid, match=r"max depth|maximum nesting depth"):
        safe_yaml.load(text)


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_raises_one_error(text: bytes) -> None:
    with pytest.raises(Invalid):
        safe_yaml.load(text)


def test_values_at_the_limit_are_read() -> None:
    value = safe_yaml.load("[" * MAX_DEPTH + "a" + "]" * MAX_DEPTH)
    for _ in range(MAX_DEPTH):
        (value,) = value
    assert value == "a"
    assert safe_yaml.load("- " * MAX_DEPTH + "a") is not None
    assert safe_yaml.load("") is None


def test_values_are_counted_for_each_document() -> None:
    class Few(safe_yaml.Loader):
        most_nodes = 10

    loader = Few("--- [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" * 3)
    while loader.check_node():
        assert len(loader.get_node().value) == 9
    with pytest.raises(yaml.YAMLError, match="max number of values of 10"):
        Few("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]").get_single_node()


def test_no_other_module_parses_yaml() -> None:
    """`safe_yaml` has the limits: other modules call PyYAML to write, or for its kinds of nodes."""
    parsing = {"load", "safe_load", "load_all", "safe_load_all", "full_load", "compose",
               "compose_all", "parse", "scan", "SafeLoader", "CSafeLoader", "Loader"}  # fmt: skip
    root = Path(muntin.__file__).parent
    wrong = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path in root.rglob("*.py")
        if path != root / "kit/safe_yaml.py" and "yaml" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "yaml"
        and node.attr in parsing
    ]
    assert wrong == []
