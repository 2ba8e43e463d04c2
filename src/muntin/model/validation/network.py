"""Validation of Services, endpoints, ingresses and network policies.

Source: kubernetes v1.34 pkg/apis/{core,discovery,networking}/validation/validation.go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from muntin.model import names
from muntin.model.validation.containers import PROTOCOLS
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.metadata import label_map, label_selector

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES = ("ClientIP", "None")
_POLICIES = ("Cluster", "Local")
_HEADLESS = "None"
_DAY_S = 24 * 60 * 60
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_SLICE_ENDPOINTS, _SLICE_ADDRESSES, _SLICE_PORTS = 1000, 100, 20000
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")


def service(obj: Object, found: Findings) -> None:
    """A service."""
    spec = obj.get("spec") or {}
    kind, cluster_ip = spec.get("type"), spec.get("clusterIP") or ""
    headless = cluster_ip == _HEADLESS
    if not spec.get("ports") and not headless and kind != "ExternalName":
        found.required("spec.ports")
    if kind == "ExternalName":
        _external_name(spec, cluster_ip, found)
    elif kind in ("NodePort", "LoadBalancer") and headless:
        found.invalid(
            "spec.clusterIPs[0]", cluster_ip, f"may not be set to 'None' for {kind} services"
        )
    found.one_of("spec.type", kind, _TYPES)
    _service_ports(spec, found)
    label_map(spec.get("selector"), "spec.selector", found)
    _affinity(spec, found)
    if cluster_ip and not headless:
        found.each_invalid("spec.clusterIPs[0]", cluster_ip, names.ip_address(cluster_ip))
    for index, ip in enumerate(spec.get("externalIPs") or ()):
        _reachable(ip, f"spec.externalIPs[{index}]", found)
    _traffic_policies(spec, found)
    for index, block in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        problems = names.cidr(block.strip())
        found.each_invalid(f"spec.loadBalancerSourceRanges[{index}]", block, problems)


def _external_name(spec: Object, cluster_ip: str, found: Findings) -> None:
    name = (spec.get("externalName") or "").removesuffix(".")
    if cluster_ip:
        found.forbidden("spec.clusterIPs", "may not be set for ExternalName services")
    if not name:
        found.required("spec.externalName")
    else:
        found.each_invalid("spec.externalName", name, names.dns1123_subdomain(name))


def _service_ports(spec: Object, found: Findings) -> None:
    ports = spec.get("ports") or ()
    labels: set[Any] = set()
    pairs: set[Any] = set()
    node_ports: set[Any] = set()
    for index, port in enumerate(ports):
        path = f"spec.ports[{index}]"
        _service_port(port, path, len(ports) > 1, labels, found)
        pair = (port.get("protocol"), port.get("port"))
        if pair in pairs:
            found.duplicate(path, {"protocol": pair[0], "port": pair[1]})
        pairs.add(pair)
        if not port.get("nodePort"):
            continue
        if spec.get("type") not in ("NodePort", "LoadBalancer"):
            found.forbidden(
                f"{path}.nodePort", f"may not be used when `type` is '{spec.get('type')}'"
            )
        taken = (port.get("protocol"), port["nodePort"])
        if taken in node_ports:
            found.duplicate(f"{path}.nodePort", port["nodePort"])
        node_ports.add(taken)


def _service_port(
    port: Object, path: str, needs_name: bool, labels: set[Any], found: Findings
) -> None:
    name, number, target = port.get("name"), port.get("port", 0), port.get("targetPort")
    if needs_name and not name:
        found.required(f"{path}.name")
    elif name:
        found.each_invalid(f"{path}.name", name, names.dns1123_label(name))
        found.unique(f"{path}.name", name, labels)
    found.each_invalid(f"{path}.port", number, names.port_number(number))
    found.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
    if isinstance(target, str):
        found.each_invalid(f"{path}.targetPort", target, names.port_name(target))
    elif target is not None:
        found.each_invalid(f"{path}.targetPort", target, names.port_number(target))


def _affinity(spec: Object, found: Findings) -> None:
    kind = spec.get("sessionAffinity")
    found.one_of("spec.sessionAffinity", kind, _AFFINITIES)
    config = spec.get("sessionAffinityConfig")
    if kind == "None" and config is not None:
        found.forbidden(
            "spec.sessionAffinityConfig", "must not be set when session affinity is None"
        )
    seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
    if kind == "ClientIP" and seconds is not None and not 0 < seconds <= _DAY_S:
        found.invalid(
            "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
            seconds,
            f"must be greater than 0 and less than {_DAY_S}",
        )


def _traffic_policies(spec: Object, found: Findings) -> None:
    outside = spec.get("externalTrafficPolicy")
    path = "spec.externalTrafficPolicy"
    exposed = spec.get("type") in ("NodePort", "LoadBalancer") or spec.get("externalIPs")
    if outside:
        if not exposed:
            found.invalid(path, outside, "may only be set for externally-accessible services")
        elif outside not in _POLICIES:
            found.not_supported(path, outside, _POLICIES)
    inside = spec.get("internalTrafficPolicy")
    if spec.get("type") != "ExternalName":
        found.one_of("spec.internalTrafficPolicy", inside, _POLICIES)
    if spec.get("healthCheckNodePort"):
        needed = spec.get("type") == "LoadBalancer" and outside == "Local"
        if not needed:
            found.invalid(
                "spec.healthCheckNodePort",
                spec["healthCheckNodePort"],
                "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is "
                "'Local'",
            )


def _reachable(ip: str, path: str, found: Findings) -> None:
    """An address that another machine can stand behind."""
    problems = names.ip_address(ip)
    found.each_invalid(path, ip, problems)
    if problems:
        return
    address = ipaddress.ip_address(ip)
    if address.is_unspecified:
        found.invalid(path, ip, f"may not be unspecified ({ip})")
    elif address.is_loopback:
        block = "127.0.0.0/8, ::1/128"
        found.invalid(path, ip, f"may not be in the loopback range ({block})")
    elif address.is_link_local:
        found.invalid(path, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    elif address.is_multicast:
        found.invalid(
            path, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        )


def service_update(new: Object, old: Object, found: Findings) -> None:
    """A changed service: it keeps its address unless it becomes an external name."""
    service(new, found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    had, has = before.get("clusterIP"), after.get("clusterIP")
    if "ExternalName" not in (after.get("type"), before.get("type")) and had and had != has:
        found.invalid("spec.clusterIPs[0]", [has] if has else [], "may not change once set")


def endpoints(obj: Object, found: Findings) -> None:
    """Endpoints of the core group."""
    for index, subset in enumerate(obj.get("subsets") or ()):
        path = f"subsets[{index}]"
        ready, other = subset.get("addresses") or (), subset.get("notReadyAddresses") or ()
        if not ready and not other:
            found.required(path, "must specify `addresses` or `notReadyAddresses`")
        for field, rows in (("addresses", ready), ("notReadyAddresses", other)):
            for at, row in enumerate(rows):
                _reachable(row.get("ip", ""), f"{path}.{field}[{at}].ip", found)
        ports = subset.get("ports") or ()
        for at, port in enumerate(ports):
            _endpoint_port(port, f"{path}.ports[{at}]", len(ports) > 1, found)


def _endpoint_port(port: Object, path: str, needs_name: bool, found: Findings) -> None:
    if needs_name and not port.get("name"):
        found.required(f"{path}.name")
    elif port.get("name"):
        found.each_invalid(f"{path}.name", port["name"], names.dns1123_label(port["name"]))
    number = port.get("port", 0)
    found.each_invalid(f"{path}.port", number, names.port_number(number))
    found.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)


def endpoint_slice(obj: Object, found: Findings) -> None:
    """An endpoint slice."""
    kind, rows, ports = obj.get("addressType"), obj.get("endpoints") or (), obj.get("ports") or ()
    found.one_of("addressType", kind, _ADDRESS_TYPES)
    if len(rows) > _SLICE_ENDPOINTS:
        found.too_many("endpoints", len(rows), _SLICE_ENDPOINTS)
    for index, row in enumerate(rows):
        _slice_endpoint(row, kind, f"endpoints[{index}]", found)
    if len(ports) > _SLICE_PORTS:
        found.too_many("ports", len(ports), _SLICE_PORTS)
    seen: set[Any] = set()
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", port.get("name") or ""
        found.unique(f"{path}.name", name, seen)
        if name:
            found.each_invalid(f"{path}.name", name, names.dns1123_label(name))
        found.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)


def _slice_endpoint(row: Object, kind: str | None, path: str, found: Findings) -> None:
    addresses = row.get("addresses") or ()
    if not addresses:
        found.required(f"{path}.addresses", "must contain at least 1 address")
    elif len(addresses) > _SLICE_ADDRESSES:
        found.too_many(f"{path}.addresses", len(addresses), _SLICE_ADDRESSES)
    for index, address in enumerate(addresses):
        here = f"{path}.addresses[{index}]"
        if kind == "FQDN":
            found.each_invalid(here, address, names.dns1123_subdomain(address))
            continue
        problems = names.ip_address(address)
        found.each_invalid(here, address, problems)
        if not problems and (":" in address) != (kind == "IPv6"):
            found.invalid(here, address, f"must be an {kind} address")
        elif not problems:
            _reachable(address, here, found)
    if row.get("nodeName"):
        problems = names.dns1123_subdomain(row["nodeName"])
        found.each_invalid(f"{path}.nodeName", row["nodeName"], problems)


def endpoint_slice_update(new: Object, old: Object, found: Findings) -> None:
    """A changed endpoint slice keeps its address type."""
    endpoint_slice(new, found)
    found.immutable("addressType", new.get("addressType"), old.get("addressType"))


def network_policy(obj: Object, found: Findings) -> None:
    """A network policy."""
    spec = obj.get("spec") or {}
    label_selector(spec.get("podSelector"), "spec.podSelector", found)
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            path = f"spec.{direction}[{index}]"
            _policy_ports(rule.get("ports") or (), f"{path}.ports", found)
            for at, peer in enumerate(rule.get(peers) or ()):
                _policy_peer(peer, f"{path}.{peers}[{at}]", found)
    for index, kind in enumerate(spec.get("policyTypes") or ()):
        if kind not in ("Ingress", "Egress"):
            found.not_supported(f"spec.policyTypes[{index}]", kind, ("Egress", "Ingress"))


def _policy_ports(ports: Iterable[Object], path: str, found: Findings) -> None:
    for index, port in enumerate(ports):
        here, value = f"{path}[{index}]", port.get("port")
        found.one_of(f"{here}.protocol", port.get("protocol"), PROTOCOLS)
        if isinstance(value, str):
            found.each_invalid(f"{here}.port", value, names.port_name(value))
        elif value is not None:
            found.each_invalid(f"{here}.port", value, names.port_number(value))


def _policy_peer(peer: Object, path: str, found: Findings) -> None:
    block = peer.get("ipBlock")
    selectors = [
        name for name in ("podSelector", "namespaceSelector") if peer.get(name) is not None
    ]
    for name in selectors:
        label_selector(peer[name], f"{path}.{name}", found)
    if block is not None:
        if selectors:
            found.forbidden(path, "may not specify both ipBlock and another peer")
        cidr = block.get("cidr") or ""
        if not cidr:
            found.required(f"{path}.ipBlock.cidr")
        else:
            found.each_invalid(f"{path}.ipBlock.cidr", cidr, names.cidr(cidr))
    elif not selectors:
        found.required(path, "must specify a peer")


def ingress(obj: Object, found: Findings) -> None:
    """An ingress."""
    spec = obj.get("spec") or {}
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        found.invalid("spec", spec, "either `defaultBackend` or `rules` must be specified")
    if spec.get("defaultBackend") is not None:
        _backend(spec["defaultBackend"], "spec.defaultBackend", found)
    for index, rule in enumerate(spec.get("rules") or ()):
        here, host = f"spec.rules[{index}]", rule.get("host") or ""
        if host:
            problems = names.dns1123_subdomain(host.removeprefix("*."))
            found.each_invalid(f"{here}.host", host, problems)
        for at, row in enumerate((rule.get("http") or {}).get("paths") or ()):
            _ingress_path(row, f"{here}.http.paths[{at}]", found)


def _ingress_path(row: Object, path: str, found: Findings) -> None:
    kind, value = row.get("pathType"), row.get("path") or ""
    if not kind:
        found.required(f"{path}.pathType", "pathType must be specified")
    elif kind not in _PATH_TYPES:
        found.not_supported(f"{path}.pathType", kind, _PATH_TYPES)
    elif (kind != "ImplementationSpecific" or value) and not value.startswith("/"):
        found.invalid(f"{path}.path", value, "must be an absolute path")
    _backend(row.get("backend") or {}, f"{path}.backend", found)


def _backend(backend: Object, path: str, found: Findings) -> None:
    target = backend.get("service")
    if target is None:
        if backend.get("resource") is None:
            found.required(path, "must specify a service or a resource")
        return
    if not target.get("name"):
        found.required(f"{path}.service.name")
    port = target.get("port") or {}
    if port.get("name"):
        found.each_invalid(f"{path}.service.port.name", port["name"], names.port_name(port["name"]))
    elif port.get("number"):
        problems = names.port_number(port["number"])
        found.each_invalid(f"{path}.service.port.number", port["number"], problems)
    else:
        found.required(f"{path}.service.port", "port name or number is required")
