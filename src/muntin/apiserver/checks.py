"""The health checks of an API server, by kube-apiserver's names."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from muntin.apiserver.cache import Cache
from muntin.apiserver.health import PROBE_S, Health
from muntin.apiserver.items import ROOT
from muntin.kit import errors
from muntin.seams.store import Store

# Steps of upstream's start that here are done before the server listens.
_DONE = (
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "start-cluster-authentication-info-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "bootstrap-controller",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-discovery-controller",
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
)


def install(
    health: Health,
    store: Store,
    cache: Cache,
    follower: asyncio.Future[None],
    tasks: Mapping[str, asyncio.Future[None]],
) -> None:
    """Add all checks: ``follower`` fills the cache, ``tasks`` are the server's by hook name."""

    async def etcd() -> None:
        await _probe(store)

    async def informer_sync() -> None:
        if follower.done():
            raise errors.Internal("the cache no longer follows the store")
        await cache.wait(await store.current_revision(), PROBE_S)

    async def registered() -> None:
        """Local groups have their APIServices before the server listens."""

    health.add("etcd", etcd)
    health.add("etcd-readiness", etcd, ready_only=True)
    health.add("informer-sync", informer_sync, ready_only=True)
    health.add_done(*_DONE)
    for name, task in tasks.items():
        health.add_task(name, task)
    health.add("autoregister-completion", registered)
    health.add_shutdown()


async def _probe(store: Store) -> None:
    """Read from the store."""
    try:
        async with asyncio.timeout(PROBE_S):
            await store.get(f"{ROOT}health")
    except errors.NotFound:
        return
    except TimeoutError as err:
        raise errors.TimedOut(f"no answer within {PROBE_S} s") from err
