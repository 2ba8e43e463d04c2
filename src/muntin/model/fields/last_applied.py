"""From client-side apply to server-side apply, for the manager that kubectl is.

An object that client-side apply made has its configuration in an annotation: what is still as that
configuration says may be taken over without force, and the annotation follows the configuration.
Source: apimachinery v1.34 pkg/util/managedfields/internal/lastapplied{,manager,updater}.go.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

from muntin.kit import depth
from muntin.kit.errors import Invalid
from muntin.model.fields import ownership, sets
from muntin.model.fields.compare import compare
from muntin.model.fields.managers import Managers
from muntin.model.fields.ownership import Applied, ApplyConflict, Form, Object, Writer
from muntin.model.fields.sets import FieldSet
from muntin.model.fields.tree import applied
from muntin.model.fields.types import FieldType, FieldTypes

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
KUBECTL = "kubectl"
MOST_BYTES = 256 * 1024  # of all annotations


def apply(
    writer: Writer, managers: Managers, types: FieldTypes, kind: str,
    live: Object, config: Object, *, force: bool,
) -> Generator[Form, Object | None, Applied]:  # fmt: skip
    """As `ownership.apply`, with kubectl's way out of client-side apply."""
    try:
        done = yield from ownership.apply(writer, managers, types, kind, live, config, force=force)
    except ApplyConflict as conflict:
        type_ = types.field_type(writer.api_version, kind)
        allowed = None
        if writer.manager == KUBECTL and type_ is not None:
            allowed = _unchanged(type_, live, writer.api_version)
        if allowed is None:
            raise
        left = [row for row in conflict.conflicts if not sets.has(allowed, row[1])]
        if left:
            raise ApplyConflict(left) from None
        done = yield from ownership.apply(writer, managers, types, kind, live, config, force=True)
    if writer.manager == KUBECTL and _text(done.obj):
        return Applied(_annotated(done.obj, config), done.managers)
    return done


def _text(obj: Object) -> str:
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(ANNOTATION) or "")


def _unchanged(type_: FieldType, live: Object, api_version: str) -> FieldSet | None:
    """What of the last applied configuration is still so; None when there is none to go by."""
    try:
        config = depth.loads(_text(live) or "null")
    except (ValueError, Invalid):
        return None
    if not isinstance(config, dict) or config.get("apiVersion") != api_version:
        return None
    try:
        named, differs = applied(type_, config), compare(type_, config, live)
    except Invalid:
        return None
    for changed in (differs.modified, differs.added, differs.removed):
        named = sets.difference(named, changed)
    return named


def _annotated(obj: Object, config: Object) -> Object:
    """``obj`` whose annotation is ``config``; without it where that would be too much."""
    metadata = dict(config.get("metadata") or {})
    if isinstance(metadata.get("annotations"), dict):
        kept = metadata["annotations"]
        metadata["annotations"] = {key: kept[key] for key in kept if key != ANNOTATION}
    value = _go_json({**config, "metadata": metadata} if metadata else config)
    annotations = {**obj["metadata"]["annotations"], ANNOTATION: value}
    if sum(len(key.encode()) + len(str(text).encode()) for key, text in annotations.items()) > (
        MOST_BYTES
    ):
        del annotations[ANNOTATION]
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}


def _go_json(value: Any) -> str:
    """As Go writes it: sorted, no spaces, a line's end, and HTML's characters escaped."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text + "\n"
