"""Finding the cluster, node or component that a command names."""

from __future__ import annotations

from collections.abc import Sequence

from muntin.cluster import config_store, paths
from muntin.cluster.config import ClusterConfig
from muntin.kit.errors import NotFound


def require(name: str) -> ClusterConfig:
    """The configuration of the cluster ``name``.

    Raises:
        NotFound: there is none; the message names those that are there.
    """
    config = config_store.load(paths.ClusterPaths(name).config)
    if config is None:
        known = paths.existing()
        hint = f"there is {', '.join(known)}; use --name" if known else "muntin up makes one"
        raise NotFound(f"there is no cluster {name}\n{hint}")
    return config


def choose(what: str, wanted: str, known: Sequence[str]) -> str:
    """``wanted`` if it is one of ``known``.

    Raises:
        NotFound: it is not; the message names them all.
    """
    if wanted not in known:
        raise NotFound(f"there is no {what} {wanted}\nthere is {', '.join(known)}")
    return wanted
