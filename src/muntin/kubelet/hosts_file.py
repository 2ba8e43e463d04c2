"""The hosts file of a Linux pod. Pure.

Source: kubernetes v1.34 pkg/kubelet/kubelet_pods.go managedHostsFileContent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MANAGED = "# Kubernetes-managed hosts file.\n"
MANAGED_HOST_NETWORK = "# Kubernetes-managed hosts file (host network).\n"
_STANDARD = (
    "127.0.0.1\tlocalhost\n"
    "::1\tlocalhost ip6-localhost ip6-loopback\n"
    "fe00::0\tip6-localnet\n"
    "fe00::0\tip6-mcastprefix\n"
    "fe00::1\tip6-allnodes\n"
    "fe00::2\tip6-allrouters\n"
)


def hosts_file(
    ips: Sequence[str], hostname: str, domain: str, aliases: Sequence[Mapping[str, Any]]
) -> str:
    """Standard names, the pod's own, then its hostAliases."""
    own = f"{hostname}.{domain}\t{hostname}" if domain else hostname
    lines = "".join(f"{ip}\t{own}\n" for ip in ips)
    return MANAGED + _STANDARD + lines + _alias_lines(aliases)


def host_network_hosts_file(node_file: str, aliases: Sequence[Mapping[str, Any]]) -> str:
    """The node's own file, then the pod's hostAliases."""
    return MANAGED_HOST_NETWORK + node_file + _alias_lines(aliases)


def _alias_lines(aliases: Sequence[Mapping[str, Any]]) -> str:
    if not aliases:
        return ""
    rows = "".join(f"{one['ip']}\t{chr(9).join(one.get('hostnames') or ())}\n" for one in aliases)
    return "\n# Entries added by HostAliases.\n" + rows


def hostname_and_domain(pod: Mapping[str, Any], cluster_domain: str) -> tuple[str, str]:
    """The pod's host name, and its domain when it has a subdomain."""
    spec, meta = pod["spec"], pod["metadata"]
    hostname = spec.get("hostname") or meta["name"][:63].rstrip("-.")
    subdomain = spec.get("subdomain")
    domain = f"{subdomain}.{meta['namespace']}.svc.{cluster_domain}" if subdomain else ""
    if domain and spec.get("setHostnameAsFQDN"):
        hostname = f"{hostname}.{domain}"
    return hostname, domain
