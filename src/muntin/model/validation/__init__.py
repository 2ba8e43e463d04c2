"""Upstream's validation: what is wrong with an object, field by field; an empty list if nothing.

Objects have been decoded and defaulted. Changes are judged against the object that is replaced.
Source: kubernetes v1.34 pkg/apis/*/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.kit.errors import Cause
from muntin.model.resources import Resource
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.metadata import metadata
from muntin.model.validation.rules import CREATE, SUBRESOURCE_UPDATE, UPDATE

Rule = Callable[..., None]


def validate_create(resource: Resource, obj: Object) -> list[Cause]:
    """What is wrong with a new ``obj``; its metadata must already be complete."""
    found = Findings()
    metadata(resource, obj["metadata"], found)
    rule = CREATE.get((resource.group, resource.kind))
    if rule is not None:
        rule(obj, found)
    return found.causes


def validate_update(
    resource: Resource, new: Object, old: Object, subresource: str = ""
) -> list[Cause]:
    """What is wrong with ``new`` as the successor of ``old``, changed through ``subresource``."""
    found = Findings()
    metadata(resource, new["metadata"], found)
    _same_identity(new["metadata"], old["metadata"], found)
    rule = SUBRESOURCE_UPDATE.get((resource.group, resource.kind, subresource)) or UPDATE.get(
        (resource.group, resource.kind)
    )
    if rule is not None:
        rule(new, old, found)
    else:
        check = CREATE.get((resource.group, resource.kind))
        if check is not None:
            check(new, found)
    return found.causes


def validate_status_update(resource: Resource, new: Object, old: Object) -> list[Cause]:
    """What is wrong with ``new`` when only its status was to change."""
    found = Findings()
    metadata(resource, new["metadata"], found)
    _same_identity(new["metadata"], old["metadata"], found)
    return found.causes


def _same_identity(new: Any, old: Any, found: Findings) -> None:
    for field in ("name", "namespace", "uid", "creationTimestamp"):
        if new.get(field) and old.get(field):
            found.immutable(f"metadata.{field}", new[field], old[field])


def summary(causes: list[Cause]) -> str:
    """The causes in one line, as the message of a Status has them: ``[a: b, c: d]``."""
    texts = [f"{cause.field}: {cause.message}" for cause in causes]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
