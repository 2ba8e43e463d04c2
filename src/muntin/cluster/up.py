"""``muntin up`` and ``muntin down``: what they do, in order, without the words they print."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from muntin.cluster import (
    admin,
    adoption,
    config_store,
    images,
    kubeconfig,
    leftovers,
    locks,
    modules,
    preflight,
    snapshot,
    store_access,
    supervisor,
)
from muntin.cluster.admin import NodeRow
from muntin.cluster.config import ClusterConfig
from muntin.cluster.messages import Report
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.progress import Progress, step
from muntin.cluster.readiness import Waiter
from muntin.kit.errors import Conflict, Internal

_LOCK_WAIT_S, _LOCK_POLL_S, _TAKE_OVER_S = 30.0, 0.1, 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The cluster as it stands. ``kubeconfig`` is the file that was written."""

    config: ClusterConfig
    was_up: bool
    nodes: list[NodeRow]
    kubeconfig: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """``kubeconfig``: the file to write instead of the user's. ``retain``: keep it on failure.

    ``snapshot``: the file that a new cluster takes its objects from.
    """

    kubeconfig: Path | None = None
    wait_s: float = 120.0
    retain: bool = False
    snapshot: Path | None = None


def stored_config(name: str) -> ClusterConfig | None:
    """The configuration of the cluster ``name``, if it is on this machine."""
    return config_store.load(ClusterPaths(name).config)


def up(config: ClusterConfig, options: UpOptions, progress: Progress) -> Outcome:
    """Bring ``config`` up and wait until it is usable; one that is up already is left alone.

    Raises:
        MuntinError: it did not come up; nothing is left of it unless ``options.retain``.
    """
    preflight.check_root()
    place = ClusterPaths(config.name)
    locks.check_owner(place)
    target = kubeconfig.target(options.kubeconfig, os.environ)
    with locks.at_work(config.name):
        stored = stored_config(config.name)
        if stored is not None and stored != config:
            raise Conflict(
                f"cluster {config.name} exists with other settings\n"
                f"muntin down --name {config.name}, then up again"
            )
        if options.snapshot is not None:
            snapshot.check(config, options.snapshot)
        was_up = _is_up(place)
        survivors = None if was_up else adoption.find(config, place)
        with step(progress, "kubeconfig readable"):
            kubeconfig.check(target)
        try:
            since = 0.0 if was_up else time.time()
            running = [name for name, row in (survivors or {}).items() if row.pid]
            if survivors is not None:
                _show(supervisor.start(config, survivors), progress)
            elif not was_up:
                _start(config, options, progress)
            nodes = _wait(config, options, progress, since, running)
            with step(progress, f"kubectl context {config.context}"):
                kubeconfig.install(admin.access(config), target, place.state / "kubeconfig.undo")
        except BaseException:
            if not options.retain and not was_up and survivors is None:
                supervisor.stop(config.name)
                leftovers.remove_runtime(config.name)
                if stored is None:
                    _remove_all(config.name)
            raise
    return Outcome(config=config, was_up=was_up, nodes=nodes, kubeconfig=target)


def down(name: str) -> bool:
    """Remove the cluster ``name`` whatever its state; False when nothing of it was there.

    Raises:
        Conflict: an ``up`` of it is running and does not end.
    """
    preflight.check_root()
    place = ClusterPaths(name)
    locks.check_owner(place)
    there = place.state.exists() or place.run.exists()
    deadline = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            supervisor.stop(name)  # also makes an `up` that is still waiting give up
            with locks.at_work(name):
                supervisor.stop(name)
                _remove_all(name)
            return there
        except Conflict:
            if time.monotonic() > deadline:
                raise
            time.sleep(_LOCK_POLL_S)


def _remove_all(name: str) -> None:
    paths = ClusterPaths(name)
    stored = _readable_config(name)
    kubeconfig.uninstall(paths.state / "kubeconfig.undo")
    leftovers.remove_runtime(name)
    modules.restore(paths.modules)
    leftovers.remove_state(name)
    if stored is not None:
        store_access.clear(stored)


def _readable_config(name: str) -> ClusterConfig | None:
    """The configuration; None as well when another version has written it, for ``down``."""
    try:
        return stored_config(name)
    except Internal:
        return None


def _start(config: ClusterConfig, options: UpOptions, progress: Progress) -> None:
    with step(progress, "this machine"):
        modules.record(ClusterPaths(config.name).modules)
        leftovers.remove_runtime(config.name)
        preflight.check(config)
    images.prepare(config, progress)
    if options.snapshot is not None:
        with step(progress, "objects of the snapshot"):
            snapshot.put_back(config, options.snapshot)
    _show(supervisor.start(config), progress)


def _is_up(place: ClusterPaths) -> bool:
    """Whether the cluster has a supervisor; a watchdog that takes over is waited for."""
    deadline = time.monotonic() + _TAKE_OVER_S
    while not supervisor.running(place.name):
        if not place.control.exists() or time.monotonic() > deadline:
            return False
        time.sleep(_LOCK_POLL_S)
    return True


def _show(reports: Iterable[Report], progress: Progress) -> None:
    for report in reports:
        match report.kind:
            case "begin":
                progress.begin(report.text)
            case "end":
                progress.end(report.text, report.seconds)


def _wait(
    config: ClusterConfig,
    options: UpOptions,
    progress: Progress,
    since: float,
    running: Collection[str],
) -> list[NodeRow]:
    waiter = Waiter(config, time.monotonic() + options.wait_s, since, running)
    try:
        with step(progress, "API server ready"):
            waiter.api_server()
        with step(progress, "nodes Ready"):
            nodes = waiter.nodes(progress.note)
        with step(progress, "cluster DNS answers"):
            waiter.dns()
    finally:
        waiter.close()
    return admin.node_rows(nodes)
