"""Profiles in a few words, for expectations that are typed by hand.

``at("1.19 17763")``, ``at("1.12 17134.81 docker")``,
``at("1.20 19041 containerd plugin=win-overlay +WinDSR flannel=0.12.0 hns=10.5")``.
"""

from __future__ import annotations

from muntin.model.gates import Profile, State
from muntin.model.windows import GATES, Feature
from muntin.model.windows_releases import BUILDS

# The revision of a build of which no revision is said: newer than any update that rows speak of.
_PATCHED = 99999


def at(text: str) -> Profile:
    """The profile that ``text`` names: Kubernetes, build, then what is said of the rest."""
    kubernetes, build, *rest = text.split()
    number, _, revision = build.partition(".")
    runtime, plugin, gates, versions = "containerd", "win-bridge", {}, {}
    hns = next((row.hns for row in BUILDS if row.build == int(number)), (15, 4))
    for word in rest:
        name, _, value = word.partition("=")
        if word[0] in "+-":
            gates[word[1:]] = word[0] == "+"
        elif name == "plugin":
            plugin = value
        elif name == "hns":
            hns = _version(value)
        elif value:
            versions[name] = _version(value)
        else:
            runtime = word
    return Profile(
        build=int(number),
        revision=int(revision or _PATCHED),
        kubernetes=_version(kubernetes),
        hns=hns,
        runtime=runtime,
        network_plugin=plugin,
        feature_gates=gates,
        versions=versions,
    )


def states(feature: Feature, *profiles: str) -> set[State]:
    """What the row says of these profiles: one value if it says the same of all."""
    return {GATES[feature].state(at(profile)) for profile in profiles}


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
