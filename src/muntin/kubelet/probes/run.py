"""One run of a probe, whatever its kind.

Source: kubernetes v1.34 pkg/kubelet/prober/prober.go, pkg/probe/exec, pkg/probe/tcp,
pkg/probe/util.go.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import MuntinError, TimedOut
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.probes.http_get import MAX_OUTPUT, http_get, probe_url
from muntin.kubelet.probes.result import Result
from muntin.model.pods import find_port
from muntin.model.windows import Feature
from muntin.seams.cri import rpc_error_text
from muntin.seams.cri.client import CriClient

USER_AGENT = "kube-probe"


async def run_probe(
    cri: CriClient,
    pod: Mapping[str, Any],
    container: tuple[str, str],
    probe: Mapping[str, Any],
    pod_ip: str,
    config: KubeletConfig,
) -> Result:
    """What the probe finds now, within its ``timeoutSeconds``; ``container`` is name and id."""
    timeout_s = float(probe.get("timeoutSeconds") or 1)
    agent = f"{USER_AGENT}/{config.version.removeprefix('v').rpartition('.')[0]}"
    name, container_id = container
    if probe.get("exec"):
        return await exec_command(cri, container_id, probe["exec"].get("command") or [], timeout_s)
    if probe.get("httpGet"):
        url = probe_url(pod, probe["httpGet"], pod_ip)
        if url is None:
            return no_port(probe["httpGet"]["port"])
        return await http_get(url, probe["httpGet"], timeout_s, agent)
    if probe.get("tcpSocket"):
        action = probe["tcpSocket"]
        port = find_port(pod, action["port"])
        if port is None:
            return no_port(action["port"])
        return await tcp_connect(action.get("host") or pod_ip, port, timeout_s)
    if probe.get("grpc") and config.platform.has(Feature.GRPC_PROBES):
        from muntin.kubelet.probes.grpc_check import grpc_check  # few pods have one

        action = probe["grpc"]
        service = action.get("service") or ""
        return await grpc_check(pod_ip, int(action["port"]), service, timeout_s, agent)
    meta = pod["metadata"]
    of_pod = f"{meta['name']}_{meta.get('namespace', '')}({meta.get('uid', '')})"
    return Result(False, f"missing probe handler for {of_pod}:{name}", errored=True)


def no_port(port: Any) -> Result:
    """The result of a probe with an invalid or unknown port."""
    return Result(False, f'strconv.Atoi: parsing "{port}": invalid syntax', errored=True)


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
    except (socket.gaierror, ValueError):  # ValueError: a label that no name can have
        return Result(False, f"dial tcp: lookup {host}: no such host")
    except OSError as err:
        return Result(False, f"dial tcp {where}: connect: {err.strerror or err}")
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return Result(True)
