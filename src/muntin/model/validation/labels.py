"""Validation of labels, annotations and label selectors.

Source: apimachinery pkg/apis/meta/v1/validation/validation.go, pkg/api/validation v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from muntin.model import names
from muntin.model.validation.findings import Findings, Object

_ANNOTATIONS_BYTES = 256 * 1024
_EXISTENCE = ("Exists", "DoesNotExist")
_MEMBERSHIP = ("In", "NotIn")
_LONGEST_REASON, _LONGEST_MESSAGE = 1024, 32 * 1024
_CONDITION_STATUS = ("False", "True", "Unknown")


def label_name(value: str, path: str, found: Findings) -> None:
    """One key of a label."""
    problems = names.qualified_name(value)
    if problems:
        found.each_invalid(path, value, problems)


def label_map(values: Any, path: str, found: Findings) -> None:
    """A map of labels."""
    for key, value in (values or {}).items():
        problems = names.qualified_name(key)
        if problems:
            found.each_invalid(path, key, problems)
        problems = names.label_value(value)
        if problems:
            found.each_invalid(path, value, problems)


def annotation_map(values: Any, path: str, found: Findings) -> None:
    """A map of annotations: any value, but not too much of it."""
    size = 0
    for key, value in (values or {}).items():
        problems = names.qualified_name(key.lower())
        if problems:
            found.each_invalid(path, key, problems)
        size += len(key.encode()) + len(value.encode())
    if size > _ANNOTATIONS_BYTES:
        found.too_long(path, _ANNOTATIONS_BYTES)


def label_selector(selector: Object | None, path: str, found: Findings) -> None:
    """A LabelSelector object."""
    if not selector:
        return
    label_map(selector.get("matchLabels"), f"{path}.matchLabels", found)
    for index, row in enumerate(selector.get("matchExpressions") or ()):
        _expression(row, f"{path}.matchExpressions[{index}]", found)


def _expression(row: Object, path: str, found: Findings) -> None:
    operator, values = row.get("operator") or "", row.get("values") or ()
    if operator in _MEMBERSHIP:
        if not values:
            found.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in _EXISTENCE:
        if values:
            found.forbidden(
                f"{path}.values",
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )
    else:
        found.invalid(f"{path}.operator", operator, "not a valid selector operator")
    label_name(row.get("key") or "", f"{path}.key", found)
    for index, value in enumerate(values):
        problems = names.label_value(value)
        if problems:
            found.each_invalid(f"{path}.values[{index}]", value, problems)


def domain_prefixed_path(value: str, path: str, found: Findings) -> None:
    """A name such as ``example.com/foo``. Source: apimachinery IsDomainPrefixedPath."""
    if not value:
        found.required(path)
        return
    host, _, rest = value.partition("/")
    if not host or not rest:
        found.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')
        return
    found.each_invalid(path, host, names.dns1123_subdomain(host))
    found.each_invalid(path, rest, names.url_path(rest))


_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_REASON_RULE = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    "used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)


def conditions(rows: Iterable[Object], path: str, found: Findings) -> None:
    """Conditions of the common form. Source: apimachinery ValidateConditions."""
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        here = f"{path}[{index}]"
        kind = row.get("type") or ""
        if kind in seen:
            found.duplicate(f"{here}.type", kind)
        seen.add(kind)
        label_name(kind, f"{here}.type", found)
        status = row.get("status") or ""
        if status not in _CONDITION_STATUS:
            found.not_supported(f"{here}.status", status, _CONDITION_STATUS)
        generation = row.get("observedGeneration") or 0
        if generation < 0:
            text = "must be greater than or equal to zero"
            found.invalid(f"{here}.observedGeneration", generation, text)
        if not row.get("lastTransitionTime"):
            found.required(f"{here}.lastTransitionTime")
        reason = row.get("reason") or ""
        if not reason:
            found.required(f"{here}.reason")
        elif not _REASON.fullmatch(reason):
            found.invalid(f"{here}.reason", reason, _REASON_RULE)
        if len(reason.encode()) > _LONGEST_REASON:
            found.too_long(f"{here}.reason", _LONGEST_REASON)
        if len((row.get("message") or "").encode()) > _LONGEST_MESSAGE:
            found.too_long(f"{here}.message", _LONGEST_MESSAGE)
