"""Run an IPAM plugin for a plugin: find it in CNI_PATH, hand over stdin, read what it prints."""

from __future__ import annotations

import os

from muntin.cni import plugin_json
from muntin.cni.plugin import INTERNAL, Orders, PluginError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(orders: Orders, plugin_type: str, command: str) -> dict[str, Any] | None:
    """What ``plugin_type`` answered to ``command``, with this plugin's own stdin.

    Raises:
        PluginError: it is not installed, or what it reported, with its code.
    """
    path = _find(orders, plugin_type)
    env = dict(orders.env) | {"CNI_COMMAND": command}
    code, output = _spawn(path, env, orders.stdin)
    document = _document(output)
    if code:
        if document is None or "code" not in document:
            raise PluginError(f"{plugin_type}: exit code {code}", INTERNAL)
        details = str(document.get("details", ""))
        raise PluginError(str(document.get("msg", "")), int(document["code"]), details)
    return document


def _find(orders: Orders, plugin_type: str) -> str:
    directories = orders.env.get("CNI_PATH", "").split(os.pathsep)
    for directory in directories:
        path = f"{directory}/{plugin_type}"
        if os.path.isfile(path):  # noqa: PTH113 - pathlib is slow to import
            return path
    where = ", ".join(directories)
    raise PluginError(f'failed to find plugin "{plugin_type}" in path [{where}]', INTERNAL)


def _document(output: bytes) -> dict[str, Any] | None:
    try:
        document = plugin_json.loads(output.decode())
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _spawn(path: str, env: dict[str, str], stdin: bytes) -> tuple[int, bytes]:
    """Without ``subprocess``, which takes longer to import than the plugin takes to run."""
    # A configuration is far smaller than a pipe holds (64 KiB), so it can be written first.
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, in_read, 0), (os.POSIX_SPAWN_DUP2, out_write, 1)]
    try:
        pid = os.posix_spawn(path, [path], env, file_actions=actions)
    except OSError as err:
        raise PluginError(f"cannot execute {path}: {err.strerror}", INTERNAL) from None
    finally:
        os.close(in_read)
        os.close(out_write)
    os.write(in_write, stdin)
    os.close(in_write)
    parts = []
    while part := os.read(out_read, 65536):
        parts.append(part)
    os.close(out_read)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), b"".join(parts)
