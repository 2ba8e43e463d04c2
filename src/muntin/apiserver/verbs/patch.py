"""PATCH of one object (or of its status): JSON, merge, strategic-merge and apply patches.

Source: apiserver v1.34 pkg/endpoints/handlers/patch.go.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import orjson

from muntin.apiserver import (
    applying,
    bodies,
    convert,
    field_managers,
    options,
    output,
    status,
    writes,
)
from muntin.apiserver.beside import beside
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.kit import depth, errors
from muntin.kit.http.messages import Response
from muntin.kit.log import fields
from muntin.model import (
    decoding,
    go_values,
    json_patch,
    merge_patch,
    strategic,
    strict_fields,
)
from muntin.model.schema import Schema, Type
from muntin.seams.kube import JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH

log = logging.getLogger(__name__)

Object = dict[str, Any]
Take = Callable[[Object, Object], Object]

MOST_OPERATIONS = 10_000
REJECTED = "the server rejected our request due to an error in our request"


@dataclass(frozen=True, slots=True)
class Patch:
    """``kind`` is the media type, ``value`` the patch as plain values.

    ``wrong`` is what strict validation of fields says of the patch itself.
    """

    kind: str
    value: Any
    wrong: tuple[str, ...] = ()

    @property
    def applies(self) -> bool:
        """Whether it is a configuration to apply."""
        return self.kind == applying.APPLY_PATCH


async def run(core: Core, request: ApiRequest) -> Response:
    """The object as it is after the patch."""
    form = output.negotiate(request)
    patch = await beside(request, parse, core, request)
    await core.cache.fresh()
    renderer = output.Renderer(core.cache, core.clock, request.target, form)
    if patch.applies and request.subresource is None and not _is_there(core, request):
        written = await _create(core, request, patch)
        if written is not None:
            return renderer.response(written.raw, 201)
    status_only = request.subresource is not None
    change = change_of(core, request, patch)
    written = await writes.update(core, request, change, status_only=status_only)
    return renderer.response(written.raw)


def _is_there(core: Core, request: ApiRequest) -> bool:
    return core.cache.get(request.target, request.namespace, request.name) is not None


async def _create(core: Core, request: ApiRequest, patch: Patch) -> writes.Written | None:
    """Make the object that a configuration describes; None if somebody else was quicker."""
    await core.authorizer.check(replace(request, verb="create"))
    resource = request.target
    obj, managed = await field_managers.applied(core, request, {}, patch.value, b"")
    obj = await beside(request, bodies.checked, request, core.schema, resource, obj, b"", True)
    applying.check_new(request, obj)
    stored = convert.to_stored(obj, resource, core.cache.storage_row(resource))
    try:
        return await writes.create(core, request, stored, managed)
    except status.ApiError as err:
        if err.reason != "AlreadyExists" or request.dry_run:
            raise
        await core.cache.fresh()
        return None


def change_of(
    core: Core, request: ApiRequest, patch: Patch, take: Take | None = None
) -> writes.Change:
    """What ``patch`` does to the request's object.

    ``take(old, new)`` gives what a subresource that writes only some fields makes of it.
    """
    resource = request.target
    stored = core.cache.storage_row(resource)

    def taken(old: Object, patched: Object) -> Object:
        try:
            found = bodies.checked(request, core.schema, resource, patched, applied=patch.applies)
        except status.ApiError as err:
            raise _undecodable(err, resource.kind, patch, patched) from err
        _report(request, patch, patched)
        _check_identity(request, found, old)
        new = convert.to_stored(found, resource, stored)
        return take(old, new) if take is not None else new

    def patched(old: Object, item: Item) -> Object:
        shown = convert.to_version(old, resource, stored)
        if _speaks_of_managers(request, patch):
            managed = orjson.loads(item.managed or b"[]")
            shown = {**shown, "metadata": {**shown["metadata"], "managedFields": managed}}
        return taken(old, apply(core, request, shown, patch))

    async def merged(old: Object, item: Item) -> writes.Managed:
        live = convert.to_version(old, resource, stored)
        new, managed = await field_managers.applied(core, request, live, patch.value, item.managed)
        return writes.Managed(await beside(request, taken, old, new), managed)

    return merged if patch.applies else patched


def _report(request: ApiRequest, patch: Patch, patched: Object) -> None:
    """Refuse what strict validation finds in the patch itself, or warn of it."""
    if not patch.wrong:
        return
    if request.param("fieldValidation") == "Strict":
        why = f"strict decoding error: {', '.join(patch.wrong)}"
        raise _invalid(f"Invalid value: {_text(_text(patched))}: {why}")
    request.warnings.extend(patch.wrong)


def _check_identity(request: ApiRequest, new: Object, old: Object) -> None:
    """A patch cannot take the name away or change the uid; that of a PUT is a precondition."""
    if not new["metadata"].get("name"):
        raise applying.without_name(request)
    uid = new["metadata"].get("uid")
    if uid and uid != old["metadata"]["uid"]:
        text = f"Invalid value: {_text(uid)}: field is immutable"
        cause = errors.Cause("FieldValueInvalid", "metadata.uid", text)
        raise status.invalid(request.target, request.name, [cause])


def _undecodable(err: status.ApiError, kind: str, patch: Patch, patched: Object) -> status.ApiError:
    """The error for a patch whose result is no object of its kind."""
    _, found, why = err.message.partition(f"cannot be handled as a {kind}: ")
    if patch.applies or not (found or err.message.startswith("the API version in the data")):
        return err
    if not found:
        return status.ApiError(422, "Invalid", err.message)
    if patch.kind == STRATEGIC_MERGE_PATCH:
        return _invalid(f"Invalid value: {_text(go_values.show(patch.value))}: {_restoring(why)}")
    return _invalid(f"Invalid value: {_text(_text(patched))}: {why}")


_mismatch = re.compile(r"json: cannot unmarshal (\w+).* of type (\S+)").fullmatch
_FOUND = {"array": "slice", "object": "map", "number": "int64"}


def _restoring(why: str) -> str:
    """A decoder's sentence as strategic-merge patches word it, which do not go through JSON."""
    match = _mismatch(why)
    if match is None:
        return why
    found, wanted = _FOUND.get(match[1], match[1]), match[2]
    if wanted.startswith("[]"):
        return f"cannot restore slice from {found}"
    if wanted.startswith("map["):
        return f"cannot restore map from {found}"
    if "." in wanted:
        return f"cannot restore struct from: {found}"
    if (found, wanted) == ("int64", "string"):
        return "cannot convert int64 to string"
    return f"unrecognized type: {wanted}"


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _invalid(text: str) -> status.ApiError:
    causes = [errors.Cause("FieldValueInvalid", "patch", text)]
    return status.ApiError(422, "Invalid", f' "" is invalid: patch: {text}', causes=causes)


