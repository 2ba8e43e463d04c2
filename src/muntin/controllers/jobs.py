"""Jobs and CronJobs: what their rules see, and what is remembered of a Job's failed pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from muntin.controllers.caches import NAMESPACE, OWNER, STRAY, Caches, owned_or_stray
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import cronjob, job, ttl_after_finished
from muntin.controllers.rules.actions import Action
from muntin.controllers.rules.job_backoff import Backoff
from muntin.controllers.rules.job_end import is_finished
from muntin.controllers.rules.job_pods import is_tracked
from muntin.controllers.rules.ownership import is_controlled_by
from muntin.controllers.workloads import OwnerKeys
from muntin.model import pods
from muntin.model.features import ApiFeature
from muntin.model.resources import CRON_JOBS, JOBS, PODS
from muntin.seams.kube import Object
from muntin.seams.kube.informer import key_of


class Jobs:
    name = "job-controller"
    account = "job-controller"

    def __init__(self, caches: Caches, features: Set[ApiFeature]) -> None:
        self._jobs = caches.use(JOBS, NAMESPACE)
        self._pods = caches.use(PODS, OWNER, STRAY)
        self._features = features
        self._backoffs: dict[str, tuple[str, Backoff]] = {}
        self.sources = (Source(JOBS), Source(PODS, OwnerKeys(self._jobs)))

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._jobs.get(round.key)
        if found is None or is_finished(found):
            self._backoffs.pop(round.key, None)
            return ()
        uid = found["metadata"]["uid"]
        known, backoff = self._backoffs.get(round.key, ("", Backoff()))
        backoff = backoff if known == uid else Backoff()
        backoff = backoff.seeing(found, self._pods.by_index(OWNER, uid))
        self._backoffs[round.key] = (uid, backoff)
        snapshot = job.Snapshot(
            job=found,
            pods=owned_or_stray(self._pods, found),
            backoff=backoff,
            failure=round.failure,
            features=self._features,
        )
        return job.reconcile(snapshot, round.now)


class JobOrphans:
    """Frees pods that no Job will count, so that they can go."""

    name = "job-orphans"
    account = "job-controller"

    def __init__(self, caches: Caches) -> None:
        self._jobs = caches.use(JOBS)
        self._pods = caches.use(PODS, OWNER)
        self.sources = (Source(JOBS, self._of_job), Source(PODS, self._of_pod))

    def _of_job(self, found: Object) -> Iterable[str]:
        if is_finished(found) or self._jobs.get(key_of(found)) is None:
            for pod in self._pods.by_index(OWNER, found["metadata"]["uid"]):
                yield from self._of_pod(pod)

    def _of_pod(self, pod: Object) -> Iterable[str]:
        if job.orphaned(pod, self._owner(pod)):
            yield key_of(pod)

    def _owner(self, pod: Object) -> Object | None:
        reference = pods.controller_of(pod)
        if reference is None:
            return None
        found = self._jobs.get(f"{pod['metadata']['namespace']}/{reference['name']}")
        return found if found is not None and is_controlled_by(pod, found) else None

    async def plan(self, round: Round) -> Sequence[Action]:
        pod = self._pods.get(round.key)
        return job.orphaned(pod, self._owner(pod)) if pod is not None and is_tracked(pod) else ()


class CronJobs:
    name = "cronjob-controller"
    account = "cronjob-controller"

    def __init__(self, caches: Caches, features: Set[ApiFeature]) -> None:
        self._cron_jobs = caches.use(CRON_JOBS)
        self._jobs = caches.use(JOBS, OWNER)
        self._features = features
        self._schedules: dict[str, tuple[str, str | None]] = {}
        self.sources = (Source(CRON_JOBS), Source(JOBS, self._of_job))

    def _of_job(self, found: Object) -> Iterable[str]:
        reference = pods.controller_of(found)
        if reference is not None and reference["kind"] == CRON_JOBS.kind:
            yield f"{found['metadata']['namespace']}/{reference['name']}"

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._cron_jobs.get(round.key)
        if found is None:
            self._schedules.pop(round.key, None)
            return ()
        schedule = (found["spec"]["schedule"], found["spec"].get("timeZone"))
        before = self._schedules.get(round.key, schedule)
        self._schedules[round.key] = schedule
        snapshot = cronjob.Snapshot(
            cron_job=found,
            jobs=[
                each
                for each in self._jobs.by_index(OWNER, found["metadata"]["uid"])
                if is_controlled_by(each, found)
            ],
            rescheduled=schedule != before,
            features=self._features,
        )
        return cronjob.reconcile(snapshot, round.now)


class FinishedJobs:
    name = "ttl-after-finished-controller"
    account = "ttl-after-finished-controller"

    def __init__(self, caches: Caches) -> None:
        self._jobs = caches.use(JOBS)
        self.sources = (Source(JOBS, self._of_job),)

    def _of_job(self, found: Object) -> Iterable[str]:
        if found["spec"].get("ttlSecondsAfterFinished") is not None and is_finished(found):
            yield key_of(found)

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._jobs.get(round.key)
        return ttl_after_finished.reconcile(found, round.now) if found is not None else ()
