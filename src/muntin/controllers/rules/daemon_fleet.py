"""The pods of a DaemonSet by the nodes that they are on, or were made for.

Source: kubernetes v1.36 pkg/controller/daemon/{daemon_controller,util/daemonset_util}.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from muntin.controllers.rules import daemon_placement as placement
from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.availability import is_available
from muntin.controllers.rules.daemon_history import HASH_LABEL
from muntin.model import intstr, pods

GENERATION_LABEL = "pod-template-generation"
GENERATION_ANNOTATION = "deprecated.daemonset.template.generation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A node: whether a pod should be started there, whether one may stay, and those there."""

    name: str
    should_run: bool
    may_stay: bool
    pods: Sequence[Object]

    @property
    def alive(self) -> list[Object]:
        """The pods there whose deletion was not asked for."""
        return [pod for pod in self.pods if not pods.is_deleting(pod)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """One look at a DaemonSet. ``current`` is the hash of its revision.

    ``places`` are the nodes in order; ``strays`` are the pods of nodes that are not there.
    """

    daemon_set: Object
    places: Sequence[Place]
    strays: Sequence[Place]
    current: str
    now: float

    def __iter__(self) -> Iterator[Place]:
        """The nodes, and those that are not there but have pods."""
        yield from self.places
        yield from self.strays

    @property
    def wanted(self) -> int:
        """How many nodes should run a pod."""
        return sum(place.should_run for place in self.places)

    def is_available(self, pod: Object) -> bool:
        """Whether the pod is ready, and has been for long enough."""
        return is_available(self.daemon_set, pod, self.now)

    def is_new(self, pod: Object) -> bool:
        """Whether the pod is of the template as it is now."""
        labels = pod["metadata"].get("labels") or {}
        generation = generation_of(self.daemon_set)
        return bool(
            (self.current and labels.get(HASH_LABEL) == self.current)
            or (generation and labels.get(GENERATION_LABEL) == generation)
        )

    @property
    def surges(self) -> bool:
        """Whether a new pod is started beside the old one."""
        return _share(self.daemon_set, "maxSurge", 0, 1) > 0

    @property
    def max_surge(self) -> int:
        """How many nodes may run two pods during an update."""
        return _share(self.daemon_set, "maxSurge", 0, self.wanted)

    @property
    def max_unavailable(self) -> int:
        """How many nodes may be without an available pod during an update."""
        most = _share(self.daemon_set, "maxUnavailable", 1, self.wanted)
        return most if most or self.max_surge else 1


def generation_of(daemon_set: Object) -> str:
    """The generation of the template, which the server writes down; empty text without one."""
    return str((daemon_set["metadata"].get("annotations") or {}).get(GENERATION_ANNOTATION) or "")


def _share(daemon_set: Object, name: str, default: int, total: int) -> int:
    rolling = (daemon_set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    value = rolling.get(name)
    return intstr.resolve(default if value is None else value, total, round_up=True)


def oldest_first(found: Iterable[Object]) -> list[Object]:
    """Pods on nodes first, then by age, then by name."""
    return sorted(
        found,
        key=lambda pod: (
            not pods.node_name(pod),
            str(pod["metadata"].get("creationTimestamp") or ""),
            pod["metadata"]["name"],
        ),
    )


def fleet_of(
    daemon_set: Object, nodes: Sequence[Object], owned: Sequence[Object], current: str, now: float
) -> Fleet:
    """Sort ``owned`` by node; those that have ended and are being deleted no longer count."""
    by_node: dict[str, list[Object]] = {}
    for pod in owned:
        if not (pods.is_terminal(pod) and pods.is_deleting(pod)):
            by_node.setdefault(placement.target_node(pod), []).append(pod)
    spec = daemon_set["spec"]["template"]["spec"]
    places = []
    for node in nodes:
        name = node["metadata"]["name"]
        should_run, may_stay = placement.belongs(spec, node)
        here = by_node.pop(name, [])
        places.append(Place(name=name, should_run=should_run, may_stay=may_stay, pods=here))
    strays = [
        Place(name=name, should_run=False, may_stay=True, pods=found)
        for name, found in sorted(by_node.items())
    ]
    return Fleet(daemon_set=daemon_set, places=places, strays=strays, current=current, now=now)
