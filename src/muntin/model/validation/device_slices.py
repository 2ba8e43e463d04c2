"""Validation of ResourceSlice: the devices that a driver offers, and of DeviceTaintRule.

Source: kubernetes v1.36 pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from muntin.model import names, quantity
from muntin.model.validation import device_parts as parts
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import conditions
from muntin.model.validation.node_selectors import node_selector

_MOST_DEVICES, _MOST_SPECIAL_DEVICES = 128, 64
_MOST_PROPERTIES, _MOST_VALUES, _MOST_TAINTS = 32, 48, 16
_MOST_COUNTER_SETS, _MOST_COUNTERS, _MOST_CONSUMED = 8, 32, 2
_LONGEST_VALUE, _MOST_CHOICES, _MOST_CONDITIONS = 64, 10, 8
_LISTS = ("bools", "ints", "strings", "versions")
_NAMES = {
    "int": "IntValue", "bool": "BoolValue", "string": "StringValue", "version": "VersionValue",
    "ints": "IntValues", "bools": "BoolValues", "strings": "StringValues",
    "versions": "VersionValues",
}  # fmt: skip
_WHERE = "`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`"
_ONE_PLACE = f"exactly one of {_WHERE} is required"
_ONE_DEVICE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_NO_DEVICE_PLACE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set "
    "to true in the ResourceSlice spec"
)
_NUMBER = r"(0|[1-9]\d*)"
_BEFORE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_is_version = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_BEFORE}(\.{_BEFORE})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
).fullmatch


def resource_slice(obj: Object, found: Findings) -> None:
    """A new slice."""
    _slice(obj.get("spec") or {}, {}, found)


def resource_slice_update(new: Object, old: Object, found: Findings) -> None:
    """A changed slice: its driver, pool and node stay."""
    _slice(new.get("spec") or {}, old.get("spec") or {}, found)


def taint_rule(obj: Object, found: Findings) -> None:
    """A taint for all devices that a selector names."""
    spec = obj.get("spec") or {}
    chosen = spec.get("deviceSelector") or {}
    for field, check in (
        ("driver", parts.driver), ("pool", parts.pool_name), ("device", parts.label),
    ):  # fmt: skip
        if chosen.get(field) is not None:
            check(chosen[field], f"spec.deviceSelector.{field}", found)
    parts.taint(spec.get("taint") or {}, "spec.taint", found)


def taint_rule_status(new: Object, old: Object, found: Findings) -> None:
    """How far the taint has come."""
    rows = (new.get("status") or {}).get("conditions") or ()
    conditions(rows, "status.conditions", found)
    if len(rows) > _MOST_CONDITIONS:
        found.too_many("status.conditions", len(rows), _MOST_CONDITIONS)


def _slice(spec: Object, old: Object, found: Findings) -> None:
    parts.driver(spec.get("driver") or "", "spec.driver", found)
    pool = spec.get("pool") or {}
    parts.pool_name(pool.get("name") or "", "spec.pool.name", found)
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        found.invalid("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        text = "must be greater than or equal to zero"
        found.invalid("spec.pool.generation", generation, text)
    if old:
        before = (old.get("pool") or {}).get("name")
        found.immutable("spec.pool.name", pool.get("name") or "", before)
        found.immutable("spec.driver", spec.get("driver") or "", old.get("driver"))
        found.immutable("spec.nodeName", spec.get("nodeName"), old.get("nodeName"))
    _places(spec, found)
    devices, counters = spec.get("devices"), spec.get("sharedCounters")
    if counters is not None and devices is not None:
        found.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    known = {row.get("name"): row for row in old.get("devices") or ()}
    per_device = bool(spec.get("perDeviceNodeSelection"))

    def device(row: Object, path: str, found: Findings) -> None:
        _device(row, known.get(row.get("name"), {}), path, per_device, found)

    most = _MOST_SPECIAL_DEVICES if _is_special(devices or ()) else _MOST_DEVICES
    parts.rows(devices or (), most, "spec.devices", found, device, key=_name)
    at = "spec.sharedCounters"
    parts.rows(counters or (), _MOST_COUNTER_SETS, at, found, _counter_set, key=_name)


def _name(row: Object) -> Any:
    return row.get("name") or ""


def _is_special(devices: Sequence[Object]) -> bool:
    return any(
        row.get("taints")
        or row.get("consumesCounters")
        or any(
            value.get(field) is not None
            for value in (row.get("attributes") or {}).values()
            for field in _LISTS
        )
        for row in devices
    )


def _places(spec: Object, found: Findings) -> None:
    """Where the devices are: said in one way."""
    given = []
    node, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if node:
        given.append("`nodeName`")
        found.each_invalid("spec.nodeName", node, names.dns1123_subdomain(node))
    elif node is not None:
        text = "must be either unset or set to a non-empty string"
        found.invalid("spec.nodeName", node, text)
    if selector is not None:
        given.append("`nodeSelector`")
        node_selector(selector, "spec.nodeSelector", found)
        terms = selector.get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            at, text = "spec.nodeSelector.nodeSelectorTerms", "must have exactly one node selector"
            found.invalid(at, terms, f"{text} term")
    for field in ("allNodes", "perDeviceNodeSelection"):
        _set_or_true(spec, field, "spec", given, found)
    if not given:
        found.required("spec", _ONE_PLACE)
    elif len(given) > 1:
        text = f"{_ONE_PLACE}, but multiple fields are set"
        found.invalid("spec", f"{{{', '.join(given)}}}", text)


def _set_or_true(
    holder: Object, field: str, path: str, given: list[str], found: Findings
) -> None:  # fmt: skip
    value = holder.get(field)
    if value:
        given.append(f"`{field}`")
    elif value is not None:
        found.invalid(f"{path}.{field}", value, "must be either unset or set to true")


def _device(row: Object, old: Object, path: str, per_device: bool, found: Findings) -> None:
    parts.label(row.get("name") or "", f"{path}.name", found)
    attributes, capacity = row.get("attributes") or {}, row.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > _MOST_PROPERTIES:
        text = f"the total number of attributes and capacities must not exceed {_MOST_PROPERTIES}"
        found.invalid(path, count, text)
    values = sum(
        sum(len(value.get(field) or ()) for field in _LISTS) or 1 for value in attributes.values()
    )
    if values > _MOST_VALUES:
        text = f"the total number of attribute values must not exceed {_MOST_VALUES}"
        found.invalid(path, values, text)
    for key in sorted(attributes):
        parts.qualified_name(key, f"{path}.attributes", found)
        _attribute(attributes[key], f"{path}.attributes[{_short(key)}]", found)
    for key in sorted(capacity):
        parts.qualified_name(key, f"{path}.capacity", found)
        here = f"{path}.capacity[{_short(key)}].requestPolicy"
        policy = capacity[key].get("requestPolicy")
        if policy is not None and row.get("allowMultipleAllocations"):
            _request_policy(policy, str(capacity[key].get("value") or "0"), here, found)
        elif policy is not None:
            found.forbidden(here, "allowMultipleAllocations must be true")
    if row.get("taints") != old.get("taints"):
        taints = row.get("taints") or ()
        parts.rows(taints, _MOST_TAINTS, f"{path}.taints", found, parts.taint)
    consumed, at = row.get("consumesCounters") or (), f"{path}.consumesCounters"
    parts.rows(consumed, _MOST_CONSUMED, at, found, _consumption, key=_counter_set_name)
    _device_place(row, path, per_device, found)
    parts.binding_conditions(row, path, found)


def _short(key: str) -> str:
    """A key that is not longer than a path can hold."""
    most = 63 + 1 + 32
    if len(key) <= most:
        return key
    rest = most - 3
    return f"{key[: (rest + 1) // 2]}...{key[len(key) - rest // 2 :]}"


def _attribute(value: Object, path: str, found: Findings) -> None:
    given = [field for field in ("bool", "int") if value.get(field) is not None]
    for field, check in (("string", _text), ("version", _version)):
        if value.get(field) is not None:
            given.append(field)
            check(value[field], f"{path}.{field}", found)
    for field in _LISTS:
        rows = value.get(field)
        if rows is None:
            continue
        given.append(field)
        if not rows:
            found.invalid(f"{path}.{field}", rows, "must not be empty if specified")
        for index, item in enumerate(rows if field in ("strings", "versions") else ()):
            (_text if field == "strings" else _version)(item, f"{path}.{field}[{index}]", found)
    if len(given) != 1:
        shown = {name: value.get(field) for field, name in _NAMES.items()} if given else ""
        found.invalid(path, shown, "exactly one value must be specified")


def _text(value: str, path: str, found: Findings) -> None:
    if len(value.encode()) > _LONGEST_VALUE:
        found.too_long(path, _LONGEST_VALUE)


def _version(value: str, path: str, found: Findings) -> None:
    if not _is_version(value):
        found.invalid(path, value, "must be a string compatible with semver.org spec 2.0.0")
    _text(value, path, found)


def _request_policy(policy: Object, most: str, path: str, found: Findings) -> None:
    """How much of a capacity a claim may ask for."""
    values, span = policy.get("validValues"), policy.get("validRange")
    default = policy.get("default")
    if values and span is not None:
        text = (
            'exactly one policy can be specified, cannot specify "validValues" and "validRange" '
            "at the same time"
        )
        found.forbidden(path, text)
    elif values and default is None:
        found.required(f"{path}.default", "required when validValues is defined")
    elif values:
        _choices([str(value) for value in values], str(default), most, path, found)
    elif span is not None and default is None:
        found.required(f"{path}.default", "required when validRange is defined")
    elif span is not None:
        _range(span, str(default), most, f"{path}.validRange", found)


def _choices(values: list[str], default: str, most: str, path: str, found: Findings) -> None:
    at = f"{path}.validValues"
    for index, (one, other) in enumerate(pairwise(values)):
        if quantity.compare(one, other) > 0:
            found.invalid(f"{at}[{index + 1}]", other, "values must be sorted in ascending order")

    def check(value: str, here: str, found: Findings) -> None:
        if quantity.compare(value, most) > 0:
            found.invalid(here, value, f"option is larger than capacity value: {most}")

    parts.rows(values, _MOST_CHOICES, at, found, check, key=lambda v: str(quantity.value(v)))
    if len(values) > _MOST_CHOICES or all(quantity.compare(v, default) for v in values):
        found.invalid(at, default, "default value is not valid according to the requestPolicy")


def _range(span: Object, default: str, most: str, path: str, found: Findings) -> None:
    low, high, step = (span.get(field) for field in ("min", "max", "step"))
    if not low:
        found.required(f"{path}.min", "required when validRange is defined")
        return
    low = str(low)
    checks = [
        ("min", low, most, low, f"min is larger than capacity value: {most}"),
        ("min", low, default, default, f"default is less than min: {low}"),
    ]
    if high is not None:
        high = str(high)
        checks += [
            ("max", low, high, low, f"min is larger than max: {high}"),
            ("max", high, most, high, f"max is larger than capacity value: {most}"),
            ("max", default, high, default, f"default is more than max: {high}"),
        ]
    for field, smaller, larger, value, text in checks:
        if quantity.compare(smaller, larger) > 0:
            found.invalid(f"{path}.{field}", value, text)
    if step is not None:
        ends = (default,) if high is None else (default, high)
        _step(str(step), low, ends, most, f"{path}.step", found)


def _step(
    step: str, low: str, ends: Sequence[str], most: str, path: str, found: Findings
) -> None:  # fmt: skip
    second = quantity.add(low, step)
    if quantity.compare(second, most) > 0:
        found.invalid(path, step, f"one step {second} is larger than capacity value: {most}")
    width = quantity.value(step)
    for end in ends:
        if not width or (quantity.value(end) - quantity.value(low)) % width:
            text = f"value is not a multiple of a given step ({step}) from ({low})"
            found.invalid(path, end, text)


def _counter_set_name(row: Object) -> Any:
    return row.get("counterSet") or ""


def _counter_set(row: Object, path: str, found: Findings) -> None:
    _counters(row, "name", path, found)


def _consumption(row: Object, path: str, found: Findings) -> None:
    _counters(row, "counterSet", path, found)


def _counters(row: Object, field: str, path: str, found: Findings) -> None:
    name, counters = row.get(field), row.get("counters") or {}
    if not name:
        found.required(f"{path}.{field}")
    else:
        parts.label(name, f"{path}.{field}", found)
    if not counters:
        found.required(f"{path}.counters")
    elif len(counters) > _MOST_COUNTERS:
        found.too_many(f"{path}.counters", len(counters), _MOST_COUNTERS)
    else:
        for key in sorted(counters):
            parts.label(key, f"{path}.counters", found)


def _device_place(row: Object, path: str, per_device: bool, found: Findings) -> None:
    node, selector = row.get("nodeName"), row.get("nodeSelector")
    if not per_device:
        if node is not None or selector is not None or row.get("allNodes") is not None:
            found.invalid(path, None, _NO_DEVICE_PLACE)
        return
    given = []
    if node:
        given.append("`nodeName`")
        found.each_invalid(f"{path}.nodeName", node, names.dns1123_subdomain(node))
    elif node is not None:
        found.invalid(f"{path}.nodeName", node, "must not be empty")
    if selector is not None:
        given.append("`nodeSelector`")
        node_selector(selector, f"{path}.nodeSelector", found)
    _set_or_true(row, "allNodes", path, given, found)
    if not given:
        found.required(path, _ONE_DEVICE_PLACE)
    elif len(given) > 1:
        found.invalid(path, f"{{{', '.join(given)}}}", _ONE_DEVICE_PLACE)
