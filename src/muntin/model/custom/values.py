"""Values against the OpenAPI schema of a custom definition, with upstream's paths and words.

A schema is compiled once; `Validator.check` then walks a value. Given the old value too, whatever
is wrong but as it was before is let pass (ratcheting).
Source: kube-openapi pkg/validation/validate; apiextensions-apiserver pkg/apiserver/validation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from muntin.kit.errors import Cause, Invalid
from muntin.model.custom import formats
from muntin.model.custom.structural import Json
from muntin.model.validation.findings import Findings, shown

NOTHING = object()  # stands for an old value that is not there or cannot be told
_NO_PATH = "<nil>"
_INT_LIMITS = {"int32": 2**31, "": 2**63, "int64": 2**63}


def json_type(value: Any) -> str:
    """The JSON type of a value, as schemas call it."""
    return _TYPES.get(type(value), "object")


_TYPES = {
    str: "string", bool: "boolean", int: "integer", float: "number", list: "array",
    dict: "object", type(None): "null",
}  # fmt: skip


@dataclass(slots=True)
class Outcome:
    """What a walk found; ``passed`` counts the checks that were good."""

    base: str
    found: Findings = field(default_factory=Findings)
    passed: int = 0

    def at(self, path: str) -> str:
        """The path of a cause, below the place where the walk began."""
        if not path:
            return self.base or _NO_PATH
        return f"{self.base}.{path}" if self.base else path

    def invalid(self, path: str, value: Any, text: str) -> None:
        """A value that breaks a keyword of the schema."""
        self.found.invalid(self.at(path), value, f"{path} in body {text}")

    def about(self, text: str) -> None:
        """A finding without a path, as those of ``anyOf`` and its like are."""
        self.found.invalid(self.base or _NO_PATH, "", text)

    def merge(self, other: Outcome) -> None:
        """Take over what another walk found."""
        self.found.causes += other.found.causes
        self.passed += other.passed


Check = Callable[[Any, str, Outcome], None]


class Validator:
    """One compiled schema.

    Raises (when made):
        Invalid: a pattern that is no regular expression.
    """

    __slots__ = ("_additional", "_checks", "_closed", "_groups", "_items", "_keys", "_list_type",
                 "_map_type", "_not", "_properties", "_required", "_types", "nullable")  # fmt: skip

    def __init__(self, schema: Json, known_formats: frozenset[str] = formats.ALWAYS) -> None:
        def sub(item: Json) -> Validator:
            return Validator(item, known_formats)

        self._types = _types_of(schema)
        self.nullable = bool(schema.get("nullable"))
        self._checks = _checks(schema, self._types, known_formats)
        self._required = tuple(schema.get("required") or ())
        self._properties = {k: sub(v) for k, v in (schema.get("properties") or {}).items()}
        additional, items = schema.get("additionalProperties"), schema.get("items")
        self._additional = sub(additional) if isinstance(additional, Mapping) else None
        self._closed = additional is False
        self._items = sub(items) if isinstance(items, Mapping) else None
        self._groups = {
            name: tuple(sub(item) for item in schema.get(name) or ())
            for name in ("anyOf", "oneOf", "allOf")
        }
        self._not = sub(schema["not"]) if schema.get("not") is not None else None
        self._list_type = schema.get("x-kubernetes-list-type") or ""
        self._keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
        self._map_type = schema.get("x-kubernetes-map-type") or ""

    def check(self, value: Any, old: Any = NOTHING, *, base: str = "") -> list[Cause]:
        """What is wrong with ``value``; paths begin at ``base``."""
        outcome = Outcome(base)
        self._walk(value, old, "", outcome)
        return outcome.found.causes

    def _walk(self, value: Any, old: Any, path: str, out: Outcome) -> None:
        before = len(out.found.causes)
        self._inspect(value, old, path, out)
        causes = out.found.causes
        if len(causes) > before and old is not NOTHING and value == old:
            del causes[before:]

    def _inspect(self, value: Any, old: Any, path: str, out: Outcome) -> None:
        if not self._is_typed(value, path, out):
            if value is None:
                return
        elif value is None:
            _enum_of(self._checks, value, path, out)
            return
        for name, group in self._groups.items():
            if group:
                _JUNCTORS[name](group, value, old, path, out)
        if self._not is not None and not self._not.check(value):
            out.about(f'"{path}" must not validate the schema (not)')
        if isinstance(value, list):
            self._elements(value, old, path, out)
        for check in self._checks:
            check(value, path, out)
        if isinstance(value, dict):
            self._members(value, old, path, out)
        out.passed += 1

    def _is_typed(self, value: Any, path: str, out: Outcome) -> bool:
        types = self._types
        if not types or (value is None and self.nullable):
            return True
        kind = json_type(value)
        if (
            kind in types
            or (kind == "integer" and "number" in types)
            or (kind == "number" and "integer" in types and float(value).is_integer())
        ):
            out.passed += 1
            return True
        text = f'{path} in body must be of type {",".join(types)}: "{kind}"'
        out.found.type_invalid(out.at(path), kind, text)
        return False

    def _elements(self, value: list[Any], old: Any, path: str, out: Outcome) -> None:
        if self._items is None:
            return
        earlier = self._correlated(old)
        for index, item in enumerate(value):
            before = earlier(item) if earlier is not None else NOTHING
            self._items._walk(item, before, f"{path}[{index}]", out)

    def _correlated(self, old: Any) -> Callable[[Any], Any] | None:
        """How an element's predecessor is found: by its keys, in a list that is a map."""
        if self._list_type != "map" or not isinstance(old, list):
            return None
        keys = self._keys
        known = {
            tuple(map(repr, map(item.get, keys))): item for item in old if isinstance(item, dict)
        }

        def earlier(item: Any) -> Any:
            if not isinstance(item, dict):
                return NOTHING
            return known.get(tuple(map(repr, map(item.get, keys))), NOTHING)

        return earlier

    def _members(self, value: dict[str, Any], old: Any, path: str, out: Outcome) -> None:
        earlier = old if isinstance(old, dict) and self._map_type != "atomic" else {}
        stem = f"{path}." if path else ""
        for key, item in value.items():
            place = self._properties.get(key)
            if place is None:
                if self._closed:
                    out.found.invalid(
                        out.at(path), key, f"{path}.{key} in body is a forbidden property"
                    )
                    continue
                place = self._additional
                if place is None:
                    continue
            before = earlier.get(key, NOTHING)
            if not path and key in ("apiVersion", "kind"):
                before = NOTHING
            place._walk(item, before, stem + key, out)
        for key in self._required:
            if key not in value:
                out.found.required(out.at(stem + key))


