"""Command lines of Kubernetes' programs, in scripts and in containers, with their flags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from muntin.lint.documents import Document
from muntin.lint.places import Path
from muntin.lint.views import Command, Flag, Object, Pod, listing, mapping

WINDOWS_SCRIPTS = (".ps1", ".psm1", ".cmd", ".bat")
SCRIPTS = (*WINDOWS_SCRIPTS, ".sh", ".service")
PROGRAMS = (
    "kubelet", "kube-proxy", "kubeadm", "flanneld", "kube-apiserver", "kube-controller-manager",
    "kube-scheduler", "kubectl", "docker", "dockerd", "containerd", "netsh", "route",
)  # fmt: skip
_NAMES = "|".join((*PROGRAMS, r"proxy(?=\.exe)"))  # as kube-proxy was called when it was built
# Texts of patterns: they are compiled, once, when there is a script.
_PROGRAM = rf"(?i)(?<![\w$-])({_NAMES})(\.exe)?(?![\w-]|\.\w)"
_VARIABLE = r"(?i)\$\w*?(kubelet|kube-?proxy|flanneld?)\w*"
_FLAG = (
    r"(?<![\w-])(--[A-Za-z][\w.-]*|-v)"
    r"(?:(=)(\"[^\"]*\"|'[^']*'|[^\s,;|)\"']*)"
    r"|[ \t]+(\"[^\"]*\"|'[^']*'|[^\s,;|)\"'-][^\s,;|)\"']*))?"
)
_CONTINUED = r"[`\\^][ \t]*\r?\n"
_ARRAY = r"@\((?:[^()]|\([^()]*\))*\)"
_COMMENT = r"(?im)^[ \t]*(#|::|rem\b)[^\n]*"


def of_script(document: Document) -> Iterator[Command]:
    """The commands of a script: one for each line that names a program, continued ones joined."""
    text = _joined(document.text)
    on_windows = document.file.lower().endswith(WINDOWS_SCRIPTS)
    start = 0
    for line in text.split("\n"):
        named = re.search(_PROGRAM, line)
        match = named or re.search(_VARIABLE, line)
        if match is not None:
            program = _program(match[1])
            exe = named is not None and bool(named[2])
            flags = list(_flags(line, match.end(), start))
            span = (start + match.start(), start + match.end())
            os = "windows" if on_windows or exe else "linux"
            yield Command(document, (), program, flags, os, span=span)
        start += len(line) + 1


def _joined(text: str) -> str:
    """The text in which a command is one line; every character stays at its place."""
    text = re.sub(_COMMENT, lambda match: " " * len(match[0]), text)
    text = re.sub(_CONTINUED, lambda match: " " * len(match[0]), text)
    return re.sub(_ARRAY, lambda match: match[0].replace("\n", " "), text)


def _program(name: str) -> str:
    name = name.lower()
    return {"kubeproxy": "kube-proxy", "proxy": "kube-proxy", "flannel": "flanneld"}.get(name, name)


def _flags(line: str, after: int, base: int) -> Iterator[Flag]:
    for match in re.compile(_FLAG).finditer(line, after):
        value = match[3] if match[2] else match[4]
        if value is not None:
            value = value.strip("\"'")
        name = match[1].replace("_", "-")  # programs take either
        yield Flag(name, value, (), (base + match.start(), base + match.end()))


def of_pod(pod: Pod) -> Iterator[Command]:
    """The commands of a pod's containers."""
    for container in pod.containers:
        words: list[tuple[str, Path]] = []
        for name in ("command", "args"):
            for index, word in enumerate(listing(container.data.get(name))):
                if isinstance(word, str):
                    words.append((word, (*container.path, name, index)))
        for index, (word, path) in enumerate(words):
            program = re.split(r"[\\/]", word)[-1].lower().removesuffix(".exe")
            if program in PROGRAMS:
                flags = list(_of_words(words[index + 1 :]))
                os = pod.os or "linux"
                yield Command(pod.object.document, path, program, flags, os, pod.object)
                break


def _of_words(words: Sequence[tuple[str, Path]]) -> Iterator[Flag]:
    for index, (word, path) in enumerate(words):
        if not word.startswith("-"):
            continue
        name, equals, value = word.partition("=")
        following = words[index + 1][0] if index + 1 < len(words) else "-"
        if not equals and not following.startswith("-"):
            yield Flag(name, following, path)
        else:
            yield Flag(name, value if equals else None, path)


