"""The process that takes over when the supervisor is killed.

It stands in the cluster's namespace ``master`` until then, where ``muntin down`` finds it whatever
happened; it takes the supervisor's lock before it leaves. So it is always found by one of both.
"""

from __future__ import annotations

import os
import select
from functools import partial

from muntin.cluster import host_network, locks
from muntin.cluster.adoption import WATCHDOG
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import Component
from muntin.kit.errors import Conflict


def component(config: ClusterConfig, paths: ClusterPaths) -> Component:
    """The watchdog of this process, which is the supervisor."""
    main = partial(_main, config, paths, os.getpid())
    return Component(name=WATCHDOG, main=main, namespace=paths.netns("master"))


def _main(config: ClusterConfig, paths: ClusterPaths, supervisor: int) -> None:
    try:
        process = os.pidfd_open(supervisor)
    except ProcessLookupError:
        pass
    else:
        select.select([process], [], [])
        os.close(process)
    try:
        lock = locks.hold(paths.lock)
    except Conflict:  # an `up` was faster
        return
    host_network.return_to()
    from muntin.cluster.supervisor import take_over

    take_over(config, lock)
