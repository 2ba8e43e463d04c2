"""Cluster DNS as a Service: ``kube-dns`` leads to the listener that the control plane has."""

from __future__ import annotations

import socket
from typing import Any

from muntin.cluster.config import ClusterConfig
from muntin.cluster.fabric_plan import RELAY_DNS
from muntin.cluster.put import put
from muntin.dns.config import DnsConfig
from muntin.model.resources import ENDPOINT_SLICES, SERVICES
from muntin.seams.kube.client import Client

_NAMESPACE, _NAME, _PORT = "kube-system", "kube-dns", 53
_PORTS = (("dns", "UDP"), ("dns-tcp", "TCP"))


def config_of(config: ClusterConfig) -> DnsConfig:
    """What cluster DNS is told. The relay's resolver asks whoever the host asks."""
    net = config.networking
    upstreams = (str(RELAY_DNS),) if net.egress else ()
    return DnsConfig(cluster_domain=net.dns_domain, upstreams=upstreams)


def sockets(config: ClusterConfig) -> tuple[socket.socket, socket.socket]:
    """Bound UDP and TCP sockets on the master's address, for the calling process's namespace."""
    address = (str(config.networking.master_address), _PORT)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(address)
    tcp = socket.create_server(address, backlog=128)
    for sock in (udp, tcp):
        sock.setblocking(False)
    return udp, tcp


async def ensure_service(config: ClusterConfig, client: Client) -> None:
    """Make the Service and its EndpointSlice, or set them right."""
    await put(client, SERVICES, service(config))
    await put(client, ENDPOINT_SLICES, endpoint_slice(config))


def service(config: ClusterConfig) -> dict[str, Any]:
    """The Service, without a selector: no pod stands behind it. Pure."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": _NAME,
            "namespace": _NAMESPACE,
            "labels": {
                "k8s-app": _NAME,
                "kubernetes.io/cluster-service": "true",
                "kubernetes.io/name": "CoreDNS",
            },
        },
        "spec": {
            "clusterIP": str(config.networking.dns_service_ip),
            "ports": [
                {"name": name, "port": _PORT, "targetPort": _PORT, "protocol": protocol}
                for name, protocol in _PORTS
            ],
        },
    }


def endpoint_slice(config: ClusterConfig) -> dict[str, Any]:
    """The slice that leads to the master. Pure."""
    return {
        "apiVersion": ENDPOINT_SLICES.api_version,
        "kind": "EndpointSlice",
        "metadata": {
            "name": _NAME,
            "namespace": _NAMESPACE,
            "labels": {
                "kubernetes.io/service-name": _NAME,
                "endpointslice.kubernetes.io/managed-by": "muntin",
            },
        },
        "addressType": "IPv4",
        "endpoints": [
            {
                "addresses": [str(config.networking.master_address)],
                "conditions": {"ready": True, "serving": True, "terminating": False},
            }
        ],
        "ports": [{"name": name, "port": _PORT, "protocol": protocol} for name, protocol in _PORTS],
    }
