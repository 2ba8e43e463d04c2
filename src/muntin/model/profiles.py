"""Profiles by name: ``v1.20``, or ``1.12/1803/docker`` for versions that no preset has."""

from __future__ import annotations

from muntin.kit.errors import Invalid
from muntin.model.gates import Profile
from muntin.model.windows_releases import (
    API_VERSIONS,
    FIRST_KUBERNETES,
    PRESETS,
    World,
    build_named,
    parse_kubernetes,
    profile_of,
    usual_runtime,
)

RUNTIMES = ("containerd", "docker")
FORM = "KUBERNETES/WINDOWS[/RUNTIME[/PLUGIN]], such as 1.12/1803/docker"


def world_named(text: str) -> World:
    """The versions that ``text`` names.

    Raises:
        Invalid: it is neither a preset nor of the form of `FORM`.
    """
    if text in PRESETS:
        return PRESETS[text]
    kubernetes, slash, rest = text.partition("/")
    if not slash:
        raise Invalid(f"{text!r} is unknown; use one of {', '.join(PRESETS)}, or {FORM}")
    windows, _, rest = rest.partition("/")
    runtime, _, plugin = rest.partition("/")
    build, version = build_named(windows), parse_kubernetes(kubernetes)
    if not FIRST_KUBERNETES <= version <= API_VERSIONS[-1]:
        oldest, newest = (".".join(map(str, edge)) for edge in (FIRST_KUBERNETES, API_VERSIONS[-1]))
        raise Invalid(f"{kubernetes!r} is not a version of Windows nodes: {oldest} to {newest}")
    if runtime and runtime not in RUNTIMES:
        raise Invalid(f"{runtime!r} is unknown; use one of {', '.join(RUNTIMES)}")
    return World(
        kubernetes=version,
        windows=windows,
        runtime=runtime or usual_runtime(build, version),
        **({"network_plugin": plugin} if plugin else {}),
    )


def profile_named(text: str) -> Profile:
    """The profile of a node of `world_named`."""
    world = world_named(text)
    return profile_of(
        build_named(world.windows),
        world.kubernetes,
        runtime=world.runtime,
        network_plugin=world.network_plugin,
    )
