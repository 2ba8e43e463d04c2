"""Rules on Services and what stands behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from muntin.lint.places import Place
from muntin.lint.rule import Profiles, Rule, equals, is_there, on_services, remove
from muntin.lint.views import Service, listing, mapping
from muntin.model.windows import MAX_BACKENDS, Feature

_REPLICATED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
_OUTSIDE = ("NodePort", "LoadBalancer")


def _too_many_backends(service: Service, profiles: Profiles) -> Iterator[Place]:
    """Where the replicas of all that it selects, as far as they are said, are too many."""
    count = 0
    for pod in service.pods:
        if pod.object.kind == "Pod":
            count += 1
        elif pod.object.kind in _REPLICATED:
            replicas = mapping(pod.object.data.get("spec")).get("replicas", 1)
            count += replicas if isinstance(replicas, int) else 0
    if count > MAX_BACKENDS:
        yield Place(service.at("spec", "selector"), values={"count": str(count)})


def _node_port_on_overlay(service: Service, profiles: Profiles) -> Iterator[Place]:
    if service.spec.get("type") not in _OUTSIDE:
        return
    if service.spec.get("externalTrafficPolicy") != "Local":
        yield Place(service.at("spec", "type"))


def _several_families(service: Service, profiles: Profiles) -> Iterator[Place]:
    """IPv6 that is asked for; PreferDualStack is content with IPv4."""
    if service.spec.get("ipFamilyPolicy") == "RequireDualStack":
        yield Place(service.at("spec", "ipFamilyPolicy"))
    for index, family in enumerate(listing(service.spec.get("ipFamilies"))):
        if family == "IPv6":
            yield Place(service.at("spec", "ipFamilies", index))


def _is_own_timeout(value: Any) -> bool:
    """Not the default, which API servers write into every such Service."""
    return is_there(value) and value != 10800


RULES: dict[Feature, Rule] = {
    Feature.SVC_SESSION_AFFINITY: on_services(where=equals("ClientIP")),
    Feature.SESSION_AFFINITY_TIMEOUT: on_services(where=_is_own_timeout, fix=remove),
    Feature.SVC_PRESERVE_DESTINATION: on_services(where=equals("true"), fix=remove),
    Feature.LOCAL_TRAFFIC_POLICY_DSR: on_services(where=equals("Local")),
    Feature.LOAD_BALANCER_SOURCE_RANGES: on_services(),
    Feature.NETSH_PORTPROXY_TCP_ONLY: on_services(where=equals("UDP")),
    Feature.MORE_THAN_64_BACKENDS: on_services(_too_many_backends),
    Feature.SVC_DUAL_STACK: on_services(_several_families),
    Feature.DUAL_STACK_OVERLAY_UNSUPPORTED: on_services(_several_families),
    Feature.NODEPORT_OVERLAY_2022_BUG: on_services(_node_port_on_overlay),
}
