"""Fields of a Service that have no effect, or soon none.

Source: kubernetes v1.36 pkg/api/service/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version
from muntin.model.warnings.addresses import of_ip, of_range

Object = Mapping[str, Any]

_DEPRECATED = ApiFeature.EXTERNAL_IPS_DEPRECATED
_HINTS = "service.kubernetes.io/topology-aware-hints"
_MODE = "service.kubernetes.io/topology-mode"


def of_service(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A Service that is created or changed."""
    spec = new.get("spec") or {}
    if _HINTS in (new.get("metadata", {}).get("annotations") or {}):
        yield f"annotation {_HINTS} is deprecated, please use {_MODE} instead"
    is_headless = spec.get("type", "ClusterIP") == "ClusterIP" and spec.get("clusterIP") == "None"
    addresses = spec.get("externalIPs") or ()
    if spec.get("clusterIP") not in (None, "", "None"):
        for index, ip in enumerate(spec.get("clusterIPs") or ()):
            yield from of_ip(ip, f"spec.clusterIPs[{index}]", api)
    if is_headless:
        if spec.get("loadBalancerIP"):
            yield "spec.loadBalancerIP is ignored for headless services"
        if addresses:
            yield "spec.externalIPs is ignored for headless services"
        if spec.get("sessionAffinity", "None") != "None":
            yield "spec.SessionAffinity is ignored for headless services"
    for index, ip in enumerate(addresses):
        yield from of_ip(ip, f"spec.externalIPs[{index}]", api)
    yield from _outside(spec, is_headless, api)


def _outside(spec: Object, is_headless: bool, api: Version) -> Iterator[str]:
    is_external, addresses = spec.get("type") == "ExternalName", spec.get("externalIPs")
    if addresses and not is_headless and not is_external and is_in(_DEPRECATED, api):
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if spec.get("loadBalancerIP"):
        yield from of_ip(spec["loadBalancerIP"], "spec.loadBalancerIP", api)
    for index, text in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from of_range(text.strip(), f"spec.loadBalancerSourceRanges[{index}]", api)
    if is_external and addresses:
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if not is_external and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose" and is_in(ApiFeature.SAME_ZONE, api):
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
