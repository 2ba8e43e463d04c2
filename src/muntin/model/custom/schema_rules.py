"""What a definition's schema may say, beyond being structural.

Source: apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model.custom import paths
from muntin.model.custom.budget import Budget, capped, times_of, times_within
from muntin.model.custom.structural import META_FIELDS, Json, Structural, parse, walk
from muntin.model.validation.findings import Findings

TYPES = ("array", "boolean", "integer", "number", "object", "string")
REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_UNSUPPORTED = (
    ("id", "id is not supported"),
    ("additionalItems", "additionalItems is not supported"),
    ("patternProperties", "patternProperties is not supported"),
    ("definitions", "definitions is not supported"),
    ("dependencies", "dependencies is not supported"),
    ("$ref", "$ref is not supported"),
)
_SET_ITEM = "must be atomic as item of a list with x-kubernetes-list-type=set"
_IS_MAP = "if x-kubernetes-list-type is map"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the schema we are: why defaults are forbidden here (empty: they are not), whether
    it is metadata, and the place above from which on ``oldSelf`` cannot be told. ``times`` is how
    often an object may have such a place (None: there is no bound), ``budget`` where rules are
    judged (None: they are not)."""

    no_defaults: str = ""
    in_meta: bool = False
    loose: str = ""
    times: int | None = 1
    budget: Budget | None = None

    def within(self, schema: Json) -> Place:
        """The place of what is in an object, list or map of that ``schema``."""
        return replace(self, times=times_within(schema, self.times))

    def losing(self, path: str) -> Place:
        """Below here an object's predecessor cannot be told."""
        return self if self.loose else replace(self, loose=path)


def check(
    schema: Json, path: str, found: Findings, *, rules: bool = True, was: Json | None = None
) -> None:
    """Add what is wrong with a whole schema at ``path``, which ``was`` another; without ``rules``
    these are let be."""
    budget = None
    if rules:
        known = frozenset(_expressions(was)) if was is not None else frozenset()
        budget = Budget(Findings(server=found.kubernetes), known)
    _check(schema, path, Place(budget=budget), found, is_root=True)
    if budget is not None:
        found.causes += budget.found.causes
        budget.judge(path, found)


def _check(
    schema: Json, path: str, place: Place, found: Findings, *, is_root: bool = False
) -> None:
    _keywords(schema, path, place, found)
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        found.forbidden(f"{path}.uniqueItems", text)
    _below(schema, path, place, found, is_root=is_root)
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        at = f"{path}.x-kubernetes-preserve-unknown-fields"
        found.invalid(at, False, "must be true or undefined")
    _map_type(schema, path, found)
    _list_type(schema, path, found)
    _list_keys(schema, path, found)
    _elements(schema, path, found)
    _rules(schema, path, place, found)


def _keywords(schema: Json, path: str, place: Place, found: Findings) -> None:
    kind = schema.get("type")
    if kind and kind not in TYPES:
        found.not_supported(f"{path}.type", kind, TYPES)
    if schema.get("default") is not None and place.no_defaults:
        found.forbidden(f"{path}.default", f"must not be set {place.no_defaults}")
    for name, text in _UNSUPPORTED:
        if schema.get(name):
            found.forbidden(f"{path}.{name}", text)
    if kind == "null":
        text = "type cannot be set to null, use nullable as an alternative"
        found.forbidden(f"{path}.type", text)
    if isinstance(schema.get("items"), list):
        found.forbidden(f"{path}.items", "items must be a schema object and not an array")
    if place.in_meta and schema.get("x-kubernetes-embedded-resource"):
        at = f"{path}.x-kubernetes-embedded-resource"
        found.forbidden(at, "must not be used inside of resource meta")


def _below(schema: Json, path: str, place: Place, found: Findings, *, is_root: bool) -> None:
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    if additional is not None and properties and additional is not True:
        at = f"{path}.additionalProperties"
        found.forbidden(at, "additionalProperties and properties are mutual exclusive")
    if isinstance(additional, Mapping):
        inner = place
        if place.in_meta:
            why = "inside additionalProperties applying to object metadata"
            inner = replace(place, no_defaults=why)
        _check(additional, f"{path}.additionalProperties", inner.within(schema), found)
    is_object = is_root or bool(schema.get("x-kubernetes-embedded-resource"))
    for name, item in properties.items():
        inner = place.losing(path) if schema.get("x-kubernetes-map-type") == "atomic" else place
        if is_object and name in META_FIELDS:
            why = f"in top-level {name}" if is_root else inner.no_defaults
            inner = replace(inner, in_meta=True, no_defaults=why)
        _check(item, f"{path}.properties[{name}]", inner.within(schema), found)
    place_of_nested = replace(place, budget=None)
    if schema.get("not") is not None:
        _check(schema["not"], f"{path}.not", place_of_nested, found)
    for junctor in ("allOf", "oneOf", "anyOf"):
        for index, item in enumerate(schema.get(junctor) or ()):
            _check(item, f"{path}.{junctor}[{index}]", place_of_nested, found)
    if isinstance(schema.get("items"), Mapping):
        is_map = schema.get("x-kubernetes-list-type") == "map"
        inner = place if is_map else place.losing(path)
        _check(schema["items"], f"{path}.items", inner.within(schema), found)


