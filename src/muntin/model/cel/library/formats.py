"""``format.dns1123Label().validate(text)``: the wrong things about a text, none if it fits.

Source: apiserver v1.34 pkg/cel/library/format.go.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from muntin.kit import errors
from muntin.kit.cel import EvaluationError, Function
from muntin.kit.cel.messages import opaque, text_of
from muntin.model import names
from muntin.model.cel.library import urls

FORMAT = "kubernetes.NamedFormat"

Check = Callable[[str], list[str]]

_is_uuid = re.compile(
    r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
).fullmatch


def _prefix(check: Check) -> Check:
    """Names that something is appended to may end with a dash."""
    return lambda text: check(text[:-1] + "a" if len(text) > 1 and text[-1] == "-" else text)


def _uri(text: str) -> list[str]:
    try:
        urls.url(text)
    except EvaluationError as err:
        return [err.message]
    return []


def _uuid(text: str) -> list[str]:
    return [] if _is_uuid(text) else ["does not match the UUID format"]


def _attempt(convert: Callable[[str], object], message: str) -> Check:
    def check(text: str) -> list[str]:
        try:
            convert(text)
        except (ValueError, errors.Invalid):
            return [message]
        return []

    return check


def _rfc3339(text: str) -> datetime:
    if "T" not in text.upper():
        raise ValueError(text)
    return datetime.fromisoformat(text)


FORMATS: dict[str, Check] = {
    "dns1123Label": names.dns1123_label,
    "dns1123Subdomain": names.dns1123_subdomain,
    "dns1035Label": names.dns1035_label,
    "qualifiedName": names.qualified_name,
    "dns1123LabelPrefix": _prefix(names.dns1123_label),
    "dns1123SubdomainPrefix": _prefix(names.dns1123_subdomain),
    "dns1035LabelPrefix": _prefix(names.dns1035_label),
    "labelValue": names.label_value,
    "uri": _uri,
    "uuid": _uuid,
    "byte": _attempt(lambda text: base64.b64decode(text, validate=True), "invalid base64"),
    "date": _attempt(date.fromisoformat, "invalid date"),
    "datetime": _attempt(_rfc3339, "invalid datetime"),
}


def named(name: str) -> list[Any]:
    return [opaque(FORMAT, name)] if name in FORMATS else []


def validate(value: Any, text: str) -> list[list[str]]:
    found = FORMATS[text_of(value)](text)
    return [found] if found else []


def _constant(name: str) -> Callable[[], Any]:
    return lambda: opaque(FORMAT, name)


FUNCTIONS = (
    Function("format.named", ("string",), f"list({FORMAT})", named, member=False),
    Function("validate", (FORMAT, "string"), "list(list(string))", validate),
    *(Function(f"format.{name}", (), FORMAT, _constant(name), member=False) for name in FORMATS),
)

OPTIONAL = ("format.named", ".validate")
