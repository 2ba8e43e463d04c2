"""Validation of which nodes are meant: selectors of nodes, topology terms.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateNodeSelector,
ValidateTopologySelectorTerm).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muntin.model import names
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_name

_MEMBERSHIP = ("In", "NotIn")


def node_selector(selector: Object, path: str, found: Findings) -> None:
    """Terms of which one must hold."""
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        found.required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        node_selector_term(term, f"{path}.nodeSelectorTerms[{index}]", found)


def node_selector_term(
    term: Object, path: str, found: Findings, *, check_values: bool = True
) -> None:
    """Labels and fields of nodes that one term asks for."""
    for index, row in enumerate(term.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        _operator(row, here, found)
        label_name(row.get("key") or "", f"{here}.key", found)
        for number, value in enumerate((row.get("values") or ()) if check_values else ()):
            found.each_invalid(f"{here}.values[{number}]", value, names.label_value(value))
    for index, row in enumerate(term.get("matchFields") or ()):
        _field(row, f"{path}.matchFields[{index}]", found)


def _operator(row: Object, path: str, found: Findings) -> None:
    operator, values = row.get("operator") or "", row.get("values") or ()
    if operator in _MEMBERSHIP:
        if not values:
            found.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            found.forbidden(
                f"{path}.values",
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            found.required(
                f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'"
            )
    else:
        found.invalid(f"{path}.operator", operator, "not a valid selector operator")


def _field(row: Object, path: str, found: Findings) -> None:
    operator, values = row.get("operator") or "", row.get("values") or ()
    if operator not in _MEMBERSHIP:
        found.invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        found.required(
            f"{path}.values",
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        )
    if row.get("key") != "metadata.name":
        found.invalid(f"{path}.key", row.get("key") or "", "not a valid field selector key")
        return
    for index, value in enumerate(values):
        found.each_invalid(f"{path}.values[{index}]", value, names.dns1123_subdomain(value))


def topologies(terms: Iterable[Object], path: str, found: Findings) -> None:
    """Where volumes of a storage class can be made: no key twice in a term, no term twice."""
    known: list[Any] = []
    for index, term in enumerate(terms):
        here = f"{path}[{index}].matchLabelExpressions"
        wanted: dict[str, set[str]] = {}
        for number, row in enumerate(term.get("matchLabelExpressions") or ()):
            where, key = f"{here}[{number}]", row.get("key") or ""
            values: set[str] = set()
            if not row.get("values"):
                found.required(f"{where}.values")
            for at, value in enumerate(row.get("values") or ()):
                found.unique(f"{where}.values[{at}]", value, values)
            label_name(key, f"{where}.key", found)
            if key in wanted:
                found.duplicate(f"{where}.key", key)
            wanted[key] = values
        if wanted in known:
            found.duplicate(here, "")
        known.append(wanted)
