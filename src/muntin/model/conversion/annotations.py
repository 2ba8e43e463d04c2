"""What older forms of an autoscaler keep in annotations, as values that are what they should be.

Users write annotations too: one that is no JSON, or not of the right types, counts as absent.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from muntin.kit import depth
from muntin.kit.errors import Invalid
from muntin.model import schema
from muntin.model.decoding import decode_as

_KIND = "HorizontalPodAutoscaler"


def parsed(text: str) -> Any:
    """The value of an annotation's JSON text; None if there is none or it is broken."""
    try:
        return depth.loads(text) if text else None
    except (ValueError, Invalid):
        return None


def typed(part: str, field: str, value: Any) -> Any:
    """``value`` as it may stand in ``field`` of an autoscaler's ``spec`` or ``status``, or None."""
    if value is None:
        return None
    newest = _newest()
    type_ = newest.type(f"io.k8s.api.autoscaling.v2.{_KIND}{part.capitalize()}")
    try:
        return decode_as(newest, type_, {field: value}, "v2", _KIND).object.get(field)
    except Invalid:
        return None


@cache
def _newest() -> schema.Schema:
    """The version that has every field there is, whichever is served."""
    return schema.load(schema.versions()[-1])
