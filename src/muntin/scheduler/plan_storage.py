"""What the cluster has of storage, as the scheduler sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Storage:
    """Claims and capacities by ``namespace/name``, all else by name."""

    claims: Mapping[str, Object] = field(default_factory=dict)
    volumes: Mapping[str, Object] = field(default_factory=dict)
    classes: Mapping[str, Object] = field(default_factory=dict)
    csi_nodes: Mapping[str, Object] = field(default_factory=dict)
    drivers: Mapping[str, Object] = field(default_factory=dict)
    capacities: Mapping[str, Object] = field(default_factory=dict)
