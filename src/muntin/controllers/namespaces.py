"""Namespaces: what every one of them gets, and how one ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.caches import Caches
from muntin.controllers.catalog import Catalog
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import namespace, root_ca_publisher, serviceaccount
from muntin.controllers.rules.actions import Action
from muntin.kit import errors
from muntin.model import pods
from muntin.model.resources import CONFIG_MAPS, NAMESPACES, PODS, SERVICE_ACCOUNTS, Resource
from muntin.seams.kube import KubeClient, Object


class Namespaces:
    name = "namespace-controller"
    account = "namespace-controller"

    def __init__(
        self, caches: Caches, catalog: Catalog, client: KubeClient, *, pods_first: bool
    ) -> None:
        """``pods_first``: delete other objects only after the last pod is gone."""
        self._namespaces = caches.use(NAMESPACES)
        caches.use(PODS)
        self._pods_first = pods_first
        self._catalog = catalog
        self._client = client
        self.sources = (Source(NAMESPACES), Source(PODS, self._of_pod))

    def _of_pod(self, pod: Object) -> Iterable[str]:
        """A pod that ends may have been the last thing in its namespace."""
        name = pod["metadata"]["namespace"]
        found = self._namespaces.get(name)
        return [name] if found and pods.is_deleting(found) else []

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._namespaces.get(round.key)
        if found is None or not namespace.is_due(found):
            return ()
        snapshot = namespace.Snapshot(namespace=found, contents={}, failures={})
        if self._pods_first:
            snapshot = await self._snapshot(found, [PODS])
        if not namespace.has_more(snapshot):
            served = await self._catalog.deletable(fresh=True)  # nothing may be left behind
            snapshot = await self._snapshot(found, [row for row in served if row.namespaced])
        return namespace.reconcile(snapshot, round.now)

    async def _snapshot(self, found: Object, resources: list[Resource]) -> namespace.Snapshot:
        """What the namespace holds of ``resources``."""
        name = found["metadata"]["name"]
        contents: dict[Resource, list[Object]] = {}
        failures: dict[Resource, str] = {}
        for resource in resources:
            try:
                contents[resource] = (await self._client.list(resource, name)).items
            except (errors.NotFound, errors.Unsupported):
                continue
            except errors.MuntinError as err:
                failures[resource] = err.message
        return namespace.Snapshot(namespace=found, contents=contents, failures=failures)


class ServiceAccounts:
    name = "serviceaccount-controller"
    account = "service-account-controller"

    def __init__(self, caches: Caches) -> None:
        self._namespaces = caches.use(NAMESPACES)
        self._accounts = caches.use(SERVICE_ACCOUNTS)
        self.sources = (
            Source(NAMESPACES),
            Source(SERVICE_ACCOUNTS, _namespace_if(serviceaccount.NAME)),
        )

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._namespaces.get(round.key)
        if found is None:
            return ()
        account = self._accounts.get(f"{round.key}/{serviceaccount.NAME}")
        return serviceaccount.reconcile(found, account)


class RootCaPublisher:
    name = "root-ca-cert-publisher"
    account = "root-ca-cert-publisher"

    def __init__(self, caches: Caches, root_ca: str) -> None:
        self._namespaces = caches.use(NAMESPACES)
        self._config_maps = caches.use(CONFIG_MAPS)
        self._root_ca = root_ca
        self.sources = (
            Source(NAMESPACES),
            Source(CONFIG_MAPS, _namespace_if(root_ca_publisher.NAME)),
        )

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._namespaces.get(round.key)
        if found is None:
            return ()
        config_map = self._config_maps.get(f"{round.key}/{root_ca_publisher.NAME}")
        return root_ca_publisher.reconcile(found, config_map, self._root_ca)


class _namespace_if:
    """The namespace of an object of this name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, obj: Object) -> Iterable[str]:
        meta = obj["metadata"]
        return [meta["namespace"]] if meta["name"] == self._name else []
