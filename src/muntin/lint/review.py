"""Admission reviews: an object that is about to be stored in, what is to be said of it out. Pure.

Source: Kubernetes API reference, admission.k8s.io/v1 AdmissionReview; documentation "Dynamic
Admission Control".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.lint.documents import Document
from muntin.lint.findings import Finding
from muntin.lint.run import Linter
from muntin.model.gates import Severity

API_VERSIONS = ("admission.k8s.io/v1", "admission.k8s.io/v1beta1")
_KIND = "AdmissionReview"
_SPOKEN_OF = ("CREATE", "UPDATE")
MOST_CHARACTERS = 256
"""Of one warning: what is longer is cut by API servers."""
Object = Mapping[str, Any]
Builds = Mapping[str, frozenset[int]]
_NO_BUILDS: Builds = {}


def review(body: Any, linter: Linter, *, enforce: bool = False) -> dict[str, Any]:
    """The review with its response.

    Findings are warnings; with ``enforce`` those that are errors refuse the object. Of an object
    that is changed only what was not so before counts. Information is not told.

    Raises:
        Invalid: ``body`` is no AdmissionReview.
    """
    request = _request(body)
    obj, old = request.get("object"), request.get("oldObject")
    found = changed(linter, obj, old) if request.get("operation") in _SPOKEN_OF else []
    refused = [one for one in found if enforce and one.severity is Severity.ERROR]
    response: dict[str, Any] = {"uid": request["uid"], "allowed": not refused}
    if refused:
        message = "; ".join(told(one) for one in refused)
        response["status"] = {"code": 403, "reason": "Forbidden", "message": message}
    warnings = warnings_of(one for one in found if one not in refused)
    if warnings:
        response["warnings"] = warnings
    return {"apiVersion": body["apiVersion"], "kind": _KIND, "response": response}


def told(finding: Finding) -> str:
    """One finding in one line: the field, the row's sentence, its advice and the rule."""
    field = f"{finding.field}: " if finding.field else ""
    advice = f" {finding.advice}" if finding.advice else ""
    return f"{field}{finding.summary}{advice} ({finding.rule})"


def warnings_of(findings: Iterable[Finding]) -> list[str]:
    """What the writer of an object is told, each sentence once, what matters most first."""
    grave = sorted(
        (one for one in findings if one.severity is not Severity.INFO),
        key=lambda one: one.severity is not Severity.ERROR,
    )
    return list(dict.fromkeys(_cut(told(one)) for one in grave))


def of_object(linter: Linter, obj: Object, builds: Builds = _NO_BUILDS) -> list[Finding]:
    """What is found in one object that comes alone."""
    return linter.lint([Document("", "", dict(obj), builds=builds)])


def _request(body: Any) -> Object:
    if not isinstance(body, dict) or body.get("kind") != _KIND:
        raise Invalid(f"the body must be an {_KIND} of {' or '.join(API_VERSIONS)}")
    if body.get("apiVersion") not in API_VERSIONS:
        version = body.get("apiVersion")
        raise Invalid(f"apiVersion {version!r} is not known: send {' or '.join(API_VERSIONS)}")
    request = body.get("request")
    if not isinstance(request, dict) or not isinstance(request.get("uid"), str):
        raise Invalid("request.uid is missing: a review asks something")
    return request


def changed(linter: Linter, obj: Any, old: Any, builds: Builds = _NO_BUILDS) -> list[Finding]:
    """What is found in ``obj`` now, and was not in ``old``, which it takes the place of.

    ``builds`` are those of images, as in documents.
    """
    if not isinstance(obj, dict):
        return []
    findings = of_object(linter, obj, builds)
    if not isinstance(old, dict) or not findings:
        return findings
    before = {(one.rule, one.field) for one in of_object(linter, old, builds)}
    return [row for row in findings if (row.rule, row.field) not in before]


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
