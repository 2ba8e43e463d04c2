"""Rows about releases of Windows: which are supported as nodes, and whose images run on which."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Range,
    Severity,
    only,
    row,
    since,
    until,
)
from muntin.model.windows.features import Feature

_ALWAYS = Condition()
_DOCKER = frozenset({"docker"})
_CONTAINERD = frozenset({"containerd"})
_IMAGE = "spec.containers[*].image"
_NODE = "status.nodeInfo.kernelVersion"
# Windows Server 2022 and what came after it run images of other builds too.
_EXACT = Condition(build=until(20347))


def _builds(*numbers: int) -> tuple[Condition, ...]:
    return tuple(Condition(build=only(number)) for number in numbers)


def _matrix(minor: int, names: str, *builds: int, overrides: str = "") -> Gate:
    return row(
        f"Nodes of Kubernetes 1.{minor} may run {names}.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=only(1, minor)),
        holds=_builds(*builds),
        applies_to=_NODE,
        otherwise=Otherwise.DEGRADE,
        source="doc20, table of operating system versions",
        advice="Install one of these releases.",
        overrides=overrides,
    )


def _images(build: int, name: str, tag: str) -> Gate:
    return row(
        f"Nodes with {name} run images with the tag {tag} alone.",
        kind=Kind.SUPPORT,
        scope=Condition(build=only(build)),
        applies_to=_IMAGE,
        otherwise=Otherwise.REJECT,
        source="handbook, Image Version Matching (lines 271-278)",
        message="The operating system of the container does not match the operating system of "
        "the host.",
        advice=f"Take an image with the tag {tag}.",
    )


def _release(
    build: int, name: str, *kubernetes: Range, source: str, runtime: frozenset[str] | None = None
) -> Gate:
    low, high = (kubernetes[0].low or ())[-1:], (kubernetes[0].high or ())[-1:]
    span = f"1.{low[0]} to 1.{high[0]}" if high else f"1.{low[0]} and newer"
    return row(
        f"{name} is for nodes of Kubernetes {span}.",
        kind=Kind.SUPPORT,
        scope=Condition(build=only(build)),
        holds=tuple(Condition(kubernetes=one, runtime=runtime) for one in kubernetes),
        applies_to=_NODE,
        otherwise=Otherwise.DEGRADE,
        source=source,
        evidence=Evidence.REPORTED,
        advice="Choose a release that this version of Kubernetes lists.",
    )


_NODES: dict[Feature, Gate] = {
    Feature.WS2016_V1_5_ONLY: row(
        "Windows Server 2016 is the node of Kubernetes 1.5 to 1.7, without CNI and with one "
        "container per pod.",
        kind=Kind.SUPPORT,
        scope=Condition(build=only(14393)),
        holds=Condition(kubernetes=Range((1, 5), (1, 7)), runtime=_DOCKER),
        applies_to=_NODE,
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.5, networking and example",
        advice="Move to version 1709 (16299) or newer for CNI and several containers in a pod.",
    ),
    Feature.PREREQ_1709_16299_15: row(
        "The networking of Kubernetes 1.8 needs Windows Server 1709, 10.0.16299.15 or newer.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=only(1, 8)),
        holds=Condition(build=since(16299, 15)),
        applies_to=_NODE,
        otherwise=Otherwise.REJECT,
        source="guide of v1.8, prerequisites 3",
        advice="Install version 1709 with its updates.",
    ),
    Feature.RECOMMENDED_1803_DOCKER_17_06: row(
        "The handbook's least for nodes of Kubernetes 1.9 to 1.13 is Windows Server 1803 with "
        "Docker 17.06.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=Range((1, 9), (1, 13)), runtime=_DOCKER),
        holds=Condition(build=since(17134), components=(("docker", since(17, 6)),)),
        applies_to=(_NODE, "status.nodeInfo.containerRuntimeVersion"),
        otherwise=Otherwise.DEGRADE,
        source="handbook, Windows, line 7",
        advice="Update Windows and Docker.",
    ),
    Feature.ONLY_WS2019_SUPPORTED_1_20: row(
        "Kubernetes 1.14 to 1.22 supports no node older than Windows Server 2019.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=Range((1, 14), (1, 22))),
        holds=Condition(build=since(17763)),
        applies_to=_NODE,
        otherwise=Otherwise.REJECT,
        source="doc20, introduction and Operating System Version Restrictions",
        advice="Do not let older releases join.",
    ),
    Feature.OS_MATRIX_1_17: _matrix(17, "Windows Server 2019 or version 1809", 17763),
    Feature.OS_MATRIX_1_18: _matrix(
        18,
        "Windows Server 2019 or versions 1809, 1903 and 1909",
        17763,
        18362,
        18363,
        overrides="ws2019-containers-only",
    ),
    Feature.OS_MATRIX_1_19: _matrix(
        19,
        "Windows Server 2019 or versions 1909 and 2004",
        17763,
        18363,
        19041,
        overrides="ws2019-containers-only",
    ),
    Feature.OS_MATRIX_1_20: _matrix(
        20,
        "Windows Server 2019 or versions 1909 and 2004",
        17763,
        18363,
        19041,
        overrides="ws2019-containers-only",
    ),
    Feature.OS_20H2: _release(
        19042,
        "Windows Server 20H2",
        Range((1, 21), (1, 26)),
        source="documentation, Windows containers (20H2 listed); 1.21 to 1.26 as reported",
    ),
    Feature.OS_WS2022: _release(
        20348,
        "Windows Server 2022",
        since(1, 23),
        source="documentation, Windows containers; first version as reported",
    ),
    Feature.OS_ANNUAL_23H2: _release(
        25398,
        "Windows Server 23H2 (annual channel)",
        since(1, 29),
        runtime=_CONTAINERD,
        source="hcsshim osversion/windowsbuilds.go; first version as reported",
    ),
    Feature.OS_WS2025: _release(
        26100,
        "Windows Server 2025",
        since(1, 32),
        runtime=_CONTAINERD,
        source="hcsshim osversion/windowsbuilds.go; AKS offers it since 1.32",
    ),
    Feature.OS_WS2019_DROP: _release(
        17763,
        "Windows Server 2019",
        Range((1, 14), (1, 35)),
        source="doc20; that 1.36 lists it no more is reported by others",
    ),
    Feature.NET_OVERLAY_KB4489899: row(
        "win-overlay needs KB4489899 on Windows Server 2019.",
        kind=Kind.SUPPORT,
        scope=Condition(build=only(17763), network_plugin=frozenset({"win-overlay"})),
        holds=Condition(build=since(17763, 379), kb="KB4489899"),
        applies_to=_NODE,
        otherwise=Otherwise.DEGRADE,
        source="doc20, network drivers",
        advice="Install the update of March 2019 or a newer one.",
    ),
    Feature.NET_OVERLAY_KB4482887: row(
        "kube-proxy needs KB4482887 on Windows Server 2019 for overlay networks.",
        kind=Kind.SUPPORT,
        scope=Condition(
            kubernetes=since(1, 14), build=only(17763), network_plugin=frozenset({"win-overlay"})
        ),
        holds=Condition(build=since(17763, 348), kb="KB4482887"),
        applies_to=_NODE,
        otherwise=Otherwise.DEGRADE,
        source="doc20, Networking limitations",
        advice="Install the update of March 2019 or a newer one.",
    ),
    Feature.IPV6_NEEDS_2004_610: row(
        "IPv6 needs Windows Server 2004, 10.0.19041.610 or newer.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 19)),
        holds=Condition(build=since(19041, 610)),
        applies_to=(_NODE, "spec.ipFamilies"),
        otherwise=Otherwise.DEGRADE,
        source="doc20, IPv4/IPv6 dual-stack",
        advice="Use IPv4 alone on older nodes.",
    ),
    Feature.GUIDE_BUILD_TABLE: row(
        "Windows Server 2019 and version 1809 are build 10.0.17763, version 1903 is 10.0.18362.",
        kind=Kind.SUPPORT,
        holds=_ALWAYS,
        applies_to="metadata.labels[node.kubernetes.io/windows-build]",
        otherwise=Otherwise.DIFFER,
        source="doc20, Handling multiple Windows versions (lines 712-715)",
        advice="Look up others in the table of releases.",
    ),
    Feature.LICENSING: row(
        "Nodes are under Windows Server's licence, images under the terms for containers.",
        kind=Kind.SUPPORT,
        holds=_ALWAYS,
        applies_to="Windows licences",
        otherwise=Otherwise.DIFFER,
        source="doc20, notes below the table of versions",
        advice="Read both before you publish images.",
    ),
}

_IMAGES: dict[Feature, Gate] = {
    Feature.OS_MUST_MATCH_OR_NOT_START: row(
        "A container whose image is of another build than the node does not start, before "
        "Windows Server 2022.",
        scope=_EXACT,
        applies_to=_IMAGE,
        otherwise=Otherwise.REJECT,
        source="handbook, other known issues; doc20, Operating System Version Restrictions",
        message="The container operating system does not match the host operating system.",
        advice="Take an image of the node's build, or select nodes by "
        "node.kubernetes.io/windows-build.",
        restates=("strict-process-isolation-match", "guide-version-must-match-pod"),
    ),
    Feature.OLDER_IMAGES: row(
        "Images of an older build, down to Windows Server 2022, run with process isolation.",
        holds=Condition(build=since(20348)),
        applies_to=_IMAGE,
        otherwise=Otherwise.REJECT,
        source="hcsshim osversion/platform_compat_windows.go at 7c9ff7f",
        evidence=Evidence.READ_FROM_CODE,
        advice="Take an image between ltsc2022 and the node's own build.",
        restates="stable-abi-2022",
    ),
    Feature.STABLE_ABI_2025_RUNS_2022: row(
        "Windows Server 2025 runs images with the tag ltsc2022.",
        kind=Kind.SUPPORT,
        scope=Condition(build=only(26100)),
        holds=Condition(runtime=_CONTAINERD),
        applies_to=_IMAGE,
        otherwise=Otherwise.DEGRADE,
        source="hcsshim osversion/platform_compat_windows.go at 7c9ff7f",
        evidence=Evidence.READ_FROM_CODE,
        advice="Use containerd, or images with the tag ltsc2025.",
    ),
    Feature.IMAGE_MATCH_LTSC2016: _images(14393, "Windows Server 2016", "ltsc2016"),
    Feature.IMAGE_MATCH_1709: _images(16299, "Windows Server 1709", "1709"),
    Feature.IMAGE_MATCH_1803: _images(17134, "Windows Server 1803", "1803"),
    Feature.WS2019_CONTAINERS_ONLY: row(
        "The documentation of 1.20 supports images of Windows Server 2019 alone.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=Range((1, 14), (1, 22))),
        holds=Condition(build=only(17763)),
        applies_to=_IMAGE,
        otherwise=Otherwise.DEGRADE,
        source="doc20, Operating System Version Restrictions (line 362)",
        severity=Severity.INFO,
        advice="Put images with the tag ltsc2019 on Windows Server 2019.",
    ),
    Feature.LATEST_TAG_CONFLICT: row(
        "The tag latest does not say for which Windows build a base image is.",
        kind=Kind.SUPPORT,
        applies_to=_IMAGE,
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.9, line 73; doc20, troubleshooting 12",
        advice="Name the build in the tag, such as ltsc2019.",
    ),
    Feature.OS_REVISION_IGNORED: row(
        "Revisions of image and node may differ since build 17763; before, some had to match.",
        holds=Condition(build=since(17763)),
        applies_to=_IMAGE,
        otherwise=Otherwise.DIFFER,
        source="containerd platforms/platform_windows_compat.go; Microsoft's page of compatibility",
        evidence=Evidence.READ_FROM_CODE,
        advice="Update node and image together on older builds.",
        not_yet="images here are compared by their build alone",
    ),
    Feature.HOSTPROCESS_IMAGE_BUILD_FREE: row(
        "HostProcess containers run images of any build.",
        scope=Condition(kubernetes=since(1, 22)),
        holds=Condition(runtime=_CONTAINERD),
        applies_to=_IMAGE,
        otherwise=Otherwise.REJECT,
        source="documentation, Create a Windows HostProcess Pod",
        advice="Use the small base image that is made for them.",
        not_yet="HostProcess containers are refused here",
    ),
    Feature.T12_CONTAINERCREATING: row(
        "A pod that stays in ContainerCreating mostly has a pause image of another build.",
        kind=Kind.PROCEDURE,
        holds=_ALWAYS,
        applies_to="status.containerStatuses[*].state.waiting.reason",
        otherwise=Otherwise.DIFFER,
        source="doc20, troubleshooting 12",
        advice="Compare the build of the pause image with the node's.",
        page="WIN-T12",
    ),
}  # fmt: skip

ROWS: dict[Feature, Gate] = {**_NODES, **_IMAGES}
