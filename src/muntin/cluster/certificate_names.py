"""File names in the pki directory: ``NAME.crt`` and ``NAME.key``; of ``sa`` there is no .crt."""

from __future__ import annotations

CA = "ca"
FRONT_PROXY_CA = "front-proxy-ca"
FRONT_PROXY_CLIENT = "front-proxy-client"
SERVICE_ACCOUNT = "sa"
ADMIN = "admin"
API_SERVER = "apiserver"
KUBELET_CLIENT = "apiserver-kubelet-client"
KUBE_PROXY = "kube-proxy"
CONTROLLER_MANAGER = "controller-manager"
SCHEDULER = "scheduler"
METRICS_SERVER = "metrics-server"
SIMULATED_NODES = "simulated-nodes"
ETCD_CA = "etcd-ca"
ETCD_SERVER = "etcd-server"
ETCD_PEER = "etcd-peer"
ETCD_CLIENT = "apiserver-etcd-client"


def kubelet_client(node: str) -> str:
    """File name of the certificate that a kubelet shows to the API server."""
    return f"kubelet-{node}"


def kubelet_server(node: str) -> str:
    """File name of the certificate that a kubelet's own server shows."""
    return f"kubelet-{node}-server"