def _speaks_of_managers(request: ApiRequest, patch: Patch) -> bool:
    """Whether a patch may read or write managed fields, which are not put in for nothing."""
    if b"managedFields" in request.http.body:
        return True
    if patch.kind != JSON_PATCH:
        return False
    wide = ("", "/metadata")
    return any(
        isinstance(row, dict) and (row.get("path") in wide or row.get("from") in wide)
        for row in patch.value
    )


def parse(core: Core, request: ApiRequest) -> Patch:
    """The patch in the body.

    Raises:
        ApiError: 400 if it is no JSON, 413 if it is too long, 415 if it is of a kind that the
            resource does not take, 422 for options that go with another kind.
    """
    kind = bodies.content_type(request)
    kinds = [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, applying.APPLY_PATCH]
    if core.registry.definition(request.target) is not None:
        kinds.remove(STRATEGIC_MERGE_PATCH)
        if kind not in kinds:
            raise status.unsupported_media_type(", ".join(kinds))
    elif kind not in kinds:
        text = "415: Unsupported Media Type"
        raise status.ApiError(415, "UnsupportedMediaType", text, details={})
    options.check(request, applying=kind == applying.APPLY_PATCH)
    if kind == applying.APPLY_PATCH:
        return Patch(kind, applying.configuration(request))
    prefix = "" if kind == STRATEGIC_MERGE_PATCH else "error decoding patch: "
    try:
        value = depth.loads(request.http.body)
    except errors.Invalid as err:
        raise status.bad_request(prefix + err.message) from err
    except orjson.JSONDecodeError as err:
        raise status.bad_request(prefix + go_values.json_error(request.http.body)) from err
    if value is None and kind != MERGE_PATCH:  # no operations, and nothing to merge
        value = [] if kind == JSON_PATCH else {}
    return Patch(kind, value, _checked(request, kind, value, prefix))


