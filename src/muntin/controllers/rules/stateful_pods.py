"""What a StatefulSet does about one pod: make it, wait for it, mend it, let it go.

Source: kubernetes v1.36 pkg/controller/statefulset/{stateful_set_control,stateful_pod_control}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from muntin.controllers.rules import stateful_claims as claims
from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Create,
    Delete,
    Note,
    Object,
    Single,
    Told,
    Update,
)
from muntin.controllers.rules.availability import is_available
from muntin.controllers.rules.stateful_identity import (
    has_identity,
    has_storage,
    with_identity,
    with_storage,
)
from muntin.model import pods
from muntin.model.features import ApiFeature
from muntin.model.resources import PERSISTENT_VOLUME_CLAIMS, PODS


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One look at a StatefulSet.

    ``replicas`` are the pods in their order, None where one is not there; ``missing`` are those to
    be made, by the same index. ``condemned`` are the pods beyond, the last one first. ``current``
    and ``update`` are the names of two revisions.
    """

    stateful_set: Object
    replicas: Sequence[Object | None]
    missing: dict[int, Object]
    condemned: Sequence[Object]
    claims: Mapping[str, Object]
    current: str
    update: str
    features: Set[ApiFeature]
    now: float

    @property
    def in_order(self) -> bool:
        """Whether each pod waits for those before it (``podManagementPolicy: OrderedReady``)."""
        return bool(self.stateful_set["spec"].get("podManagementPolicy") != "Parallel")

    def is_available(self, pod: Object) -> bool:
        """Whether the pod is ready, and has been for long enough."""
        return is_available(self.stateful_set, pod, self.now)

    def is_unavailable(self, pod: Object | None) -> bool:
        """Whether the pod is not there, not available, or going."""
        return pod is None or not self.is_available(pod) or pods.is_deleting(pod)


@dataclass(frozen=True, slots=True)
class Step:
    """What to do about one pod; whether those after it must wait."""

    actions: list[Single] = field(default_factory=list)
    waits: bool = False


def of_replica(work: Work, index: int) -> Step:
    """A pod that is to be there."""
    pod = work.replicas[index]
    if pod is None:
        return Step(_creation(work, work.missing[index]), waits=True)
    if has_ended(work, pod):
        return Step(_replacement(work, pod), waits=True)
    actions: list[Single] = []
    if pods.phase(pod) == "Pending":
        if _leaving_claim(work, pod):
            return Step(waits=True)
        actions += _missing_claims(work, pod)
        actions += claim_owners(work, pod)
    running = pods.phase(pod) == "Running" and work.is_available(pod)
    if work.in_order and (pods.is_deleting(pod) or not running):
        return Step(actions, waits=True)
    return Step([*actions, *_mending(work, pod)])


def of_condemned(work: Work, pod: Object) -> Step:
    """A pod that is to go, after all those that come after it."""
    if pods.is_deleting(pod):
        return Step(waits=True)
    healthy = pods.phase(pod) == "Running" and work.is_available(pod)
    if work.in_order and not healthy and pod is not _first_unavailable(work):
        return Step(waits=True)
    return Step([deletion(work, pod)], waits=True)


def _first_unavailable(work: Work) -> Object | None:
    """The unavailable pod with the lowest ordinal, those that are to stay first."""
    for pod in (*work.replicas, *reversed(work.condemned)):
        if work.is_unavailable(pod):
            return pod
    return None


def has_ended(work: Work, pod: Object) -> bool:
    """Whether the pod ended for good, and is to be made anew."""
    phase = pods.phase(pod)
    if phase == "Succeeded":
        return ApiFeature.STATEFUL_SUCCEEDED_REPLACED in work.features
    return phase == "Failed"


def deletion(work: Work, pod: Object) -> Delete:
    """Delete the pod, and say so."""
    return Delete(resource=PODS, obj=pod, told=_told(work, "delete", pod))


def claim_owners(work: Work, pod: Object) -> list[Single]:
    """Give the pod's claims the owners that the retention policy asks for."""
    stateful_set = work.stateful_set
    if not claims.has_policy(stateful_set):
        return []
    actions: list[Single] = []
    for claim in claims.existing(stateful_set, pod, work.claims):
        if claims.owners_match(stateful_set, pod, claim):
            continue
        if claims.has_other_controller(stateful_set, pod, claim):
            text = claims.CONFLICTING.replace("{name}", claim["metadata"]["name"])
            reason = "ConflictingController"
            actions.append(Note(about=stateful_set, type=WARNING, reason=reason, message=text))
        obj = claims.with_owners(stateful_set, pod, claim)
        why = f"could not update claim {claim['metadata']['name']} for delete policy ownerRefs"
        told = _told(work, "update", pod, only_failure=why)
        actions.append(Update(resource=PERSISTENT_VOLUME_CLAIMS, obj=obj, told=told))
    return actions


