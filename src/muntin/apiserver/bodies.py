"""Request bodies to objects: JSON, YAML or protobuf, checked against the schema.

Field validation as the client asks: Strict refuses, Warn adds Warning headers, Ignore drops.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import orjson

from muntin.apiserver import owner_references, status
from muntin.apiserver.custom import identity as custom_identity
from muntin.apiserver.request import ApiRequest
from muntin.kit import depth, errors
from muntin.model import decoding
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources import Resource
from muntin.model.resources.lifecycle import version_of
from muntin.model.schema import Schema, Type

Object = dict[str, Any]

JSON = "application/json"
YAML = ("application/yaml", "application/x-yaml", "text/yaml")
PROTOBUF = "application/vnd.kubernetes.protobuf"
ACCEPTED = f"{JSON}, application/yaml, {PROTOBUF}"
_SHOWN_BYTES = 30


def content_type(request: ApiRequest) -> str:
    """The media type of the body, without parameters."""
    return request.http.headers.get("content-type", "").partition(";")[0].strip().lower()


def parse(request: ApiRequest) -> Any:
    """The body as plain values.

    Raises:
        ApiError: 400 for a body that cannot be parsed, 415 for a type that is not known.
    """
    kind, body = content_type(request), request.http.body
    if kind in ("", JSON):
        try:
            return depth.loads(body)
        except orjson.JSONDecodeError as err:
            raise _unrecognized(request, err) from err
        except errors.Invalid as err:
            raise status.bad_request(err.message) from err
    if kind in YAML:
        return parse_yaml(body)
    if kind == PROTOBUF:
        from muntin.model import protobuf  # tables that JSON clients never need

        try:
            obj = protobuf.decode_body(body)
            depth.check(obj)
            return obj
        except errors.Invalid as err:
            raise status.bad_request(err.message) from err
    raise status.unsupported_media_type(ACCEPTED)


def _unrecognized(request: ApiRequest, err: orjson.JSONDecodeError) -> status.ApiError:
    """400 for a body that is no JSON, whose beginning is shown as upstream shows it."""
    body = request.http.body
    why = str(err) if body.strip() else "unexpected end of JSON input"
    shown = body[:_SHOWN_BYTES].hex() + (" ..." if len(body) > _SHOWN_BYTES else "")
    kind = request.resource.kind if request.resource is not None else ""
    return status.bad_request(
        f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; "
        f"json parse error: {why} ({shown or '<empty>'})"
    )


def parse_yaml(body: bytes) -> Any:
    """A YAML document as plain values.

    Raises:
        ApiError: 400, it is not YAML or above a limit of `safe_yaml`.
    """
    import yaml  # megabytes that JSON clients never need

    from muntin.apiserver.yaml_loader import Loader
    from muntin.kit import safe_yaml

    try:
        loader = Loader(body)  # which looks at the encoding already
    except yaml.YAMLError as err:
        raise status.bad_request(f"yaml: {err}") from err
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if b"*" in body:
            safe_yaml.check_aliases(node)
        return decoding.whole_numbers(loader.construct_document(node))
    except yaml.MarkedYAMLError as err:
        line = err.problem_mark.line if err.problem_mark else 0
        line += isinstance(err, yaml.scanner.ScannerError)  # as the parser of Go counts them
        where = f"line {line}: " if line else ""
        raise status.bad_request(f"yaml: {where}{err.problem}") from err
    except (yaml.YAMLError, ValueError, OverflowError) as err:
        raise status.bad_request(f"yaml: {err}") from err
    except RecursionError as err:
        raise status.bad_request(f"yaml: {depth.MESSAGE}") from err
    finally:
        loader.dispose()


def yaml_duplicates(body: bytes) -> list[str]:
    """The keys that a map of the YAML document has twice, each in a sentence with its line."""
    import yaml

    from muntin.kit import safe_yaml

    found: list[str] = []
    nodes = list(safe_yaml.compose_all(body))
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.SequenceNode):
            nodes += node.value
        elif isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                name = str(key.value)
                if name in seen:
                    line = key.start_mark.line + 1
                    found.append(f'line {line}: key "{name}" already set in map')
                seen.add(name)
                nodes.append(value)
    return found


def read(request: ApiRequest, schema: Schema, resource: Resource) -> Object:
    """The body as an object of ``resource``; one that takes another's place says its name."""
    found = _read_text(request, schema, resource)
    if found is None:
        found = checked(request, schema, resource, parse(request), request.http.body)
    if request.http.method == "PUT" and not found["metadata"].get("name"):
        raise status.bad_request(
            f"the name of the object ({request.name} based on URL) was undeterminable: name must "
            "be provided"
        )
    owner_references.once(request, found, late=False)
    return found


def _read_text(request: ApiRequest, schema: Schema, resource: Resource) -> Object | None:
    """A JSON body with which nothing is wrong, if its kind is one that is read at once."""
    if request.custom is not None or content_type(request) not in ("", JSON):
        return None
    text = request.http.body
    found = decoding.decode_text(schema, resource, text)
    if found is None:
        return None
    managed = found["metadata"].pop("managedFields", None)
    if managed is not None and not _is_json(managed):
        return None
    _check_kind(found, resource.api_version, resource.kind)
    decoded = decoding.Decoded(found)
    _report(request, schema, decoded, resource.kind, resource.version, text, resource)
    obj = _named(request, resource, found)
    request.managed_fields = managed
    return obj


