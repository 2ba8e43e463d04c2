"""What is wrong with an APIService.

Source: kube-aggregator v1.34 pkg/apis/apiregistration/validation/validation.go.
"""

from __future__ import annotations

import base64
import binascii

from muntin.model import names
from muntin.model.validation.findings import Findings, Object

_MOST_GROUP_PRIORITY, _MOST_VERSION_PRIORITY = 20000, 1000

_CONDITION_STATUS = ("True", "False", "Unknown")


def api_service(obj: Object, found: Findings) -> None:
    """A new APIService, or a changed one."""
    spec = obj.get("spec") or {}
    group, version = spec.get("group") or "", spec.get("version") or ""
    name, wanted = obj["metadata"].get("name", ""), f"{version}.{group}"
    if name and name != wanted:
        found.invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{wanted}"')
    if not group and version != "v1":
        found.required("spec.group", "only v1 may have an empty group and it better be legacy kube")
    if group:
        found.each_invalid("spec.group", group, names.dns1123_subdomain(group))
    found.each_invalid("spec.version", version, names.dns1035_label(version))
    _priority(spec, "groupPriorityMinimum", _MOST_GROUP_PRIORITY, found)
    _priority(spec, "versionPriority", _MOST_VERSION_PRIORITY, found)
    service = spec.get("service")
    if service is None:
        _local(spec, found)
    else:
        _remote(spec, service, found)


def api_service_status(new: Object, old: Object, found: Findings) -> None:
    """How far an APIService is available."""
    for index, row in enumerate((new.get("status") or {}).get("conditions") or ()):
        if row.get("status") not in _CONDITION_STATUS:
            path = f"status.conditions[{index}].status"
            found.not_supported(path, row.get("status") or "", _CONDITION_STATUS)


def _priority(spec: Object, field: str, most: int, found: Findings) -> None:
    value = spec.get(field) or 0
    if not 0 < value <= most:
        found.invalid(f"spec.{field}", value, f"must be positive and less than {most}")


def _local(spec: Object, found: Findings) -> None:
    if spec.get("caBundle"):
        shown = f"{_decoded_size(spec['caBundle'])} bytes"
        found.invalid("spec.caBundle", shown, "local APIServices may not have a caBundle")
    if spec.get("insecureSkipTLSVerify"):
        path, detail = "spec.insecureSkipTLSVerify", "local APIServices may not have"
        found.invalid(path, True, f"{detail} insecureSkipTLSVerify")


def _remote(spec: Object, service: Object, found: Findings) -> None:
    if not service.get("namespace"):
        found.required("spec.service.namespace")
    if not service.get("name"):
        found.required("spec.service.name")
    port = service.get("port") or 0
    if problems := names.port_number(port):
        found.invalid("spec.service.port", port, f"port is not valid: {', '.join(problems)}")
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        found.invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present")


def _decoded_size(text: str) -> int:
    try:
        return len(base64.b64decode(text))
    except (ValueError, binascii.Error):
        return 0
