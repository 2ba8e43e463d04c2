"""Carrying out what a rule asked for, in order, as one identity."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from muntin.controllers.caches import Caches
from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Create,
    Delete,
    Failure,
    InBatches,
    InOrder,
    Note,
    Object,
    Patch,
    Single,
    Told,
    Update,
)
from muntin.kit import errors
from muntin.seams.kube import MERGE_PATCH, STRATEGIC_MERGE_PATCH, KubeClient
from muntin.seams.kube.events import EventRecorder

NAMESPACE_TERMINATING = "NamespaceTerminating"
"""The cause the API server names when it refuses to create in a namespace being deleted."""


MAX_BATCH = 32
"""Requests of one batch under way at once: more would hold up whoever shares the event loop."""


@dataclass(slots=True)
class Outcome:
    """When to look again, and why a batch failed: whoever reads it retries."""

    again_s: float | None = None
    failure: Failure | None = None
    error: errors.MuntinError | None = None


class Performer:
    """Writes through ``client`` and shows each answer to ``caches`` at once."""

    def __init__(self, client: KubeClient, caches: Caches, recorder: EventRecorder) -> None:
        self._client = client
        self._caches = caches
        self._recorder = recorder

    async def perform(self, actions: Sequence[Action]) -> Outcome:
        """All ``actions`` in order.

        Raises the error of the first that fails; a failed batch is told in the outcome instead,
        so that the status that follows it can be written.
        """
        outcome = Outcome()
        for action in actions:
            if isinstance(action, Again):
                known = outcome.again_s
                outcome.again_s = action.delay_s if known is None else min(known, action.delay_s)
            elif isinstance(action, InBatches):
                failed = await self._in_batches(action.actions, outcome)
                if failed and action.fatal:
                    return outcome
            else:
                await self._one(action)
        return outcome

    async def _in_batches(
        self, actions: Sequence[Create | Delete | Patch | InOrder], outcome: Outcome
    ) -> bool:
        """Whether one of them failed."""
        start, size = 0, 1
        while start < len(actions):
            batch = actions[start : start + size]
            results = await asyncio.gather(*map(self._attempt, batch))
            failed = [error for error in results if error is not None]
            if failed:
                outcome.error = failed[0]
                outcome.failure = _failure(batch[0], failed[0])
                return True
            start, size = start + size, min(size * 2, MAX_BATCH)
        return False

    async def _attempt(
        self, action: Create | Delete | Patch | InOrder
    ) -> errors.MuntinError | None:
        try:
            for each in action.actions if isinstance(action, InOrder) else (action,):
                await self._one(each)
        except errors.MuntinError as err:
            return err
        return None

    async def _one(self, action: Single) -> None:
        if isinstance(action, Note):
            self._recorder.event(action.about, action.type, action.reason, action.message)
            return
        try:
            written = await self._write(action)
        except errors.MuntinError as err:
            if not _is_terminating(err):
                self._tell_failure(action.told, err)
            raise
        self._tell(action.told, written)

    async def _write(self, action: Create | Update | Patch | Delete) -> Object:
        client, resource = self._client, action.resource
        if isinstance(action, Delete):
            return await self._delete(action)
        if isinstance(action, Create):
            written = await client.create(resource, action.obj)
        elif isinstance(action, Update):
            written = await client.update(resource, action.obj, subresource=action.subresource)
        else:
            written = await client.patch(
                resource,
                action.name,
                action.patch,
                action.namespace,
                patch_type=STRATEGIC_MERGE_PATCH if action.strategic else MERGE_PATCH,
                subresource=action.subresource,
            )
        self._caches.observe(resource, written)
        return written

    async def _delete(self, action: Delete) -> Object:
        meta = action.obj["metadata"]
        try:
            await self._client.delete(
                action.resource,
                meta["name"],
                meta.get("namespace"),
                grace_period_s=action.grace_period_s,
                uid=meta.get("uid", ""),
                propagation_policy=action.propagation_policy,
            )
        except errors.NotFound:
            return action.obj  # somebody was faster
        self._caches.observe_deletion(action.resource, action.obj)
        return action.obj

    def _tell(self, told: Told | None, written: Object) -> None:
        while told is not None:
            if told.reason:
                message = told.message.replace("{name}", written["metadata"]["name"])
                self._recorder.event(told.about, NORMAL, told.reason, message)
            told = told.also

    def _tell_failure(self, told: Told | None, error: errors.MuntinError) -> None:
        while told is not None:
            unsaid = told.taken_unsaid and isinstance(error, errors.AlreadyExists)
            if told.failure_reason and not unsaid:
                message = told.failure_message.replace("{error}", error.message)
                self._recorder.event(told.about, WARNING, told.failure_reason, message)
            told = told.also


def _failure(
    action: Create | Delete | Patch | InOrder, error: errors.MuntinError
) -> Failure | None:
    told = None if isinstance(action, InOrder) else action.told
    if told is None or not told.failure_reason or _is_terminating(error):
        return None
    return Failure(told.failure_reason, error.message)


def _is_terminating(error: errors.MuntinError) -> bool:
    return any(cause.reason == NAMESPACE_TERMINATING for cause in error.causes)
