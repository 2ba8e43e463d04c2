"""The configuration in the body of a server-side apply.

Source: apiserver v1.34 pkg/endpoints/handlers/patch.go applyPatcher; apimachinery v1.34
pkg/util/managedfields/internal/{versioncheck,structuredmerge}.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from muntin.apiserver import bodies, status
from muntin.apiserver.request import ApiRequest
from muntin.kit import depth, errors
from muntin.model import decoding, strict_fields
from muntin.model.resources import Resource

Object = dict[str, Any]

APPLY_PATCH = "application/apply-patch+yaml"


_GO_KINDS: Mapping[type, str] = {list: "array", str: "string", bool: "bool"}


def configuration(request: ApiRequest) -> Object:
    """The object in the body, JSON or YAML, of the kind that the request is for.

    Raises:
        ApiError: 400.
    """
    config = _parsed(request.http.body)
    _check_kind(request, config)
    if (config.get("metadata") or {}).get("managedFields") is not None:
        raise status.bad_request("metadata.managedFields must be nil")
    wanted = request.param("fieldValidation")
    if wanted in ("Strict", "Warn") and (twice := _twice(request.http.body)):
        text = "error converting YAML to JSON: yaml: unmarshal errors:\n  " + "\n  ".join(twice)
        if wanted == "Strict":
            raise status.bad_request(f"error strict decoding YAML: {text}")
        request.warnings.append(" ".join(text.split()))
    return config


def _parsed(body: bytes) -> Object:
    try:
        config = depth.loads(body)
        if _fraction(body):
            config = decoding.whole_numbers(config)
    except errors.Invalid as err:
        raise status.bad_request(f"error decoding YAML: {err.message}") from err
    except orjson.JSONDecodeError:
        try:
            config = bodies.parse_yaml(body)
        except status.ApiError as err:
            why = err.message.splitlines()[0]
            text = f"error decoding YAML: error converting YAML to JSON: {why}"
            raise status.bad_request(text) from err
    if config is None:
        return {}
    wrong = config if not isinstance(config, dict) else config.get("metadata")
    if isinstance(config, dict) and (wrong is None or isinstance(wrong, dict)):
        return config
    found = _GO_KINDS.get(type(wrong), "number")
    raise status.bad_request(
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
        f"{found} into Go value of type map[string]interface {{}}"
    )


# What may be a number with a fraction, or one that is read as such for its size.
_fraction = re.compile(rb"[:\[,]\s*-?(?:\d+[.eE]|\d{18})").search


def _twice(body: bytes) -> list[str]:
    """The keys that are in one map twice, each in a sentence with its line."""
    if not strict_fields.may_repeat(body):
        return []
    try:
        if not decoding.duplicate_fields(body):
            return []  # looked for in JSON, which bodies nearly always are, this takes little
    except decoding.Undecodable:
        pass
    return bodies.yaml_duplicates(body)


def _check_kind(request: ApiRequest, config: Object) -> None:
    found = str(config.get("apiVersion") or ""), str(config.get("kind") or "")
    if found != kind_of(request):
        raise status.bad_request(f"invalid object type: {go_kind(*found)}")


def go_kind(api_version: str, kind: str) -> str:
    """A kind as Go prints it: ``/v1, Kind=Pod``."""
    return f"{api_version if '/' in api_version else f'/{api_version}'}, Kind={kind}"


def kind_of(request: ApiRequest) -> tuple[str, str]:
    """apiVersion and kind of the objects that the request is for."""
    row: Resource = request.target
    sub = request.subresource
    if sub is None or not sub.kind or sub.kind == row.kind:
        return row.api_version, row.kind
    return f"{sub.group}/{sub.version}" if sub.group else sub.version, sub.kind


def check_new(request: ApiRequest, obj: Object) -> None:
    """Whether a configuration, merged into nothing, may become a new object.

    Raises:
        ApiError: 400 without the name of the URL, 409 when it speaks of an object that was there.
    """
    metadata = obj["metadata"]
    metadata.pop("resourceVersion", None)  # it says nothing of an object that is not there
    name = metadata.get("name")
    if not name:
        raise without_name(request)
    if name != request.name:
        raise status.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({request.name})"
        )
    if uid := metadata.get("uid"):
        why = (
            f"uid mismatch: the provided object specified uid {uid}, and no existing object was "
            "found"
        )
        raise status.conflict(request.target, request.name, why)


def without_name(request: ApiRequest) -> status.ApiError:
    """The error for an object that has lost its name, or never had one."""
    return status.bad_request(
        f"the name of the object ({request.name} based on URL) was undeterminable: name must be "
        "provided"
    )