def _types_of(schema: Json) -> tuple[str, ...]:
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    return (schema["type"],) if schema.get("type") else ()


# -- junctors ---------------------------------------------------------------------------------

_Group = tuple[Validator, ...]


def _try(validator: Validator, value: Any, old: Any, path: str, out: Outcome) -> Outcome:
    trial = Outcome(out.base)
    validator._walk(value, old, path, trial)
    return trial


def _best(trials: list[Outcome]) -> Outcome:
    return max(trials, key=lambda trial: trial.passed)


def _any_of(group: _Group, value: Any, old: Any, path: str, out: Outcome) -> None:
    trials = [_try(item, value, old, path, out) for item in group]
    if all(trial.found.causes for trial in trials):
        out.about(f'"{path}" must validate at least one schema (anyOf)')
        out.merge(_best(trials))


def _one_of(group: _Group, value: Any, old: Any, path: str, out: Outcome) -> None:
    trials = [_try(item, value, old, path, out) for item in group]
    good = sum(not trial.found.causes for trial in trials)
    if good == 1:
        return
    detail = f"Found {good} valid alternatives" if good else "Found none valid"
    out.about(f'"{path}" must validate one and only one schema (oneOf). {detail}')
    if not good:
        out.merge(_best(trials))


def _all_of(group: _Group, value: Any, old: Any, path: str, out: Outcome) -> None:
    trials = [_try(item, value, old, path, out) for item in group]
    bad = sum(bool(trial.found.causes) for trial in trials)
    for trial in trials:
        out.merge(trial)
    if bad:
        detail = ". None validated" if bad == len(trials) else ""
        out.about(f'"{path}" must validate all the schemas (allOf){detail}')


