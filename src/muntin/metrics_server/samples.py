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


@dataclass(frozen=True, slots=True)
class Pair:
    """The last sample of one counter, and an earlier one to compare it with."""

    newer: Sample
    older: Sample | None = None

    def then(self, sample: Sample, widest_s: float) -> Pair:
        """The pair after ``sample``.

        Looks that follow one another soon widen one window, up to ``widest_s``: a mean over few
        seconds is rough. A container that was started anew counts from zero, and has one sample.
        """
        if sample.at_s <= self.newer.at_s:
            return self
        if sample.cpu_ns < self.newer.cpu_ns:
            return Pair(sample)
        if self.older is not None and sample.at_s - self.older.at_s <= widest_s:
            return Pair(sample, self.older)
        return Pair(sample, self.newer)

    @property
    def usage(self) -> Usage | None:
        """What was used between both."""
        return usage(self.older, self.newer)


class Looks:
    """What the last looks at every node say, in windows of up to ``widest_s`` seconds."""

    def __init__(self, widest_s: float) -> None:
        self._widest_s = widest_s
        self._nodes: dict[str, Pair] = {}
        self._pods: dict[str, dict[PodKey, dict[str, Pair]]] = {}

    def add(self, node: str, look: Look) -> None:
        """Take in ``look``; pods and containers that are not in it are forgotten."""
        self._nodes[node] = self._next(self._nodes.get(node), look.node)
        before = self._pods.get(node, {})
        self._pods[node] = {
            key: {
                name: self._next(before.get(key, {}).get(name), sample)
                for name, sample in containers.items()
            }
            for key, containers in look.pods.items()
        }

    def _next(self, pair: Pair | None, sample: Sample) -> Pair:
        return Pair(sample) if pair is None else pair.then(sample, self._widest_s)

    def keep(self, nodes: set[str]) -> None:
        """Forget all other nodes."""
        for name in self._nodes.keys() - nodes:
            del self._nodes[name], self._pods[name]

    def node(self, name: str) -> Usage | None:
        """What a node used."""
        pair = self._nodes.get(name)
        return pair.usage if pair else None

    def pod(self, node: str, key: PodKey) -> dict[str, Usage]:
        """What the containers of a pod on ``node`` used; empty unless it is known of each."""
        pairs = self._pods.get(node, {}).get(key, {})
        found = {name: pair.usage for name, pair in pairs.items()}
        known = {name: one for name, one in found.items() if one is not None}
        return known if len(known) == len(found) else {}
