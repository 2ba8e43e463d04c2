"""Volumes of a pod: where they can be used, and what binds them once the pod has a node.

Pure; one function for each of upstream's plugins VolumeRestrictions, NodeVolumeLimits,
VolumeBinding and VolumeZone.
Source: kubernetes v1.36 pkg/scheduler/framework/plugins/{volumerestrictions,nodevolumelimits,
volumebinding,volumezone}; the migration of in-tree drivers is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, cmp_to_key

from muntin.model import pods, quantity
from muntin.model import volume_binding as binding
from muntin.model.selectors import labels_of
from muntin.model.volumes_in_use import claims_of
from muntin.scheduler.plan_framework import Check, Cycle, Plugin, Request, Unfit
from muntin.scheduler.plan_nodes import NodeInfo, Object
from muntin.scheduler.plan_storage import Storage

PLUGINS = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")
RESTRICTIONS, LIMITS, BINDING, ZONE = PLUGINS
_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod"
)
_NO_VOLUMES = "node(s) didn't find available persistent volumes to bind"
_NO_SPACE = "node(s) did not have enough free storage"
_ZONES = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bindings:
    """What is to be bound before the pod is: volumes that are there, claims to provision for.

    ``refusal``: why not all claims can be bound; then nothing is.
    """

    static: tuple[tuple[Object, Object], ...] = ()
    provision: tuple[Object, ...] = ()
    refusal: str = ""


class PodVolumes:
    """The volumes of one pod, worked out once for all nodes."""

    def __init__(self, request: Request, storage: Storage) -> None:
        self.request = request
        self.storage = storage
        self.bound: list[Object] = []
        self.delayed: list[Object] = []
        self.refusal = self._sort()

    def _sort(self) -> Unfit | None:
        """Fill ``bound`` and ``delayed``; why the pod can be nowhere, if so."""
        immediate = False
        for volume in self.request.spec.get("volumes") or ():
            name = _claim_name(self.request.pod, volume)
            if name is None:
                continue
            claim = self.storage.claims.get(f"{self.request.namespace}/{name}")
            reason = _why_no_claim(self.request.pod, volume, name, claim)
            if claim is None or reason:
                return Unfit(BINDING, (reason,), final=True)
            storage_class = self.storage.classes.get(binding.class_of(claim))
            if binding.is_fully_bound(claim):
                self.bound.append(claim)
            elif binding.waits_for_consumer(storage_class) and not claim["spec"].get("volumeName"):
                self.delayed.append(claim)
            else:
                immediate = True
        if immediate:
            reason = "pod has unbound immediate PersistentVolumeClaims"
            return Unfit(BINDING, (reason,), final=True)
        return self._why_no_zone()

    def _why_no_zone(self) -> Unfit | None:
        for claim in self.bound:
            name = claim["spec"]["volumeName"]
            if name not in self.storage.volumes:
                return Unfit(ZONE, (f'persistentvolume "{name}" not found',), final=True)
        return None

    @cached_property
    def exclusive(self) -> frozenset[str]:
        """The claims that one pod alone may use at a time."""
        return frozenset(
            claim["metadata"]["name"]
            for claim in (*self.bound, *self.delayed)
            if "ReadWriteOncePod" in (claim["spec"].get("accessModes") or ())
        )

    @cached_property
    def volumes(self) -> list[Object]:
        """The volumes of the claims that are bound."""
        return [self.storage.volumes[claim["spec"]["volumeName"]] for claim in self.bound]

    @cached_property
    def _candidates(self) -> list[Object]:
        """Those that may be found for the delayed claims: free ones, and ones that name them."""
        wanted = {binding.class_of(claim) for claim in self.delayed}
        return [
            volume
            for volume in self.storage.volumes.values()
            if (
                volume["spec"].get("claimRef") is None
                or any(binding.is_bound_to(volume, claim) for claim in self.delayed)
            )
            and binding.class_of(volume) in wanted
        ]

    def bindings(self, node: Object) -> Bindings:
        """What would bind the delayed claims on ``node``, the smallest first."""
        found: dict[str, tuple[Object, Object]] = {}
        provision = []
        for claim in sorted(self.delayed, key=cmp_to_key(_by_size)):
            selected = binding.annotations_of(claim).get(binding.SELECTED_NODE)
            if selected is not None and selected != node["metadata"]["name"]:
                return Bindings(refusal=_NO_VOLUMES)
            volume = None
            if selected is None:
                volume = binding.find_match(claim, self._candidates, node=node, excluded=found)
            if volume is not None:
                found[volume["metadata"]["name"]] = (volume, claim)
            else:
                provision.append(claim)
        for claim in provision:
            refusal = self._why_not_provisioned(claim, node)
            if refusal:
                return Bindings(refusal=refusal)
        return Bindings(static=tuple(found.values()), provision=tuple(provision))

    def _why_not_provisioned(self, claim: Object, node: Object) -> str:
        """Empty where a volume for the claim can be made on ``node``."""
        storage_class = self.storage.classes.get(binding.class_of(claim))
        if storage_class is None:
            return _NO_VOLUMES
        if storage_class.get("provisioner") in (None, "", binding.NO_PROVISIONER):
            return _NO_VOLUMES
        terms = storage_class.get("allowedTopologies") or ()
        labels = node["metadata"].get("labels") or {}
        if terms and not any(_topology_matches(term, labels) for term in terms):
            return _NO_VOLUMES
        return "" if self._has_room(claim, storage_class, labels) else _NO_SPACE

    def _has_room(self, claim: Object, storage_class: Object, labels: Mapping[str, str]) -> bool:
        """Whether the driver, if it tells of its capacity, has enough where the node is."""
        driver = self.storage.drivers.get(storage_class["provisioner"])
        if driver is None or not driver["spec"].get("storageCapacity"):
            return True
        size = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
        if size is None:
            return True
        return any(
            row["storageClassName"] == storage_class["metadata"]["name"]
            and _is_enough(row, size)
            and labels_of(row.get("nodeTopology")).matches(labels)
            for row in self.storage.capacities.values()
        )


class _OnNode(Check):
    """What one node and its volumes decide."""

    def __init__(
        self, wanted: PodVolumes, verdict: Callable[[PodVolumes, NodeInfo], Unfit | None]
    ) -> None:
        self._wanted = wanted
        self._verdict = verdict

    def __call__(self, info: NodeInfo) -> Unfit | None:
        return self._verdict(self._wanted, info)


class _Restrictions(Check):
    """Disks that one pod alone may write, and claims that one pod alone may use, anywhere."""

    def __init__(self, wanted: PodVolumes, disks: list[Object], users: int) -> None:
        self._wanted = wanted
        self._disks = disks
        self._users = users

    def __call__(self, info: NodeInfo) -> Unfit | None:
        if self._disks and any(
            _conflict(disk, other)
            for pod in _pods_of(info)
            for other in pod["spec"].get("volumes") or ()
            for disk in self._disks
        ):
            return Unfit(RESTRICTIONS, ("node(s) had no available disk",), final=False)
        if self._users:
            return Unfit(RESTRICTIONS, (_IN_USE,), final=False)
        return None

    def copy(self) -> Check:
        return _Restrictions(self._wanted, self._disks, self._users)

    def count(self, pod: Object, info: NodeInfo, sign: int) -> None:
        self._users += sign * _uses(pod, self._wanted)


def pod_volumes(cycle: Cycle) -> PodVolumes | None:
    """The volumes of the pod in question; None if it has no claims."""
    if not any(True for _ in claims_of(cycle.request.pod)):
        return None
    return PodVolumes(cycle.request, cycle.cluster.storage)


def volume_restrictions(cycle: Cycle) -> Check | Unfit | None:
    """Nothing that only one pod may have is taken."""
    disks = [row for row in cycle.request.spec.get("volumes") or () if _disk(row)]
    wanted = PodVolumes(cycle.request, cycle.cluster.storage)
    if not disks and not wanted.exclusive:
        return None
    users = 0
    if wanted.exclusive:
        users = sum(_uses(pod, wanted) for info in cycle.cluster for pod in _pods_of(info))
    return _Restrictions(wanted, disks, users)


def volume_limits(cycle: Cycle) -> Check | Unfit | None:
    """CSI drivers take no more volumes on a node than they say."""
    wanted = pod_volumes(cycle) if cycle.cluster.storage.csi_nodes else None
    return _OnNode(wanted, _over_limit) if wanted is not None else None


def volume_binding(cycle: Cycle) -> Check | Unfit | None:
    """All claims are there, and bound or to be bound where the pod goes."""
    wanted = pod_volumes(cycle)
    if wanted is None:
        return None
    return wanted.refusal or _OnNode(wanted, _out_of_reach)


def volume_zone(cycle: Cycle) -> Check | Unfit | None:
    """Labels of volumes that name zones are those of the node."""
    wanted = pod_volumes(cycle)
    if wanted is None:
        return None
    return wanted.refusal or (_OnNode(wanted, _other_zone) if wanted.volumes else None)


VOLUME_PLUGINS = (
    Plugin(name=RESTRICTIONS, filter=volume_restrictions),
    Plugin(name=LIMITS, filter=volume_limits),
    Plugin(name=BINDING, filter=volume_binding),
    Plugin(name=ZONE, filter=volume_zone),
)
"""In upstream's order, between NodeResourcesFit and PodTopologySpread."""


