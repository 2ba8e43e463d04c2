"""What Node objects say of the machines behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The newer label first: old kubelets set the other one alone.
_OS_LABELS = ("kubernetes.io/os", "beta.kubernetes.io/os")


def os_of(node: Mapping[str, Any]) -> str:
    """``linux`` or ``windows``; empty where the node does not say."""
    labels = node["metadata"].get("labels") or {}
    return next((str(labels[key]) for key in _OS_LABELS if labels.get(key)), "")