_JUNCTORS = {"anyOf": _any_of, "oneOf": _one_of, "allOf": _all_of}


# -- single checks ----------------------------------------------------------------------------


def _checks(schema: Json, types: tuple[str, ...], known: frozenset[str]) -> tuple[Check, ...]:
    found = [make(schema[key], schema) for key, make in _MAKERS.items() if key in schema]
    found.append(_text(schema))
    if name := schema.get("format"):
        if "string" in types or not types:
            if formats.normal(name) in known:
                found.append(_format(name))
        elif "integer" in types and name in _INT_LIMITS:
            found.append(_integer_range(name))
    if "integer" in types and not schema.get("format"):
        found.append(_integer_range(""))
    return tuple(check for check in found if check is not None)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _maximum(limit: float, schema: Json) -> Check:
    exclusive = bool(schema.get("exclusiveMaximum"))
    word = "less than" if exclusive else "less than or equal to"

    def check(value: Any, path: str, out: Outcome) -> None:
        if _is_number(value) and (value >= limit if exclusive else value > limit):
            out.invalid(path, value, f"should be {word} {_bound(limit, value)}")

    return check


def _minimum(limit: float, schema: Json) -> Check:
    exclusive = bool(schema.get("exclusiveMinimum"))
    word = "greater than" if exclusive else "greater than or equal to"

    def check(value: Any, path: str, out: Outcome) -> None:
        if _is_number(value) and (value <= limit if exclusive else value < limit):
            out.invalid(path, value, f"should be {word} {_bound(limit, value)}")

    return check


def _multiple_of(factor: float, schema: Json) -> Check:
    def check(value: Any, path: str, out: Outcome) -> None:
        if not _is_number(value) or factor <= 0:
            return
        try:
            fits = not Decimal(repr(value)) % Decimal(repr(factor))
        except InvalidOperation:  # a quotient of more digits than are counted: not whole upstream
            fits = False
        if not fits:
            out.invalid(path, value, f"should be a multiple of {_bound(factor, value)}")

    return check


def _bound(limit: float, value: Any) -> str:
    """A limit as Go prints it: as an integer for integers, else as a float."""
    if type(value) is int and float(limit).is_integer():
        return str(int(limit))
    return go_float(float(limit))


def go_float(value: float) -> str:
    """A float as Go's ``%v`` prints it: ``10``, ``0.5``, ``1e+06``."""
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) - 1 + exponent
    if -4 <= power < 6:
        return format(Decimal(repr(value)).normalize(), "f")
    mantissa = str(digits[0]) + (f".{''.join(map(str, digits[1:]))}" if len(digits) > 1 else "")
    sign = "-" if value < 0 else ""
    return f"{sign}{mantissa}e{'+' if power >= 0 else '-'}{abs(power):02d}"


def _text(schema: Json) -> Check | None:
    """Length and pattern of a text: only the first fault is told."""
    longest, shortest = schema.get("maxLength"), schema.get("minLength")
    pattern = schema.get("pattern")
    search = compile_pattern(pattern).search if pattern else None
    if longest is None and shortest is None and search is None:
        return None

    def check(value: Any, path: str, out: Outcome) -> None:
        if not isinstance(value, str):
            return
        if longest is not None and len(value) > longest:
            out.found.too_long(out.at(path), longest)
        elif shortest is not None and len(value) < shortest:
            out.invalid(path, value, f"should be at least {shortest} chars long")
        elif search is not None and search(value) is None:
            out.invalid(path, value, f"should match '{pattern}'")

    return check