def _over_limit(wanted: PodVolumes, info: NodeInfo) -> Unfit | None:
    """Each CSI driver says on its CSINode how many volumes the node takes."""
    limits = _csi_limits(wanted.storage.csi_nodes.get(info.name))
    asked = dict(_csi_volumes(wanted.request.pod, wanted.storage)) if limits else {}
    if not asked:
        return None
    present = {
        handle: driver
        for pod in _pods_of(info)
        for handle, driver in _csi_volumes(pod, wanted.storage)
    }
    fresh = [driver for handle, driver in asked.items() if handle not in present]
    attached = list(present.values())
    for driver in set(fresh):
        limit = limits.get(driver)
        if limit is not None and attached.count(driver) + fresh.count(driver) > limit:
            return Unfit(LIMITS, ("node(s) exceed max volume count",), final=False)
    return None


def _out_of_reach(wanted: PodVolumes, info: NodeInfo) -> Unfit | None:
    """Bound volumes must reach the node; for the others there must be some, or a provisioner."""
    if info.node is None:
        return None
    reasons = []
    if not all(binding.reaches(volume, info.node) for volume in wanted.volumes):
        reasons.append(wanted.request.words.volume)
    refusal = wanted.bindings(info.node).refusal if wanted.delayed else ""
    if refusal:
        reasons.append(refusal)
    return Unfit(BINDING, tuple(reasons), final=True) if reasons else None


