"""How APIServices are shown.

Source: kube-aggregator v1.34 pkg/registry/apiservice/etcd/etcd.go.
"""

from __future__ import annotations

from muntin.model.tables.printer import Cells, Object, Printer, age, columns, name


def _api_service(obj: Object, now_s: float) -> Cells:
    service = (obj.get("spec") or {}).get("service")
    shown = f"{service.get('namespace')}/{service.get('name')}" if service else "Local"
    return [name(obj), shown, _available(obj), age(obj, now_s)]


def _available(obj: Object) -> str:
    for row in (obj.get("status") or {}).get("conditions") or ():
        if row.get("type") == "Available":
            status, reason = str(row.get("status")), row.get("reason")
            return status if status == "True" or not reason else f"{status} ({reason})"
    return "Unknown"


PRINTERS: dict[tuple[str, str], Printer] = {
    ("apiregistration.k8s.io", "APIService"): Printer(
        columns("Name", "Service", "Available", "Age"), _api_service
    ),
}
