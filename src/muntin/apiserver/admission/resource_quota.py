"""Quotas: nothing is stored that would take a namespace past one of them.

What a request uses is written to the quota's status before its object is: on condition that the
quota is as it was when it was judged. So no two requests, of this server or another one over the
same store, can both take the last of something. Requests of one namespace that wait for a write
are judged together and written at once.
Source: apiserver v1.34 pkg/admission/plugin/resourcequota/controller.go, resource_access.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object
from muntin.apiserver.admission_config import LimitedResource
from muntin.apiserver.cache import Cache
from muntin.apiserver.items import Item, encode, key_of
from muntin.kit import errors, supervised
from muntin.kit.clock import Clock
from muntin.model import quota
from muntin.model.quota import Ask, amounts
from muntin.model.resources import RESOURCE_QUOTAS
from muntin.seams.store import RevisionConflict, Store

TRIES = 20
"""Rounds of judging and writing while others change the same quota. Upstream has three, and each
may begin from an old state; here every new round begins from the stored one."""


@dataclass(slots=True)
class _Waiting:
    """One request, what it asks for, and the answer to it."""

    attributes: Attributes
    ask: Ask
    answer: asyncio.Future[None]


class ResourceQuota:
    """The last plugin of all. Without quotas in its namespace a request passes at once."""

    def __init__(
        self, cache: Cache, store: Store, clock: Clock, limited: Sequence[LimitedResource] = ()
    ) -> None:
        self._cache = cache
        self._quotas = cache.of(RESOURCE_QUOTAS)
        self._store = store
        self._clock = clock
        self._limited = tuple(limited)
        self._waiting: dict[str, list[_Waiting]] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._newest: dict[str, Item] = {}  # of quotas that we wrote and the cache may not show yet

    async def validate_late(self, attributes: Attributes) -> None:
        """Charge the request to the quotas of its namespace.

        Raises:
            ApiError: 403, it does not fit.
        """
        if not self._quotas.items and not self._limited:
            return
        ask = self._ask(attributes)
        if ask is None:
            return
        if not self._limited and not any(True for _ in self._quotas.select(attributes.namespace)):
            return
        if attributes.operation == "CREATE" and self._is_there(attributes):
            return  # its creation will fail, and must not be counted
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        namespace = attributes.namespace
        self._waiting.setdefault(namespace, []).append(_Waiting(attributes, ask, answer))
        if namespace not in self._workers:
            task = supervised.start_once("apiserver-quota", partial(self._work, namespace))
            self._workers[namespace] = task
        await answer

    def _ask(self, attributes: Attributes) -> Ask | None:
        if not attributes.namespace or attributes.operation not in ("CREATE", "UPDATE"):
            return None
        rules = quota.evaluator(attributes.resource.group_resource)
        if rules is None or not rules.handles(attributes.operation, attributes.subresource):
            return None
        return Ask(rules=rules, obj=attributes.obj, old=attributes.old, now=self._clock.now())

    def _is_there(self, attributes: Attributes) -> bool:
        name = (attributes.obj.get("metadata") or {}).get("name")
        found = self._cache.get(attributes.resource, attributes.namespace, name) if name else None
        return found is not None

    # -- one namespace's requests, in turn ---------------------------------------------------------

    async def _work(self, namespace: str) -> None:
        try:
            while batch := self._waiting.pop(namespace, []):
                await self._judge(namespace, batch)
        finally:
            del self._workers[namespace]
            for left in self._waiting.pop(namespace, []):
                left.answer.cancel()

    async def _judge(self, namespace: str, batch: list[_Waiting]) -> None:
        try:
            items = [self._latest(item) for item in self._quotas.select(namespace)]
            for _ in range(TRIES):
                batch = [one for one in batch if not one.answer.done()]
                left = await self._round(items, batch)
                if not left:
                    return
                items, batch = left
            for one in batch:
                _fail(one, status.conflict(RESOURCE_QUOTAS, items[0].name))
        except Exception as err:
            for one in batch:
                _fail(one, err)

    async def _round(
        self, items: list[Item], batch: list[_Waiting]
    ) -> tuple[list[Item], list[_Waiting]] | None:
        """Judge ``batch`` by ``items`` and write them; what is to be done again, if anything."""
        quotas = [item.object() for item in items]
        changed: set[int] = set()
        charged: list[_Waiting] = []
        for one in batch:
            try:
                after = quota.check(quotas, one.ask)
                self._require_cover(quotas, one)
            except errors.Forbidden as err:
                attributes = one.attributes
                _fail(one, status.forbidden(attributes.resource, attributes.name, err.message))
                continue
            if not after or one.attributes.request.dry_run:
                _pass(one)
                continue
            for index, used in after.items():
                quotas[index]["status"]["used"] = amounts.texts(used)
            changed |= after.keys()
            charged.append(one)
        lost = [index for index in sorted(changed) if not await self._write(items, quotas, index)]
        if not lost:
            for one in charged:
                _pass(one)
            return None
        # What others changed is judged anew; what was written of this round stays charged, so
        # that only those quotas are asked again.
        again = [found for index in lost if (found := await self._reread(items[index]))]
        if not again:
            for one in charged:
                _pass(one)
            return None
        return again, charged

    async def _write(self, items: list[Item], quotas: list[Object], index: int) -> bool:
        item = items[index]
        resource = self._cache.storage_row(RESOURCE_QUOTAS)
        key = key_of(resource, item.namespace, item.name)
        value = encode(quotas[index], resource, item.managed)
        try:
            revision = await self._store.update(key, value, item.revision)
        except (RevisionConflict, errors.NotFound):
            return False
        self._newest[key] = Item(resource, item.namespace, item.name, value, revision)
        return True

    async def _reread(self, item: Item) -> Item | None:
        key = key_of(item.resource, item.namespace, item.name)
        try:
            record = await self._store.get(key)
        except errors.NotFound:
            return None  # the quota was deleted: it limits nothing any longer
        return Item(item.resource, item.namespace, item.name, record.value, record.mod_revision)

    def _latest(self, item: Item) -> Item:
        """The newer of what the cache shows and of what we wrote."""
        key = key_of(item.resource, item.namespace, item.name)
        mine = self._newest.get(key)
        if mine is None:
            return item
        if mine.revision <= item.revision:
            del self._newest[key]
            return item
        return mine

    def _require_cover(self, quotas: list[Object], one: _Waiting) -> None:
        """What may only be used under a quota is."""
        resource = one.attributes.resource.group_resource
        rules = [row for row in self._limited if row.resource == resource]
        if not rules or one.ask.old is not None:
            return
        usage = amounts.nonzero(one.ask.rules.usage(one.ask.obj, one.ask.now))
        limited = {name for name in usage for row in rules
                   if any(part in name for part in row.match_contains)}  # fmt: skip
        for found in quotas:
            hard = (found.get("status") or {}).get("hard") or {}
            if one.ask.rules.matches(found, hard, one.ask.obj):
                limited -= set(hard)
        if limited:
            names = ",".join(sorted(limited))
            raise errors.Forbidden(f"insufficient quota to consume: {names}")


def _pass(one: _Waiting) -> None:
    if not one.answer.done():
        one.answer.set_result(None)


def _fail(one: _Waiting, error: BaseException) -> None:
    if not one.answer.done():
        one.answer.set_exception(error)
