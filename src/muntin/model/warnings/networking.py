"""Ingresses, policies, endpoints, and the ranges of nodes.

Source: kubernetes v1.36 pkg/registry/{networking,discovery,core}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version
from muntin.model.warnings.addresses import of_ip, of_range

Object = Mapping[str, Any]

_CLASS = "kubernetes.io/ingress.class"
_OWN_SLICES = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")
_SLICE_MANAGER = "endpointslice.kubernetes.io/managed-by"
_ENDPOINTS_MANAGER = "endpoints.kubernetes.io/managed-by"


def of_ingress(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A new Ingress with the annotation of old."""
    named = (new.get("spec") or {}).get("ingressClassName") is not None
    if old is None and not named and _CLASS in (new["metadata"].get("annotations") or {}):
        yield (f"annotation \"{_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead")


def of_network_policy(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """The blocks of addresses of a NetworkPolicy."""
    for way, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate((new.get("spec") or {}).get(way) or ()):
            for number, peer in enumerate(rule.get(peers) or ()):
                block = peer.get("ipBlock")
                if block is not None:
                    at = f"spec.{way}[{index}].{peers}[{number}].ipBlock"
                    yield from of_range(block.get("cidr") or "", f"{at}.cidr", api)
                    for place, text in enumerate(block.get("except") or ()):
                        yield from of_range(text, f"{at}.except[{place}]", api)


def of_endpoints(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """Endpoints that no controller wrote."""
    if (new["metadata"].get("labels") or {}).get(_ENDPOINTS_MANAGER) == "endpoint-controller":
        return
    for index, subset in enumerate(new.get("subsets") or ()):
        for field in ("addresses", "notReadyAddresses"):
            for number, row in enumerate(subset.get(field) or ()):
                at = f"subsets[{index}].{field}[{number}].ip"
                yield from of_ip(row.get("ip") or "", at, api)


def of_endpoint_slice(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """An EndpointSlice that no controller wrote."""
    if (
        old is None
        and new.get("addressType") == "FQDN"
        and is_in(ApiFeature.NAMED_ENDPOINTS_DEPRECATED, api)
    ):
        yield "spec.addressType: FQDN endpoints are deprecated"
    if (new["metadata"].get("labels") or {}).get(_SLICE_MANAGER) in _OWN_SLICES:
        return
    for index, row in enumerate(new.get("endpoints") or ()):
        for number, text in enumerate(row.get("addresses") or ()):
            yield from of_ip(text, f"endpoints[{index}].addresses[{number}]", api)


def of_node(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A field of a Node that nothing reads, and its ranges."""
    spec = new.get("spec") or {}
    if spec.get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    for index, text in enumerate(spec.get("podCIDRs") or ()):
        yield from of_range(text, f"spec.podCIDRs[{index}]", api)
