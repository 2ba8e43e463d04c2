"""Upstream's validation: what is wrong with an object, field by field; an empty list if nothing.

Objects have been decoded and defaulted, and are in the form in which they are stored. Changes are
judged against the object that is replaced. ``catalogue`` lists upstream's rules, one by one.
Source: kubernetes v1.34 pkg/apis/*/validation/validation.go.
"""

from __future__ import annotations

from muntin.kit.errors import Cause
from muntin.model.resources import Resource
from muntin.model.resources.lifecycle import Version
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.metadata import metadata, metadata_update
from muntin.model.validation.rules import CREATE, STATUS, SUBRESOURCE_UPDATE, UPDATE


def validate_create(
    resource: Resource, obj: Object, asked: str = "", server: Version = (),
    spec_key: int | None = None,
) -> list[Cause]:  # fmt: skip
    """What is wrong with a new ``obj`` that came in the version ``asked`` (empty: as stored).

    Its metadata must already be complete. ``server`` is the API version whose rules hold; without
    one they are the newest. ``spec_key`` is that of a pod's spec, where it is known already.
    """
    found = Findings(asked or resource.api_version, server, spec_key)
    metadata(resource, obj["metadata"], found)
    rule = CREATE.get((resource.group, resource.kind))
    if rule is not None:
        rule(obj, found)
    return found.causes


def validate_update(
    resource: Resource, new: Object, old: Object, subresource: str = "",
    asked: str = "", server: Version = (),
) -> list[Cause]:  # fmt: skip
    """What is wrong with ``new`` as the successor of ``old``, changed through ``subresource``."""
    found = Findings(asked or resource.api_version, server)
    metadata_update(resource, new["metadata"], old["metadata"], found)
    key = (resource.group, resource.kind)
    rule = SUBRESOURCE_UPDATE.get((*key, subresource)) or UPDATE.get(key)
    if rule is not None:
        rule(new, old, found)
    else:
        check = CREATE.get(key)
        if check is not None:
            check(new, found)
    return found.causes


def validate_status_update(
    resource: Resource, new: Object, old: Object, server: Version = ()
) -> list[Cause]:
    """What is wrong with ``new`` when only its status was to change."""
    found = Findings(server=server)
    metadata_update(resource, new["metadata"], old["metadata"], found)
    rule = STATUS.get((resource.group, resource.kind))
    if rule is not None:
        rule(new, old, found)
    return found.causes


def summary(causes: list[Cause]) -> str:
    """The causes in one line, as the message of a Status has them: ``[a: b, c: d]``."""
    texts = [f"{cause.field}: {cause.message}" for cause in causes]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
