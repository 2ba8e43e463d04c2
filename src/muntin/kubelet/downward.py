"""The downward API: fields of the pod and resources of a container as text. Pure.

Source: kubernetes v1.34 pkg/fieldpath/fieldpath.go, pkg/api/v1/resource/helpers.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model import quantity
from muntin.model.pods import all_containers, pod_ips

Pod = Mapping[str, Any]

_SUBSCRIPT = re.compile(r"^metadata\.(labels|annotations)\['([^']*)'\]$")


def field_value(pod: Pod, path: str, *, ips: tuple[str, ...] = (), host_ip: str = "") -> str:
    """The text of ``path``; ``ips`` are the pod's addresses as the runtime gave them.

    Raises:
        Invalid: the downward API has no such field.
    """
    meta, spec = pod["metadata"], pod["spec"]
    subscript = _SUBSCRIPT.match(path)
    if subscript:
        return str((meta.get(subscript[1]) or {}).get(subscript[2], ""))
    if path in ("metadata.labels", "metadata.annotations"):
        return _map_text(meta.get(path.removeprefix("metadata.")) or {})
    addresses = list(ips) or pod_ips(pod)
    values = {
        "metadata.name": meta["name"],
        "metadata.namespace": meta["namespace"],
        "metadata.uid": meta["uid"],
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.hostIP": host_ip,
        "status.hostIPs": host_ip,
        "status.podIP": addresses[0] if addresses else "",
        "status.podIPs": ",".join(addresses),
    }
    if path not in values:
        raise Invalid(f"unsupported fieldPath: {path}")
    return str(values[path])


def _map_text(values: Mapping[str, str]) -> str:
    return "\n".join(f"{key}={_go_quoted(values[key])}" for key in sorted(values))


def _go_quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def resource_value(
    pod: Pod,
    container_name: str,
    reference: Mapping[str, Any],
    allocatable: Mapping[str, str],
) -> str:
    """The text of a resourceFieldRef; a limit that is not set is the node's allocatable.

    Raises:
        Invalid: no such container or resource.
    """
    name = reference.get("containerName") or container_name
    container = next((one for one in all_containers(pod) if one["name"] == name), None)
    if container is None:
        raise Invalid(f"container {name} not found")
    kind, _, resource = reference["resource"].partition(".")
    known = resource in ("cpu", "memory", "ephemeral-storage") or resource.startswith("hugepages-")
    if kind not in ("limits", "requests") or not known:
        raise Invalid(f"unsupported container resource : {reference['resource']}")
    resources = container.get("resources") or {}
    amount = (resources.get(kind) or {}).get(resource)
    if amount is None and kind == "limits" and resource in ("cpu", "memory", "ephemeral-storage"):
        amount = allocatable.get(resource)
    divisor = quantity.of(reference.get("divisor") or "1").nano or 10**9
    nano = quantity.of(amount or "0").nano
    return str(-(-nano // divisor))
