"""What every node's agent is told, whatever its system."""

from __future__ import annotations

from muntin.cluster import certificate_names
from muntin.cluster.config import ClusterConfig, NodeConfig, Os
from muntin.cluster.images_linux import PAUSE_IMAGE
from muntin.cluster.paths import ClusterPaths
from muntin.kubelet.config import KubeletConfig, NodeFacts
from muntin.kubelet.node_files import NodeFiles
from muntin.kubelet.platform import Platform
from muntin.model.windows_releases import git_version
from muntin.seams.kube.client import Client
from muntin.seams.kube.http import HttpTransport, ServerConfig

EMULATED = "muntin.dev/emulated"
MANIFESTS = {
    Os.LINUX: ("/etc", "kubernetes", "manifests"),
    Os.WINDOWS: ("C:\\etc", "kubernetes", "manifests"),
}
"""The node's folder of static pods, where kubeadm has it."""


def client(config: ClusterConfig, certificate: str) -> Client:
    """The API as the holder of ``certificate`` (a file name in the pki directory) sees it."""
    pki = ClusterPaths(config.name).pki
    return Client(
        HttpTransport(
            ServerConfig(
                server=config.api_server_url,
                ca=(pki / f"{certificate_names.CA}.crt").read_bytes(),
                certificate=(pki / f"{certificate}.crt").read_bytes(),
                key=(pki / f"{certificate}.key").read_bytes(),
            )
        ),
        user_agent=certificate,
    )


def kubelet_config(
    config: ClusterConfig,
    node: NodeConfig,
    *,
    platform: Platform,
    facts: NodeFacts,
    files: NodeFiles,
) -> KubeletConfig:
    """What the node's kubelet is told."""
    paths, net = ClusterPaths(config.name), config.networking
    serving = certificate_names.kubelet_server(node.name)
    return KubeletConfig(
        node_name=node.name,
        node_ip=str(node.address),
        version=git_version(node.kubernetes),
        platform=platform,
        facts=facts,
        files=files,
        labels=node.labels,
        annotations={EMULATED: "true"} if node.os is Os.WINDOWS else {},
        taints=tuple(
            {"key": row.key, "value": row.value, "effect": row.effect} for row in node.taints
        ),
        static_pod_path=platform.join(*MANIFESTS[node.os]),
        cluster_dns=(str(net.dns_service_ip),),
        cluster_domain=net.dns_domain,
        image_gc=node.kubelet.image_gc,
        infra_image="" if node.os is Os.WINDOWS else PAUSE_IMAGE,
        cgroup_parent=f"{paths.cgroup()}/{node.name}",
        seccomp_default=node.kubelet.seccomp_default,
        pod_pids_limit=node.kubelet.pod_pids_limit,
        serving_certificate=str(paths.pki / f"{serving}.crt"),
        serving_key=str(paths.pki / f"{serving}.key"),
        client_ca=str(paths.pki / f"{certificate_names.CA}.crt"),
    )
