"""What a kubelet counted at two moments, and what was used between them. Pure.

Source: metrics-server v0.8 pkg/storage/{node,pod}.go; kubernetes v1.36 pkg/apis/stats/v1alpha1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from muntin.kit.clock import parse_rfc3339


@dataclass(frozen=True, slots=True)
class Sample:
    """``cpu_ns`` is the processor time used since the start, ``memory_bytes`` what is held now;
    ``at_s`` is when, in seconds since the epoch."""

    at_s: float
    cpu_ns: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Usage:
    """``cpu_n`` is in billionths of a core, the mean of the ``window_s`` that ended at ``at_s``."""

    at_s: float
    window_s: float
    cpu_n: int
    memory_bytes: int


PodKey = tuple[str, str]  # namespace and name


@dataclass(frozen=True, slots=True)
class Look:
    """One kubelet's answer: its node, and the containers of each pod by name."""

    node: Sample
    pods: Mapping[PodKey, Mapping[str, Sample]] = field(default_factory=dict)


def look_of(summary: Mapping[str, Any]) -> Look | None:
    """What a Summary of ``/stats/summary`` says; None if it does not yet know its node's use."""
    node = _sample(summary["node"])
    if node is None:
        return None
    pods: dict[PodKey, Mapping[str, Sample]] = {}
    for pod in summary.get("pods") or ():
        rows = {row["name"]: _sample(row) for row in pod.get("containers") or ()}
        known = {name: sample for name, sample in rows.items() if sample is not None}
        if known and len(known) == len(rows):  # else its sum would be too small
            pods[(pod["podRef"]["namespace"], pod["podRef"]["name"])] = known
    return Look(node, pods)


def _sample(row: Mapping[str, Any]) -> Sample | None:
    cpu, memory = row.get("cpu") or {}, row.get("memory") or {}
    if "usageCoreNanoSeconds" not in cpu or "workingSetBytes" not in memory:
        return None
    at_s = parse_rfc3339(cpu["time"])
    return Sample(at_s, int(cpu["usageCoreNanoSeconds"]), int(memory["workingSetBytes"]))


def usage(older: Sample | None, newer: Sample | None) -> Usage | None:
    """What was used between both; None unless time passed and the count went on.

    A container that was started anew counts from zero: it has no usage until the next look.
    """
    if older is None or newer is None:
        return None
    window_s = newer.at_s - older.at_s
    if window_s <= 0 or newer.cpu_ns < older.cpu_ns:
        return None
    cpu_n = round((newer.cpu_ns - older.cpu_ns) / window_s)
    return Usage(newer.at_s, window_s, cpu_n, newer.memory_bytes)


@dataclass(slots=True)
class Looks:
    """The last two looks at every node."""

    newer: dict[str, Look] = field(default_factory=dict)
    older: dict[str, Look] = field(default_factory=dict)

    def add(self, node: str, look: Look) -> None:
        """Keep ``look``, unless it is no later than the one before."""
        before = self.newer.get(node)
        if before is not None:
            if look.node.at_s <= before.node.at_s:
                return
            self.older[node] = before
        self.newer[node] = look

    def keep(self, nodes: set[str]) -> None:
        """Forget all other nodes."""
        for looks in (self.newer, self.older):
            for name in looks.keys() - nodes:
                del looks[name]

    def node(self, name: str) -> Usage | None:
        """What a node used."""
        older, newer = self.older.get(name), self.newer.get(name)
        return usage(older.node, newer.node) if older and newer else None

    def pod(self, node: str, key: PodKey) -> dict[str, Usage]:
        """What the containers of a pod on ``node`` used; empty unless it is known of each."""
        older, newer = self.older.get(node), self.newer.get(node)
        if older is None or newer is None:
            return {}
        before, after = older.pods.get(key, {}), newer.pods.get(key, {})
        found = {name: usage(before.get(name), sample) for name, sample in after.items()}
        known = {name: one for name, one in found.items() if one is not None}
        return known if len(known) == len(found) else {}
