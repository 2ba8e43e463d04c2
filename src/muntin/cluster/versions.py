"""Which API and which nodes a Draft asks for: what stands in, what goes together, what is refused.

The API's version and the nodes' profiles are separate. Pairs that upstream's skew policy does not
have are refused unless the Draft allows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from muntin.model import windows_releases as releases
from muntin.model.gates import Profile, Version
from muntin.model.profiles import RUNTIMES
from muntin.model.windows import Feature, is_open

if TYPE_CHECKING:
    from muntin.cluster.config import NodeConfig
    from muntin.cluster.settings import Draft, NodeDraft

NETWORK_PLUGINS = ("win-bridge",)
ALLOW = "--allow-skew (allowSkew: true in the file)"


def asked(draft: Draft) -> Version:
    """The version that the Draft asks for, served or not."""
    path = "kubernetesVersion"
    version = parse(draft, path, draft.version, releases.DEFAULT_KUBERNETES)
    if not releases.FIRST_KUBERNETES <= version <= releases.API_VERSIONS[-1]:
        known = ", ".join(map(_dots, releases.API_VERSIONS))
        oldest = _dots(releases.FIRST_KUBERNETES)
        draft.wrong(
            path, f"{draft.version} is not served; use one of {known}, or {oldest} and newer for "
            "nodes of that version"
        )  # fmt: skip
    return version


def notes(version: Version) -> tuple[str, ...]:
    """What users are to know of a cluster of ``version``."""
    served = releases.nearest_api(version)
    if served == version:
        return ()
    return (
        f"An API server of {_dots(version)} does not exist here: it is that of {_dots(served)}, "
        f"the nearest one. The nodes behave as {_dots(version)}'s.",
    )


def unsupported(nodes: Iterable[NodeConfig]) -> tuple[str, ...]:
    """Which nodes are of versions that nobody supports together, and why."""
    from muntin.model.windows import support

    found: dict[str, list[str]] = {}
    for node in nodes:
        for sentence in support.unsupported(node.profile) if node.profile else ():
            found.setdefault(sentence, []).append(node.name)
    return tuple(f"{', '.join(names)}: {sentence}" for sentence, names in found.items())


def parse(draft: Draft, path: str, text: str, default: Version) -> Version:
    return draft.checked(path, lambda: releases.parse_kubernetes(text)) if text else default


def of_node(draft: Draft, path: str, row: NodeDraft, api: Version) -> Version:
    """The version of one node's kubelet and kube-proxy, which must go with ``api``."""
    at = f"{path}.version" if row.version or not draft.node_version else "nodeVersion"
    text = row.version or draft.node_version
    version = parse(draft, at, text, api)
    if version < releases.FIRST_KUBERNETES:
        draft.wrong(at, f"{text} is too old; use {_dots(releases.FIRST_KUBERNETES)} or newer")
    if draft.allow_skew:
        return version
    if version > api:
        draft.wrong(
            at, f"{text} is newer than the API server's {_dots(api)}; use the same or an older "
            f"one, or {ALLOW}"
        )  # fmt: skip
    most = releases.kubelet_skew(api)
    if version[0] == api[0] and api[1] - version[1] > most:
        oldest = _dots((api[0], api[1] - most))
        draft.wrong(
            at, f"{text} is {api[1] - version[1]} minor versions older than the API server's "
            f"{_dots(api)}, and kubelet and kube-proxy may be {most}; use {oldest} or newer, "
            f"or {ALLOW}"
        )  # fmt: skip
    return version


def profile(draft: Draft, path: str, row: NodeDraft, kubernetes: Version) -> Profile:
    """The profile of one Windows node."""
    windows, at = (row.windows, f"{path}.windows") if row.windows else (draft.windows, "windows")
    build = draft.checked(at, lambda: releases.build_named(windows or str(releases.DEFAULT_BUILD)))
    runtime = row.runtime or draft.runtime or releases.usual_runtime(build, kubernetes)
    place = f"{path}.runtime" if row.runtime else "runtime"
    if runtime not in RUNTIMES:
        draft.wrong(place, f"{runtime!r} is unknown; use one of {', '.join(RUNTIMES)}")
    plugin = row.network_plugin or NETWORK_PLUGINS[0]
    if plugin not in NETWORK_PLUGINS:
        known = ", ".join(NETWORK_PLUGINS)
        draft.wrong(f"{path}.networkPlugin", f"{plugin!r} is unknown; use {known}")
    made = releases.profile_of(build, kubernetes, runtime=runtime, network_plugin=plugin)
    if runtime != "docker" and not is_open(Feature.HCN_V2, made):
        draft.wrong(
            place,
            f"{build.product_name} {build.release_id} has no HCN, which {runtime} needs; use "
            "docker, or Windows Server 2019 or newer",
        )
    return made


def _dots(version: Version) -> str:
    return ".".join(map(str, version))
