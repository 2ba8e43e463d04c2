"""Removes what no pod of the API owns: containers, sandboxes and directories left by a crash.

Source: kubernetes v1.34 pkg/kubelet/kubelet_pods.go HandlePodCleanups.
"""

from __future__ import annotations

import logging

from muntin.kit.errors import MuntinError, NotFound
from muntin.kit.log import fields
from muntin.kubelet.context import Context
from muntin.kubelet.runtime_state import POD_GRACE, PodRuntime, observe
from muntin.kubelet.stopper import LONGEST_S, MINIMUM_S, remove_all, stop_sandboxes

log = logging.getLogger(__name__)


async def remove_orphan(context: Context, uid: str) -> None:
    """Stop and remove all that the runtime and the disk have of the pod ``uid``."""
    try:
        runtime = await observe(context.cri, uid, {})
        await _stop(context, runtime)
        await stop_sandboxes(context, runtime)
        await remove_all(context, await observe(context.cri, uid, {}))
        await context.volumes.remove(uid)
    except MuntinError as err:
        log.warning("orphan not removed, will retry", **fields(uid=uid, error=err))
        return
    log.info("orphaned pod removed", **fields(uid=uid, containers=len(runtime.containers)))


async def _stop(context: Context, runtime: PodRuntime) -> None:
    for container in runtime.running:
        asked_s = float(container.annotations.get(POD_GRACE, MINIMUM_S))
        grace_s = max(MINIMUM_S, min(asked_s, LONGEST_S))
        try:
            await context.cri.StopContainer(
                {"container_id": container.id, "timeout": int(grace_s)}, timeout_s=grace_s + 60
            )
        except NotFound:
            continue
