"""Validation of ingresses and their classes.

Source: kubernetes v1.34 pkg/apis/networking/validation/validation.go (ValidateIngress*).
"""

from __future__ import annotations

from muntin.model import names
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import domain_prefixed_path
from muntin.model.validation.metadata import service_name
from muntin.model.validation.service import ingress_hostname

_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_SUFFIXES = ("/..", "/.")
_CLASS = "kubernetes.io/ingress.class"
_SCOPES = ("Cluster", "Namespace")
_CONTROLLER_LENGTH = 250


def ingress(obj: Object, found: Findings) -> None:
    """A new ingress; a class is named in one way, or alike in both."""
    _spec(obj.get("spec") or {}, found)
    name = (obj.get("spec") or {}).get("ingressClassName")
    said = (obj["metadata"].get("annotations") or {}).get(_CLASS)
    if said is not None and name is not None and said != name:
        found.invalid(
            f"annotations.{_CLASS}", said, "must match `ingressClassName` when both are specified"
        )


def ingress_update(new: Object, old: Object, found: Findings) -> None:
    """A changed ingress."""
    _spec(new.get("spec") or {}, found)


def _spec(spec: Object, found: Findings) -> None:
    default = spec.get("defaultBackend")
    if not spec.get("rules") and default is None:
        text = "either `defaultBackend` or `rules` must be specified"
        found.invalid("spec", spec.get("rules") or None, text)
    if default is not None:
        _backend(default, "spec.defaultBackend", found)
    for index, rule in enumerate(spec.get("rules") or ()):
        _rule(rule, f"spec.rules[{index}]", found)
    for index, row in enumerate(spec.get("tls") or ()):
        for number, host in enumerate(row.get("hosts") or ()):
            _host(host, f"spec.tls[{index}].hosts[{number}]", found)
        if row.get("secretName"):
            problems = names.dns1123_subdomain(row["secretName"])
            found.each_invalid(f"spec.tls[{index}].secretName", row["secretName"], problems)
    name = spec.get("ingressClassName")
    if name is not None:
        found.each_invalid("spec.ingressClassName", name, names.dns1123_subdomain(name))


def _host(host: str, path: str, found: Findings) -> None:
    check = names.wildcard_subdomain if "*" in host else names.dns1123_subdomain
    found.each_invalid(path, host, check(host))


def _rule(rule: Object, path: str, found: Findings) -> None:
    host = rule.get("host")
    if host:
        if names.is_ip(host):
            found.invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
        _host(host, f"{path}.host", found)
    http = rule.get("http")
    if http is None:
        return
    if not http.get("paths"):
        found.required(f"{path}.http.paths")
    for index, row in enumerate(http.get("paths") or ()):
        _path(row, f"{path}.http.paths[{index}]", found)


def _path(row: Object, path: str, found: Findings) -> None:
    kind, value = row.get("pathType"), row.get("path") or ""
    if kind is None:
        found.required(f"{path}.pathType", "pathType must be specified")
        return
    if kind in ("Exact", "Prefix"):
        if not value.startswith("/"):
            found.invalid(f"{path}.path", value, "must be an absolute path")
        for bad in _BAD_SEQUENCES:
            if bad in value:
                found.invalid(f"{path}.path", value, f"must not contain '{bad}'")
        for bad in _BAD_SUFFIXES:
            if value.endswith(bad):
                found.invalid(f"{path}.path", value, f"cannot end with '{bad}'")
    elif kind != "ImplementationSpecific":
        found.not_supported(f"{path}.pathType", kind, _PATH_TYPES)
    elif value and not value.startswith("/"):
        found.invalid(f"{path}.path", value, "must be an absolute path")
    _backend(row.get("backend") or {}, f"{path}.backend", found)


def _backend(backend: Object, path: str, found: Findings) -> None:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        found.invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        _reference(resource, f"{path}.resource", found)
    elif service is not None:
        _service(service, path, found)
    else:
        found.invalid(path, "", "resource or service backend is required")


def _service(service: Object, path: str, found: Findings) -> None:
    name = service.get("name")
    if not name:
        found.required(f"{path}.service.name")
    else:
        found.each_invalid(f"{path}.service.name", name, service_name(found)(name))
    port = service.get("port") or {}
    label, number = port.get("name"), port.get("number")
    if label and number:
        found.invalid(path, "", "cannot set both port name & port number")
    elif label:
        found.each_invalid(f"{path}.service.port.name", label, names.port_name(label))
    elif number:
        found.each_invalid(f"{path}.service.port.number", number, names.port_number(number))
    else:
        found.required(path, "port name or number is required")


def _reference(reference: Object, path: str, found: Findings) -> None:
    group = reference.get("apiGroup")
    if group is not None:
        found.each_invalid(f"{path}.apiGroup", group, names.dns1123_subdomain(group))
    for field in ("kind", "name"):
        value = reference.get(field)
        if not value:
            found.required(f"{path}.{field}", f"{field} is required")
        else:
            found.each_invalid(f"{path}.{field}", value, names.path_segment(value))


def ingress_status(new: Object, old: Object, found: Findings) -> None:
    """An ingress' status: where it is reached."""
    rows = ((new.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    for index, row in enumerate(rows):
        path, ip = f"status.loadBalancer.ingress[{index}]", row.get("ip")
        if ip:
            found.each_invalid(f"{path}.ip", ip, names.ip_address(ip))
        ingress_hostname(row.get("hostname"), f"{path}.hostname", found)


def ingress_class(obj: Object, found: Findings) -> None:
    """A class of ingresses: who serves them, and by which parameters."""
    spec = obj.get("spec") or {}
    controller, path = spec.get("controller") or "", "spec.controller"
    if len(controller) > _CONTROLLER_LENGTH:
        found.too_long(path, _CONTROLLER_LENGTH)
    domain_prefixed_path(controller, path, found)
    parameters = spec.get("parameters")
    if parameters is not None:
        _parameters(parameters, "spec.parameters", found)


def _parameters(parameters: Object, path: str, found: Findings) -> None:
    _reference(parameters, path, found)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        found.required(f"{path}.scope")
    elif scope not in _SCOPES:
        found.not_supported(f"{path}.scope", scope, _SCOPES)
    elif scope == "Namespace" and namespace is None:
        found.required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
    elif scope == "Namespace":
        found.each_invalid(f"{path}.namespace", namespace, names.dns1123_label(namespace or ""))
    elif namespace is not None:
        found.forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")


def ingress_class_update(new: Object, old: Object, found: Findings) -> None:
    """A changed class keeps its controller."""
    after, before = ((obj.get("spec") or {}).get("controller") for obj in (new, old))
    found.immutable("spec.controller", after, before)
    ingress_class(new, found)