# kubeadm's configuration: whose arguments stand where.
_EXTRA_ARGS = (
    ("kubelet", ("nodeRegistration", "kubeletExtraArgs")),
    ("kube-apiserver", ("apiServer", "extraArgs")),
    ("kube-controller-manager", ("controllerManager", "extraArgs")),
    ("kube-scheduler", ("scheduler", "extraArgs")),
)


# kube-proxy's configuration: which flag a field stands for.
_PROXY_FIELDS = (
    ("--proxy-mode", ("mode",)),
    ("--hostname-override", ("hostnameOverride",)),
    ("--cluster-cidr", ("clusterCIDR",)),
    ("--network-name", ("winkernel", "networkName")),
    ("--source-vip", ("winkernel", "sourceVip")),
    ("--enable-dsr", ("winkernel", "enableDSR")),
)


def _of_proxy(item: Object) -> Iterator[Command]:
    """A KubeProxyConfiguration as flags; for Windows where ``winkernel`` says anything."""
    flags = []
    for name, steps in _PROXY_FIELDS:
        value: Any = item.data
        for step in steps:
            value = mapping(value).get(step)
        if value not in (None, "", False):
            text = "true" if value is True else str(value)
            flags.append(Flag(name, text, (*item.path, *steps)))
    gates = mapping(item.data.get("featureGates"))
    if gates:
        text = ",".join(f"{name}={str(value).lower()}" for name, value in gates.items())
        flags.append(Flag("--feature-gates", text, (*item.path, "featureGates")))
    is_windows = any(
        flag.path[-2:-1] == ("winkernel",) or flag.value == "kernelspace" for flag in flags
    )
    os = "windows" if is_windows else "linux"
    yield Command(item.document, item.path, "kube-proxy", flags, os, item)


# The kubelet's configuration: which flag a field stands for; the last two have none.
_KUBELET_FIELDS = {
    "resolvConf": "--resolv-conf",
    "cgroupsPerQOS": "--cgroups-per-qos",
    "enforceNodeAllocatable": "--enforce-node-allocatable",
    "evictionHard": "--eviction-hard",
    "evictionSoft": "--eviction-soft",
    "kubeReserved": "--kube-reserved",
    "systemReserved": "--system-reserved",
    "hairpinMode": "--hairpin-mode",
    "failSwapOn": "--fail-swap-on",
    "memorySwap": "--memory-swap",
    "shutdownGracePeriod": "--shutdown-grace-period",
}
_WINDOWS_VALUE = re.compile(r"npipe:|[A-Za-z]:[\\\\/]")


def _of_kubelet(item: Object) -> Iterator[Command]:
    """A KubeletConfiguration as flags; for Windows where something in it is of Windows alone."""
    flags = []
    for name, flag in _KUBELET_FIELDS.items():
        value = item.data.get(name)
        if value is not None:
            words = ",".join(map(str, value)) if isinstance(value, list | dict) else str(value)
            words = words.lower() if isinstance(value, bool) else words
            flags.append(Flag(flag, words, (*item.path, name)))
    given = {flag.name: flag.value for flag in flags}
    is_windows = (
        given.get("--resolv-conf") == ""
        or given.get("--cgroups-per-qos") == "false"
        or given.get("--enforce-node-allocatable") == ""
        or any(
            isinstance(value, str) and _WINDOWS_VALUE.match(value) for value in item.data.values()
        )
    )
    os = "windows" if is_windows else "linux"
    yield Command(item.document, item.path, "kubelet", flags, os, item)


def of_object(item: Object) -> Iterator[Command]:
    """The arguments that a file of kubeadm, kube-proxy or the kubelet gives to programs."""
    if item.kind == "KubeletConfiguration":
        yield from _of_kubelet(item)
        return
    if item.kind == "KubeProxyConfiguration":
        yield from _of_proxy(item)
        return
    if not item.group.startswith("kubeadm."):
        return
    socket = str(mapping(item.data.get("nodeRegistration")).get("criSocket", ""))
    os = "windows" if "npipe" in socket else "linux"
    for program, steps in _EXTRA_ARGS:
        data: Any = item.data
        for step in steps:
            data = mapping(data).get(step)
        flags = list(_of_arguments(data, (*item.path, *steps)))
        if flags:
            yield Command(item.document, (*item.path, *steps), program, flags, os, item)


def _of_arguments(data: Any, path: Path) -> Iterator[Flag]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield Flag(f"--{name}", str(value), (*path, name))
    for index, argument in enumerate(listing(data)):
        name = mapping(argument).get("name")
        if isinstance(name, str):
            yield Flag(f"--{name}", str(mapping(argument).get("value", "")), (*path, index))
