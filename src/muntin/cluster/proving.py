"""Objects are given to a cluster that exists for nothing else, and what happens is told.

The thin part: ``proof.py`` decides what is seen.
"""

from __future__ import annotations

import copy
import json
import os
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from muntin.cluster import proof
from muntin.cluster.admin import AdminClient
from muntin.cluster.config import ClusterConfig
from muntin.cluster.progress import Progress, step
from muntin.cluster.proof import Observation, Stage
from muntin.cluster.up import UpOptions, down, up
from muntin.model.resources import RESOURCES, Resource, by_kind

SETTLED_S = 2.0  # what stays as it is for so long will stay so
_POLL_S = 0.2
_DEFAULT_NAMESPACE = "default"
_OWN_NAMESPACES = frozenset({"kube-system", "kube-public", "kube-node-lease"})
Object = Mapping[str, Any]


def prove(
    config: ClusterConfig, objects: Iterable[Object], progress: Progress, *, wait_s: float = 60.0
) -> list[Observation]:
    """What became of ``objects`` on a cluster of ``config``, which is gone afterwards.

    At most ``wait_s`` seconds are waited for pods; one that is still on its way is told as it is.

    Raises:
        MuntinError: the cluster did not come up.
    """
    wanted = proof.in_order([_placed(obj) for obj in objects])
    with _cluster(config, progress) as client:
        with step(progress, f"{len(wanted)} objects given to it"):
            found = [seen for obj in wanted for seen in _create(client, obj)]
            refused = {seen.subject for seen in found if seen.stage is Stage.REFUSED}
        with step(progress, "pods have settled"):
            kept = [obj for obj in wanted if proof.subject(obj) not in refused]
            pods, events = _settle(client, kept, wait_s, progress)
        found += [seen for pod in pods for seen in proof.of_pod(pod)]
        told = (proof.of_event(event) for event in events)
        found += dict.fromkeys(seen for seen in told if seen is not None)
    return found


@contextmanager
def _cluster(config: ClusterConfig, progress: Progress) -> Iterator[AdminClient]:
    """A cluster under a name and port of its own, and nobody's kubeconfig touched."""
    name = f"prove-{os.getpid()}"
    networking = replace(config.networking, api_server_port=_free_port())
    own = replace(config, name=name, networking=networking)
    with tempfile.TemporaryDirectory(prefix="muntin-prove-") as folder:
        try:
            up(own, UpOptions(kubeconfig=Path(folder) / "kubeconfig"), progress)
            client = AdminClient(own)
            yield client
            client.close()
        finally:
            down(name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _placed(obj: Object) -> Object:
    """In the namespace where `kubectl apply` would put it."""
    row = by_kind(obj.get("apiVersion", ""), obj.get("kind", ""))
    if row is None or not row.namespaced or (obj.get("metadata") or {}).get("namespace"):
        return obj
    return {**obj, "metadata": {**(obj.get("metadata") or {}), "namespace": _DEFAULT_NAMESPACE}}


def _create(client: AdminClient, obj: Object) -> list[Observation]:
    row, about = by_kind(obj.get("apiVersion", ""), obj.get("kind", "")), proof.subject(obj)
    if row is None:
        text = f"no resource of {obj.get('apiVersion')} {obj.get('kind')} is known"
        return [Observation(subject=about, stage=Stage.UNKNOWN, text=text)]
    namespace = (obj.get("metadata") or {}).get("namespace", "")
    if row.namespaced and not _has_namespace(client, namespace):
        made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        _post(client, _row_of("Namespace"), "", made)
    answer = _post(client, row, namespace, copy.deepcopy(obj))
    return proof.of_answer(about, *answer)


def _row_of(kind: str) -> Resource:
    return next(row for row in RESOURCES if row.kind == kind and not row.group)


def _has_namespace(client: AdminClient, name: str) -> bool:
    return client.send("GET", f"/api/v1/namespaces/{name}").status == 200


def _post(
    client: AdminClient, row: Resource, namespace: str, obj: Object
) -> tuple[int, bytes, str]:
    inside = f"/namespaces/{namespace}" if row.namespaced else ""
    answer = client.send("POST", f"{row.root}{inside}/{row.plural}", json.dumps(obj).encode())
    return answer.status, answer.body, answer.warning


def _settle(
    client: AdminClient, objects: list[Object], wait_s: float, progress: Progress
) -> tuple[list[Object], list[Object]]:
    """Pods and events, once nothing new is to be expected or the time is over."""
    deadline, quiet_since, before = time.monotonic() + wait_s, time.monotonic(), ""
    while True:
        pods, events = _own(client, "pods"), _own(client, "events")
        now = time.monotonic()
        state = json.dumps([[pod["metadata"]["uid"], pod.get("status")] for pod in pods])
        waiting = [p["metadata"]["name"] for p in pods if not proof.is_settled(p, events)]
        waiting += proof.missing(objects, pods, events)
        if waiting or state != before:
            quiet_since, before = now, state
        if now > deadline or now - quiet_since > SETTLED_S:
            return pods, events
        if waiting:
            progress.note(f"waiting for {', '.join(waiting)}")
        time.sleep(_POLL_S)


def _own(client: AdminClient, plural: str) -> list[Object]:
    """All of the kind that are not the cluster's own."""
    items = client.get(f"/api/v1/{plural}")["items"]
    return [item for item in items if item["metadata"]["namespace"] not in _OWN_NAMESPACES]