def _checked(request: ApiRequest, kind: str, value: Any, prefix: str) -> tuple[str, ...]:
    """What is wrong with a patch for strict validation.

    Raises:
        ApiError: 400 or 413, it is no patch at all or a too long one.
    """
    if kind == JSON_PATCH:
        _check_operations(value, prefix)
    elif value is None:
        raise status.bad_request("Invalid JSON Patch")
    elif not isinstance(value, dict):
        raise status.bad_request(f"{prefix}{_not_into(value, 'map[string]interface {}')}")
    if request.param("fieldValidation") not in ("Strict", "Warn"):
        return ()
    body = request.http.body
    found = []
    if strict_fields.may_repeat(body):
        found = [f'duplicate field "{path}"' for path in decoding.duplicate_fields(body)]
    if kind != JSON_PATCH:
        return tuple(found)
    found += [
        f'unknown field "[{index}].{name}"'
        for index, row in enumerate(value)
        for name in row
        if name not in _OPERATION
    ]
    return tuple(f"json patch {text}" for text in found)


_OPERATION = ("from", "op", "path", "value")
_JSON_KINDS = {dict: "object", list: "array", str: "string", bool: "bool"}


def _not_into(value: Any, type_: str, field: str = "") -> str:
    found = _JSON_KINDS.get(type(value), "number")
    target = f"struct field {field}" if field else "value"
    return f"json: cannot unmarshal {found} into Go {target} of type {type_}"


def _check_operations(value: Any, prefix: str) -> None:
    if not isinstance(value, list):
        raise status.bad_request(prefix + _not_into(value, "[]handlers.jsonPatchOp"))
    for row in value:
        if not isinstance(row, dict):
            raise status.bad_request(prefix + _not_into(row, "handlers.jsonPatchOp"))
        for name in ("op", "path", "from"):
            if not isinstance(row.get(name, ""), str):
                why = _not_into(row[name], "string", f"jsonPatchOp.{name}")
                raise status.bad_request(prefix + why)
    if len(value) > MOST_OPERATIONS:
        text = (
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MOST_OPERATIONS}, got {len(value)}"
        )
        raise status.ApiError(413, "RequestEntityTooLarge", text)


def apply(core: Core, request: ApiRequest, document: Object, patch: Patch) -> Object:
    """``document``, an object of the request's resource, after ``patch``, which is no apply.

    Raises:
        ApiError: 400 for a patch of the wrong form, 422 for one that cannot be applied.
    """
    type_ = None
    if patch.kind == STRATEGIC_MERGE_PATCH:
        type_ = core.schema.type_of(request.target)
    return apply_as(core.schema, type_, document, patch)


def applied_as(
    schema: Schema, type_: Type, version: str, kind: str, document: Object, patch: Patch
) -> Object:
    """As `apply_as`; what it makes is an object of that kind, which no resource stores."""
    patched = apply_as(schema, type_, document, patch)
    try:
        return decoding.decode_as(schema, type_, patched, version, kind).object
    except decoding.Undecodable as err:
        raise _undecodable(status.bad_request(err.message), kind, patch, patched) from err


def apply_as(schema: Schema, type_: Type | None, document: Object, patch: Patch) -> Object:
    """As `apply`, for a document of ``type_``, which only strategic-merge patches go by."""
    kind, value = patch.kind, patch.value
    try:
        if kind == STRATEGIC_MERGE_PATCH:
            value = decoding.whole_numbers(value)
            result: Any = strategic.apply(schema, type_, document, value)
        elif kind == MERGE_PATCH:
            result = merge_patch.apply(document, value)
        else:
            result = json_patch.apply(document, value)
    except errors.Invalid as err:
        if kind != JSON_PATCH:
            raise status.bad_request(err.message) from err
        log.debug("patch refused", **fields(why=err.message))
        raise status.ApiError(422, "Invalid", REJECTED, details={}) from err
    if not isinstance(result, dict):
        raise status.ApiError(422, "Invalid", REJECTED, details={})
    if kind == STRATEGIC_MERGE_PATCH:  # which is read as an object of this kind, whatever it says
        result.update({name: document[name] for name in ("apiVersion", "kind")})
    return result
