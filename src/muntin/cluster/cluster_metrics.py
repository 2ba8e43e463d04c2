"""Resource metrics in the cluster: the metrics server beside the control plane, and its objects.

The objects are those of the metrics-server project's own manifest, but the Service leads to the
control plane's listener. An APIService of the name that is there already is left alone, so that
another program can serve the metrics instead.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl

from muntin.cluster import certificate_names as names
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.put import put
from muntin.kit.errors import AlreadyExists
from muntin.kit.http.client import HttpClient
from muntin.kit.http.tls import client_context
from muntin.metrics_server import loop
from muntin.metrics_server.config import MetricsServerConfig
from muntin.model.resources import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    ENDPOINT_SLICES,
    ROLE_BINDINGS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Resource,
    known,
)
from muntin.seams.kube import Object
from muntin.seams.kube.client import Client

PORT = 4443
NAMESPACE, NAME = "kube-system", "metrics-server"
_API_SERVICES = known("apiregistration.k8s.io/v1", "APIService")
_RBAC = "rbac.authorization.k8s.io"
_GROUP, _VERSION = "metrics.k8s.io", "v1beta1"


async def run(config: ClusterConfig, paths: ClusterPaths, admin: Client, client: Client) -> None:
    """Make the objects as ``admin``, then serve as the ServiceAccount that ``client`` is."""
    pki = paths.pki
    ca = (pki / f"{names.CA}.crt").read_bytes()
    for resource, obj in objects(config):
        await put(admin, resource, {**_kind(resource), **obj})
    with contextlib.suppress(AlreadyExists):
        await admin.create(_API_SERVICES, {**_kind(_API_SERVICES), **api_service(ca)})
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.load_cert_chain(pki / f"{names.METRICS_SERVER}.crt", pki / f"{names.METRICS_SERVER}.key")
    tls.load_verify_locations(pki / f"{names.FRONT_PROXY_CA}.crt")
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.set_alpn_protocols(["http/1.1"])
    listener = socket.create_server((str(config.networking.master_address), PORT), backlog=128)
    listener.setblocking(False)
    kubelets = HttpClient(tls=client_context(ca=ca), guarded=True)
    settings = MetricsServerConfig(
        namespace=NAMESPACE, service_account=NAME, allowed_names=(names.FRONT_PROXY_CLIENT,)
    )
    await loop.run(settings, client, kubelets, listener, tls)


def objects(config: ClusterConfig) -> list[tuple[Resource, Object]]:
    """ServiceAccount, roles and bindings, Service and EndpointSlice. Pure."""
    own = {"name": NAME, "namespace": NAMESPACE, "labels": {"k8s-app": NAME}}
    return [
        (SERVICE_ACCOUNTS, {"metadata": own}),
        *_access(),
        (
            SERVICES,
            {
                "metadata": own,
                "spec": {"ports": [{"name": "https", "port": 443, "targetPort": PORT}]},
            },
        ),
        (ENDPOINT_SLICES, {"metadata": _slice_metadata(), **_endpoints(config)}),
    ]


def _access() -> list[tuple[Resource, Object]]:
    aggregated = {f"{_RBAC}/aggregate-to-{role}": "true" for role in ("admin", "edit", "view")}
    reader, own = "system:aggregated-metrics-reader", f"system:{NAME}"
    read = ["get", "list", "watch"]
    return [
        (
            CLUSTER_ROLES,
            {
                "metadata": {"name": reader, "labels": aggregated},
                "rules": [_rule(_GROUP, ["pods", "nodes"], read)],
            },
        ),
        (
            CLUSTER_ROLES,
            {
                "metadata": {"name": own},
                "rules": [
                    _rule("", ["nodes/metrics", "nodes/stats"], ["get"]),
                    _rule("", ["pods", "nodes"], read),
                    # a token of its own is what kubelets know it by
                    {**_rule("", ["serviceaccounts/token"], ["create"]), "resourceNames": [NAME]},
                ],
            },
        ),
        (CLUSTER_ROLE_BINDINGS, _binding({"name": own}, "ClusterRole", own)),
        (
            CLUSTER_ROLE_BINDINGS,
            _binding(
                {"name": f"{NAME}:system:auth-delegator"}, "ClusterRole", "system:auth-delegator"
            ),
        ),
        (
            ROLE_BINDINGS,
            _binding(
                {"name": f"{NAME}-auth-reader", "namespace": NAMESPACE},
                "Role",
                "extension-apiserver-authentication-reader",
            ),
        ),
    ]


def _rule(group: str, resources: list[str], verbs: list[str]) -> Object:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _binding(metadata: Object, kind: str, role: str) -> Object:
    return {
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
    }


def _slice_metadata() -> Object:
    labels = {
        "kubernetes.io/service-name": NAME,
        "endpointslice.kubernetes.io/managed-by": "muntin",
    }
    return {"name": NAME, "namespace": NAMESPACE, "labels": labels}


def _endpoints(config: ClusterConfig) -> Object:
    ready = {"ready": True, "serving": True, "terminating": False}
    address = str(config.networking.master_address)
    return {
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": ready}],
        "ports": [{"name": "https", "port": PORT, "protocol": "TCP"}],
    }


def api_service(ca: bytes) -> Object:
    """The APIService by which the API server finds it. Pure."""
    return {
        "metadata": {"name": f"{_VERSION}.{_GROUP}", "labels": {"k8s-app": NAME}},
        "spec": {
            "group": _GROUP,
            "version": _VERSION,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"name": NAME, "namespace": NAMESPACE},
            "caBundle": base64.b64encode(ca).decode(),
        },
    }


def _kind(resource: Resource) -> Object:
    return {"apiVersion": resource.api_version, "kind": resource.kind}
