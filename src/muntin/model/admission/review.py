"""AdmissionReview: what a webhook is asked, and what its answer means.

Source: k8s.io/api admission/v1 types; apiserver v1.34 pkg/admission/plugin/webhook/request.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from muntin.kit.errors import Invalid

Object = dict[str, Any]

VERSIONS = ("v1", "v1beta1")
GROUP = "admission.k8s.io"
JSON_PATCH = "JSONPatch"
T = TypeVar("T", list[Any], dict[str, Any])
_JSON = {list: "array", dict: "object"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """``status`` is the Status of a refusal; ``patch`` the JSON text of a JSON patch, if any."""

    allowed: bool
    status: Object = field(default_factory=dict)
    patch: bytes = b""
    warnings: Sequence[str] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)


class UnknownPatch(Invalid):
    """A patch of a type that nobody applies."""


def version_for(accepted: Sequence[str]) -> str:
    """The version of AdmissionReview to send to a webhook that takes ``accepted``.

    Raises:
        Invalid: none that we know.
    """
    for version in accepted:
        if version in VERSIONS:
            return version
    raise Invalid("webhook does not accept known AdmissionReview versions (v1, v1beta1)")


def review(version: str, request: Object) -> Object:
    """The AdmissionReview that asks ``request`` (an AdmissionRequest)."""
    return {"kind": "AdmissionReview", "apiVersion": f"{GROUP}/{version}", "request": request}


def verdict(answer: Mapping[str, Any], version: str, uid: str, *, mutating: bool) -> Verdict:
    """What a webhook's answer to the request ``uid`` says.

    Raises:
        Invalid: it is no answer to it.
    """
    if not isinstance(answer.get("response"), Mapping):
        raise Invalid("webhook response was absent")
    response: Mapping[str, Any] = answer["response"]
    if version == "v1":
        _check_v1(answer, response, uid)
    if not mutating:
        _refuse_changes(response, version)
    patch = _patch(response, version) if mutating else b""
    status = response.get("status")
    return Verdict(
        allowed=response.get("allowed") is True,
        status=dict(status) if isinstance(status, Mapping) else {},
        patch=patch,
        warnings=[text for text in _of(list, response, "warnings") if isinstance(text, str)],
        audit_annotations={
            key: text
            for key, text in _of(dict, response, "auditAnnotations").items()
            if isinstance(text, str)
        },
    )


def _of(kind: type[T], response: Mapping[str, Any], name: str) -> T:
    """A member of a response, empty when it is absent."""
    value = response.get(name)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise Invalid(f"webhook response.{name} is not a JSON {_JSON[kind]}")
    return value


def wrong_form(answer: Any, version: str) -> str:
    """Why an answer cannot be read as a review of ``version``; empty if it can be."""
    if not isinstance(answer, Mapping):
        kind = "array" if isinstance(answer, list) else "string"
        return (
            f"couldn't get version/kind; json parse error: json: cannot unmarshal {kind} into Go "
            'value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind '
            'string "json:\\"kind,omitempty\\"" }'
        ).replace("\\\\", "\\")
    kind, api_version = answer.get("kind") or "", answer.get("apiVersion") or ""
    if not isinstance(kind, str) or not isinstance(api_version, str):
        return (
            "couldn't get version/kind; json parse error: json: cannot unmarshal a value that is "
            "no string into Go struct field .kind or .apiVersion of type string"
        )
    if not kind and not api_version:
        return ""
    other, _, found = api_version.rpartition("/")
    if kind != "AdmissionReview" or other != GROUP or found not in VERSIONS:
        return (
            f'no kind "{kind}" is registered for version "{api_version}" in scheme '
            '"k8s.io/apiserver/pkg/util/webhook/client.go:71"'
        )
    if found != version:
        return (
            f"converting ({found}.AdmissionReview) to ({version}.AdmissionReview): unknown "
            "conversion"
        )
    return ""


def _refuse_changes(response: Mapping[str, Any], version: str) -> None:
    for field_ in ("patch", "patchType") if version == "v1" else ():
        if response.get(field_):
            raise Invalid(f"validating webhook may not return response.{field_}")


def _check_v1(answer: Mapping[str, Any], response: Mapping[str, Any], uid: str) -> None:
    wanted = f"{GROUP}/v1, Kind=AdmissionReview"
    found = f"{answer.get('apiVersion') or '/'}, Kind={answer.get('kind') or ''}"
    if found != wanted:
        raise Invalid(f"expected webhook response of {wanted}, got {found}")
    if response.get("uid") != uid:
        raise Invalid(f'expected response.uid="{uid}", got "{response.get("uid") or ""}"')


def _patch(response: Mapping[str, Any], version: str) -> bytes:
    text, kind = response.get("patch"), response.get("patchType")
    if not text:
        if kind and version == "v1":
            raise Invalid("webhook returned response.patchType but not response.patch")
        return b""
    if version == "v1" and not kind:
        raise Invalid("webhook returned response.patch but not response.patchType")
    if kind and kind != JSON_PATCH:
        raise UnknownPatch(f'unsupported patch type "{kind}"')
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError, TypeError) as err:
        raise Invalid(f"webhook returned response.patch that is no base64: {err}") from err
