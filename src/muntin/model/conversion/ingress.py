"""Ingresses: the beta forms name a backend's service and port flatly, and the default otherwise.

Source: kubernetes v1.20 pkg/apis/networking/v1beta1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Object = dict[str, Any]


def newer_of(obj: Object) -> Object:
    """An Ingress of a beta version in the form of networking.k8s.io/v1."""
    return _with(obj, "backend", "defaultBackend", _newer_backend)


def older_of(obj: Object) -> Object:
    """An Ingress of networking.k8s.io/v1 in the form of the beta versions."""
    return _with(obj, "defaultBackend", "backend", _older_backend)


def _with(obj: Object, old: str, new: str, backend: Callable[[Object], Object]) -> Object:
    if "spec" not in obj:
        return obj
    spec = {new if key == old else key: value for key, value in obj["spec"].items()}
    if new in spec:
        spec[new] = backend(spec[new])
    if "rules" in spec:
        spec["rules"] = [_rule(rule, backend) for rule in spec["rules"]]
    return {**obj, "spec": spec}


def _rule(rule: Object, backend: Callable[[Object], Object]) -> Object:
    http = rule.get("http")
    if not http:
        return rule
    paths = [
        {**path, "backend": backend(path["backend"])} if "backend" in path else path
        for path in http.get("paths") or ()
    ]
    return {**rule, "http": {**http, "paths": paths}}


def _newer_backend(backend: Object) -> Object:
    result = {k: value for k, value in backend.items() if k not in ("serviceName", "servicePort")}
    name, port = backend.get("serviceName"), backend.get("servicePort")
    if name or port not in (None, 0):
        service: Object = {"name": name or ""}
        if port is not None:
            service["port"] = {"name" if isinstance(port, str) else "number": port}
        result["service"] = service
    return result


def _older_backend(backend: Object) -> Object:
    result = {key: value for key, value in backend.items() if key != "service"}
    service = backend.get("service")
    if service is None:
        return result
    port = service.get("port") or {}
    result["serviceName"] = service.get("name", "")
    if "name" in port or "number" in port:
        result["servicePort"] = port.get("name") or port.get("number", 0)
    return result
