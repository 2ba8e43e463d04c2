"""Nodes, and pods that came into being: whose usage is not known yet, for a while."""

from __future__ import annotations

from typing import Any

from muntin.kit.clock import Clock
from muntin.metrics_server.samples import Looks, PodKey
from muntin.model.resources import NODES, PODS
from muntin.model.simulated import REAL
from muntin.seams.kube import KubeClient
from muntin.seams.kube.informer import Informer

Object = dict[str, Any]


class Fresh:
    """The newcomers of one resource, each until its usage is known or ``patience_s`` passed.

    A handler of an informer.
    """

    def __init__(self, clock: Clock, patience_s: float) -> None:
        self._clock = clock
        self._patience_s = patience_s
        self._until: dict[tuple[str, PodKey], float] = {}

    def on_add(self, obj: Object) -> None:
        """A newcomer."""
        self._until[_place(obj)] = self._clock.monotonic() + self._patience_s

    def on_update(self, old: Object, new: Object) -> None:
        """It is the same one still."""

    def on_delete(self, obj: Object) -> None:
        """It needs no look any more."""
        self._until.pop(_place(obj), None)

    def nodes(self, looks: Looks) -> set[str]:
        """The nodes to look at, as something new there is not known of yet."""
        now = self._clock.monotonic()
        self._until = {
            (node, key): until
            for (node, key), until in self._until.items()
            if until > now and not (looks.pod(node, key) if key[1] else looks.node(node))
        }
        return {node for node, _ in self._until}


def _place(obj: Object) -> tuple[str, PodKey]:
    """A pod's node and key; a node itself has an empty key."""
    metadata = obj["metadata"]
    if "spec" not in obj:
        return metadata["name"], ("", "")
    return obj["spec"].get("nodeName", ""), (metadata["namespace"], metadata["name"])


class News:
    """The nodes of the cluster, and which of them have something new. ``run`` the informers."""

    def __init__(self, client: KubeClient, clock: Clock, patience_s: float) -> None:
        # Of nodes that are only simulated, for load, nobody can say how they do.
        self.nodes = Informer(
            client,
            NODES,
            label_selector=REAL,
            transform=_slim_node,
            clock=clock,
        )
        self.pods = Informer(
            client,
            PODS,
            field_selector="status.phase=Running",
            transform=_slim_pod,
            clock=clock,
        )
        self._fresh = Fresh(clock, patience_s)
        for informer in (self.nodes, self.pods):
            informer.add_handler(self._fresh)

    def waiting(self, looks: Looks) -> list[Object]:
        """The nodes that have something new of which ``looks`` say nothing."""
        found = (self.nodes.get(name) for name in self._fresh.nodes(looks))
        return [node for node in found if node is not None]


def _slim_node(node: Object) -> Object:
    """What it takes to find the kubelet."""
    state = node.get("status") or {}
    kept = {key: state[key] for key in ("addresses", "daemonEndpoints") if key in state}
    return {"metadata": _identity(node), "status": kept}


def _slim_pod(pod: Object) -> Object:
    return {"metadata": _identity(pod), "spec": {"nodeName": pod["spec"].get("nodeName", "")}}


def _identity(obj: Object) -> Object:
    kept = ("name", "namespace", "uid", "resourceVersion")
    return {key: value for key, value in obj["metadata"].items() if key in kept}
