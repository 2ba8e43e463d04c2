"""Rules on how the kubelet is started on Windows nodes, and how they join with kubeadm."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from muntin.lint.commands import of_script
from muntin.lint.places import Place
from muntin.lint.rule import SPEAKING, CommandCheck, Profiles, Rule, on_flags
from muntin.lint.views import Command, Flag
from muntin.model.gates import State
from muntin.model.windows import GATES, Feature

_KUBELET, _PROXY, _KUBEADM = ("kubelet",), ("kube-proxy",), ("kubeadm",)
_UNWRITTEN = "`\"'\\ "
# Names that documents have for flags that never were.
_MISPRINTS = {"--kubelet-reserve": "--kube-reserved", "--system-reserve": "--system-reserved"}
_RESERVES = ("--kube-reserved", "--system-reserved", "--eviction-hard")


def _value(flag: Flag) -> str:
    """What the program gets: without the quotes and escapes of shells."""
    return (flag.value or "").strip(_UNWRITTEN)


def _of(flag: Flag, profiles: Profiles | None = None) -> Place:
    values = {"flag": flag.name, "value": _value(flag)}
    return Place(flag.path, span=flag.span, profiles=profiles, values=values)


def _is_whole(command: Command) -> bool:
    """It starts a kubelet for good, and names no file that may hold the rest."""
    starts = command.flag("--kubeconfig") is not None or command.flag("--api-servers") is not None
    return starts and command.flag("--config") is None


def _removed(command: Command, profiles: Profiles, *names: str) -> Iterator[Place]:
    for flag in command.flags:
        if flag.name in names:
            yield _of(flag)


def _named(feature: Feature) -> CommandCheck:
    """The flags that ``applies_to`` of the row names, where they are written as flags."""

    def check(command: Command, profiles: Profiles) -> Iterator[Place]:
        if command.object is None or command.object.kind != "KubeletConfiguration":
            names = [text.partition(" ")[2] for text in GATES[feature].applies_to]
            yield from _removed(command, profiles, *names)

    return check


def _must_be(name: str, field: str, allowed: Callable[[str], bool]) -> CommandCheck:
    """The flag has an allowed value; not to give it is to take Linux' default."""

    def check(command: Command, profiles: Profiles) -> Iterator[Place]:
        flag = command.flag(name)
        values = {"flag": name, "field": field}
        if flag is not None:
            if not allowed(_value(flag).lower()):
                found = {**values, "value": _value(flag) or "true"}
                yield Place(flag.path, span=flag.span, values=found)
        elif _is_whole(command):
            default = {**values, "value": _DEFAULTS[name]}
            yield Place(command.path, span=command.span, values=default)

    return check


_DEFAULTS = {
    "--resolv-conf": "/etc/resolv.conf",
    "--cgroups-per-qos": "true",
    "--enforce-node-allocatable": "[pods]",
}


def _reserves(command: Command, profiles: Profiles) -> Iterator[Place]:
    row = GATES[Feature.FLAG_RESERVES_UPDATE_ALLOCATABLE]
    shut = tuple(one for one in profiles if row.state(one) is State.SHUT)
    for flag in command.flags:
        if flag.name in _MISPRINTS:
            yield _of(flag)
        elif shut and flag.name in _RESERVES:
            yield _of(flag, shut)


def _no_service(command: Command, profiles: Profiles) -> Iterator[Place]:
    """``--service``, as one document has it, is no flag."""
    for flag in command.flags:
        if flag.name == "--service":
            yield _of(flag)


def _graceful(command: Command, profiles: Profiles) -> Iterator[Place]:
    flag = command.flag("--shutdown-grace-period")
    if flag is not None and _value(flag) not in ("", "0", "0s"):
        yield _of(flag)


def _old_pause(*names: str) -> CommandCheck:
    def check(command: Command, profiles: Profiles) -> Iterator[Place]:
        flag = command.flag("--pod-infra-container-image")
        if flag is not None and any(name in _value(flag) for name in names):
            yield _of(flag)

    return check


def _join(command: Command, profiles: Profiles) -> Iterator[Place]:
    joins = command.flag("--discovery-token-ca-cert-hash") or command.flag("--token")
    if joins is not None and command.flag("--cri-socket") is None:
        yield Place(command.path, span=command.span)


def _other_name(command: Command, profiles: Profiles) -> Iterator[Place]:
    """A kube-proxy whose node is called otherwise than that of the kubelet in the same script."""
    own = command.flag("--hostname-override")
    if own is None or not command.document.script:
        return
    kubelets = [one for one in of_script(command.document) if one.program == "kubelet"]
    flags = [flag for one in kubelets if (flag := one.flag("--hostname-override")) is not None]
    if flags and _value(own).lower() not in {_value(flag).lower() for flag in flags}:
        yield _of(own)


def _swap(command: Command, profiles: Profiles) -> Iterator[Place]:
    yield from _removed(command, profiles, "--fail-swap-on", "--memory-swap")


RULES: dict[Feature, Rule] = {
    **{
        feature: on_flags(_named(feature), programs=_KUBELET)
        for feature in (
            Feature.KUBELET_FLAG_API_SERVERS,
            Feature.T02_ALLOW_PRIVILEGED_FLAG,
            Feature.FLAG_WINDOWS_PRIORITYCLASS,
            Feature.FLAG_REMOVED_DOCKER_FLAGS,
            Feature.FLAG_REMOVED_LOG_DIR,
            Feature.FLAG_REMOVED_CONTAINER_RUNTIME,
            Feature.FLAG_POD_INFRA_CONTAINER_IMAGE,
        )
    },
    Feature.KUBELET_FLAG_RESOLV_CONF_EMPTY: on_flags(
        _must_be("--resolv-conf", "ResolverConfig", lambda value: value in ("", "host")),
        programs=_KUBELET,
    ),
    Feature.FLAG_CGROUPS_PER_QOS: on_flags(
        _must_be("--cgroups-per-qos", "CgroupsPerQOS", lambda value: value == "false"),
        programs=_KUBELET,
    ),
    Feature.FLAG_ENFORCE_NODE_ALLOCATABLE: on_flags(
        _must_be("--enforce-node-allocatable", "EnforceNodeAllocatable", lambda value: not value),
        programs=_KUBELET,
    ),
    Feature.T02_HAIRPIN_MODE: on_flags(programs=_KUBELET),
    Feature.FLAG_EVICTION_HARD: on_flags(programs=_KUBELET),
    Feature.FLAG_EVICTION_SOFT: on_flags(programs=_KUBELET),
    Feature.FLAG_RESERVES_UPDATE_ALLOCATABLE: on_flags(
        _reserves, programs=_KUBELET, states=SPEAKING
    ),
    Feature.T02_NATIVE_SERVICES: on_flags(_no_service, states=SPEAKING),
    Feature.GRACEFUL_NODE_SHUTDOWN: on_flags(_graceful, programs=_KUBELET),
    Feature.NODE_SWAP_WINDOWS: on_flags(_swap, programs=_KUBELET),
    Feature.APPRENDA_PAUSE_IMAGE: on_flags(_old_pause("apprenda/pause"), programs=_KUBELET),
    Feature.PAUSE_IMAGE_BUILT_LOCALLY: on_flags(_old_pause("kubeletwin/pause"), programs=_KUBELET),
    Feature.KUBELET_FLAG_HOSTNAME_OVERRIDE: on_flags(_other_name, programs=_PROXY),
    Feature.KUBEADM_CRI_SOCKET_DEFAULT: on_flags(_join, programs=_KUBEADM),
}
