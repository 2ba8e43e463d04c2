"""Runs plugins: ADD, CHECK, DEL and STATUS of a network configuration list, and VERSION.

A plugin is an executable found by its type in the binary directories; it gets its orders in the
environment and its configuration on stdin. Results are cached on disk, so that CHECK and DEL can
hand them back after a restart. Source: CNI specification 1.1.0 sections 2 and 3; the cache has
the layout of libcni 1.x (``results/<network>-<container>-<ifname>``).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from muntin.kit import depth, files
from muntin.kit.errors import Invalid, NotFound, TimedOut
from muntin.seams.cni.conf import NetworkConf, PluginConf, plugin_input
from muntin.seams.cni.errors import INTERNAL, IO_FAILURE, cni_error, parse_error
from muntin.seams.cni.result import CniResult
from muntin.seams.cni.result import parse as parse_result

_ATTEMPT_S = 220.0  # what the kubelet allows a sandbox's network


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """One container's place in a network.

    ``netns`` is a path on Linux, the GUID of an HCN namespace on Windows. ``args`` become
    CNI_ARGS; ``capability_args`` the ``runtimeConfig`` of plugins that declare the capability.
    """

    container_id: str
    netns: str
    ifname: str = "eth0"
    args: Mapping[str, str] = field(default_factory=dict)
    capability_args: Mapping[str, Any] = field(default_factory=dict)


class CniRunner:
    """Executes the plugins of one node."""

    def __init__(
        self,
        bin_dirs: Sequence[Path],
        cache_dir: Path,
        *,
        env: Mapping[str, str] | None = None,
        timeout_s: float = _ATTEMPT_S,
    ) -> None:
        self._bin_dirs = tuple(bin_dirs)
        self._cache_dir = cache_dir
        self._env = dict(os.environ if env is None else env)
        self._timeout_s = timeout_s

    async def add(self, network: NetworkConf, attachment: Attachment) -> CniResult:
        """Attach; the last plugin's result. What earlier plugins did on failure DEL takes back.

        Raises:
            CniError: a plugin failed, or is not installed.
        """
        previous: dict[str, Any] | None = None
        for plugin in network.plugins:
            previous = await self._run("ADD", network, plugin, attachment, previous)
            if previous is None:
                message = "printed no result"
                raise cni_error(INTERNAL, message, plugin=plugin.type)
        assert previous is not None
        result = parse_result(previous)
        self._write_cache(network, attachment, previous)
        return result

    async def check(self, network: NetworkConf, attachment: Attachment) -> None:
        """Ask every plugin whether the attachment is as it left it.

        Raises:
            CniError: it is not.
            NotFound: nothing was attached under this name.
        """
        if network.disable_check or _version(network.cni_version) < (0, 4):
            return
        previous = self._read_cache(network, attachment)
        if previous is None:
            what = f"{network.name}/{attachment.container_id}"
            raise NotFound(f"no CNI result is kept for {what}")
        for plugin in network.plugins:
            await self._run("CHECK", network, plugin, attachment, previous)

    async def delete(self, network: NetworkConf, attachment: Attachment) -> None:
        """Detach, last plugin first; an attachment that is gone already is fine.

        Raises:
            CniError: a plugin failed; the others of the list before it were not asked.
        """
        previous = None
        if _version(network.cni_version) >= (0, 4):
            previous = self._read_cache(network, attachment)
        for plugin in reversed(network.plugins):
            await self._run("DEL", network, plugin, attachment, previous)
        self._cache_file(network, attachment).unlink(missing_ok=True)

    async def status(self, network: NetworkConf) -> None:
        """Whether the network could take an ADD now (CNI 1.1); older networks always say yes.

        Raises:
            CniError: it could not.
        """
        if _version(network.cni_version) < (1, 1):
            return
        for plugin in network.plugins:
            await self._run("STATUS", network, plugin, None, None)

    async def versions(self, plugin_type: str) -> list[str]:
        """The versions that a plugin supports."""
        found = await self._exec(
            plugin_type, {"CNI_COMMAND": "VERSION"}, b'{"cniVersion": "1.0.0"}'
        )
        return list((found or {}).get("supportedVersions") or ())

    async def _run(
        self,
        command: str,
        network: NetworkConf,
        plugin: PluginConf,
        attachment: Attachment | None,
        previous: Mapping[str, Any] | None,
    ) -> dict[str, Any] | None:
        capability_args = attachment.capability_args if attachment else {}
        document = plugin_input(network, plugin, capability_args=capability_args, previous=previous)
        env = {"CNI_COMMAND": command}
        if attachment:
            env |= {
                "CNI_CONTAINERID": attachment.container_id,
                "CNI_NETNS": attachment.netns,
                "CNI_IFNAME": attachment.ifname,
                "CNI_ARGS": ";".join(f"{key}={value}" for key, value in attachment.args.items()),
            }
        return await self._exec(plugin.type, env, json.dumps(document).encode())

    async def _exec(
        self, plugin_type: str, env: Mapping[str, str], stdin: bytes
    ) -> dict[str, Any] | None:
        path = self._find(plugin_type)
        full_env = self._env | {"CNI_PATH": os.pathsep.join(map(str, self._bin_dirs))} | dict(env)
        try:
            process = await asyncio.create_subprocess_exec(
                str(path),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=full_env,
                start_new_session=True,
            )
        except OSError as err:
            message = f"cannot execute {path}: {err.strerror}"
            raise cni_error(IO_FAILURE, message, plugin=plugin_type) from err
        stdout, stderr = await self._communicate(process, stdin, plugin_type)
        if process.returncode:
            raise parse_error(stdout, stderr, process.returncode, plugin_type)
        if not stdout.strip():
            return None
        try:
            answer = depth.loads(stdout)
        except (ValueError, Invalid) as err:
            raise cni_error(
                INTERNAL, "printed something else than JSON", plugin=plugin_type
            ) from err
        return answer if isinstance(answer, dict) else None

    async def _communicate(
        self, process: asyncio.subprocess.Process, stdin: bytes, plugin_type: str
    ) -> tuple[bytes, bytes]:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await process.communicate(stdin)
        except TimeoutError as err:
            message = f'plugin type="{plugin_type}": no answer within {self._timeout_s:g} s'
            raise TimedOut(message) from err
        finally:
            if process.returncode is None:
                # The plugin may have started an IPAM plugin: the whole session goes.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()

    def _find(self, plugin_type: str) -> Path:
        if "/" in plugin_type:
            raise Invalid(f"CNI plugin type {plugin_type!r} must not hold a path")
        for directory in self._bin_dirs:
            path = directory / plugin_type
            if path.is_file():
                return path
        where = ", ".join(map(str, self._bin_dirs))
        raise cni_error(INTERNAL, f'failed to find plugin "{plugin_type}" in path [{where}]')

    def _cache_file(self, network: NetworkConf, attachment: Attachment) -> Path:
        name = f"{network.name}-{attachment.container_id}-{attachment.ifname}"
        return self._cache_dir / "results" / name

    def _write_cache(
        self, network: NetworkConf, attachment: Attachment, result: Mapping[str, Any]
    ) -> None:
        config = {
            "name": network.name,
            "cniVersion": network.cni_version,
            "plugins": [plugin.raw for plugin in network.plugins],
        }
        document = {
            "kind": "cniCacheV1",
            "containerId": attachment.container_id,
            "config": base64.b64encode(json.dumps(config).encode()).decode(),
            "ifName": attachment.ifname,
            "networkName": network.name,
            "netns": attachment.netns,
            "cniArgs": [[key, value] for key, value in attachment.args.items()],
            "capabilityArgs": dict(attachment.capability_args),
            "result": dict(result),
        }
        path = self._cache_file(network, attachment)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.put(path, json.dumps(document).encode())

    def _read_cache(self, network: NetworkConf, attachment: Attachment) -> dict[str, Any] | None:
        try:
            document = json.loads(self._cache_file(network, attachment).read_text())
        except (FileNotFoundError, ValueError):
            return None
        result = document.get("result")
        return result if isinstance(result, dict) else None


def _version(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split("."))
    except ValueError as err:
        raise Invalid(f"cniVersion {text!r} is not a version") from err
