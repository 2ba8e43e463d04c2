"""What is wrong with a CustomResourceDefinition.

Objects are of ``apiextensions.k8s.io/v1`` and defaulted. What an older server let in may stay as
it was in an update, as upstream has it.
Source: apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

from muntin.kit.errors import Cause, Invalid
from muntin.model import names
from muntin.model.custom import (
    conditions,
    embedded,
    paths,
    pruning,
    schema_rules,
    structural_rules,
)
from muntin.model.custom.definition import is_established
from muntin.model.custom.formats import ALL, is_known_format
from muntin.model.custom.structural import Json, Structural, parse, walk
from muntin.model.custom.values import Validator
from muntin.model.validation.findings import Findings, Object

MOST_SELECTABLE = 8
COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
REVIEW_VERSIONS = ("v1", "v1beta1")
# What the root may say when status is written by itself, which is validated by itself then.
_AT_ROOT = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum",
    "ExclusiveMinimum", "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems",
    "MultipleOf", "Required", "Items", "Properties", "ExternalDocs", "Example",
    "XPreserveUnknownFields", "XValidations",
)  # fmt: skip
_KEYS_AT_ROOT = frozenset(
    {name[0].lower() + name[1:] for name in _AT_ROOT if not name.startswith("X")}
    | {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"}
)


def validate_create(obj: Object, found: Findings) -> None:
    """Add what is wrong with a new definition."""
    spec, name = obj["spec"], obj["metadata"].get("name", "")
    wanted = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"
    if name != wanted:
        found.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    _spec(spec, found, old=None)
    _status(obj, found)
    _approval(obj, None, found)


def validate_update(new: Object, old: Object, found: Findings) -> None:
    """Add what is wrong with ``new`` as the successor of ``old``."""
    spec, before = new["spec"], old["spec"]
    _spec(spec, found, old=old)
    if is_established(old):
        found.immutable("spec.scope", spec.get("scope"), before.get("scope"))
        kinds = spec["names"].get("kind"), before["names"].get("kind")
        found.immutable("spec.names.kind", *kinds)
    found.immutable("spec.group", spec.get("group"), before.get("group"))
    plurals = spec["names"].get("plural"), before["names"].get("plural")
    found.immutable("spec.names.plural", *plurals)
    _status(new, found)
    _approval(new, old, found)


def of_newest(new: Object, old: Object | None) -> list[Cause]:
    """What is wrong with a definition only because it came in the newest version: the older one
    may keep unknown fields, and then needs no schema that is structural."""
    found = Findings()
    kept = old is not None and old["spec"].get("preserveUnknownFields")
    if new["spec"].get("preserveUnknownFields") and not kept:
        found.invalid("spec.preserveUnknownFields", True, _USE_SCHEMA)
    return found.causes


_USE_SCHEMA = (
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
    "spec.versions[*].schema instead"
)


def warnings(new: Object, old: Object | None = None) -> list[str]:
    """What is let in and does not mean what one may think: formats that nobody checks."""
    known = _strange_formats(old["spec"]) if old is not None else ()
    return [
        f'unrecognized format "{name}"'
        for name in _strange_formats(new["spec"])
        if name not in known
    ]


def _strange_formats(spec: Object) -> list[str]:
    found: dict[str, None] = {}
    for part in _all_parts(spec):
        name, kind = part.get("format"), part.get("type") or ""
        if name and not is_known_format(name, kind):
            found[name] = None
    return list(found)


def validate_status(obj: Object, found: Findings) -> None:
    """Add what is wrong with the accepted names in a definition's status."""
    names_ = (obj.get("status") or {}).get("acceptedNames") or {}
    _names(names_, "status.acceptedNames", found)


def _status(obj: Object, found: Findings) -> None:
    validate_status(obj, found)
    path, stored = "status.storedVersions", (obj.get("status") or {}).get("storedVersions")
    if not stored:
        found.invalid(path, stored or None, "must have at least one stored version")
        return
    versions = obj["spec"].get("versions") or ()
    for version in versions:
        if version.get("storage") and version["name"] not in stored:
            found.invalid(path, stored, f"must have the storage version {version['name']}")
    known = {version["name"] for version in versions}
    for index, name in enumerate(stored):
        if name not in known:
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must "
                "remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {name} and removes {name} from status.storedVersions"
            )
            found.invalid(f"{path}[{index}]", name, text)


