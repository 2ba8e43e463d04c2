"""One run of a probe, whatever its kind.

Source: kubernetes v1.34 pkg/kubelet/prober/prober.go, pkg/probe/exec, pkg/probe/tcp.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import MuntinError, TimedOut
from muntin.kubelet.probes.http_get import MAX_OUTPUT, http_get, probe_url
from muntin.kubelet.probes.result import Result
from muntin.model.pods import find_port
from muntin.seams.cri import rpc_error_text
from muntin.seams.cri.client import CriClient

USER_AGENT = "kube-probe"


async def run_probe(
    cri: CriClient,
    pod: Mapping[str, Any],
    container_id: str,
    probe: Mapping[str, Any],
    pod_ip: str,
    version: str,
) -> Result:
    """What the probe finds now, within its ``timeoutSeconds``."""
    timeout_s = float(probe.get("timeoutSeconds") or 1)
    if probe.get("exec"):
        return await exec_command(cri, container_id, probe["exec"].get("command") or [], timeout_s)
    if probe.get("httpGet"):
        url = probe_url(pod, probe["httpGet"], pod_ip)
        if url is None:
            return Result(False, f"couldn't find port: {probe['httpGet']['port']!r}")
        agent = f"{USER_AGENT}/{version.removeprefix('v').rpartition('.')[0]}"
        return await http_get(url, probe["httpGet"], timeout_s, agent)
    if probe.get("tcpSocket"):
        action = probe["tcpSocket"]
        port = find_port(pod, action["port"])
        if port is None:
            return Result(False, f"couldn't find port: {action['port']!r}")
        return await tcp_connect(action.get("host") or pod_ip, port, timeout_s)
    return Result(False, "missing probe handler: exec, httpGet and tcpSocket are supported")


async def exec_command(
    cri: CriClient, container_id: str, command: list[str], timeout_s: float
) -> Result:
    """Passed when the command ends with 0 in time."""
    request = {"container_id": container_id, "cmd": command, "timeout": int(timeout_s)}
    try:
        answer = await cri.ExecSync(request, timeout_s=timeout_s + 5)
    except TimedOut:
        text = f"command timed out: {' '.join(command)!r} timed out after {timeout_s:g}s"
        return Result(False, text)
    except MuntinError as err:
        return Result(False, rpc_error_text(err))
    output = answer.get("stdout", b"") + answer.get("stderr", b"")
    text = output[:MAX_OUTPUT].decode("utf-8", "replace")
    return Result(answer.get("exit_code", 0) == 0, text)


async def tcp_connect(host: str, port: int, timeout_s: float) -> Result:
    """Passed when the port takes a connection in time."""
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return Result(False, f"dial tcp {where}: i/o timeout")
    except ConnectionRefusedError:
        text = f"dial tcp {where}: connect: connection refused"
        return Result(False, text, not_listening=True)
    except OSError as err:
        return Result(False, f"dial tcp {where}: connect: {err.strerror or err}")
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return Result(True)
