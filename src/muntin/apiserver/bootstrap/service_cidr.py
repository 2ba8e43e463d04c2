"""The ServiceCIDR ``kubernetes``: the range of the configuration, where the API has the kind.

Source: kubernetes v1.34 pkg/controlplane/controller/defaultservicecidr/default_servicecidr.go.
"""

from __future__ import annotations

import orjson

from muntin.apiserver import applying
from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.kit import errors
from muntin.kit.clock import rfc3339
from muntin.model.fields import managers

NAME = "kubernetes"
_FINALIZER = "networking.k8s.io/service-cidr-finalizer"
_CONTROLLER = "kubernetes-service-cidr-controller"
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
    path = f"{row.path()}?fieldManager={managers.SERVER}"
    answer = await transport.request("POST", path, headers=_HEADERS, body=orjson.dumps(obj))
    if answer.status == 409:
        return  # another server was faster
    made = orjson.loads(answer.body)
    if answer.status >= 400:
        raise errors.Internal(f"bootstrap: ServiceCIDR {NAME}: {made.get('message', '')}")
    ready = {
        "type": "Ready",
        "status": "True",
        "message": "Kubernetes default Service CIDR is ready",
        "lastTransitionTime": rfc3339(core.clock.now()),
    }
    config = {
        "apiVersion": row.api_version,
        "kind": row.kind,
        "metadata": {"name": NAME},
        "status": {"conditions": [ready]},
    }
    path = f"{row.path(NAME, subresource='status')}?fieldManager={_CONTROLLER}&force=true"
    headers = {"content-type": applying.APPLY_PATCH}
    answer = await transport.request("PATCH", path, headers=headers, body=orjson.dumps(config))
    if answer.status >= 400:
        text = orjson.loads(answer.body).get("message", "")
        raise errors.Internal(f"bootstrap: ServiceCIDR {NAME}: {text}")
