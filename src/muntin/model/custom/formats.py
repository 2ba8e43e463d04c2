"""String formats that a schema may ask for; a format that is not known is not checked.

Source: apiextensions-apiserver pkg/apiserver/validation/formats.go; kube-openapi
pkg/validation/strfmt/default.go.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address, ip_interface
from urllib.parse import urlsplit

from muntin.model import names

Check = Callable[[str], bool]


def normal(name: str) -> str:
    """``date-time`` and ``datetime`` are one."""
    return name.replace("-", "")


def _matches(pattern: str, flags: int = 0) -> Check:
    match = re.compile(pattern, flags | re.ASCII).fullmatch
    return lambda text: match(text) is not None


def _parses(parse: Callable[[str], object]) -> Check:
    def check(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return check


def _uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return text.startswith("/") or bool(parts.scheme)


def _byte(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:  # binascii.Error, or text that is not ASCII
        return False
    return True


_is_datetime = _matches(
    r"\d{4}-\d\d-\d\d[tT ]\d\d:\d\d:\d\d([.,]\d+)?([zZ]|[+-]\d\d:?\d\d)", re.IGNORECASE
)


def _datetime(text: str) -> bool:
    return _is_datetime(text) and _parses(datetime.fromisoformat)(
        text.upper().replace("Z", "+00:00").replace(",", ".")
    )


def _isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"\d{9}[\dX]", digits):
        return False
    values = [10 if char == "X" else int(char) for char in digits]
    return sum(value * (10 - index) for index, value in enumerate(values)) % 11 == 0


def _isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"\d{13}", digits):
        return False
    return sum(int(char) * (3 if index % 2 else 1) for index, char in enumerate(digits)) % 10 == 0


_is_card = _matches(
    r"(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|(?:2131|1800|35\d{3})\d{11})"
)


def _credit_card(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    if not _is_card(digits):
        return False
    doubled = [int(char) * (2 if index % 2 else 1) for index, char in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


_HEX = "[0-9a-f]"
_BYTE_VALUE = r"(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
_go_duration = _matches(r"[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)")
_scala_duration = _matches(
    r"[+-]?\d+(\.\d+)?\s*(ns|nano|nanos|nanosecond|nanoseconds|us|µs|micro|micros|microsecond|"
    r"microseconds|ms|milli|millis|millisecond|milliseconds|s|sec|secs|second|seconds|m|min|mins|"
    r"minute|minutes|h|hr|hrs|hour|hours|d|day|days|w|week|weeks)",
)

_CHECKS: dict[str, Check] = {
    "bsonobjectid": _matches(f"{_HEX}{{24}}", re.IGNORECASE),
    "uri": _uri,
    "email": _matches(r"[^@\s<>,;]+@[^@\s<>,;]+|.*<[^@\s<>]+@[^@\s<>]+>"),
    "hostname": _matches(
        r"(?=.{1,255}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*"
        r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.?",
        re.IGNORECASE,
    ),
    "ipv4": _parses(IPv4Address),
    "ipv6": _parses(IPv6Address),
    "cidr": lambda text: "/" in text and _parses(ip_interface)(text),
    "mac": _matches(
        r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}|([0-9a-f]{2}[:-]){7}[0-9a-f]{2}|"
        r"[0-9a-f]{4}(\.[0-9a-f]{4}){2,3}",
        re.IGNORECASE,
    ),
    "uuid": _matches(f"{_HEX}{{8}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{12}}", re.I),
    "uuid3": _matches(f"{_HEX}{{8}}-?{_HEX}{{4}}-?3{_HEX}{{3}}-?{_HEX}{{4}}-?{_HEX}{{12}}", re.I),
    "uuid4": _matches(
        f"{_HEX}{{8}}-?{_HEX}{{4}}-?4{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}", re.I
    ),
    "uuid5": _matches(
        f"{_HEX}{{8}}-?{_HEX}{{4}}-?5{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}", re.I
    ),
    "isbn": lambda text: _isbn10(text) or _isbn13(text),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "creditcard": _credit_card,
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _matches("#?([0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE),
    "rgbcolor": _matches(rf"rgb\(\s*{_BYTE_VALUE}\s*,\s*{_BYTE_VALUE}\s*,\s*{_BYTE_VALUE}\s*\)"),
    "byte": _byte,
    "password": lambda text: True,
    "date": lambda text: len(text) == 10 and _parses(date.fromisoformat)(text),
    "duration": lambda text: _go_duration(text) or _scala_duration(text),
    "datetime": _datetime,
    "k8sshortname": lambda text: not names.dns1123_label(text),
    "k8slongname": lambda text: not names.dns1123_subdomain(text),
}

_LATER = frozenset({"k8sshortname", "k8slongname"})
ALWAYS = frozenset(_CHECKS) - _LATER
# Those that validation of Kubernetes' names asks for came later than the rest.
ALL = frozenset(_CHECKS)


_NUMBERS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def is_known_format(name: str, kind: str) -> bool:
    """Whether values of a JSON type are checked against a format of that name."""
    if kind in ("", "string"):
        return normal(name) in ALL
    return name in _NUMBERS.get(kind, ())


def checker(name: str) -> Check:
    """Whether a text is of that format; KeyError for one that is not known."""
    return _CHECKS[normal(name)]