def _other_zone(wanted: PodVolumes, info: NodeInfo) -> Unfit | None:
    """Labels of volumes that name zones must be those of the node, where nodes have any."""
    labels = info.labels
    if not any(name in labels for name in _ZONES):
        return None
    for volume in wanted.volumes:
        for name, value in (volume["metadata"].get("labels") or {}).items():
            if name not in _ZONES:
                continue
            have = labels.get(name, labels.get(_ZONES[name]))
            if have not in value.split("__"):
                return Unfit(ZONE, ("node(s) had no available volume zone",), final=True)
    return None


def _pods_of(info: NodeInfo) -> Iterator[Object]:
    return (found.pod for found in info.pods.values())


def _claim_name(pod: Object, volume: Object) -> str | None:
    if volume.get("persistentVolumeClaim") is not None:
        return str(volume["persistentVolumeClaim"]["claimName"])
    if volume.get("ephemeral") is not None:
        return f"{pod['metadata']['name']}-{volume['name']}"
    return None


def _why_no_claim(pod: Object, volume: Object, name: str, claim: Object | None) -> str:
    ephemeral = volume.get("ephemeral") is not None
    if claim is None:
        if ephemeral:
            return (
                "waiting for ephemeral volume controller to create the "
                f'persistentvolumeclaim "{name}"'
            )
        return f'persistentvolumeclaim "{name}" not found'
    if (claim.get("status") or {}).get("phase") == "Lost":
        volume_name = claim["spec"].get("volumeName", "")
        return (
            f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume_name}"'
        )
    if pods.is_deleting(claim):
        return f'persistentvolumeclaim "{name}" is being deleted'
    owner = pods.controller_of(claim)
    if ephemeral and (owner is None or owner.get("uid") != pod["metadata"]["uid"]):
        key = f"{pod['metadata']['namespace']}/{name}"
        pod_key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        return f"PVC {key} was not created for pod {pod_key} (pod is not owner)"
    return ""


