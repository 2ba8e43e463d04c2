"""Rules on Node objects: whether anybody supports what a Windows node says that it is."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.lint.node_profile import profile_of_node
from muntin.lint.places import Place
from muntin.lint.rule import Profiles, Rule, on_objects
from muntin.lint.views import Object
from muntin.model.gates import State
from muntin.model.windows import GATES, Feature

_KERNEL = ("status", "nodeInfo", "kernelVersion")
_RUNTIME = ("status", "nodeInfo", "containerRuntimeVersion")
_KUBELET = ("status", "nodeInfo", "kubeletVersion")
_ROWS = {
    **dict.fromkeys(
        (
            Feature.WS2016_V1_5_ONLY,
            Feature.PREREQ_1709_16299_15,
            Feature.RECOMMENDED_1803_DOCKER_17_06,
            Feature.FEATURE_STAGE_BETA_1_9,
            Feature.ONLY_WS2019_SUPPORTED_1_20,
            Feature.OS_MATRIX_1_17,
            Feature.OS_MATRIX_1_18,
            Feature.OS_MATRIX_1_19,
            Feature.OS_MATRIX_1_20,
            Feature.OS_20H2,
            Feature.OS_WS2022,
            Feature.OS_ANNUAL_23H2,
            Feature.OS_WS2025,
            Feature.OS_WS2019_DROP,
        ),
        _KERNEL,
    ),
    **dict.fromkeys(
        (
            Feature.PREREQ_DOCKER_17_06_1_EE_2,
            Feature.DOCKER_IS_RUNTIME_1_9,
            Feature.RUNTIME_DOCKER_EE_19_03,
            Feature.RUNTIME_CONTAINERD_1_4,
            Feature.DOCKERSHIM_REMOVED,
            Feature.CRI_V1_ONLY,
        ),
        _RUNTIME,
    ),
    Feature.GA_1_14: _KUBELET,
    Feature.SYSTEMUUID_WMIC: _KUBELET,
}


def _node(feature: Feature) -> Rule:
    """The row is asked about the node's own versions, whatever profiles were given."""

    def check(item: Object, profiles: Profiles) -> Iterator[Place]:
        if item.group:
            return
        own = profile_of_node(item.data)
        if own is not None and GATES[feature].state(own) is State.SHUT:
            yield Place((*item.path, *_ROWS[feature]), profiles=())

    return on_objects("Node", check=check, states=frozenset(State))


RULES: dict[Feature, Rule] = {feature: _node(feature) for feature in _ROWS}
