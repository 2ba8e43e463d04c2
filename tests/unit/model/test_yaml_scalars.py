"""Plain scalars of YAML, with what kube-apiserver 1.36 made of them."""

from __future__ import annotations

import pytest

from muntin.model import yaml_scalars


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3e0", 3.0), ("1E2", 100.0), ("1e-7", 1e-07), ("6.0e+2", 600.0), (".5", 0.5), ("5.", 5.0),
        ("0x10", 16), ("0X1f", 31), ("010", 8), ("0o17", 15), ("0b11", 3), ("-0b11", -3),
        ("08", 8.0), ("1_000", 1000), ("+5", 5), ("-0", 0), ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 2.0**64), ("-9223372036854775809", -(2.0**63)),
        ("y", True), ("Y", True), ("on", True), ("No", False), ("OFF", False), ("n", False),
        ("~", None), ("", None), ("Null", None),
        ("yEs", "yEs"), ("nULL", "nULL"), ("1e400", "1e400"), ("0x", "0x"), ("0o8", "0o8"),
        ("1e", "1e"), ("e3", "e3"), ("12:30:45", "12:30:45"), ("1.2.3", "1.2.3"), ("=", "="),
        ("2001-01-01", "2001-01-01"), ("2001-1-1T1:2:3Z", "2001-1-1T1:2:3Z"), (".", "."),
        ("._5", "._5"), ("+", "+"), ("0xg", "0xg"), ("1__0x", "1__0x"), ("٣", "٣"),
    ],
)  # fmt: skip
def test_values(text: str, value: yaml_scalars.Scalar) -> None:
    found = yaml_scalars.read(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("a", "a"), (None, "null"), (True, "true"), (False, "false"), (16, "16"), (2.5, "2.5"),
        (1000.0, "1000"), (1e6, "1e+06"), (1234567.5, "1.2345675e+06"), (0.00001, "1e-05"),
        (-0.5, "-0.5"), (float("inf"), ".inf"), (1e21, "1e+21"),
    ],
)  # fmt: skip
def test_keys(value: yaml_scalars.Scalar, name: str) -> None:
    assert yaml_scalars.key(value) == name
