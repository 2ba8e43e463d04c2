"""JSON values as an expression's types have them: times as times, names escaped.

Source: kubernetes v1.34 staging/src/k8s.io/apiserver/pkg/cel/common/values.go.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

from muntin.kit import errors
from muntin.kit.cel import EvaluationError, Shape
from muntin.kit.cel.messages import as_value
from muntin.model.cel.names import escape
from muntin.model.durations import parse_duration


def convert(value: Any, shape: Shape) -> Any:
    """``value`` as ``shape`` says; members that no expression can name are left out.

    A value whose shape asks for no change is given back as it is, not copied.

    Raises:
        EvaluationError: a text that is no time, duration or base64.
    """
    if value is None or not changes(shape):
        return value
    kind = shape.kind
    if kind == "object" and isinstance(value, dict):
        return _object(value, shape)
    if kind == "list" and isinstance(value, list) and shape.element is not None:
        return [convert(item, shape.element) for item in value]
    if kind == "map" and isinstance(value, dict) and shape.element is not None:
        return {key: convert(item, shape.element) for key, item in value.items()}
    if kind == "double":
        return float(value)
    if isinstance(value, str):
        return _scalar(value, kind)
    return value


def _object(value: dict[str, Any], shape: Shape) -> dict[str, Any]:
    found = {}
    for key, item in value.items():
        name = escape(key)
        if name is not None and name in shape.fields:
            found[name] = convert(item, shape.fields[name])
            if name != key and key in shape.fields:
                found[key] = found[name]
    return found


def _scalar(value: str, kind: str) -> Any:
    try:
        if kind == "timestamp":
            found = datetime.fromisoformat(value)
            return as_value(found if found.tzinfo else found.replace(tzinfo=UTC))
        if kind == "duration":
            return as_value(timedelta(seconds=parse_duration(value)))
        if kind == "bytes":
            return base64.b64decode(value, validate=True)
    except (ValueError, errors.Invalid) as err:
        raise EvaluationError(f"{value!r} is no {kind}") from err
    return value


_CHANGED = frozenset({"timestamp", "duration", "bytes", "double"})


def changes(shape: Shape) -> bool:
    """Whether values of ``shape`` are not used as they stand in JSON."""
    known = _known.get(id(shape))
    if known is None or known[0] is not shape:
        known = (shape, _changes(shape, set()))
        _known[id(shape)] = known
        if len(_known) > _MOST_KNOWN:
            _known.pop(next(iter(_known)))
    return known[1]


_known: dict[int, tuple[Shape, bool]] = {}
_MOST_KNOWN = 4096


def _changes(shape: Shape, seen: set[int]) -> bool:
    if id(shape) in seen:
        return False
    seen.add(id(shape))
    if shape.kind in _CHANGED:
        return True
    if shape.kind == "object":
        # Unescaping is cheap to ask for by looking for what only escaped names have.
        if any(name.startswith("__") or "__" in name for name in shape.fields):
            return True
        return any(_changes(inner, seen) for inner in shape.fields.values())
    return shape.element is not None and _changes(shape.element, seen)
