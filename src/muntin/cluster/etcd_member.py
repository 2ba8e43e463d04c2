"""An etcd of the cluster's own: Debian's, one member, beside the control plane in master's network.

Who talks to it shows a certificate of its own authority, as with kubeadm.
"""

from __future__ import annotations

from pathlib import Path

from muntin.cluster import certificate_names as names
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import Component
from muntin.cluster.store_config import ETCD_CLIENT_PORT, ETCD_PEER_PORT

NAME = "etcd"


def component(config: ClusterConfig, paths: ClusterPaths) -> Component:
    """The process; its data is in the state directory."""
    paths.etcd.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Component(
        name=NAME,
        argv=("etcd", *arguments(config, paths.etcd, paths.pki)),
        namespace=paths.netns("master"),
    )


def arguments(config: ClusterConfig, data: Path, pki: Path) -> list[str]:
    """The flags of etcd. Pure."""
    address = config.networking.master_address
    clients = f"https://{address}:{ETCD_CLIENT_PORT}"
    peers = f"https://127.0.0.1:{ETCD_PEER_PORT}"
    return [
        "--name=master",
        f"--data-dir={data}",
        f"--listen-client-urls=https://127.0.0.1:{ETCD_CLIENT_PORT},{clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=master={peers}",
        "--client-cert-auth=true",
        f"--trusted-ca-file={pki / names.ETCD_CA}.crt",
        f"--cert-file={pki / names.ETCD_SERVER}.crt",
        f"--key-file={pki / names.ETCD_SERVER}.key",
        "--peer-client-cert-auth=true",
        f"--peer-trusted-ca-file={pki / names.ETCD_CA}.crt",
        f"--peer-cert-file={pki / names.ETCD_PEER}.crt",
        f"--peer-key-file={pki / names.ETCD_PEER}.key",
        "--logger=zap",
        "--log-level=warn",
        "--snapshot-count=10000",
    ]
