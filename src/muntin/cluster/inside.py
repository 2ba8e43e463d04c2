"""Becomes a command inside one place of the fabric, with a resolver that works there."""

from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path
from typing import NoReturn

from muntin.cluster import admin, fabric_plan, kubeconfig
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.kit import files, netns
from muntin.kit.errors import NotFound, Unavailable

_CLONE_NEWNS, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x20000, 4096, 16384, 1 << 18
_RESOLV_CONF = Path("/etc/resolv.conf")
_libc = ctypes.CDLL(None, use_errno=True)


def execute(config: ClusterConfig, place: str, command: list[str]) -> NoReturn:
    """Replace this process by ``command`` (a shell when empty) inside ``place``.

    Raises:
        Unavailable: the cluster is not up.
        NotFound: there is no such program.
    """
    paths = ClusterPaths(config.name)
    try:
        netns.enter_for_good(paths.netns(place))
    except NotFound as err:
        message = f"{place} is not there: cluster {config.name} is not up\nmuntin up"
        raise Unavailable(message) from err
    if config.networking.egress and place != "switch":
        _use_resolver(f"nameserver {fabric_plan.RELAY_DNS}\n")
    os.environ["MUNTIN_PLACE"] = place
    if place == "master":
        os.environ["KUBECONFIG"] = str(_internal_kubeconfig(config, paths))
    if not command:
        shell = os.environ.get("SHELL", "/bin/sh")
        os.environ["PS1"] = f"[{place}] \\w # "
        command = [shell]
    try:
        os.execvp(command[0], command)
    except OSError as err:
        raise NotFound(f"{command[0]}: {err.strerror}\ngive a program of this machine") from err


def _internal_kubeconfig(config: ClusterConfig, paths: ClusterPaths) -> Path:
    path = paths.admin_kubeconfig
    content = kubeconfig.document(admin.access(config, internal=True))
    files.put(path, kubeconfig.dump(content), mode=0o600)
    return path


def _use_resolver(text: str) -> None:
    """Give this process alone another /etc/resolv.conf: the host's may be out of reach here."""
    with tempfile.NamedTemporaryFile("w", prefix="muntin-resolv-") as file:
        file.write(text)
        file.flush()
        Path(file.name).chmod(0o644)
        _checked(_libc.unshare(_CLONE_NEWNS))
        _checked(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None))
        target = os.fsencode(_RESOLV_CONF.resolve())
        _checked(_libc.mount(os.fsencode(file.name), target, None, _MS_BIND, None))


def _checked(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"private mount of {_RESOLV_CONF}: {os.strerror(number)}")
