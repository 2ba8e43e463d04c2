"""What a scheduling plugin is: the row of a table, and what one decision gives it to work with.

A plugin is a :class:`Plugin`: its name and up to four pure functions. :mod:`plan_registry` holds
the table. Filters see one pod (:class:`Cycle`) and then one node after the other; scores see the
nodes that are left. Source: kubernetes v1.36 staging/src/k8s.io/kube-scheduler/framework.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from muntin.model import pods
from muntin.model.selectors import Selector
from muntin.model.windows_releases import SchedulerWords
from muntin.scheduler.plan_nodes import ClusterState, NodeInfo, Object, PodInfo

MAX_SCORE = 100
NamespaceLabels = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a node is out. ``final``: no pod that leaves could change it."""

    plugin: str
    reasons: tuple[str, ...]
    final: bool


@dataclass(frozen=True)
class Request:
    """A pod and what is worked out of it once for all nodes; ``words`` are for its reasons."""

    pod: Object
    words: SchedulerWords = field(default_factory=SchedulerWords)

    @property
    def spec(self) -> dict[str, Any]:
        """The pod's spec."""
        spec: dict[str, Any] = self.pod["spec"]
        return spec

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return str(self.pod["metadata"]["namespace"])

    @cached_property
    def labels(self) -> dict[str, str]:
        """The pod's labels."""
        return self.pod["metadata"].get("labels") or {}

    @cached_property
    def info(self) -> PodInfo:
        """What it would take of a node."""
        return PodInfo(self.pod)

    @cached_property
    def requests(self) -> dict[str, int]:
        """What it needs."""
        return {name: amount for name, amount in self.info.requests.items() if amount}

    @property
    def ports(self) -> set[tuple[str, str, int]]:
        """The host ports it takes."""
        return self.info.ports

    @cached_property
    def tolerations(self) -> list[Object]:
        """Its tolerations."""
        return list(self.spec.get("tolerations") or ())

    @cached_property
    def priority(self) -> int:
        """Its priority."""
        return pods.priority(self.pod)


@dataclass(frozen=True)
class Cycle:
    """One decision: the pod, the cluster as it is, and what else plugins look at.

    ``args`` are the pluginConfig of the profile by plugin; ``default_spread`` selects the pods of
    the same Service or owner. A plugin that needs more of the world (volumes) reads it from a
    field of its own in ``cluster``.
    """

    request: Request
    cluster: ClusterState
    namespaces: NamespaceLabels = field(default_factory=dict)
    default_spread: Selector | None = None
    args: Mapping[str, Object] = field(default_factory=dict)

    def args_of(self, plugin: str) -> Object:
        """The configuration of ``plugin``; empty means its defaults."""
        return self.args.get(plugin) or {}


class Check:
    """The filter of one plugin, ready for the nodes, one after the other.

    Verdicts that depend on pods of other nodes keep counts, and follow what-ifs: ``copy`` is
    changed by ``count`` as pods come (+1) and leave (-1); the original stays as it is.
    """

    def __call__(self, info: NodeInfo) -> Unfit | None:
        """Why the node is out, if it is."""
        raise NotImplementedError

    def copy(self) -> Check:
        """One that may be changed by itself."""
        return self

    def count(self, pod: Object, info: NodeInfo, sign: int) -> None:
        """``pod`` comes to the node (+1) or leaves it (-1)."""


Only = Callable[[Request], frozenset[str] | None]
"""The names of the only nodes to be looked at; None: of all."""
Prepare = Callable[[Cycle], "Check | Unfit | None"]
"""Before the nodes: a check, or why the pod fits nowhere, or None: nothing to check."""
Local = Callable[[Request, NodeInfo, Object], Unfit | None]
"""Of the pod's spec, one node with its pods, and the plugin's configuration: why it is out."""
Raw = Callable[[Request, NodeInfo, Object, ClusterState], int]
Normalize = Callable[[Sequence[int]], Sequence[int]]
Score = Callable[[Cycle, Sequence[NodeInfo]], Sequence[int] | None]
"""0 to 100 for each of the nodes; None: all are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One row of the table; ``weight`` is that of its score, by default.

    ``local`` and ``raw`` depend on the pod's spec and on one node alone (for ``raw``, also on
    which nodes there are): they are remembered until the node changes. ``normalize`` makes scores
    of 0 to 100 of all raw ones, which are that already without it. ``filter`` and ``score`` may
    look at everything, and are asked anew for each decision.
    """

    name: str
    only: Only | None = None
    local: Local | None = None
    filter: Prepare | None = None
    raw: Raw | None = None
    normalize: Normalize | None = None
    score: Score | None = None
    weight: int = 1


def default_normalize(raw: Sequence[int], *, reverse: bool = False) -> Sequence[int]:
    """The highest becomes 100; ``reverse``: the lowest is best."""
    highest = max(raw, default=0)
    if not highest:
        return [MAX_SCORE if reverse else 0] * len(raw)
    scaled = [MAX_SCORE * value // highest for value in raw]
    return [MAX_SCORE - value for value in scaled] if reverse else scaled
