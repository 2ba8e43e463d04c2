"""What becomes of a definition's status: accepted names, and its conditions.

Pure: from the definition and the others of its group to the new status.
Source: apiextensions-apiserver pkg/controller/{status,establish,apiapproval,nonstructuralschema}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any
from urllib.parse import urlsplit

from muntin.model.custom import structural_rules
from muntin.model.custom.definition import condition

Object = Mapping[str, Any]
Status = dict[str, Any]

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
APPROVAL = "api-approved.kubernetes.io"
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"


def reconcile(
    obj: Object, group: Iterable[Object], now: str, problems: list[str] | None = None
) -> Status | None:
    """The status that ``obj`` should have; None if it has it.

    ``group`` are the other definitions of its group, ``now`` the time in RFC 3339, ``problems`` the
    `schema_problems` if they are known already.
    """
    before = obj.get("status") or {}
    status: Status = deepcopy(dict(before))
    _accept_names(obj, status, group, now)
    _approve(obj, status, now)
    _judge_schema(status, schema_problems(obj) if problems is None else problems, now)
    return None if status == before else status


def set_condition(
    status: Status, type_: str, value: str, reason: str, message: str, now: str
) -> None:
    """Set a condition; its time changes only with its value."""
    rows = status["conditions"] = status.get("conditions") or []
    row = next((row for row in rows if row.get("type") == type_), None)
    if row is None:
        rows.append(row := {"type": type_})
    if row.get("status") != value:
        row["lastTransitionTime"] = now
    row |= {"status": value, "reason": reason, "message": message}


def _drop_condition(status: Status, type_: str) -> None:
    rows = status.get("conditions")
    if rows:
        status["conditions"] = [row for row in rows if row.get("type") != type_]


# -- names ------------------------------------------------------------------------------------


def _accept_names(obj: Object, status: Status, group: Iterable[Object], now: str) -> None:
    wanted, accepted = obj["spec"]["names"], dict(status.get("acceptedNames") or {})
    if wanted == accepted and condition(obj, "NamesAccepted"):
        _establish(status, now)
        return
    resources, kinds = _claimed(group)
    problem: tuple[str, str] | None = None
    for name, reason, taken in (
        ("plural", "PluralConflict", resources),
        ("singular", "SingularConflict", resources),
        ("shortNames", "ShortNamesConflict", resources),
        ("kind", "KindConflict", kinds),
        ("listKind", "ListKindConflict", kinds),
    ):
        text = _conflict(wanted.get(name), accepted.get(name), taken)
        if text:
            problem = reason, text
        elif wanted.get(name):
            accepted[name] = wanted[name]
        else:
            accepted.pop(name, None)
    if wanted.get("categories"):
        accepted["categories"] = wanted["categories"]
    else:
        accepted.pop("categories", None)
    status["acceptedNames"] = {
        "plural": accepted.pop("plural", ""), **accepted, "kind": accepted.pop("kind", "")
    }  # fmt: skip
    if problem is None:
        set_condition(status, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now)
    else:
        set_condition(status, "NamesAccepted", "False", *problem, now)
    _establish(status, now)


def _establish(status: Status, now: str) -> None:
    rows = {row.get("type"): row for row in status.get("conditions") or ()}
    if (rows.get("Established") or {}).get("status") == "True":
        return
    if (rows.get("NamesAccepted") or {}).get("status") == "True":
        text = "the initial names have been accepted"
        set_condition(status, "Established", "True", "InitialNamesAccepted", text, now)
    else:
        text = "not all names are accepted"
        set_condition(status, "Established", "False", "NotAccepted", text, now)


def _claimed(group: Iterable[Object]) -> tuple[set[str], set[str]]:
    """The names of resources and of kinds that others of the group have."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in group:
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {names.get("plural", ""), names.get("singular", "")}
        resources.update(names.get("shortNames") or ())
        kinds |= {names.get("kind", ""), names.get("listKind", "")}
    return resources - {""}, kinds - {""}


def _conflict(wanted: Any, accepted: Any, taken: set[str]) -> str:
    if isinstance(wanted, list):
        known = accepted or ()
        found = [f'"{name}" is already in use' for name in wanted if name in taken - set(known)]
        return found[0] if len(found) == 1 else f"[{', '.join(found)}]" if found else ""
    if wanted == accepted or wanted not in taken:
        return ""
    return f'"{wanted}" is already in use'


# -- approval and schema ----------------------------------------------------------------------


def is_protected(group: str) -> bool:
    """Whether a group is the Kubernetes community's, whose APIs need an approval."""
    return any(
        group == domain or group.endswith(f".{domain}") for domain in ("k8s.io", "kubernetes.io")
    )


def approval(obj: Object) -> tuple[str, str, str]:
    """(condition's status, its reason, its message) of a protected group's definition."""
    text = (obj["metadata"].get("annotations") or {}).get(APPROVAL, "")
    if not text:
        message = f'protected groups must have approval annotation "{APPROVAL}", {_SEE}'
        return "False", "MissingAnnotation", message
    if text.startswith("unapproved"):
        return "False", "UnapprovedAnnotation", f'not approved: "{text}"'
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme and parts.netloc:
        return "True", "ApprovedAnnotation", f"approved in {text}"
    message = (
        f'protected groups must have approval annotation "{APPROVAL}" with either a URL or a '
        f'reason starting with "unapproved", {_SEE}'
    )
    return "False", "InvalidAnnotation", message


def _approve(obj: Object, status: Status, now: str) -> None:
    name = "KubernetesAPIApprovalPolicyConformant"
    if is_protected(obj["spec"]["group"]):
        set_condition(status, name, *approval(obj), now)
    else:
        _drop_condition(status, name)


def schema_problems(obj: Object) -> list[str]:
    """What keeps the schemas of a definition from being structural; slow for large ones."""
    problems = []
    if obj["spec"].get("preserveUnknownFields"):
        text = "must be false"
        problems.append(f"spec.preserveUnknownFields: Invalid value: true: {text}")
    for index, version in enumerate(obj["spec"]["versions"]):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None:
            path = f"spec.versions[{index}].schema.openAPIV3Schema"
            causes = structural_rules.violations(schema, path)
            problems += [f"{cause.field}: {cause.message}" for cause in causes]
    return problems


def _judge_schema(status: Status, problems: list[str], now: str) -> None:
    name = "NonStructuralSchema"
    if problems:
        text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        set_condition(status, name, "True", "Violations", text, now)
    else:
        _drop_condition(status, name)
