"""``muntin snapshot`` and ``muntin up --from-snapshot``: the objects of a cluster in one file."""

from __future__ import annotations

from pathlib import Path

from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.store_config import StoreKind
from muntin.kit.errors import Conflict, Invalid
from muntin.seams.store import sqlite_backup


def take(config: ClusterConfig, file: Path) -> int:
    """Write the objects of ``config`` into the new ``file``; returns its newest revision.

    Raises:
        MuntinError: it was not written; the message says why.
    """
    _require_sqlite(config)
    return sqlite_backup.copy(ClusterPaths(config.name).database, file)


def check(config: ClusterConfig, file: Path) -> None:
    """Raise unless a new cluster of ``config`` can begin with ``file``.

    Raises:
        Conflict: the cluster is there already.
        Invalid, NotFound: the file cannot be used.
    """
    _require_sqlite(config)
    if ClusterPaths(config.name).state.exists():
        raise Conflict(
            f"cluster {config.name} exists already, and a snapshot would replace its objects\n"
            f"muntin down --name {config.name}, or another --name"
        )
    sqlite_backup.check(file)


def put_back(config: ClusterConfig, file: Path) -> None:
    """Make ``file`` the store of ``config``, which has none yet.

    Raises:
        MuntinError: it could not be copied.
    """
    database = ClusterPaths(config.name).database
    database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    sqlite_backup.put_back(file, database)


def _require_sqlite(config: ClusterConfig) -> None:
    if config.store.kind is not StoreKind.SQLITE:
        raise Invalid(
            f"the objects of cluster {config.name} are in an etcd\n"
            "etcdctl snapshot save makes a snapshot of it"
        )
