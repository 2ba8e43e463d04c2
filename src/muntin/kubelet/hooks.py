"""postStart and preStop handlers.

Source: kubernetes v1.34 pkg/kubelet/lifecycle/handlers.go.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import MuntinError
from muntin.kit.log import fields, object_ref
from muntin.kubelet.probes.http_get import http_get, probe_url
from muntin.seams.cri import rpc_error_text
from muntin.seams.cri.client import CriClient

log = logging.getLogger(__name__)

HTTP_TIMEOUT_S = 30.0


class HookFailed(Exception):
    """The message is what the event and the container's status say."""


async def run_hook(
    cri: CriClient,
    pod: Mapping[str, Any],
    container_id: str,
    handler: Mapping[str, Any],
    pod_ip: str,
) -> None:
    """Carry ``handler`` out to its end.

    Raises:
        HookFailed: it failed, in whatever way.
    """
    try:
        await _run(cri, pod, container_id, handler, pod_ip)
    except HookFailed:
        raise
    except Exception as err:
        log.exception("hook failed", **fields(pod=object_ref(dict(pod))))
        raise HookFailed(repr(err)) from err


async def _run(
    cri: CriClient,
    pod: Mapping[str, Any],
    container_id: str,
    handler: Mapping[str, Any],
    pod_ip: str,
) -> None:
    if handler.get("exec"):
        command = handler["exec"].get("command") or []
        try:
            answer = await cri.ExecSync(
                {"container_id": container_id, "cmd": command}, timeout_s=None
            )
        except MuntinError as err:
            raise HookFailed(
                f"Exec lifecycle hook ({command}) failed: {rpc_error_text(err)}"
            ) from err
        code = answer.get("exit_code", 0)
        if code:
            output = (answer.get("stdout", b"") + answer.get("stderr", b"")).decode(
                "utf-8", "replace"
            )
            raise HookFailed(
                f"Exec lifecycle hook ({command}) failed - error: command exited with {code}, "
                f"message: {output!r}"
            )
    elif handler.get("httpGet"):
        url = probe_url(pod, handler["httpGet"], pod_ip)
        if url is None:
            raise HookFailed(f"couldn't find port: {handler['httpGet']['port']!r}")
        action = handler["httpGet"]
        result = await http_get(url, action, HTTP_TIMEOUT_S, "kube-lifecycle", any_status=True)
        if not result.passed:
            raise HookFailed(f"HTTP lifecycle hook ({url}) failed: {result.output}")
    elif handler.get("sleep"):
        await asyncio.sleep(float(handler["sleep"]["seconds"]))
    else:
        raise HookFailed("Invalid handler: exec, httpGet and sleep are supported")
