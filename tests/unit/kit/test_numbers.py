"""Whole numbers from outside, as Go reads them, and nothing that only Python takes for one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import muntin
from muntin.kit import numbers
from muntin.kit.errors import Invalid

STRANGE = ("", " ", "-", "+", "--1", "+-1", "-+1", " 1", "1 ", "1\n", "1_0", "0x1", "1.0", "1e3",
           "²", "٣", "५", "１", "one", "-²", "\x00", "\ud800", "1,2")  # fmt: skip
HUGE = "9" * 5_000


@pytest.mark.parametrize("text", STRANGE)
def test_what_is_no_number(text: str) -> None:
    assert numbers.int_or_none(text, numbers.INT64_MIN) is None
    for parse in (numbers.parse_int, numbers.parse_uint):
        with pytest.raises(Invalid, match="invalid syntax"):
            parse(text)


@pytest.mark.parametrize(
    ("text", "bits", "number"),
    [
        ("0", 64, 0),
        ("-0", 64, 0),
        ("+7", 64, 7),
        ("0" * 5_000 + "7", 64, 7),
        ("9223372036854775807", 64, 2**63 - 1),
        ("-9223372036854775808", 64, -(2**63)),
        ("2147483647", 32, 2**31 - 1),
        ("9223372036854775808", 64, None),
        ("-9223372036854775809", 64, None),
        ("2147483648", 32, None),
        (HUGE, 64, None),
        ("-" + HUGE, 64, None),
    ],
)
def test_signed_numbers_have_a_range(text: str, bits: int, number: int | None) -> None:
    if number is not None:
        assert numbers.parse_int(text, bits) == number
        return
    with pytest.raises(Invalid, match="value out of range") as caught:
        numbers.parse_int(text, bits)
    assert len(caught.value.message) < 200


def test_unsigned_numbers_have_a_range() -> None:
    assert numbers.parse_uint("18446744073709551615") == 2**64 - 1
    for text in ("18446744073709551616", HUGE):
        with pytest.raises(Invalid, match=r"ParseUint.*value out of range"):
            numbers.parse_uint(text)
    with pytest.raises(Invalid, match="invalid syntax"):
        numbers.parse_uint("-1")


def test_a_number_or_none() -> None:
    assert numbers.int_or_none("65535", 1, 65535) == 65535
    assert numbers.int_or_none("65536", 1, 65535) is None
    assert numbers.int_or_none("0", 1, 65535) is None
    assert numbers.int_or_none("-1") is None
    assert numbers.int_or_none("-1", -1) == -1
    for value in (HUGE, f"-{HUGE}", None, 7, True, b"7"):
        assert numbers.int_or_none(value, numbers.INT64_MIN) is None


def test_no_other_module_asks_python_whether_a_text_is_a_number() -> None:
    root = Path(muntin.__file__).parent
    wrong = [
        f"{name}:{node.lineno}"
        for path in root.rglob("*.py")
        if (name := str(path.relative_to(root))) != "kit/numbers.py"
        and "/inside/" not in name  # programs that run in containers
        and ("isdigit" in (text := path.read_text()) or "isdecimal" in text or "isnumeric" in text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in ("isdigit", "isdecimal", "isnumeric")
    ]
    assert wrong == []