def _approval(new: Object, old: Object | None, found: Findings) -> None:
    if not conditions.is_protected(new["spec"].get("group") or ""):
        return
    _, reason, text = conditions.approval(new)
    if old is not None and conditions.approval(old)[1] == reason:
        return
    path = f"metadata.annotations[{conditions.APPROVAL}]"
    if reason == "MissingAnnotation":
        found.required(path, text)
    elif reason == "InvalidAnnotation":
        value = (new["metadata"].get("annotations") or {}).get(conditions.APPROVAL)
        found.invalid(path, value, text)


# -- spec -------------------------------------------------------------------------------------


def _spec(spec: Object, found: Findings, old: Object | None) -> None:
    _group(spec.get("group") or "", found)
    scope = spec.get("scope")
    found.one_of("spec.scope", scope, ("Cluster", "Namespaced"))
    before = old["spec"] if old is not None else None
    keeps = bool(spec.get("preserveUnknownFields"))
    _schemas_there(spec, before, found, keeps)
    if keeps and any(part.get("default") is not None for part in _all_parts(spec)):
        text = "must be false in order to use defaults in the schema"
        found.invalid("spec.preserveUnknownFields", True, text)
    _versions(spec, before, found)
    _required_names(spec.get("names") or {}, found)
    _names(spec.get("names") or {}, "spec.names", found)
    _for_all_versions(spec, before, found)
    conversion = spec.get("conversion") or {}
    if conversion.get("strategy") == "Webhook" and keeps:
        text = "must be None if spec.preserveUnknownFields is true"
        found.invalid("spec.conversion.strategy", "Webhook", text)
    if spec.get("conversion") is not None:
        _conversion(conversion, found)


def _group(group: str, found: Findings) -> None:
    path = "spec.group"
    if not group:
        found.required(path)
    elif wrong := names.dns1123_subdomain(group):
        found.invalid(path, group, ",".join(wrong))
    elif "." not in group:
        found.invalid(path, group, "should be a domain with at least one dot")


def _schema(version: Object) -> Json | None:
    return (version.get("schema") or {}).get("openAPIV3Schema")


def _all_parts(spec: Object) -> Iterable[Json]:
    for version in spec.get("versions") or ():
        schema = _schema(version)
        if schema is not None:
            yield from walk(schema)


def _schemas_there(spec: Object, before: Object | None, found: Findings, keeps: bool) -> None:
    """Every version has a schema, unless an older definition was let in without."""
    was_lax = keeps or (before is not None and any(_schema(v) is None for v in before["versions"]))
    for index, version in enumerate(spec.get("versions") or ()):
        if _schema(version) is not None:
            continue
        path = f"spec.versions[{index}].schema.openAPIV3Schema"
        if not was_lax:
            found.required(path)
        elif not keeps and version.get("served"):
            found.required(path, "because otherwise all fields are pruned")


