"""Which Kubernetes goes with which Windows, runtime and network plugin, as a table."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.model.gates import Version
from muntin.model.windows import support
from muntin.model.windows_releases import (
    API_VERSIONS,
    BUILDS,
    FIRST_KUBERNETES,
    WindowsBuild,
    nearest_api,
    profile_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Supported:
    """One release of Windows under one Kubernetes, with what can run pods and join them there."""

    kubernetes: Version
    api: Version
    windows: WindowsBuild
    runtimes: tuple[str, ...]
    network_plugins: tuple[str, ...]

    @property
    def is_served(self) -> bool:
        """Whether the API of that version is there itself, and not another in its stead."""
        return self.api == self.kubernetes


def matrix() -> list[Supported]:
    """Every pair of Kubernetes and Windows that is listed as supported, newest Kubernetes first."""
    newest = API_VERSIONS[-1]
    minors = range(newest[1], FIRST_KUBERNETES[1] - 1, -1)
    rows = []
    for version in ((newest[0], minor) for minor in minors):
        listed = support.builds_of(version)
        rows += [_row(version, build) for build in BUILDS if build.build in listed]
    return rows


def _row(version: Version, build: WindowsBuild) -> Supported:
    return Supported(
        kubernetes=version,
        api=nearest_api(version),
        windows=build,
        runtimes=_usable(support.RUNTIMES, version, build),
        network_plugins=_usable(support.NETWORK_PLUGINS, version, build),
    )


def _usable(
    programs: tuple[support.Program, ...], version: Version, build: WindowsBuild
) -> tuple[str, ...]:
    profile = profile_of(build, version)
    at = (profile.build, profile.revision)
    return tuple(
        one.name for one in programs if one.kubernetes.holds(version) and one.builds.holds(at)
    )
