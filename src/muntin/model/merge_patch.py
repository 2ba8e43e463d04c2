"""JSON merge patch (RFC 7386): apply one, and find the one that leads from a value to another."""

from __future__ import annotations

from typing import Any


def apply(document: Any, patch: Any) -> Any:
    """``document`` changed by ``patch``; neither argument is changed.

    Objects merge, null removes a member, everything else replaces. Source: RFC 7386 section 2.
    """
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = apply(result.get(name), value)
    return result


def diff(old: Any, new: Any) -> Any:
    """A patch that makes ``new`` of ``old``; an empty object if they are equal objects.

    A null inside ``new`` cannot be expressed by a merge patch and is left out.
    """
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    patch: dict[str, Any] = dict.fromkeys(old.keys() - new.keys())
    for name, value in new.items():
        if name not in old:
            patch[name] = value
        elif old[name] != value or type(old[name]) is not type(value):
            patch[name] = diff(old[name], value)
    return patch
