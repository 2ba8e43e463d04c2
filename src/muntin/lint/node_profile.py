"""The profile of a Windows node, as its Node object tells it."""

from __future__ import annotations

import re
from typing import Any

from muntin.kit.errors import Invalid
from muntin.lint.views import mapping, text
from muntin.model.gates import Profile
from muntin.model.windows_releases import BUILDS, parse_kubernetes

_KERNEL = re.compile(r"10\.0\.(\d+)(?:\.(\d+))?")


def profile_of_node(node: dict[str, Any]) -> Profile | None:
    """What a Node says of itself; None if it is no Windows node or says no version.

    It does not say its network plugin, which is taken to be the usual one.
    """
    info = mapping(mapping(node.get("status")).get("nodeInfo"))
    labels = mapping(mapping(node.get("metadata")).get("labels"))
    os = info.get("operatingSystem") or labels.get("kubernetes.io/os")
    kernel = _KERNEL.match(text(info.get("kernelVersion")))
    if os != "windows" or kernel is None:
        return None
    try:
        kubernetes = parse_kubernetes(text(info.get("kubeletVersion")))
    except Invalid:
        return None
    runtime, _, version = text(info.get("containerRuntimeVersion")).partition("://")
    build = int(kernel[1])
    rows = [row for row in BUILDS if row.build <= build] or [BUILDS[0]]
    return Profile(
        build=build,
        revision=int(kernel[2] or rows[-1].revision),
        kubernetes=kubernetes,
        hns=rows[-1].hns,
        runtime=runtime or "containerd",
        versions={runtime: _version(version)} if _version(version) else {},
    )


def _version(text_of_it: str) -> tuple[int, ...]:
    match = re.match(r"v?(\d+(?:\.\d+)*)", text_of_it)
    return tuple(int(part) for part in match[1].split(".")) if match else ()
