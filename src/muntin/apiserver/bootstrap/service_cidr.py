"""The ServiceCIDR ``kubernetes``: the range of the configuration, where the API has the kind.

Source: kubernetes v1.34 pkg/controlplane/controller/defaultservicecidr/default_servicecidr.go.
"""

from __future__ import annotations

import orjson

from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.kit import errors
from muntin.kit.clock import rfc3339

NAME = "kubernetes"
_FINALIZER = "networking.k8s.io/service-cidr-finalizer"
_HEADERS = {"content-type": "application/json"}


async def ensure(core: Core, transport: DirectTransport) -> None:
    """Create it, ready, if it is not there."""
    row = core.registry.kind("networking.k8s.io", "v1", "ServiceCIDR")
    if row is None or core.cache.get(row, "", NAME) is not None:
        return
    obj = {
        "metadata": {"name": NAME, "finalizers": [_FINALIZER]},
        "spec": {"cidrs": [core.config.service_cidr]},
    }
    answer = await transport.request("POST", row.path(), headers=_HEADERS, body=orjson.dumps(obj))
    if answer.status == 409:
        return  # another server was faster
    made = orjson.loads(answer.body)
    if answer.status >= 400:
        raise errors.Internal(f"bootstrap: ServiceCIDR {NAME}: {made.get('message', '')}")
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "",
        "message": "Kubernetes default Service CIDR is ready",
        "lastTransitionTime": rfc3339(core.clock.now()),
    }
    made["status"] = {"conditions": [ready]}
    path = row.path(NAME, subresource="status")
    answer = await transport.request("PUT", path, headers=_HEADERS, body=orjson.dumps(made))
    if answer.status >= 400:
        text = orjson.loads(answer.body).get("message", "")
        raise errors.Internal(f"bootstrap: ServiceCIDR {NAME}: {text}")