def _map_type(schema: Json, path: str, found: Findings) -> None:
    map_type, kind = schema.get("x-kubernetes-map-type"), schema.get("type") or ""
    if map_type is None:
        return
    if kind != "object":
        text = "must be object if x-kubernetes-map-type is specified"
        found.invalid(f"{path}.type", kind, text) if kind else found.required(f"{path}.type", text)
    if map_type not in ("atomic", "granular"):
        found.not_supported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))


def _list_type(schema: Json, path: str, found: Findings) -> None:
    list_type, kind = schema.get("x-kubernetes-list-type"), schema.get("type") or ""
    if list_type is None:
        return
    items = schema.get("items")
    if kind != "array":
        text = "must be array if x-kubernetes-list-type is specified"
        found.invalid(f"{path}.type", kind, text) if kind else found.required(f"{path}.type", text)
    elif list_type == "set" and isinstance(items, Mapping):
        inner, outer = items.get("x-kubernetes-list-type"), items.get("x-kubernetes-map-type")
        if items.get("type") == "array" and inner not in (None, "atomic"):
            found.invalid(f"{path}.items.x-kubernetes-list-type", inner, _SET_ITEM)
        if items.get("type") == "object" and outer != "atomic":
            found.invalid(f"{path}.items.x-kubernetes-map-type", outer, _SET_ITEM)
    if list_type not in ("atomic", "set", "map"):
        known = ("atomic", "set", "map")
        found.not_supported(f"{path}.x-kubernetes-list-type", list_type, known)


def _list_keys(schema: Json, path: str, found: Findings) -> None:
    keys, list_type = schema.get("x-kubernetes-list-map-keys"), schema.get("x-kubernetes-list-type")
    if keys and list_type != "map":
        at, text = (
            f"{path}.x-kubernetes-list-type",
            "must be map if x-kubernetes-list-map-keys is non-empty",
        )
        found.required(at, text) if list_type is None else found.invalid(at, list_type, text)
    if list_type != "map":
        return
    items = schema.get("items")
    if not keys:
        found.required(f"{path}.x-kubernetes-list-map-keys", f"must not be empty {_IS_MAP}")
    if items is None:
        found.required(f"{path}.items", f"must have a schema {_IS_MAP}")
    elif not isinstance(items, Mapping):
        found.invalid(f"{path}.items", items, f"must only have a single schema {_IS_MAP}")
    elif items.get("type") != "object":
        text = "must be object if parent array's x-kubernetes-list-type is map"
        found.invalid(f"{path}.items.type", items.get("type") or "", text)
    else:
        _key_properties(items, keys or [], path, found)


def _key_properties(items: Json, keys: list[str], path: str, found: Findings) -> None:
    properties = items.get("properties") or {}
    for index, key in enumerate(keys):
        item, at = properties.get(key), f"{path}.items.properties[{key}]"
        if item is None:
            text = "entries must all be names of item properties"
            found.invalid(f"{path}.x-kubernetes-list-map-keys", keys, text)
        elif item.get("type") in ("array", "object"):
            text = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            found.invalid(f"{at}.type", items.get("type"), text)
        if key in keys[:index]:
            text = "must not contain duplicate entries"
            found.invalid(f"{path}.x-kubernetes-list-map-keys", keys, text)


def _elements(schema: Json, path: str, found: Findings) -> None:
    """Elements of sets and maps are there, and so are the keys of those of maps."""
    items, list_type = schema.get("items"), schema.get("x-kubernetes-list-type")
    if list_type not in ("set", "map") or not isinstance(items, Mapping):
        return
    if items.get("nullable"):
        text = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        found.forbidden(f"{path}.items.nullable", text)
    if list_type == "set":
        return
    properties, required = items.get("properties") or {}, items.get("required") or ()
    for key in schema.get("x-kubernetes-list-map-keys") or ():
        item, at = properties.get(key), f"{path}.items.properties[{key}]"
        if item is None:
            continue
        if key not in required and item.get("default") is None:
            found.required(
                f"{at}.default",
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
                "required property",
            )
        if item.get("nullable"):
            text = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            found.forbidden(f"{at}.nullable", text)


