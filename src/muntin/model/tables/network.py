"""How Services, endpoints, ingresses and network policies are shown.

Source: kubernetes v1.34 pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from muntin.model.tables.printer import (
    NOTHING,
    UNSET,
    Cells,
    Object,
    Printer,
    age,
    columns,
    labels_text,
    name,
    selector_text,
    some_of,
    spec_of,
    status_of,
)


def _port(port: Object) -> str:
    number = str(port.get("port", 0))
    if port.get("nodePort"):
        number += f":{port['nodePort']}"
    return f"{number}/{port.get('protocol', 'TCP')}"


def _load_balancer(obj: Object) -> str:
    """The addresses that a load balancer gave; shared by Services and Ingresses."""
    rows = (status_of(obj).get("loadBalancer") or {}).get("ingress") or ()
    found = sorted({row.get("ip") or row.get("hostname") or "" for row in rows})
    return ",".join(address for address in found if address)


def _external_ip(service: Object) -> str:
    spec = spec_of(service)
    kind, extra = spec.get("type", "ClusterIP"), ",".join(spec.get("externalIPs") or ())
    if kind == "ExternalName":
        return str(spec.get("externalName", ""))
    if kind == "LoadBalancer":
        given = _load_balancer(service)
        return ",".join(filter(None, (given, extra))) or "<pending>"
    return extra or NOTHING


def _service(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    ips = spec.get("clusterIPs") or [spec.get("clusterIP")]
    return [
        name(obj),
        spec.get("type", "ClusterIP"),
        ips[0] or NOTHING,
        _external_ip(obj),
        ",".join(map(_port, spec.get("ports") or ())) or NOTHING,
        age(obj, now_s),
        labels_text(spec.get("selector")),
    ]


def _address(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def _subset_addresses(obj: Object) -> Iterator[str]:
    for subset in obj.get("subsets") or ():
        addresses = [row["ip"] for row in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        if not ports:
            yield from addresses
        for port in ports:
            yield from (_address(ip, port["port"]) for ip in addresses)


def _endpoints(obj: Object, now_s: float) -> Cells:
    return [name(obj), some_of(_subset_addresses(obj)), age(obj, now_s)]


def _endpoint_slice(obj: Object, now_s: float) -> Cells:
    ports = (
        str(port["port"]) if port.get("port") is not None else port.get("name") or "*"
        for port in obj.get("ports") or ()
    )
    addresses = (
        address for row in obj.get("endpoints") or () for address in row.get("addresses") or ()
    )
    return [
        name(obj),
        obj.get("addressType", ""),
        some_of(ports, empty=UNSET),
        some_of(addresses, empty=UNSET),
        age(obj, now_s),
    ]


def _ingress(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    hosts = [rule["host"] for rule in spec.get("rules") or () if rule.get("host")]
    return [
        name(obj),
        spec.get("ingressClassName") or NOTHING,
        some_of(hosts, empty="*"),
        _load_balancer(obj),
        "80, 443" if spec.get("tls") else "80",
        age(obj, now_s),
    ]


def _ingress_class(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    reference = spec.get("parameters")
    shown = NOTHING
    if reference:
        group = reference.get("apiGroup")
        kind = f"{reference['kind']}.{group}" if group else reference["kind"]
        shown = f"{kind}/{reference['name']}"
    return [name(obj), spec.get("controller", ""), shown, age(obj, now_s)]


def _network_policy(obj: Object, now_s: float) -> Cells:
    return [name(obj), selector_text(spec_of(obj).get("podSelector") or {}), age(obj, now_s)]


def _ip_address(obj: Object, _: float) -> Cells:
    parent = spec_of(obj).get("parentRef")
    if parent is None:
        return [name(obj), NOTHING]
    resource = ".".join(filter(None, (parent.get("resource"), parent.get("group")))).lower()
    parts = (resource, parent.get("namespace"), parent.get("name"))
    return [name(obj), "/".join(part for part in parts if part)]


def _service_cidr(obj: Object, now_s: float) -> Cells:
    return [name(obj), ",".join(spec_of(obj).get("cidrs") or ()), age(obj, now_s)]


PRINTERS = {
    ("", "Service"): Printer(
        columns("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", wide=("Selector",)),
        _service,
    ),
    ("", "Endpoints"): Printer(columns("Name", "Endpoints", "Age"), _endpoints),
    ("discovery.k8s.io", "EndpointSlice"): Printer(
        columns("Name", "AddressType", "Ports", "Endpoints", "Age"), _endpoint_slice
    ),
    ("networking.k8s.io", "Ingress"): Printer(
        columns("Name", "Class", "Hosts", "Address", "Ports", "Age"), _ingress
    ),
    ("networking.k8s.io", "IngressClass"): Printer(
        columns("Name", "Controller", "Parameters", "Age"), _ingress_class
    ),
    ("networking.k8s.io", "NetworkPolicy"): Printer(
        columns("Name", "Pod-Selector", "Age"), _network_policy
    ),
    ("networking.k8s.io", "IPAddress"): Printer(columns("Name", "ParentRef"), _ip_address),
    ("networking.k8s.io", "ServiceCIDR"): Printer(columns("Name", "CIDRs", "Age"), _service_cidr),
}