def _creation(work: Work, pod: Object) -> list[Single]:
    if claims.is_stale(work.stateful_set, pod, work.claims):
        return []  # the claim goes first, with the pod that had it
    leaving = _leaving_claim(work, pod)
    if leaving:
        told = _told(work, "create", pod)
        text = told.failure_message.replace("{error}", f"pvc {leaving} is being deleted")
        reason = told.failure_reason
        return [Note(about=work.stateful_set, type=WARNING, reason=reason, message=text)]
    create = Create(resource=PODS, obj=pod, told=_told(work, "create", pod))
    return [*_missing_claims(work, pod, starting=True), create]


def _replacement(work: Work, pod: Object) -> list[Single]:
    if pods.is_deleting(pod):
        return []
    notes: list[Single] = []
    if ApiFeature.STATEFUL_REPLACED_UNSAID not in work.features:
        meta = work.stateful_set["metadata"]
        failed = pods.phase(pod) == "Failed"
        message = (
            f"StatefulSet {meta['namespace']}/{meta['name']} is recreating "
            f"{'failed' if failed else 'terminated'} Pod {pod['metadata']['name']}"
        )
        kind, reason = (
            (WARNING, "RecreatingFailedPod") if failed else (NORMAL, "RecreatingTerminatedPod")
        )
        notes = [Note(about=work.stateful_set, type=kind, reason=reason, message=message)]
    return [*notes, deletion(work, pod)]


def _mending(work: Work, pod: Object) -> list[Single]:
    """The pod's labels, volumes and claims, where somebody changed them."""
    stateful_set = work.stateful_set
    owners = claim_owners(work, pod) if pods.phase(pod) != "Pending" else []
    if has_identity(pod) and has_storage(stateful_set, pod) and not owners:
        return []
    mended = pod
    if not has_identity(pod):
        indexed = ApiFeature.STATEFUL_INDEX_LABELS in work.features
        mended = with_identity(mended, indexed=indexed)
    creations: list[Single] = []
    if not has_storage(stateful_set, pod):
        mended = with_storage(stateful_set, mended)
        creations = _missing_claims(work, pod)
    update = Update(resource=PODS, obj=mended, told=_told(work, "update", pod))
    return [*creations, *owners, update]


def _leaving_claim(work: Work, pod: Object) -> str:
    """The name of a claim of the pod that is being deleted."""
    for claim in claims.existing(work.stateful_set, pod, work.claims):
        if pods.is_deleting(claim):
            return str(claim["metadata"]["name"])
    return ""


def _missing_claims(work: Work, pod: Object, *, starting: bool = False) -> list[Single]:
    return [
        Create(
            resource=PERSISTENT_VOLUME_CLAIMS,
            obj=claim,
            told=_claim_told(work, pod, claim, starting=starting),
        )
        for claim in claims.wanted_claims(work.stateful_set, pod)
        if claim["metadata"]["name"] not in work.claims
    ]


def _verb(work: Work, verb: str) -> str:
    return verb.title() if ApiFeature.STATEFUL_VERBS_CAPITAL in work.features else verb


def _told(work: Work, verb: str, pod: Object, *, only_failure: str = "") -> Told:
    of = f"StatefulSet {work.stateful_set['metadata']['name']}"
    what = f"{_verb(work, verb)} Pod {pod['metadata']['name']} in {of}"
    why = f"{only_failure}: {{error}}" if only_failure else "{error}"
    return Told(
        about=work.stateful_set,
        reason="" if only_failure else f"Successful{verb.title()}",
        message=f"{what} successful",
        failure_reason=f"Failed{verb.title()}",
        failure_message=f"{what} failed error: {why}",
        taken_unsaid=not only_failure,
    )


def _claim_told(work: Work, pod: Object, claim: Object, *, starting: bool) -> Told:
    """``starting``: that the pod cannot be made without the claim is told, too."""
    why = f"failed to create PVC {claim['metadata']['name']}"
    also = _told(work, "create", pod, only_failure=why) if starting else None
    name, of = pod["metadata"]["name"], f"StatefulSet {work.stateful_set['metadata']['name']}"
    what = f"{_verb(work, 'create')} Claim {claim['metadata']['name']}"
    return Told(
        about=work.stateful_set,
        reason="SuccessfulCreate",
        message=f"{what} Pod {name} in {of} success",
        failure_reason="FailedCreate",
        failure_message=f"{what} for Pod {name} in {of} failed error: {{error}}",
        taken_unsaid=True,
        also=also,
    )
