"""Validation of DeviceClass, ResourceClaim and ResourceClaimTemplate.

Source: kubernetes v1.36 pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.model import names
from muntin.model.validation import device_parts as parts
from muntin.model.validation.amounts import is_extended
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import annotation_map, label_map

MOST_SUBREQUESTS = 8

_MODES = ("All", "ExactCount")
_ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"
_NO_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)
_OF_TEMPLATES = ("annotations", "labels")

# The requests of a claim, and the requests within each of which the first that works is taken.
Requests = Mapping[str, frozenset[str]]


def device_class(obj: Object, found: Findings) -> None:
    """A class of devices."""
    spec = obj.get("spec") or {}
    parts.selectors(spec.get("selectors") or (), "spec.selectors", found)
    config = spec.get("config") or ()
    parts.rows(config, parts.MOST_ROWS, "spec.config", found, parts.configuration)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        text = "must be a valid extended resource name"
        found.invalid("spec.extendedResourceName", name, text)


def claim(obj: Object, found: Findings) -> None:
    """A claim for devices."""
    _devices((obj.get("spec") or {}).get("devices") or {}, "spec.devices", found)


def claim_update(new: Object, old: Object, found: Findings) -> None:
    """What is claimed stays as it is."""
    found.immutable("spec", new.get("spec"), old.get("spec"))


def template(obj: Object, found: Findings) -> None:
    """A template of claims."""
    spec = obj.get("spec") or {}
    meta = spec.get("metadata") or {}
    annotation_map(meta.get("annotations"), "spec.metadata.annotations", found)
    label_map(meta.get("labels"), "spec.metadata.labels", found)
    for field, value in meta.items():
        if field not in _OF_TEMPLATES and value:
            shown = "uID" if field == "uid" else field
            found.forbidden(f"spec.metadata.{shown}", "cannot be set")
    _devices((spec.get("spec") or {}).get("devices") or {}, "spec.spec.devices", found)


def template_update(new: Object, old: Object, found: Findings) -> None:
    """What is claimed stays as it is, and is right."""
    template(new, found)
    claim_update(new, old, found)


def requests_of(devices: Object) -> Requests:
    """The names by which the parts of a claim speak of its requests."""
    return {
        row.get("name") or "": frozenset(
            sub.get("name") or "" for sub in row.get("firstAvailable") or ()
        )
        for row in devices.get("requests") or ()
    }


def request_name(name: str, path: str, requests: Requests, found: Findings) -> None:
    """A reference to a request, or to one of those of which the first is taken."""
    first, *rest = name.split("/")
    if len(rest) > 1:
        found.invalid(path, name, _NO_REQUEST)
        return
    for part in (first, *rest):
        parts.label(part, path, found)
    if first not in requests or (rest and rest[0] not in requests[first]):
        found.invalid(path, name, _NO_REQUEST)


def request_names(row: Object, path: str, requests: Requests, found: Findings) -> None:
    """References to requests, none twice."""

    def check(name: str, here: str, found: Findings) -> None:
        request_name(name, here, requests, found)

    wanted = row.get("requests") or ()
    parts.rows(wanted, parts.MOST_ROWS, f"{path}.requests", found, check, key=str)


def _devices(devices: Object, path: str, found: Findings) -> None:
    requests = requests_of(devices)
    rows = devices.get("requests") or ()
    parts.rows(rows, parts.MOST_ROWS, f"{path}.requests", found, _request, key=_name)

    def constraint(row: Object, here: str, found: Findings) -> None:
        _constraint(row, here, requests, found)

    def configuration(row: Object, here: str, found: Findings) -> None:
        request_names(row, here, requests, found)
        parts.configuration(row, here, found)

    rows = devices.get("constraints") or ()
    parts.rows(rows, parts.MOST_ROWS, f"{path}.constraints", found, constraint)
    rows = devices.get("config") or ()
    parts.rows(rows, parts.MOST_ROWS, f"{path}.config", found, configuration)


def _name(row: Object) -> Any:
    return row.get("name") or ""


def _request(row: Object, path: str, found: Findings) -> None:
    parts.label(row.get("name") or "", f"{path}.name", found)
    exactly, first = row.get("exactly"), row.get("firstAvailable")
    if exactly is None and not first:
        found.required(path, _ONE_KIND)
    elif exactly is not None and first:
        found.invalid(path, None, f"{_ONE_KIND}, but multiple fields are set")
    elif exactly is not None:
        _wanted(exactly, f"{path}.exactly", found)
    else:
        at = f"{path}.firstAvailable"
        parts.rows(first or (), MOST_SUBREQUESTS, at, found, _subrequest, key=_name)


def _subrequest(row: Object, path: str, found: Findings) -> None:
    parts.label(row.get("name") or "", f"{path}.name", found)
    _wanted(row, path, found)


def _wanted(row: Object, path: str, found: Findings) -> None:
    name = row.get("deviceClassName")
    if not name:
        found.required(f"{path}.deviceClassName")
    else:
        found.each_invalid(f"{path}.deviceClassName", name, names.dns1123_subdomain(name))
    parts.selectors(row.get("selectors") or (), f"{path}.selectors", found)
    mode, count = row.get("allocationMode"), row.get("count") or 0
    if mode == "All":
        if count:
            text = "must not be specified when allocationMode is 'All'"
            found.invalid(f"{path}.count", count, text)
    elif mode == "ExactCount":
        if count <= 0:
            found.invalid(f"{path}.count", count, "must be greater than zero")
    else:
        found.not_supported(f"{path}.allocationMode", mode or "", _MODES)
    for index, toleration in enumerate(row.get("tolerations") or ()):
        parts.toleration(toleration, f"{path}.tolerations[{index}]", found)


def _constraint(row: Object, path: str, requests: Requests, found: Findings) -> None:
    request_names(row, path, requests, found)
    for field in ("matchAttribute", "distinctAttribute"):
        if row.get(field) is not None:
            parts.fully_qualified_name(row[field], f"{path}.{field}", found)
            return
    text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple '
    found.required(path, f"{text}fields are set")
