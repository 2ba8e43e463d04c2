"""What the API warns of in a Service although it takes it.

Source: kubernetes v1.36 pkg/api/service/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version

Object = Mapping[str, Any]


def of_service(service: Object, api: Version) -> list[str]:
    """The warnings of a Service that is created or changed, in upstream's order."""
    if not is_in(ApiFeature.SERVICE_WARNINGS, api):
        return []
    return list(_found(service.get("spec") or {}, api))


def _found(spec: Object, api: Version) -> Iterator[str]:
    is_external = spec.get("type") == "ExternalName"
    is_headless = spec.get("type", "ClusterIP") == "ClusterIP" and spec.get("clusterIP") == "None"
    addresses = spec.get("externalIPs")
    if is_headless:
        if spec.get("loadBalancerIP"):
            yield "spec.loadBalancerIP is ignored for headless services"
        if addresses:
            yield "spec.externalIPs is ignored for headless services"
        if spec.get("sessionAffinity", "None") != "None":
            yield "spec.SessionAffinity is ignored for headless services"
    if (
        addresses
        and not is_headless
        and not is_external
        and is_in(ApiFeature.EXTERNAL_IPS_DEPRECATED, api)
    ):
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if is_external and addresses:
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if not is_external and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
