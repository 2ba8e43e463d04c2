"""The environment variables that describe Services to containers. Pure.

Source: kubernetes v1.34 pkg/kubelet/envvars/envvars.go; kubelet_pods.go getServiceEnvVarMap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Service = Mapping[str, Any]

MASTER_SERVICES = frozenset({"kubernetes"})


def visible_services(
    services: Iterable[Service], namespace: str, *, service_links: bool
) -> list[Service]:
    """The services a pod of ``namespace`` is told of; ``kubernetes`` of default always is."""
    chosen: dict[str, Service] = {}
    for service in services:
        meta, spec = service["metadata"], service.get("spec") or {}
        if spec.get("clusterIP") in (None, "", "None"):
            continue
        name = meta["name"]
        if meta["namespace"] == namespace and service_links:
            chosen[name] = service
        elif meta["namespace"] == "default" and name in MASTER_SERVICES:
            chosen.setdefault(name, service)
    return [chosen[name] for name in sorted(chosen)]


def service_variables(services: Iterable[Service]) -> dict[str, str]:
    """``REDIS_SERVICE_HOST`` and its like for each service that has a cluster IP."""
    result: dict[str, str] = {}
    for service in services:
        spec, ports = service["spec"], service["spec"].get("ports") or []
        if not ports:
            continue
        prefix = service["metadata"]["name"].upper().replace("-", "_")
        address = spec["clusterIP"]
        result[f"{prefix}_SERVICE_HOST"] = address
        result[f"{prefix}_SERVICE_PORT"] = str(ports[0]["port"])
        for port in ports:
            if port.get("name"):
                name = port["name"].upper().replace("-", "_")
                result[f"{prefix}_SERVICE_PORT_{name}"] = str(port["port"])
        result.update(_links(prefix, address, ports))
    return result


def _links(prefix: str, address: str, ports: list[Mapping[str, Any]]) -> dict[str, str]:
    """The variables that Docker's links had."""
    result: dict[str, str] = {}
    for index, port in enumerate(ports):
        protocol, number = port.get("protocol", "TCP"), port["port"]
        host = f"[{address}]" if ":" in address else address
        url = f"{protocol.lower()}://{host}:{number}"
        if index == 0:
            result[f"{prefix}_PORT"] = url
        one = f"{prefix}_PORT_{number}_{protocol.upper()}"
        result[one] = url
        result[f"{one}_PROTO"] = protocol.lower()
        result[f"{one}_PORT"] = str(number)
        result[f"{one}_ADDR"] = address
    return result
