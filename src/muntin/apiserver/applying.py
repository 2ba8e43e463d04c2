"""The configuration in the body of a server-side apply.

Source: apiserver v1.34 pkg/endpoints/handlers/patch.go applyPatcher; apimachinery v1.34
pkg/util/managedfields/internal/{versioncheck,structuredmerge}.go.
"""

from __future__ import annotations

from typing import Any

import orjson

from muntin.apiserver import bodies, status
from muntin.apiserver.request import ApiRequest
from muntin.model import decoding
from muntin.model.resources import Resource

Object = dict[str, Any]

APPLY_PATCH = "application/apply-patch+yaml"


def configuration(request: ApiRequest) -> Object:
    """The object in the body, JSON or YAML, of the kind that the request is for.

    Raises:
        ApiError: 400.
    """
    body = request.http.body
    try:
        config = orjson.loads(body)
        is_json = True
    except orjson.JSONDecodeError:
        config = bodies.parse_yaml(body)
        is_json = False
    if not isinstance(config, dict):
        found = type(config).__name__
        raise status.bad_request(f"error decoding patch: expected an object, got {found}")
    _check_kind(request, config)
    metadata = config.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise status.bad_request("error decoding patch: metadata must be an object")
    if (metadata or {}).get("managedFields") is not None:
        raise status.bad_request("metadata.managedFields must be nil")
    _check_duplicates(request, is_json)
    return config


def _check_kind(request: ApiRequest, config: Object) -> None:
    version, kind = kind_of(request)
    found = config.get("apiVersion") or "", config.get("kind") or ""
    if found != (version, kind):
        raise status.bad_request(f"invalid object type: {found[0] or '/'}, Kind={found[1]}")


def kind_of(request: ApiRequest) -> tuple[str, str]:
    """apiVersion and kind of the objects that the request is for."""
    row: Resource = request.target
    sub = request.subresource
    if sub is None or not sub.kind or sub.kind == row.kind:
        return row.api_version, row.kind
    return f"{sub.group}/{sub.version}" if sub.group else sub.version, sub.kind


def _check_duplicates(request: ApiRequest, is_json: bool) -> None:
    wanted = request.param("fieldValidation")
    if wanted not in ("Strict", "Warn"):
        return
    if is_json:
        twice = [f'key "{path}" already set in map'
                 for path in decoding.duplicate_fields(request.http.body)]  # fmt: skip
    else:
        twice = bodies.yaml_duplicates(request.http.body)
    if not twice:
        return
    text = "error converting YAML to JSON: yaml: unmarshal errors:\n  " + "\n  ".join(twice)
    if wanted == "Strict":
        raise status.bad_request(f"error strict decoding patch: {text}")
    request.warnings.append(" ".join(text.split()))


def check_new(request: ApiRequest, obj: Object) -> None:
    """Whether a configuration may become a new object.

    Raises:
        ApiError: 400 without the name of the URL, 409 when it speaks of an object that was there.
    """
    metadata = obj["metadata"]
    name = metadata.get("name")
    if not name:
        raise status.bad_request(
            f"the name of the object ({request.name} based on URL) was undeterminable: name must "
            "be provided"
        )
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
