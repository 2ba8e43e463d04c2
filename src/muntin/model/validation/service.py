"""Validation of Services.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateService*).
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.validation.addresses import cidr, special
from muntin.model.validation.containers import PROTOCOLS
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_map, label_name
from muntin.model.validation.probes import port as port_number_or_name
from muntin.model.validation.service_families import cluster_ips, families, is_headless

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES = ("ClientIP", "None")
_POLICIES = ("Cluster", "Local")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_LB_MODES = ("Proxy", "VIP")
_EXTERNAL = ("NodePort", "LoadBalancer")
_DAY_S = 24 * 60 * 60
_NO_EXTERNAL_NAME = "may not be set for ExternalName services"
_ONLY_LB = "may only be used when `type` is 'LoadBalancer'"
_HINTS = "service.kubernetes.io/topology-aware-hints"
_MODE = "service.kubernetes.io/topology-mode"
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"


def service(obj: Object, found: Findings) -> None:
    """A service."""
    spec = obj.get("spec") or {}
    annotations = obj["metadata"].get("annotations") or {}
    hints, mode = annotations.get(_HINTS), annotations.get(_MODE)
    if hints is not None and mode is not None and mode != hints:
        found.invalid(
            f"metadata.annotations[{_MODE}]",
            mode,
            f"must match annotations[{_HINTS}] when both are specified",
        )
    if found.has("addresses-first") and _early(spec, found):
        return
    _by_type(spec, found)
    _ports(spec, found)
    label_map(spec.get("selector"), "spec.selector", found)
    _affinity(spec, found)
    families(spec, found)
    for index, ip in enumerate(spec.get("externalIPs") or ()):
        path, problems = f"spec.externalIPs[{index}]", names.ip_address(ip)
        if problems:
            found.each_invalid(path, ip, problems)
        else:
            special(ip, path, found)
    found.one_of("spec.type", spec.get("type"), _TYPES)
    _unique_ports(spec, found)
    _source_ranges(spec, annotations, found)
    _load_balancer(spec, found)
    _external_policy(spec, found)
    inside = spec.get("internalTrafficPolicy")
    if inside is None and spec.get("type") in ("ClusterIP", *_EXTERNAL):
        found.required("spec.internalTrafficPolicy")
    elif inside is not None and inside not in _POLICIES:
        found.not_supported("spec.internalTrafficPolicy", inside, _POLICIES)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        found.not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS)


def _early(spec: Object, found: Findings) -> bool:
    """What is wrong with its own addresses alone: that is looked at before all the rest."""
    first = Findings(found.asked)
    families(spec, first)
    if spec.get("type") == "ExternalName" or not first.causes:
        return False
    found.causes[:] = first.causes
    return True


def _by_type(spec: Object, found: Findings) -> None:
    kind, headless = spec.get("type"), is_headless(spec)
    if not spec.get("ports") and not headless and kind != "ExternalName":
        found.required("spec.ports")
    if kind in _EXTERNAL and headless:
        found.invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    if kind != "ExternalName":
        return
    if cluster_ips(spec):
        found.forbidden("spec.clusterIPs", _NO_EXTERNAL_NAME)
    if spec.get("ipFamilies"):
        found.forbidden("spec.ipFamilies", _NO_EXTERNAL_NAME)
    if spec.get("ipFamilyPolicy") is not None:
        found.forbidden("spec.ipFamilyPolicy", _NO_EXTERNAL_NAME)
    name = (spec.get("externalName") or "").removesuffix(".")
    if not name:
        found.required("spec.externalName")
    else:
        found.each_invalid("spec.externalName", name, names.dns1123_subdomain(name))


def _ports(spec: Object, found: Findings) -> None:
    ports = spec.get("ports") or ()
    labels: set[Any] = set()
    for index, port in enumerate(ports):
        path, name = f"spec.ports[{index}]", port.get("name")
        if name:
            found.each_invalid(f"{path}.name", name, names.dns1123_label(name))
            found.unique(f"{path}.name", name, labels)
        elif len(ports) > 1:
            found.required(f"{path}.name")
        number = port.get("port") or 0
        found.each_invalid(f"{path}.port", number, names.port_number(number))
        found.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
        if port.get("targetPort") is not None:
            port_number_or_name(port["targetPort"], f"{path}.targetPort", found)
        if port.get("appProtocol") is not None:
            label_name(port["appProtocol"], f"{path}.appProtocol", found)


def _unique_ports(spec: Object, found: Findings) -> None:
    ports = spec.get("ports") or ()
    if spec.get("type") == "ClusterIP":
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                found.forbidden(
                    f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'"
                )
    seen: set[Any] = set()
    for index, port in enumerate(ports):
        number = port.get("nodePort")
        if number and (port.get("protocol"), number) in seen:
            found.duplicate(f"spec.ports[{index}].nodePort", number)
        seen.add((port.get("protocol"), number))
    seen.clear()
    for index, port in enumerate(ports):
        pair = {"protocol": port.get("protocol"), "port": port.get("port") or 0}
        key = tuple(pair.values())
        if key in seen:
            found.duplicate(f"spec.ports[{index}]", pair)
        seen.add(key)


def _affinity(spec: Object, found: Findings) -> None:
    kind, config = spec.get("sessionAffinity"), spec.get("sessionAffinityConfig")
    found.one_of("spec.sessionAffinity", kind, _AFFINITIES)
    path = "spec.sessionAffinityConfig"
    if kind == "None":
        if config is not None:
            found.forbidden(path, "must not be set when session affinity is None")
        return
    if kind != "ClientIP":
        return
    needed = "when session affinity type is ClientIP"
    if config is None:
        found.required(path, needed)
        return
    client = config.get("clientIP")
    seconds = (client or {}).get("timeoutSeconds")
    if client is None:
        found.required(f"{path}.clientIP", needed)
    elif seconds is None:
        found.required(f"{path}.clientIP.timeoutSeconds", needed)
    elif not 0 < seconds <= _DAY_S:
        text = f"must be greater than 0 and less than {_DAY_S}"
        found.invalid(f"{path}.clientIP.timeoutSeconds", seconds, text)


def _source_ranges(spec: Object, annotations: Object, found: Findings) -> None:
    ranges, is_lb = spec.get("loadBalancerSourceRanges"), spec.get("type") == "LoadBalancer"
    if ranges:
        path = "spec.LoadBalancerSourceRanges"
        if not is_lb:
            found.forbidden(path, _ONLY_LB)
        for index, block in enumerate(ranges):
            cidr(block.strip(), f"{path}[{index}]", found)
    elif _RANGES in annotations:
        path = f"metadata.annotations[{_RANGES}]"
        if not is_lb:
            found.forbidden(path, _ONLY_LB)
        text = annotations[_RANGES].strip()
        for block in text.split(",") if text else ():
            cidr(block.strip(), path, found)


def _load_balancer(spec: Object, found: Findings) -> None:
    is_lb, kind = spec.get("type") == "LoadBalancer", spec.get("loadBalancerClass")
    allocate = spec.get("allocateLoadBalancerNodePorts")
    if allocate is not None and not is_lb:
        found.forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_LB)
    if kind is not None and is_lb:
        label_name(kind, "spec.loadBalancerClass", found)
    elif kind is not None:
        found.forbidden("spec.loadBalancerClass", _ONLY_LB)


def _needs_health_check(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _external_policy(spec: Object, found: Findings) -> None:
    outside, path = spec.get("externalTrafficPolicy"), "spec.externalTrafficPolicy"
    kind = spec.get("type")
    exposed = kind in _EXTERNAL or (kind == "ClusterIP" and spec.get("externalIPs"))
    if exposed:
        found.one_of(path, outside, _POLICIES)
    elif outside:
        found.invalid(path, outside, "may only be set for externally-accessible services")
    port = spec.get("healthCheckNodePort") or 0
    if port and not _needs_health_check(spec):
        found.invalid(
            "spec.healthCheckNodePort",
            port,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        )
    elif port:
        found.each_invalid("spec.healthCheckNodePort", port, names.port_number(port))


def service_update(new: Object, old: Object, found: Findings) -> None:
    """A changed service: it keeps its addresses unless it becomes an external name."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    if "ExternalName" not in (after.get("type"), before.get("type")):
        _same_addresses(after, before, found)
        _same_families(after, before, found)
    both = after.get("type") == before.get("type") == "LoadBalancer"
    kind = after.get("loadBalancerClass")
    if both and kind != before.get("loadBalancerClass"):
        found.invalid("spec.loadBalancerClass", kind, "may not change once set")
    port = after.get("healthCheckNodePort")
    checked = _needs_health_check(after) and _needs_health_check(before)
    if checked and port and port != before.get("healthCheckNodePort"):
        found.forbidden("spec.healthCheckNodePort", "field is immutable")
    service(new, found)


