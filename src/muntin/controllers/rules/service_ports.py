"""Which ports of which pods stand behind a Service: shared by EndpointSlices and Endpoints.

Source: kubernetes v1.34 pkg/controller/util/endpoint/controller_utils.go,
endpointslice/utils.go (getEndpointPorts), pkg/controller/endpoint/endpoints_controller.go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from muntin.controllers.rules.actions import Object
from muntin.model import pods

HEADLESS_LABEL = "service.kubernetes.io/headless"


def is_headless(service: Object) -> bool:
    """Whether the Service has no address of its own."""
    return bool(service["spec"].get("clusterIP") == "None")


def publishes_not_ready(service: Object) -> bool:
    """Whether pods that are not ready are to be reached all the same."""
    return bool(service["spec"].get("publishNotReadyAddresses"))


def is_selected_by_us(service: Object) -> bool:
    """Whether its endpoints are found by its selector, and not by somebody else."""
    return bool(service["spec"].get("selector")) and service["spec"].get("type") != "ExternalName"


def endpoint_ports(service: Object, pod: Object) -> list[Object]:
    """The Service's ports as they are on ``pod``; a name that it does not have is left out."""
    result: list[Object] = []
    for port in service["spec"].get("ports") or ():
        protocol = port.get("protocol") or "TCP"
        target = port.get("targetPort")
        number = pods.find_port(pod, target if target else port["port"], protocol)
        if number is None:
            continue
        row: Object = {"name": port.get("name") or "", "port": number, "protocol": protocol}
        if port.get("appProtocol"):
            row["appProtocol"] = port["appProtocol"]
        result.append(row)
    return result


def addresses(pod: Object, family: str) -> list[str]:
    """The pod's addresses of ``IPv4`` or ``IPv6``, at most one."""
    version = 6 if family == "IPv6" else 4
    matching = [ip for ip in pods.pod_ips(pod) if ipaddress.ip_address(ip).version == version]
    return matching[:1]


def families(service: Object) -> Sequence[str]:
    """The Service's IP families."""
    return service["spec"].get("ipFamilies") or ("IPv4",)


def hostname(service: Object, pod: Object) -> str:
    """The name by which DNS offers this pod of the Service, if it has one."""
    spec = pod["spec"]
    if spec.get("hostname") and spec.get("subdomain") == service["metadata"]["name"]:
        return str(spec["hostname"])
    return ""


def target_reference(pod: Object) -> Object:
    """The reference from an endpoint to its pod."""
    meta = pod["metadata"]
    return {
        "kind": "Pod",
        "namespace": meta["namespace"],
        "name": meta["name"],
        "uid": meta["uid"],
    }


def labels_for(service: Object, *, own: dict[str, str]) -> dict[str, str]:
    """The Service's labels, with ``own`` and the mark of a headless one."""
    result = dict(service["metadata"].get("labels") or {})
    result.pop(HEADLESS_LABEL, None)
    result.update(own)
    if is_headless(service):
        result[HEADLESS_LABEL] = ""
    return result
