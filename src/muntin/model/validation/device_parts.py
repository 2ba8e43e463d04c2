"""Validation of what claims for devices, their classes and their slices have in common.

Source: kubernetes v1.36 pkg/apis/resource/validation/validation.go; dynamic-resource-allocation
cel/compile.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from muntin.model import names
from muntin.model.gates import Version
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_name
from muntin.model.validation.volume_sources import csi_driver_name

MOST_ROWS = 32
TAINT_EFFECTS = ("NoExecute", "NoSchedule", "None")
LONGEST_PARAMETERS = 10 * 1024

_LONGEST_EXPRESSION = 10 * 1024
_LONGEST_POOL, _LONGEST_ID = 253, 32
_MOST_BINDING_CONDITIONS = 4
_OPERATORS = ("Equal", "Exists")
_is_identifier = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
_IDENTIFIER_RULE = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    "validation is '[A-Za-z_][A-Za-z0-9_]*')"
)

Row = Callable[[Any, str, Findings], None]


def rows(
    values: Sequence[Any], most: int, path: str, found: Findings, check: Row,
    key: Callable[[Any], Any] | None = None,
) -> None:  # fmt: skip
    """Check each of ``values``, unless there are too many; by ``key`` none may be there twice."""
    if len(values) > most:
        found.too_many(path, len(values), most)
        return
    for index, value in enumerate(values):
        check(value, f"{path}[{index}]", found)
    seen: set[Any] = set()
    for index, value in enumerate(values if key is not None else ()):
        found.unique(f"{path}[{index}]", key(value) if key else None, seen)


def driver(name: str, path: str, found: Findings) -> None:
    """The name of a driver of devices."""
    if name:
        csi_driver_name(name, path, found)
    else:
        found.required(path)


def pool_name(name: str, path: str, found: Findings) -> None:
    """The name of a pool: subdomains between slashes."""
    if not name:
        found.required(path)
        return
    if len(name) > _LONGEST_POOL:
        found.too_long(path, _LONGEST_POOL)
    for part in name.split("/"):
        found.each_invalid(path, part, names.dns1123_subdomain(part))


def label(name: str, path: str, found: Findings) -> None:
    """The name of a device, a request or a counter."""
    found.each_invalid(path, name, names.dns1123_label(name))


def qualified_name(name: str, path: str, found: Findings) -> None:
    """An identifier, perhaps with a domain."""
    parts = name.split("/")
    if len(parts) == 1:
        _identifier(name, path, found)
    elif len(parts) == 2:
        domain, own = parts
        if domain:
            csi_driver_name(domain, path, found)
        else:
            found.invalid(path, "", "the domain must not be empty")
        if own:
            _identifier(own, path, found)
        else:
            found.invalid(path, "", "the name must not be empty")


def fully_qualified_name(name: str, path: str, found: Findings) -> None:
    """An identifier with a domain."""
    qualified_name(name, path, found)
    if "/" not in name:
        text = "a fully qualified name must be a domain and a name separated by a slash"
        found.invalid(path, name, text)


def _identifier(name: str, path: str, found: Findings) -> None:
    if len(name) > _LONGEST_ID:
        found.too_long(path, _LONGEST_ID)
    if not _is_identifier(name):
        found.invalid(path, name, _IDENTIFIER_RULE)


def selectors(values: Sequence[Object], path: str, found: Findings) -> None:
    """The expressions by which devices are chosen."""
    rows(values, MOST_ROWS, path, found, _selector)


def _selector(row: Object, path: str, found: Findings) -> None:
    cel = row.get("cel")
    if cel is None:
        found.required(f"{path}.cel")
        return
    text, here = cel.get("expression") or "", f"{path}.cel.expression"
    if len(text.encode()) > _LONGEST_EXPRESSION:
        found.too_long(here, _LONGEST_EXPRESSION)
    else:
        _expression(text, here, found)


def _expression(text: str, path: str, found: Findings) -> None:
    from muntin.model.cel import CompileError, compile

    try:
        result = compile(text, _environment(found.kubernetes)).result
    except CompileError as err:
        found.invalid(path, text, f"compilation failed: {err.message}")
        return
    if result not in ("bool", "dyn"):
        wrong = f"must evaluate to bool or the unknown type, not {result}"
        found.invalid(path, text, wrong)


@lru_cache(maxsize=4)
def _environment(api: Version) -> Any:
    from muntin.model import cel
    from muntin.model.cel.library import quantities

    def domains(of: cel.Shape) -> cel.Shape:
        return cel.Shape("map", element=cel.Shape("map", element=of))

    device = cel.Shape(
        "object",
        "kubernetes_DRADevice",
        fields={
            "driver": cel.Shape("string"),
            "allowMultipleAllocations": cel.Shape("bool"),
            "attributes": domains(cel.Shape("dyn")),
            "capacity": domains(cel.Shape("opaque", quantities.QUANTITY)),
        },
    )
    return cel.environment({"device": device}, api=api)


def configuration(row: Object, path: str, found: Findings) -> None:
    """What a driver is told."""
    opaque = row.get("opaque")
    if opaque is None:
        found.required(f"{path}.opaque")
        return
    driver(opaque.get("driver") or "", f"{path}.opaque.driver", found)
    parameters(opaque.get("parameters"), f"{path}.opaque.parameters", LONGEST_PARAMETERS, found)


def parameters(value: Any, path: str, most_bytes: int, found: Findings) -> None:
    """An object of any kind that is not too large."""
    import json

    if value is None:
        found.required(path)
    elif not isinstance(value, dict):
        found.invalid(path, "<value omitted>", "must be a valid JSON object")
    elif len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > most_bytes:
        found.too_long(path, most_bytes)


def taint(row: Object, path: str, found: Findings) -> None:
    """What keeps claims away from a device."""
    label_name(row.get("key") or "", f"{path}.key", found)
    _value(row.get("value") or "", f"{path}.value", found)
    found.one_of(f"{path}.effect", row.get("effect"), TAINT_EFFECTS)


def toleration(row: Object, path: str, found: Findings) -> None:
    """Which taints a request puts up with."""
    if row.get("key"):
        label_name(row["key"], f"{path}.key", found)
    operator, value = row.get("operator") or "", row.get("value") or ""
    if operator == "Exists":
        if value:
            found.invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        _value(value, f"{path}.value", found)
    else:
        found.one_of(f"{path}.operator", operator, _OPERATORS)
    effect = row.get("effect")
    if effect and effect not in TAINT_EFFECTS:
        found.not_supported(f"{path}.effect", effect, TAINT_EFFECTS)


def _value(value: str, path: str, found: Findings) -> None:
    if value:
        found.each_invalid(path, value, names.label_value(value))


def binding_conditions(holder: Object, path: str, found: Findings) -> None:
    """What must become true, or must not, before a device is bound: both or neither."""
    good, bad = (
        holder.get(field) or [] for field in ("bindingConditions", "bindingFailureConditions")
    )
    at, at_bad = f"{path}.bindingConditions", f"{path}.bindingFailureConditions"
    rows(good, _MOST_BINDING_CONDITIONS, at, found, label_name)
    rows(bad, _MOST_BINDING_CONDITIONS, at_bad, found, label_name)
    _different(good, at, found)
    seen: set[Any] = set()
    for index, name in enumerate(bad):
        found.unique(f"{at_bad}[{index}]", name, seen)
        if name in good:
            text = "bindingFailureConditions must not overlap with bindingConditions"
            found.invalid(f"{at_bad}[{index}]", name, text)
    if bad and not good:
        text = "bindingConditions are required to use bindingFailureConditions"
        found.invalid(at, good or None, text)
    if good and not bad:
        text = "bindingFailureConditions are required to use bindingConditions"
        found.invalid(at_bad, bad or None, text)


def _different(values: Iterable[str], path: str, found: Findings) -> None:
    seen: set[Any] = set()
    for index, value in enumerate(values):
        found.unique(f"{path}[{index}]", value, seen)
