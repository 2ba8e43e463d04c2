"""Asks extenders: programs of others that filter and score nodes, choose victims, and bind.

Source: kubernetes v1.36 pkg/scheduler/extender.go, staging/src/k8s.io/kube-scheduler/extender/v1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from muntin.kit import errors
from muntin.kit.http.client import HttpClient
from muntin.kit.http.tls import client_context
from muntin.model import pods
from muntin.scheduler.extender_config import ExtenderConfig
from muntin.scheduler.plan import Search
from muntin.scheduler.plan_framework import MAX_SCORE, Unfit
from muntin.scheduler.plan_nodes import ClusterState, NodeInfo, Object
from muntin.scheduler.plan_preemption import Candidate, Room

MAX_EXTENDER_SCORE = 10


class Extenders:
    """All of them, in their order."""

    def __init__(self, configs: Sequence[ExtenderConfig]) -> None:
        self._all = [_Extender(config) for config in configs]

    async def filter(self, search: Search) -> None:
        """Leave in ``search`` only the nodes that all of them let pass.

        Raises:
            Unavailable: one does not answer as it should, and is not ``ignorable``.
        """
        for extender in self._asked(search.cycle.request.pod, "filter_verb"):
            if not search.feasible:
                return
            try:
                await extender.filter(search)
            except errors.MuntinError:
                if not extender.config.ignorable:
                    raise

    async def scores(self, search: Search) -> dict[str, int]:
        """What they add to the scores of the nodes; one that does not answer adds nothing."""
        found: dict[str, int] = {}
        if len(search.feasible) < 2:
            return found
        for extender in self._asked(search.cycle.request.pod, "prioritize_verb"):
            try:
                rows = await extender.scores(search)
            except errors.MuntinError:
                continue
            for name, score in rows.items():
                found[name] = found.get(name, 0) + score
        return found

    async def preempt(self, pod: Object, room: Room, cluster: ClusterState) -> Room:
        """The candidates that they leave, with the victims that they choose."""
        candidates = room.candidates
        for extender in self._asked(pod, "preempt_verb"):
            if not candidates:
                break
            try:
                candidates = await extender.preempt(pod, candidates, cluster)
            except errors.MuntinError:
                if not extender.config.ignorable:
                    raise
        if room.candidates and not candidates:
            return Room(message="no candidate node for preemption", eligible=False)
        return Room(candidates, room.message, room.eligible)

    async def bind(self, pod: Object, node: str) -> bool:
        """Whether one of them has bound the pod; False: it is for the scheduler to do.

        Raises:
            Unavailable: the one that binds could not.
        """
        for extender in self._asked(pod, "bind_verb"):
            await extender.bind(pod, node)
            return True
        return False

    def _asked(self, pod: Object, verb: str) -> list[_Extender]:
        return [one for one in self._all if getattr(one.config, verb) and one.is_interested(pod)]


class _Extender:
    def __init__(self, config: ExtenderConfig) -> None:
        self.config = config
        tls = None
        if config.url_prefix.startswith("https:"):
            tls = client_context(
                ca=_pem(config.ca),
                certificate=_pem(config.client_certificate),
                key=_pem(config.client_key),
                verify=config.verify,
            )
        self._http = HttpClient(tls=tls)

    def is_interested(self, pod: Object) -> bool:
        """Whether the pod asks for a resource that it manages; without any it is for all pods."""
        managed = self.config.managed
        return not managed or any(
            name in ((container.get("resources") or {}).get(field) or {})
            for container in pods.all_containers(pod)
            for field in ("requests", "limits")
            for name in managed
        )

    async def filter(self, search: Search) -> None:
        """Take the nodes out that it refuses."""
        answer = await self._ask(self.config.filter_verb, self._args(search))
        if answer.get("error"):
            raise errors.Unavailable(str(answer["error"]))
        names = self._names(answer)
        known = {info.name for info in search.feasible}
        for name in names - known:
            raise errors.Unavailable(
                f'extender "{self.config.url_prefix}" claims a filtered node "{name}" which is not '
                "found in the input node list"
            )
        refused: dict[str, Unfit] = {}
        for field, final in (("failednodes", False), ("failedandunresolvablenodes", True)):
            for name, reason in (answer.get(field) or {}).items():
                refused[name] = Unfit(self.config.url_prefix, (str(reason),), final)
        search.keep(names, refused)

    async def scores(self, search: Search) -> dict[str, int]:
        """What it adds to the score of each node."""
        answer = await self._ask(self.config.prioritize_verb, self._args(search))
        scale = self.config.weight * MAX_SCORE // MAX_EXTENDER_SCORE
        rows = [_folded(row) for row in answer.get("items") or ()]
        return {str(row.get("host")): int(row.get("score") or 0) * scale for row in rows}

    async def preempt(
        self, pod: Object, candidates: Sequence[Candidate], cluster: ClusterState
    ) -> tuple[Candidate, ...]:
        """The candidates that it leaves."""
        capable = self.config.node_cache_capable
        rows = {one.node: _victims(one, by_uid=capable) for one in candidates}
        field = "NodeNameToMetaVictims" if capable else "NodeNameToVictims"
        answer = await self._ask(self.config.preempt_verb, {"Pod": pod, field: rows})
        found = []
        for node, raw in (answer.get("nodenametometavictims") or {}).items():
            row, info = _folded(raw or {}), cluster.get(node)
            uids = [_folded(one).get("uid") for one in row.get("pods") or ()]
            victims = [info.pods[uid].pod for uid in uids if info is not None and uid in info.pods]
            if len(victims) < len(uids) or not victims:
                if self.config.ignorable:
                    continue
                raise errors.Unavailable(f'expected at least one victim pod on node "{node}"')
            number = int(row.get("numpdbviolations") or 0)
            found.append(Candidate(node, tuple(victims), number))
        return tuple(found)

    async def bind(self, pod: Object, node: str) -> None:
        """Let it bind the pod."""
        meta = pod["metadata"]
        body = {
            "PodName": meta["name"],
            "PodNamespace": meta["namespace"],
            "PodUID": meta["uid"],
            "Node": node,
        }
        answer = await self._ask(self.config.bind_verb, body)
        if answer.get("error"):
            raise errors.Unavailable(str(answer["error"]))

    def _args(self, search: Search) -> Object:
        feasible: Sequence[NodeInfo] = search.feasible
        pod = search.cycle.request.pod
        if self.config.node_cache_capable:
            return {"Pod": pod, "Nodes": None, "NodeNames": [info.name for info in feasible]}
        nodes = {"apiVersion": "v1", "kind": "NodeList", "items": [info.node for info in feasible]}
        return {"Pod": pod, "Nodes": nodes, "NodeNames": None}

    def _names(self, answer: Mapping[str, Any]) -> set[str]:
        if self.config.node_cache_capable and answer.get("nodenames") is not None:
            return set(answer["nodenames"])
        items = (answer.get("nodes") or {}).get("items") or ()
        return {str(item["metadata"]["name"]) for item in items}

    async def _ask(self, verb: str, body: Object) -> Mapping[str, Any]:
        url = f"{self.config.url_prefix}/{verb}"
        try:
            answer = await self._http.request(
                "POST",
                url,
                headers={"Content-Type": "application/json"},
                body=orjson.dumps(body),
                timeout_s=self.config.timeout_s,
            )
            if answer.status != 200:
                raise errors.Unavailable(
                    f"failed {verb} with extender at URL {self.config.url_prefix}, code "
                    f"{answer.status}"
                )
            found = orjson.loads(answer.body)
        except orjson.JSONDecodeError as err:
            raise errors.Unavailable(f"{url}: the answer is not JSON: {err}") from err
        return {"items": found} if isinstance(found, list) else _folded(found or {})


def _folded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Field names as Go reads them: upper and lower case are alike."""
    return {name.lower(): value for name, value in row.items()}


def _victims(one: Candidate, *, by_uid: bool) -> Object:
    rows = [{"UID": pod["metadata"]["uid"]} if by_uid else pod for pod in one.victims]
    return {"Pods": rows, "NumPDBViolations": one.violations}


def _pem(text: str) -> bytes:
    """PEM as it stands, or of the file of that name."""
    if not text or text.startswith("-----BEGIN"):
        return text.encode()
    return Path(text).read_bytes()
