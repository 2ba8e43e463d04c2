"""What bodies of custom objects must say of themselves: their version and their kind.

Source: apiextensions-apiserver v1.36 pkg/registry/customresource/validator.go; apiserver
pkg/endpoints/handlers/create.go.
"""

from __future__ import annotations

from typing import Any

import orjson

from muntin.apiserver import status
from muntin.apiserver.request import ApiRequest
from muntin.kit.errors import Cause
from muntin.model.resources import Resource

Object = dict[str, Any]

_SHOWN = 30  # characters of a body


def check(request: ApiRequest, resource: Resource, body: Object) -> None:
    """Raise ApiError when ``body`` is not of the kind and version of ``resource``.

    ``body`` is what was sent, or what a patch makes of the object.
    """
    kind, version = body.get("kind"), body.get("apiVersion")
    patched = request.http.method == "PATCH"
    if not kind or not isinstance(kind, str):
        raise _kindless(request, resource, body, patched=patched)
    if version != resource.api_version:
        if not patched:
            raise status.bad_request(
                f"the API version in the data ({version or ''}) does not match the expected API "
                f"version ({resource.api_version})"
            )
        if not version:  # 500 upstream, though it is the client who is wrong
            why = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
            raise status.bad_request(why)
        raise _other(resource, kind, body, "apiVersion", str(version), resource.api_version)
    if kind != resource.kind and not _is_refused_anyway(request, body):
        raise _other(resource, kind, body, "kind", kind, resource.kind)


def _is_refused_anyway(request: ApiRequest, body: Object) -> bool:
    """Whether it is a PUT that does not say what it replaces, which is told first."""
    metadata = body.get("metadata")
    named = isinstance(metadata, dict) and metadata.get("name")
    versioned = isinstance(metadata, dict) and metadata.get("resourceVersion")
    return request.http.method == "PUT" and not (named and versioned)


def _kindless(
    request: ApiRequest, resource: Resource, body: Object, *, patched: bool
) -> status.ApiError:
    raw = request.http.body
    is_json = not patched and raw.startswith(b"{")
    text = raw.decode("utf-8", "replace") if is_json else orjson.dumps(body).decode()
    why = f"Object 'Kind' is missing in '{text}'"
    if patched:
        wrong = f"Invalid value: {orjson.dumps(text).decode()}: {why}"
        causes = [Cause("FieldValueInvalid", "patch", wrong)]
        return status.ApiError(422, "Invalid", f' "" is invalid: patch: {wrong}', causes=causes)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
    return status.bad_request(
        f"the object provided is unrecognized (must be of type {resource.kind}): {why} ({shown})"
    )


def _other(
    resource: Resource, kind: str, body: Object, field: str, value: str, wanted: str
) -> status.ApiError:
    metadata = body.get("metadata")
    name = str(metadata.get("name") or "") if isinstance(metadata, dict) else ""
    cause = Cause("FieldValueInvalid", field, f'Invalid value: "{value}": must be {wanted}')
    return status.invalid_options(kind, name, [cause], resource.group)
