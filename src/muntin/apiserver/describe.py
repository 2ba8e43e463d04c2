"""Metrics that are read from the server's parts rather than counted."""

from __future__ import annotations

from muntin.apiserver.build_info import version_info
from muntin.apiserver.cache import Cache
from muntin.apiserver.metrics import Metrics
from muntin.kit.http.server import HttpServer
from muntin.kit.metrics import Collected, Samples
from muntin.seams.store import Durability, Store

_BUILD = {
    "build_date": "buildDate",
    "compiler": "compiler",
    "git_commit": "gitCommit",
    "git_tree_state": "gitTreeState",
    "git_version": "gitVersion",
    "go_version": "goVersion",
    "major": "major",
    "minor": "minor",
    "platform": "platform",
}


def install(
    metrics: Metrics, cache: Cache, store: Store, kubernetes_version: str, http: HttpServer
) -> None:
    """Publish objects, revision, durability, watchers, connections and the build."""

    def objects() -> Samples:
        return [((name,), number) for (_, _, name), number in _counted(cache)]

    def resource_objects() -> Samples:
        return [((group, plural), number) for (group, plural, _), number in _counted(cache)]

    def watchers() -> Samples:
        return [
            ((_names(storage)[2],), len(found.watchers))
            for storage, found in sorted(cache.by_storage.items())
            if found.watchers
        ]

    def build() -> Samples:
        info = version_info(kubernetes_version)
        return [(tuple(info[field] for field in _BUILD.values()), 1)]

    add = metrics.families.add
    add(Collected("apiserver_storage_objects", "Stored objects by resource.",
                  ("resource",), objects))  # fmt: skip
    add(Collected("apiserver_resource_objects", "Stored objects by group and resource.",
                  ("group", "resource"), resource_objects))  # fmt: skip
    add(Collected("apiserver_storage_revision", "The newest revision that is served.", (),
                  lambda: [((), cache.revision)]))  # fmt: skip
    add(Collected("apiserver_storage_durability", "How writes are made durable.",
                  Durability._fields, lambda: [(store.durability, 1)]))  # fmt: skip
    add(Collected("apiserver_registered_watchers", "Watchers by resource.",
                  ("resource",), watchers))  # fmt: skip
    add(Collected("apiserver_open_connections", "Client connections that are open.", (),
                  lambda: [((), http.connections)]))  # fmt: skip
    add(Collected("kubernetes_build_info", "What is running.", tuple(_BUILD), build))


def _counted(cache: Cache) -> list[tuple[tuple[str, str, str], int]]:
    return [(_names(name), len(found.items)) for name, found in sorted(cache.by_storage.items())]


def _names(storage: str) -> tuple[str, str, str]:
    """Group and plural of what is stored so, and both as one name: ``deployments.apps``."""
    group, _, plural = storage.rpartition("/")
    return group, plural, f"{plural}.{group}" if group else plural