def _by_size(one: Object, other: Object) -> int:
    return quantity.compare(binding.requested(one), binding.requested(other))


def _is_enough(capacity: Object, size: str) -> bool:
    """The largest volume there may be, or else all that is left."""
    limit = capacity.get("maximumVolumeSize") or capacity.get("capacity")
    return limit is not None and quantity.compare(limit, size) >= 0


def _topology_matches(term: Object, labels: Mapping[str, str]) -> bool:
    rows = term.get("matchLabelExpressions") or ()
    return all(labels.get(row["key"]) in (row.get("values") or ()) for row in rows)


def _disk(volume: Object) -> bool:
    return any(
        volume.get(kind) for kind in ("gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi")
    )


def _conflict(one: Object, other: Object) -> bool:
    def shared(kind: str, *names: str, shareable: bool = True) -> bool:
        mine, theirs = one.get(kind), other.get(kind)
        if not mine or not theirs or any(mine.get(name) != theirs.get(name) for name in names):
            return False
        return not (shareable and mine.get("readOnly") and theirs.get("readOnly"))

    monitors = [set((row.get("rbd") or {}).get("monitors") or ()) for row in (one, other)]
    return (
        shared("gcePersistentDisk", "pdName")
        or shared("awsElasticBlockStore", "volumeID", shareable=False)
        or shared("iscsi", "iqn")
        or (bool(monitors[0] & monitors[1]) and shared("rbd", "pool", "image"))
    )


def _uses(pod: Object, wanted: PodVolumes) -> bool:
    meta, mine = pod["metadata"], wanted.request.pod["metadata"]
    if meta["namespace"] != mine["namespace"] or meta["uid"] == mine["uid"]:
        return False
    return any(name in wanted.exclusive for name in claims_of(pod))


def _csi_limits(csi_node: Object | None) -> dict[str, int]:
    rows = (csi_node or {"spec": {}})["spec"].get("drivers") or ()
    counts = {row["name"]: (row.get("allocatable") or {}).get("count") for row in rows}
    return {name: int(count) for name, count in counts.items() if count is not None}


def _csi_volumes(pod: Object, storage: Storage) -> Iterator[tuple[str, str]]:
    """(unique name, driver) of the CSI volumes behind the pod's claims."""
    for name in claims_of(pod):
        key = f"{pod['metadata']['namespace']}/{name}"
        claim = storage.claims.get(key)
        if claim is None:
            continue
        volume = storage.volumes.get(claim["spec"].get("volumeName") or "")
        csi = (volume or {"spec": {}})["spec"].get("csi")
        if csi:
            yield f"{csi['driver']}/{csi['volumeHandle']}", csi["driver"]
            continue
        found = storage.classes.get(binding.class_of(claim))
        if volume is None and found is not None:
            yield f"{found['provisioner']}/{key}", found["provisioner"]
