"""Rules on nodes: whether anybody supports what a Windows node says that it is."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.lint.configs import ACS_ENGINE
from muntin.lint.node_profile import profile_of_node
from muntin.lint.places import Place
from muntin.lint.rule import Profiles, Rule, on_configs, on_objects
from muntin.lint.views import Config, Object, listing, mapping
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


def _acs_engine(config: Config, profiles: Profiles) -> Iterator[Place]:
    pools = listing(mapping(config.data.get("properties")).get("agentPoolProfiles"))
    for index, pool in enumerate(pools):
        if mapping(pool).get("osType") == "Windows":
            yield Place((*config.path, "properties", "agentPoolProfiles", index, "osType"))


RULES: dict[Feature, Rule] = {
    **{feature: _node(feature) for feature in _ROWS},
    Feature.ACS_ENGINE_AZURE: on_configs(ACS_ENGINE, check=_acs_engine),
}