def _is_json(value: Any) -> bool:
    """Whether it has no number that `orjson` reads as a float: one of more than 64 bits."""
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


def read_as(request: ApiRequest, type_: Type, version: str, kind: str, schema: Schema) -> Object:
    """The body as an object of a kind that no resource stores (Scale, Eviction, reviews)."""
    body = parse(request)
    _check_kind(body, "", kind)
    try:
        decoded = decoding.decode_as(schema, type_, body, version, kind)
    except decoding.Undecodable as err:
        raise status.bad_request(err.message) from err
    _report(request, schema, decoded, kind, version, request.http.body, type_)
    return decoded.object


def checked(
    request: ApiRequest, schema: Schema, resource: Resource, body: Any, raw: bytes = b"",
    applied: bool = False,
) -> Object:  # fmt: skip
    """Plain values as an object of ``resource``; ``raw`` is their JSON text, if there is one, and
    ``applied`` says that they come of a server-side apply."""
    if request.custom is not None and isinstance(body, dict):
        custom_identity.check(request, resource, body)
    else:
        _check_kind(body, resource.api_version, resource.kind)
    metadata = body.get("metadata")
    given = metadata.get("managedFields") if isinstance(metadata, dict) else None
    try:
        decoded = _decoded(request, schema, resource, body, applied)
    except decoding.Undecodable as err:
        raise status.bad_request(err.message) from err
    _report(request, schema, decoded, resource.kind, resource.version, raw, resource)
    obj = _named(request, resource, decoded.object)
    if given is not None:
        # An empty list, which decoding leaves out, has a meaning of its own.
        request.managed_fields = obj["metadata"].pop("managedFields", [])
    return obj


def _named(request: ApiRequest, resource: Resource, obj: Object) -> Object:
    """An object that was read, with its kind; nobody is known yet to manage it."""
    obj["kind"], obj["apiVersion"] = resource.kind, resource.api_version
    request.managed_fields = None
    if obj.get("metadata") is None:
        obj["metadata"] = {}
    return obj


def _decoded(
    request: ApiRequest, schema: Schema, resource: Resource, body: Any, applied: bool
) -> decoding.Decoded:
    if (version := request.custom) is None:
        # A spec that the request does not speak of is not that of a patch, which may be tried anew.
        return decoding.decode(schema, resource, body, taken=b"spec" not in request.http.body)
    from muntin.apiserver.custom import reading  # when there are custom resources

    return reading.decode(schema, version, body, applied=applied)


def _check_kind(body: Any, api_version: str, kind: str) -> None:
    if not isinstance(body, dict):
        raise status.bad_request(f"the body must be an object of kind {kind}")
    found = body.get("kind") or kind
    version = body.get("apiVersion") or api_version
    if api_version and version != api_version:
        raise status.bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({api_version})"
        )
    if found != kind:
        raise status.bad_request(
            f'{found} in version "{version}" cannot be handled as a {kind}: the kind in the data '
            f"({found}) does not match the expected kind ({kind})"
        )


@cache
def _validates_fields(version: str) -> bool:
    return is_in(ApiFeature.FIELD_VALIDATION, version_of(version))


def _report(
    request: ApiRequest, schema: Schema, decoded: decoding.Decoded, kind: str, version: str,
    raw: bytes, type_: Type | Resource,
) -> None:  # fmt: skip
    if not _validates_fields(schema.version):
        return
    wanted = request.param("fieldValidation")
    if wanted not in ("", "Strict", "Warn", "Ignore"):
        raise status.bad_request(
            f'fieldValidation: Unsupported value: "{wanted}": supported values: "Ignore", '
            '"Strict", "Warn"'
        )
    if wanted == "Ignore":
        return
    problems = decoded.strict_errors
    # Looking for duplicates costs a second, slow parse: only for those who say that they care.
    if wanted and raw:
        problems = _strict_errors(request, schema, decoded, raw, type_)
    if not problems:
        return
    if wanted == "Strict":
        raise status.bad_request(decoding.strict_error(kind, version, problems))
    # YAML documents give one error of several lines; each line becomes a warning.
    lines = (line.strip() for error in problems for line in error.split("\n"))
    request.warnings.extend(line for line in lines if line != _YAML_ERRORS)


def _strict_errors(
    request: ApiRequest, schema: Schema, decoded: decoding.Decoded, raw: bytes,
    type_: Type | Resource,
) -> list[str]:  # fmt: skip
    """The strict decoding errors of a body, in upstream's order."""
    from muntin.model import strict_fields  # few clients ask

    media = content_type(request)
    if media in YAML:  # upstream converts it to JSON with sorted keys
        return [*_yaml_errors(raw), *sorted(decoded.strict_errors)]
    if media not in ("", JSON) or not strict_fields.may_repeat(raw):
        return decoded.strict_errors[: strict_fields.MOST]  # they are in the text's order
    if request.custom is not None:
        decoded.duplicates = decoding.duplicate_fields(raw)
        return decoded.strict_errors
    body_type = schema.type_of(type_) if isinstance(type_, Resource) else type_
    return strict_fields.of_json(schema, body_type, raw)


_YAML_ERRORS = "yaml: unmarshal errors:"


def _yaml_errors(raw: bytes) -> list[str]:
    """All duplicate keys of a YAML document as a single error, as upstream."""
    twice = yaml_duplicates(raw)
    return ["\n  ".join([_YAML_ERRORS, *twice])] if twice else []