# -- rules ------------------------------------------------------------------------------------


def _rules(schema: Json, path: str, place: Place, found: Findings) -> None:
    rules = schema.get("x-kubernetes-validations") or ()
    if not rules:
        return
    before, structural = len(found.causes), parse(schema)
    for index, rule in enumerate(rules):
        _rule_form(rule, f"{path}.x-kubernetes-validations[{index}]", structural, found)
    is_wrong = len(found.causes) > before or any(c.field.startswith(path) for c in found.causes)
    if place.budget is not None and not is_wrong:
        _rule_programs(rules, structural, path, place, place.budget)


def _rule_form(rule: Json, path: str, schema: Structural, found: Findings) -> None:
    text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    if not text:
        found.required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        found.invalid(f"{path}.message", message, "must be non-empty if specified")
    elif _has_break(message.strip()):
        found.invalid(f"{path}.message", message, "must not contain line breaks")
    elif _has_break(text) and not message:
        what = "message must be specified if rule contains line breaks"
        found.required(f"{path}.message", what)
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip():
        what = "messageExpression must be non-empty if specified"
        found.required(f"{path}.messageExpression", what)
    reason = rule.get("reason")
    if reason is not None and reason not in REASONS:
        found.not_supported(f"{path}.reason", reason, REASONS)
    at = rule.get("fieldPath") or ""
    if at and not at.strip():
        found.invalid(f"{path}.fieldPath", at, "must be non-empty if specified")
    if _has_break(at):
        found.invalid(f"{path}.fieldPath", at, "must not contain line breaks")
    if at:
        try:
            paths.resolve(at, schema)
        except Invalid:
            found.invalid(f"{path}.fieldPath", at, "must be a valid path")


def _shown(rule: Json) -> Json:
    """A rule as messages show it: all its fields, by the names of the server's own type."""
    return {name[0].upper() + name[1:]: rule.get(name, missing) for name, missing in _RULE_FIELDS}


_RULE_FIELDS = (
    ("rule", ""), ("message", ""), ("messageExpression", ""), ("reason", None), ("fieldPath", ""),
    ("optionalOldSelf", None),
)  # fmt: skip


def _has_break(text: str) -> bool:
    return "\n" in text or "\r" in text


def _texts(rule: Json) -> Iterator[str]:
    """The expressions of a rule."""
    return (rule[name] for name in ("rule", "messageExpression") if rule.get(name))


def _expressions(schema: Json) -> Iterator[str]:
    """Those of all rules of a schema."""
    for part in walk(schema):
        for rule in part.get("x-kubernetes-validations") or ():
            yield from _texts(rule)


def _rule_programs(rules: Any, schema: Structural, path: str, place: Place, budget: Budget) -> None:
    """Whether the rules compile and what they cost; only asked of schemas that are good
    otherwise."""
    from muntin.model.custom.rules import compile_rule
    from muntin.model.custom.shapes import shape_of

    is_root = path.endswith(".openAPIV3Schema")
    shape = shape_of(schema.as_root if is_root else schema)
    if shape is None:
        return
    found = budget.found
    for index, raw in enumerate(rules):
        at = f"{path}.x-kubernetes-validations[{index}]"
        is_new = not budget.known.issuperset(_texts(raw))
        rule = compile_rule(raw, schema, shape, found.kubernetes if is_new else ())
        if rule.program is not None:
            times = times_of(shape) if place.times is None else place.times
            budget.charge(f"{at}.rule", "rule", capped(rule.cost(shape) * times))
        if rule.error:
            found.invalid(f"{at}.rule", _shown(raw), rule.error)
        if rule.message_error:
            found.invalid(f"{at}.messageExpression", _shown(raw), rule.message_error)
        elif rule.message_program is not None:
            cost = rule.message_cost(shape)
            budget.charge(f"{at}.messageExpression", "messageExpression", cost)
        uses_old = rule.uses_old and not rule.error
        if uses_old and place.loose:
            text = (
                "oldSelf cannot be used on the uncorrelatable portion of the schema within "
                f"{place.loose}"
            )
            found.invalid(f"{at}.rule", raw["rule"], text)
        elif not uses_old and raw.get("optionalOldSelf") is not None:
            text = "may not be set if oldSelf is not used in rule"
            found.invalid(f"{at}.optionalOldSelf", raw["optionalOldSelf"], text)
