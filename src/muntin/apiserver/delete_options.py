"""DeleteOptions: from a body or, where there is none, from the query.

Source: apiserver v1.34 pkg/endpoints/handlers/delete.go; apimachinery v1.34
pkg/apis/meta/v1/validation/validation.go (ValidateDeleteOptions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from muntin.apiserver import status
from muntin.kit import numbers
from muntin.kit.errors import Cause, Invalid

POLICIES = ("Foreground", "Background", "Orphan")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")


@dataclass(frozen=True, slots=True)
class Options:
    """What a client says of a deletion. ``orphan_dependents`` is the old way to say the policy.

    Leave to break what cannot be read (ignoreStoreReadErrorWithClusterBreakingPotential) is
    never given: as upstream without its feature gate, the option is not looked at.
    """

    grace_period_s: int | None = None
    propagation: str = ""
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False
    orphan_dependents: bool | None = None


def options_of(body: Mapping[str, Any], query: Mapping[str, list[str]]) -> Options:
    """The options of a request: those of ``body`` alone if there is one.

    Raises:
        ApiError: 400 for a value of the query that cannot be read, 422 for a wrong value.
    """
    found = body or _of_query(query)
    propagation, orphan = found.get("propagationPolicy"), found.get("orphanDependents")
    dry = found.get("dryRun") or []
    causes = [*_policy_causes(propagation, orphan), *_dry_run_causes(dry)]
    if causes:
        raise _invalid(causes)
    preconditions = found.get("preconditions") or {}
    if not propagation and orphan is not None:
        propagation = "Orphan" if orphan else "Background"
    return Options(
        grace_period_s=found.get("gracePeriodSeconds"),
        propagation=propagation or "",
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
        dry_run="All" in dry,
        orphan_dependents=orphan,
    )


def _of_query(query: Mapping[str, list[str]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, parse in (("gracePeriodSeconds", _integer), ("orphanDependents", _boolean)):
        if query.get(name):
            found[name] = parse(query[name][0])
    if query.get("propagationPolicy"):
        found["propagationPolicy"] = query["propagationPolicy"][0]
    if query.get("dryRun"):
        found["dryRun"] = query["dryRun"]
    return found


def _integer(text: str) -> int:
    try:
        return numbers.parse_int(text)
    except Invalid as err:
        raise status.bad_request(err.message) from err


def _boolean(text: str) -> bool:
    """Upstream takes whatever is not plainly false for true."""
    return text not in ("", *_FALSE)


def _policy_causes(propagation: str | None, orphan: bool | None) -> list[Cause]:
    if propagation is None:
        return []
    shown = orjson.dumps(propagation).decode()
    causes = []
    if orphan is not None:
        text = (
            f"Invalid value: {shown}: orphanDependents and deletionPropagation cannot be both set"
        )
        causes.append(Cause("FieldValueInvalid", "propagationPolicy", text))
    if propagation not in POLICIES:
        known = ", ".join(f'"{name}"' for name in (*POLICIES, "nil"))
        text = f"Unsupported value: {shown}: supported values: {known}"
        causes.append(Cause("FieldValueNotSupported", "propagationPolicy", text))
    return causes


def _dry_run_causes(values: list[str]) -> list[Cause]:
    if all(value == "All" for value in values):
        return []
    shown = orjson.dumps(values).decode()
    text = f'Unsupported value: {shown}: supported values: "All"'
    return [Cause("FieldValueNotSupported", "dryRun", text)]


def _invalid(causes: list[Cause]) -> status.ApiError:
    lines = [f"{cause.field}: {cause.message}" for cause in causes]
    shown = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    details = {"group": "meta.k8s.io", "kind": "DeleteOptions"}
    text = f'DeleteOptions.meta.k8s.io "" is invalid: {shown}'
    return status.ApiError(422, "Invalid", text, causes=causes, details=details)
