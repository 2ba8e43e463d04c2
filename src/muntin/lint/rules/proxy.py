"""Rules on how kube-proxy, flanneld and the kubelet's network are started on Windows nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from muntin.lint.places import Place
from muntin.lint.rule import Profiles, Rule, equals, on_flags
from muntin.lint.views import Command, Flag
from muntin.model.gates import Profile
from muntin.model.windows import Feature, is_open

_PROXY, _FLANNELD, _KUBELET = ("kube-proxy",), ("flanneld",), ("kubelet",)
_KERNEL = "kernelspace"


def _is_started(command: Command) -> bool:
    """It runs with flags, and none that names a file which may hold the rest."""
    names = {flag.name for flag in command.flags}
    return bool(names) and not names & {"--config", "--version", "--help"}


def _lacks(command: Command, name: str) -> bool:
    """Whether the flag is not there: in a script neither, which may gather its flags in a list."""
    if command.flag(name) is not None:
        return False
    return command.object is not None or name not in command.document.text


def _whole(command: Command, profiles: Profiles | None = None) -> Place:
    return Place(command.path, span=command.span, profiles=profiles)


def _of(flag: Flag, profiles: Profiles) -> Place:
    return Place(flag.path, span=flag.span, profiles=profiles)


def _gates(command: Command) -> dict[str, bool]:
    """The feature gates that the command sets."""
    flag = command.flag("--feature-gates")
    pairs = (pair.partition("=") for pair in ((flag.value if flag else None) or "").split(","))
    return {name.strip(): value.strip().lower() == "true" for name, _, value in pairs if name}


def _with_gates(profile: Profile, command: Command) -> Profile:
    return replace(profile, feature_gates={**profile.feature_gates, **_gates(command)})


def _direct_return(command: Command, profiles: Profiles) -> Iterator[Place]:
    """--enable-dsr where neither the version nor a gate that stands beside it opens it."""
    flag = command.flag("--enable-dsr")
    if flag is None or (flag.value or "true").lower() != "true":
        return
    shut = tuple(one for one in profiles if not is_open(Feature.SVC_DSR, _with_gates(one, command)))
    if shut:
        yield _of(flag, shut)


def _runs_in_kernel(command: Command, profile: Profile) -> bool:
    mode = command.flag("--proxy-mode")
    if mode is None or not mode.value:
        return is_open(Feature.KUBE_PROXY_DEFAULT_USERSPACE_1_20, profile)
    return mode.value == _KERNEL


def _without_network(command: Command, profiles: Profiles) -> Iterator[Place]:
    """No --network-name, and KUBE_NETWORK is spoken of nowhere in the file."""
    if not _is_started(command) and not _is_file(command):
        return
    if not _lacks(command, "--network-name") or "KUBE_NETWORK" in command.document.text:
        return
    asked = tuple(one for one in profiles if _runs_in_kernel(command, one))
    if asked:
        yield _whole(command, asked)


def _is_file(command: Command) -> bool:
    """Whether it is kube-proxy's own file, and not a line that runs it."""
    return command.object is not None and command.object.kind == "KubeProxyConfiguration"


def _without_source(command: Command, profiles: Profiles) -> Iterator[Place]:
    if _is_started(command) and _lacks(command, "--source-vip"):
        yield _whole(command)


def _without_name(command: Command, profiles: Profiles) -> Iterator[Place]:
    if _is_started(command) and _lacks(command, "--hostname-override"):
        yield _whole(command)


def _without_mode(command: Command, profiles: Profiles) -> Iterator[Place]:
    if _is_started(command) and _lacks(command, "--proxy-mode"):
        yield _whole(command)


def _flanneld(command: Command, profiles: Profiles) -> Iterator[Place]:
    """Without an address of the node, or a name of it anywhere in the file."""
    named = "NODE_NAME" in command.document.text
    if command.flags and not (command.flag("--iface") and named):
        yield _whole(command)


def _own_networks(command: Command, profiles: Profiles) -> Iterator[Place]:
    """CONTAINER_NETWORK in the script of a kubelet that has a network plugin."""
    plugin, is_named = (
        command.flag("--network-plugin"),
        "CONTAINER_NETWORK" in command.document.text,
    )
    if plugin is not None and plugin.value == "cni" and is_named:
        yield _of(plugin, profiles)


def _without_adapter(command: Command, profiles: Profiles) -> Iterator[Place]:
    """Userspace mode in a script that names no adapter for the addresses of services."""
    mode, named = command.flag("--proxy-mode"), "INTERFACE_TO_ADD_SERVICE_IP"
    if mode is not None and mode.value == "userspace" and named not in command.document.text:
        yield _of(mode, profiles)


RULES: dict[Feature, Rule] = {
    Feature.ENV_CONTAINER_NETWORK: on_flags(_own_networks, programs=_KUBELET),
    Feature.ENV_INTERFACE_TO_ADD_SERVICE_IP: on_flags(_without_adapter, programs=_PROXY),
    Feature.VFP_KERNEL_LOAD_BALANCING: on_flags(where=equals(_KERNEL)),
    Feature.KUBE_PROXY_USERSPACE_REMOVED: on_flags(where=equals("userspace")),
    Feature.KUBE_PROXY_DEFAULT_USERSPACE_1_20: on_flags(_without_mode, programs=_PROXY),
    Feature.KUBE_PROXY_NEEDS_NETWORK_NAME: on_flags(_without_network, programs=_PROXY),
    Feature.KUBE_PROXY_OVERLAY_NEEDS_SOURCE_VIP: on_flags(_without_source, programs=_PROXY),
    Feature.SVC_DSR: on_flags(_direct_return, programs=_PROXY),
    Feature.T06_HOSTNAME_OVERRIDE_PROXY: on_flags(_without_name, programs=_PROXY),
    Feature.T02_FLANNELD_ARGS: on_flags(_flanneld, programs=_FLANNELD),
}