def _versions(spec: Object, before: Object | None, found: Findings) -> None:
    """What the versions say each, and that there is one that is stored."""
    versions = spec.get("versions") or []
    known = {v["name"]: v for v in (before or {}).get("versions") or ()}
    strict = _must_be_structural(spec)
    shared = _shared(versions)
    for index, version in enumerate(versions):
        path = f"spec.versions[{index}]"
        name = version.get("name") or ""
        _version_name(name, f"{path}.name", found)
        was = _schema(known[name]) if name in known else None
        _deprecation(version, f"{path}.deprecationWarning", found)
        own = {key: value for key, value in version.items() if key not in shared}
        _content(own, version, path, _PLACES, was, found, strict=strict, any_status=False)
    listed = [version.get("name") for version in versions]
    if len(set(listed)) != len(listed):
        found.invalid("spec.versions", versions, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        text = "must have exactly one version marked as storage version"
        found.invalid("spec.versions", versions or None, text)
    if versions:
        _version_name(versions[0].get("name") or "", "spec.version", found)


def _version_name(name: str, path: str, found: Findings) -> None:
    if wrong := names.dns1035_label(name):
        found.invalid(path, name, ",".join(wrong))


# Where a version says what it says, and where it is said once for all versions that say the same.
_PLACES = {
    "schema": "schema",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
_SHARED_PLACES = {**_PLACES, "schema": "validation"}


def _shared(versions: list[Any]) -> Object:
    """What all versions have alike, which is then judged once.

    Source: apiextensions-apiserver pkg/apis/apiextensions/v1/conversion.go.
    """
    if not versions:
        return {}
    first = versions[0]
    return {
        key: first[key]
        for key in _PLACES
        if first.get(key) is not None and all(row.get(key) == first[key] for row in versions)
    }


def _for_all_versions(spec: Object, before: Object | None, found: Findings) -> None:
    """What is said for all versions alike."""
    versions = spec.get("versions") or []
    if shared := _shared(versions):
        known = {v["name"]: v for v in (before or {}).get("versions") or ()}
        name = versions[0].get("name")
        was = _schema(known[name]) if name in known else None
        strict = _must_be_structural(spec)
        whole = {"subresources": {}, **shared}
        any_status = any(map(_has_status, versions))
        _content(
            shared, whole, "spec", _SHARED_PLACES, was, found, strict=strict, any_status=any_status
        )


def _has_status(version: Object) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _must_be_structural(spec: Object) -> bool:
    return not spec.get("preserveUnknownFields") or any(
        _is_extended(part) for part in _all_parts(spec)
    )


_EXTENSIONS = (
    "x-kubernetes-embedded-resource", "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type",
    "x-kubernetes-validations",
)  # fmt: skip


def _is_extended(schema: Json) -> bool:
    """Whether a schema says what only a structural one can."""
    return any(schema.get(name) for name in _EXTENSIONS)


def _content(
    content: Object, version: Object, path: str, places: Mapping[str, str], was: Json | None,
    found: Findings, *, strict: bool, any_status: bool,
) -> None:  # fmt: skip
    """Schema, subresources, columns and selectable fields in ``content``, part of ``version``."""
    schema = _schema(content)
    if schema is not None:
        at = f"{path}.{places['schema']}.openAPIV3Schema"
        _whole_schema(schema, at, found, was, any_status or _has_status(version), strict)
    _subresources(content.get("subresources") or {}, f"{path}.subresources", found)
    for index, column in enumerate(content.get("additionalPrinterColumns") or ()):
        _column(column, f"{path}.additionalPrinterColumns[{index}]", found)
    fields = content.get("selectableFields") or ()
    schema = _schema(version)
    if fields and schema is None:
        text = "may only be set when `version.schema.openAPIV3Schema` is not included"
        if path == "spec":
            text = "may only be set when validations.schema is included"
        found.invalid(f"{path}.selectableFields", "", text)
    elif fields and schema is not None:
        _selectable(fields, parse(schema), f"{path}.selectableFields", found)


def _deprecation(version: Object, path: str, found: Findings) -> None:
    text = version.get("deprecationWarning")
    if text is None:
        return
    if not version.get("deprecated"):
        found.invalid(path, text, "can only be set for deprecated versions")
        return
    if len(text.encode()) > 256:
        found.invalid(path, text, "must be <= 256 characters long")
    if not text:
        found.invalid(path, text, "must not be an empty string")
    for index, char in enumerate(text):
        if not char.isprintable():
            what = (
                "must only contain printable UTF-8 characters; non-printable character found at "
                f"index {index}"
            )
            found.invalid(path, text, what)
            break


def _whole_schema(
    schema: Json, path: str, found: Findings, was: Json | None, has_status: bool, strict: bool
) -> None:
    if has_status:
        _root_with_status(schema, path, found)
    if schema.get("nullable"):
        found.forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    wrong = structural_rules.violations(schema, path) if strict else []
    found.causes += wrong
    if strict and not wrong:
        before = len(found.causes)
        _defaults(parse(schema).as_root, schema, path, found)
        wrong = found.causes[before:]
    if schema != was:
        schema_rules.check(schema, path, found, rules=strict and not wrong, was=was)
    if not strict:
        try:
            Validator(schema, ALL)  # a structural one has had its patterns looked at
        except Invalid as err:
            parent = path.rpartition(".")[0]
            found.invalid(parent, "", f"error building validator: {err.message}")


def _root_with_status(schema: Json, path: str, found: Findings) -> None:
    if schema.get("type") and schema["type"] != "object":
        text = (
            'only "object" is allowed as the type at the root of the schema if the status '
            "subresource is enabled"
        )
        found.invalid(f"{path}.type", schema["type"], text)
    elif any(value and key not in _KEYS_AT_ROOT for key, value in schema.items()):
        text = (
            f"only [{' '.join(_AT_ROOT)}] fields are allowed at the root of the schema if the "
            "status subresource is enabled"
        )
        found.invalid(path, schema, text)


def _defaults(
    schema: Structural, raw: Json, path: str, found: Findings, *, in_meta: bool = False
) -> None:
    """Every default is a good value of its own place."""
    if schema.default is not None and not in_meta:
        _default(schema, f"{path}.default", found)
    if schema.items is not None:
        _defaults(schema.items, raw, f"{path}.items", found, in_meta=in_meta)
    for key, place in schema.properties.items():
        inner = in_meta or (schema.embedded and key in ("metadata", "apiVersion", "kind"))
        _defaults(place, raw, f"{path}.properties[{key}]", found, in_meta=inner)


def _default(schema: Structural, path: str, found: Findings) -> None:
    value = deepcopy(schema.default)
    unknown: list[str] = []
    pruning.prune(value, schema, unknown)
    if unknown:
        found.invalid(path, schema.default, "must not have unknown fields")
    mine = Findings()
    embedded.check(schema.default, schema, mine, path)
    if not mine.causes:
        validator = Validator(schema.raw, ALL)
        mine.causes += validator.check(schema.default, base=path)
    if not mine.causes and schema.has_rules:
        from muntin.model.custom.rules import compile_rules, evaluate

        program = compile_rules(schema)
        if program is not None:
            mine.causes += evaluate(program, schema.default, schema.default, base=path)
    found.causes += mine.causes


# -- the rest of a version --------------------------------------------------------------------


def _subresources(subresources: Object, path: str, found: Findings) -> None:
    scale = subresources.get("scale")
    if scale is None:
        return
    for key, prefix in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        value, at = scale.get(key) or "", f"{path}.scale.{key}"
        if not value:
            found.required(at)
        elif not value.startswith("."):
            found.invalid(at, value, "must be a simple json path starting with .")
        elif not value.startswith(prefix):
            found.invalid(at, value, f"should be a json path under {prefix[:-1]}")
    value, at = scale.get("labelSelectorPath") or "", f"{path}.scale.labelSelectorPath"
    if value and not value.startswith("."):
        found.invalid(at, value, "must be a simple json path starting with .")
    elif value and not value.startswith((".spec.", ".status.")):
        found.invalid(at, value, "should be a json path under either .spec or .status")


def _column(column: Object, path: str, found: Findings) -> None:
    if not column.get("name"):
        found.required(f"{path}.name")
    kind, known = column.get("type") or "", f"must be one of {','.join(COLUMN_TYPES)}"
    if not kind:
        found.required(f"{path}.type", known)
    elif kind not in COLUMN_TYPES:
        found.invalid(f"{path}.type", kind, known)
    form = column.get("format") or ""
    if form and form not in COLUMN_FORMATS:
        found.invalid(f"{path}.format", form, f"must be one of {','.join(COLUMN_FORMATS)}")
    value = column.get("jsonPath") or ""
    if not value:
        found.required(f"{path}.JSONPath")
    elif not value.startswith("."):
        found.invalid(f"{path}.JSONPath", value, "must be a simple json path starting with .")


def _selectable(fields: Any, schema: Structural, path: str, found: Findings) -> None:
    seen: set[str] = set()
    for index, row in enumerate(fields):
        value, at = row.get("jsonPath") or "", f"{path}[{index}].jsonPath"
        if not value:
            found.required(at)
            continue
        try:
            shown, parts, place = paths.resolve(value, schema, allow_brackets=False)
        except Invalid as err:
            found.invalid(at, value, f"is an invalid path: {err.message}")
            continue
        if parts and parts[0] == "metadata":
            found.invalid(at, value, "must not point to fields in metadata")
        if place.type not in ("string", "boolean", "integer"):
            text = (
                "must point to a field of type string, boolean or integer. Enum string fields and "
                "strings with formats are allowed."
            )
            found.invalid(at, value, text)
        if shown in seen:
            found.duplicate(at, value)
        seen.add(shown)
    if len(seen) > MOST_SELECTABLE:
        found.too_many(path, len(seen), MOST_SELECTABLE)


# -- names and conversion ---------------------------------------------------------------------


def _required_names(found_names: Object, found: Findings) -> None:
    for key in ("plural", "singular", "kind", "listKind"):
        if not found_names.get(key):
            found.required(f"spec.names.{key}")


def _names(found_names: Object, path: str, found: Findings) -> None:
    def label(at: str, value: str, prefix: str = "") -> None:
        if value and (wrong := names.dns1035_label(value.lower() if prefix else value)):
            found.invalid(at, value, prefix + ",".join(wrong))

    mixed = "may have mixed case, but should otherwise match: "
    for key, prefix in (("plural", ""), ("singular", ""), ("kind", mixed), ("listKind", mixed)):
        label(f"{path}.{key}", found_names.get(key) or "", prefix)
    for index, value in enumerate(found_names.get("shortNames") or ()):
        label(f"{path}.shortNames[{index}]", value)
    kind, list_kind = found_names.get("kind"), found_names.get("listKind")
    if kind and kind == list_kind:
        found.invalid(f"{path}.listKind", list_kind, "kind and listKind may not be the same")
    for index, value in enumerate(found_names.get("categories") or ()):
        label(f"{path}.categories[{index}]", value)


def _conversion(conversion: Object, found: Findings) -> None:
    path = "spec.conversion"
    found.one_of(f"{path}.strategy", conversion.get("strategy"), ("None", "Webhook"))
    webhook: Mapping[str, Any] = conversion.get("webhook") or {}
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions")
    if conversion.get("strategy") != "Webhook":
        text = "should not be set when strategy is not set to Webhook"
        if client is not None:
            found.forbidden(f"{path}.webhookClientConfig", text)
        if versions:
            found.forbidden(f"{path}.conversionReviewVersions", text)
        return
    _client(client, f"{path}.webhookClientConfig", found)
    _review_versions(versions or [], f"{path}.conversionReviewVersions", found)


def _client(client: Object | None, path: str, found: Findings) -> None:
    if client is None:
        found.required(path, "required when strategy is set to Webhook")
    elif (client.get("url") is None) == (client.get("service") is None):
        found.required(path, "exactly one of url or service is required")
    elif client.get("url") is not None:
        _url(client["url"], f"{path}.url", found)
    else:
        service = client["service"]
        for key in ("name", "namespace"):
            if not service.get(key):
                found.required(f"{path}.service.{key}")
        port = service.get("port", 443)
        if not 0 < port < 65536:
            text = "port is not valid: must be between 1 and 65535, inclusive"
            found.invalid(f"{path}.service.port", port, text)
        if service.get("path"):
            _service_path(service["path"], f"{path}.service.path", found)


def _service_path(text: str, path: str, found: Findings) -> None:
    """Source: apiserver pkg/util/webhook/validation.go."""
    if not text.startswith("/"):
        found.invalid(path, text, "must start with a '/'")
    if text == "/":
        return
    for index, part in enumerate(text.strip("/").split("/")):
        if not part:
            found.invalid(path, text, f"segment[{index}] may not be empty")
            continue
        for wrong in names.dns1123_subdomain(part):
            found.invalid(path, text, f"segment[{index}]: {wrong}")


def _url(url: str, path: str, found: Findings) -> None:
    from urllib.parse import urlsplit

    form = "; desired format: https://host[/path]"
    try:
        parts = urlsplit(url)
    except ValueError as err:
        found.required(path, f"url must be a valid URL: {err}{form}")
        return
    checks: tuple[tuple[bool, str, Callable[[], Any]], ...] = (
        (parts.scheme != "https", f"'https' is the only allowed URL scheme{form}",
         lambda: parts.scheme),
        (not parts.netloc, f"host must be specified{form}", lambda: parts.netloc),
        (parts.username is not None, "user information is not permitted in the URL",
         lambda: parts.username),
        (bool(parts.fragment), "fragments are not permitted in the URL", lambda: parts.fragment),
        (bool(parts.query), "query parameters are not permitted in the URL", lambda: parts.query),
    )  # fmt: skip
    for is_wrong, text, value in checks:
        if is_wrong:
            found.invalid(path, value(), text)


def _review_versions(versions: list[str], path: str, found: Findings) -> None:
    if not versions:
        found.required(path)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            found.invalid(f"{path}[{index}]", version, "duplicate version")
            continue
        found.each_invalid(f"{path}[{index}]", version, names.dns1035_label(version))
    if not set(versions) & set(REVIEW_VERSIONS):
        text = f"must include at least one of {', '.join(REVIEW_VERSIONS)}"
        found.invalid(path, versions, text)