@lru_cache(maxsize=1024)
def compile_pattern(text: str) -> Any:
    """A pattern in Go's syntax, matched in time that grows with the text only.

    Raises:
        Invalid: it is no regular expression; in Go's words.
    """
    import re2  # the engine that Go's is a port of; loaded with the first pattern

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as err:
        said = err.args[0].decode() if isinstance(err.args[0], bytes) else str(err)
        what, _, where = said.partition(": ")
        shown = f": `{where}`" if where else ""
        raise Invalid(f"error parsing regexp: {_GO_WORDS.get(what, what)}{shown}") from err


_GO_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "bad repetition operator": "invalid nested repetition operator",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "trailing \\": "trailing backslash at end of expression",
}


def _max_items(limit: int, schema: Json) -> Check:
    def check(value: Any, path: str, out: Outcome) -> None:
        if isinstance(value, list) and len(value) > limit:
            out.found.too_many(out.at(path), len(value), limit)

    return check


def _min_items(limit: int, schema: Json) -> Check:
    def check(value: Any, path: str, out: Outcome) -> None:
        if isinstance(value, list) and len(value) < limit:
            out.invalid(path, len(value), f"should have at least {limit} items")

    return check


def _unique_items(wanted: bool, schema: Json) -> Check | None:
    if not wanted:
        return None

    def check(value: Any, path: str, out: Outcome) -> None:
        if isinstance(value, list) and len({shown(item) for item in value}) < len(value):
            out.invalid(path, "", "shouldn't contain duplicates")

    return check


def _max_properties(limit: int, schema: Json) -> Check:
    def check(value: Any, path: str, out: Outcome) -> None:
        if isinstance(value, dict) and len(value) > limit:
            out.found.too_many(out.at(path), len(value), limit)

    return check


def _min_properties(limit: int, schema: Json) -> Check:
    def check(value: Any, path: str, out: Outcome) -> None:
        if isinstance(value, dict) and len(value) < limit:
            out.invalid(path, len(value), f"should have at least {limit} properties")

    return check


def _enum(values: list[Any], schema: Json) -> Check | None:
    if not values:
        return None
    known = {shown(item) for item in values}
    texts = [item if isinstance(item, str) else shown(item) for item in values]

    def check_enum(value: Any, path: str, out: Outcome) -> None:
        if value is None and schema.get("nullable") and not known:
            return
        if shown(value) not in known:
            out.found.not_supported(out.at(path), value, texts)

    return check_enum


def _enum_of(checks: tuple[Check, ...], value: Any, path: str, out: Outcome) -> None:
    """Only the enum is asked about a null."""
    for check in checks:
        if check.__name__ == "check_enum":
            check(value, path, out)


def _format(name: str) -> Check:
    is_valid = formats.checker(name)

    def check(value: Any, path: str, out: Outcome) -> None:
        if isinstance(value, str) and not is_valid(value):
            text = f'{path} in body must be of type {name}: "{value}"'
            out.found.type_invalid(out.at(path), value, text)

    return check


def _integer_range(name: str) -> Check:
    limit = _INT_LIMITS[name]
    kind = f"with format {name}" if name else "(default format)"

    def check(value: Any, path: str, out: Outcome) -> None:
        if type(value) is int and not -limit <= value < limit:
            out.about(f"Checked value must be of type integer {kind} in {path}")

    return check


_MAKERS: dict[str, Callable[[Any, Json], Check | None]] = {
    "maximum": _maximum,
    "minimum": _minimum,
    "multipleOf": _multiple_of,
    "maxItems": _max_items,
    "minItems": _min_items,
    "uniqueItems": _unique_items,
    "maxProperties": _max_properties,
    "minProperties": _min_properties,
    "enum": _enum,
}