def _same_addresses(after: Object, before: Object, found: Findings) -> None:
    if is_headless(after) and is_headless(before):
        return
    now, was = cluster_ips(after), cluster_ips(before)
    if len(now) == len(was):
        for index, ip in enumerate(was):
            if ip != now[index]:
                found.invalid(f"spec.clusterIPs[{index}]", now, "may not change once set")
        return
    if was and not now:
        found.invalid("spec.clusterIPs[0]", now, "primary clusterIP can not be unset")
    elif was and now[0] != was[0]:
        found.invalid("spec.clusterIPs[0]", now, "may not change once set")
    _releases(after, len(now) == 1 and len(was) > 1, "clusterIP", found)


def _releases(after: Object, is_released: bool, what: str, found: Findings) -> None:
    policy = after.get("ipFamilyPolicy")
    if is_released and policy != "SingleStack":
        found.invalid(
            "spec.ipFamilyPolicy",
            policy,
            f"must be set to 'SingleStack' when releasing the secondary {what}",
        )


def _same_families(after: Object, before: Object, found: Findings) -> None:
    if is_headless(after) or is_headless(before):
        return
    now, was = after.get("ipFamilies") or [], before.get("ipFamilies") or []
    if not now or not was:
        return
    if len(now) == len(was):
        if now != was:
            found.invalid("spec.ipFamilies[0]", now, "may not change once set")
        return
    if now[0] != was[0]:
        found.invalid("spec.ipFamilies[0]", cluster_ips(after), "may not change once set")
    _releases(after, len(now) == 1 and len(was) > 1, "ipFamily", found)


def service_status(new: Object, old: Object, found: Findings) -> None:
    """A service's status: where its load balancer is."""
    rows = ((new.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    path = "status.loadBalancer.ingress"
    is_balanced = (new.get("spec") or {}).get("type") == "LoadBalancer"
    if rows and not is_balanced and found.has("service-status-for-balancers"):
        found.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for index, row in enumerate(rows):
        here, ip, mode = f"{path}[{index}]", row.get("ip"), row.get("ipMode")
        if ip:
            found.each_invalid(f"{here}.ip", ip, names.ip_address(ip))
        if mode is not None and not ip:
            found.forbidden(f"{here}.ipMode", "may not be specified when `ip` is not set")
        elif mode is not None and mode not in _LB_MODES:
            found.not_supported(f"{here}.ipMode", mode, _LB_MODES)
        ingress_hostname(row.get("hostname"), f"{here}.hostname", found)


def ingress_hostname(name: str | None, path: str, found: Findings) -> None:
    """The name of a load balancer."""
    if name:
        found.each_invalid(path, name, names.dns1123_subdomain(name))
        if names.is_ip(name):
            found.invalid(path, name, "must be a DNS name, not an IP address")
