"""Owners that are named twice are kept once, and the client is told of it.

Source: apiserver v1.36 pkg/endpoints/handlers/rest.go, dedupOwnerReferences.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver.request import ApiRequest

Object = dict[str, Any]


def once(request: ApiRequest, obj: Object, *, late: bool) -> None:
    """Drop from ``obj`` the owners that it has already; ``late`` says that admission is done."""
    owners = obj["metadata"].get("ownerReferences")
    if not owners or len(owners) < 2:
        return
    kept: list[Object] = []
    known: set[str] = set()
    twice: list[str] = []
    for owner in owners:
        uid = owner.get("uid", "")
        if uid in known and owner in kept:
            twice.append(uid)
        else:
            kept.append(owner)
            known.add(uid)
    if not twice:
        return
    obj["metadata"]["ownerReferences"] = kept
    when = " after mutating admission happens" if late else ""
    warning = (
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner "
        "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
        f"requests; duplicate UID(s) observed: {', '.join(twice)}"
    )
    if warning not in request.warnings:  # a change may be computed more than once
        request.warnings.append(warning)
