"""Nodes that are only simulated, for load: how they are told from others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MARK = "muntin.dev/simulated"
"""Label, annotation and taint of such a node."""
REAL = f"!{MARK}"
"""Selects all other nodes by their labels: nothing goes to a simulated one."""


def is_simulated(node: Mapping[str, Any]) -> bool:
    """Whether a Node object is one of them: nothing runs and nothing answers there."""
    return MARK in (node["metadata"].get("annotations") or {})
