"""Defaults of APIServices. Source: kube-aggregator v1.34 pkg/apis/apiregistration/v1."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def api_service(obj: Object) -> None:
    """The port of the Service that leads to another server."""
    service = (obj.get("spec") or {}).get("service")
    if service is not None:
        service.setdefault("port", 443)
