"""Paths of JSON patches. Source: apiserver v1.34 pkg/cel/library/jsonpatch.go; RFC 6901, 3."""

from __future__ import annotations

from muntin.kit.cel import Function


def escape_key(key: str) -> str:
    """``key`` as one step of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


FUNCTIONS = (Function("jsonpatch.escapeKey", ("string",), "string", escape_key, member=False),)
