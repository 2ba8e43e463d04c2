"""What a Service uses of a quota.

Source: kubernetes v1.34 pkg/quota/v1/evaluator/core/services.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.model import quantity
from muntin.model.quota import amounts
from muntin.model.quota.amounts import Amounts

Object = Mapping[str, Any]

COUNT = "count/services"
_NAMES = frozenset({COUNT, "services", "services.nodeports", "services.loadbalancers"})


def handles(operation: str, subresource: str) -> bool:
    """Creations and updates."""
    return operation in ("CREATE", "UPDATE") and not subresource


def tracked(names: Iterable[str]) -> list[str]:
    """Those of ``names`` that Services use."""
    return [name for name in names if name in _NAMES]


def usage(service: Object, now: float) -> Amounts:
    """One Service, its load balancer and its node ports."""
    spec = service.get("spec") or {}
    ports, balancers = len(spec.get("ports") or ()), 0
    if spec.get("type") == "LoadBalancer":
        balancers = 1
        if spec.get("allocateLoadBalancerNodePorts") is False:
            ports = sum(bool(port.get("nodePort")) for port in spec.get("ports") or ())
    elif spec.get("type") != "NodePort":
        ports = 0
    return {
        COUNT: amounts.ONE,
        "services": amounts.ONE,
        "services.nodeports": quantity.parse(str(ports)),
        "services.loadbalancers": quantity.parse(str(balancers)),
    }
