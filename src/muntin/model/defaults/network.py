"""Defaults of Services, endpoints and network policies.

Source: kubernetes v1.34 pkg/apis/{core,discovery,networking}/v1/defaults.go.
"""

from __future__ import annotations

from typing import Any

from muntin.model.defaults.pod import unless_named

Object = dict[str, Any]

_AFFINITY_SECONDS = 3 * 60 * 60


def service(obj: Object) -> None:
    """ClusterIP, no session affinity, target ports equal to ports."""
    spec = obj.setdefault("spec", {})
    unless_named(spec, "sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        client.setdefault("timeoutSeconds", _AFFINITY_SECONDS)
    if not spec.get("type"):
        spec["type"] = "ClusterIP"
    for port in spec.get("ports") or ():
        unless_named(port, "protocol", "TCP")
        if port.get("targetPort") in (None, 0, "") and "port" in port:
            port["targetPort"] = port["port"]
    outside = spec["type"] in ("NodePort", "LoadBalancer") or (
        spec["type"] == "ClusterIP" and spec.get("externalIPs")
    )
    if outside and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    obj.setdefault("status", {}).setdefault("loadBalancer", {})


def endpoints(obj: Object) -> None:
    """TCP ports."""
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            unless_named(port, "protocol", "TCP")


def endpoint_slice(obj: Object) -> None:
    """TCP ports with an empty name; both lists are always there."""
    for port in obj.get("ports") or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")
    for field in ("ports", "endpoints"):
        if obj.get(field) is None:
            obj[field] = []


def network_policy(obj: Object) -> None:
    """Ingress always, egress where there are egress rules."""
    spec = obj.setdefault("spec", {})
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for port in rule.get("ports") or ():
            port.setdefault("protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def ingress_class(obj: Object) -> None:
    """Parameters of cluster scope."""
    parameters = (obj.get("spec") or {}).get("parameters")
    if parameters is not None:
        parameters.setdefault("scope", "Cluster")
