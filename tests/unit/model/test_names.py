"""Names, labels, keys and ports; messages from apimachinery pkg/util/validation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from muntin.model import intstr, names

GOOD = [
    (names.dns1123_label, ["a", "a-1", "1a", "a" * 63]),
    (names.dns1123_subdomain, ["a.b", "a-1.example.com", "x" * 253]),
    (names.dns1035_label, ["a", "a1-b"]),
    (names.qualified_name, ["a", "A_b.c", "example.com/a", "1"]),
    (names.label_value, ["", "a", "A_b.c-1"]),
    (names.config_key, ["a", "A.b_c-1", ".hidden"]),
    (names.environment_name, ["A", "my.env-name", "ProgramFiles(x86)", "1A"]),
    (names.port_name, ["http", "a-1", "80a"]),
    (names.port_number, [1, 65535]),
    (names.ip_address, ["10.0.0.1", "2001:db8::1"]),
    (names.cidr, ["10.0.0.0/8", "2001:db8::/64"]),
    (names.path_segment, ["system:node", "a b"]),
    (names.http_header_name, ["X-Header"]),
]
BAD = [
    (names.dns1123_label, ["", "A", "-a", "a-", "a.b", "a" * 64]),
    (names.dns1123_subdomain, ["", "a..b", "A", "a_b", "x" * 254]),
    (names.dns1035_label, ["1a", "", "a-"]),
    (names.qualified_name, ["", "/a", "a/", "a/b/c", "-a", "EXAMPLE.com/a", "a" * 64]),
    (names.label_value, ["-a", "a b", "a" * 64]),
    (names.config_key, ["", "a/b", "..", "..a", "."]),
    (names.environment_name, ["", "a=b", "a\x00"]),
    (names.port_name, ["", "UP", "80", "a--b", "-a", "a" * 16]),
    (names.port_number, [0, 65536]),
    (names.ip_address, ["10.0.0", "x", "fe80::1%eth0"]),
    (names.cidr, ["10.0.0.0", "10.0.0.0/33"]),
    (names.path_segment, [".", "..", "a/b", "a%b"]),
    (names.http_header_name, ["X Header", ""]),
]


@pytest.mark.parametrize(
    ("rule", "value"), [(rule, value) for rule, values in GOOD for value in values]
)
def test_good(rule: Callable[[object], list[str]], value: object) -> None:
    assert rule(value) == []


@pytest.mark.parametrize(
    ("rule", "value"), [(rule, value) for rule, values in BAD for value in values]
)
def test_bad(rule: Callable[[object], list[str]], value: object) -> None:
    assert rule(value) != []


def test_message_of_a_bad_object_name() -> None:
    assert names.dns1123_subdomain("A") == [
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
        "used for validation is "
        r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    ]


@pytest.mark.parametrize(
    ("value", "total", "round_up", "expected"),
    [(3, 10, True, 3), ("25%", 10, True, 3), ("25%", 10, False, 2), ("0%", 7, True, 0)],
)
def test_int_or_percent(value: int | str, total: int, round_up: bool, expected: int) -> None:
    assert intstr.resolve(value, total, round_up=round_up) == expected
