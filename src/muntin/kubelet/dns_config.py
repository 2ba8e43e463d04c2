"""The DNS settings of a pod by its dnsPolicy. Pure.

Source: kubernetes v1.34 pkg/kubelet/network/dns/dns.go GetPodDNS, appendDNSConfig.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.kubelet.platform import Platform
from muntin.model.windows import Feature

Object = Mapping[str, Any]

CLUSTER_OPTIONS = ["ndots:5"]
MAX_SERVERS = 3
MAX_SEARCHES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResolver:
    """What the node itself uses."""

    servers: Sequence[str] = ()
    searches: Sequence[str] = ()
    options: Sequence[str] = ()


def parse_resolv_conf(text: str) -> HostResolver:
    """The resolv.conf(5) directives that pods inherit."""
    servers: list[str] = []
    searches: list[str] = []
    options: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 2 or words[0].startswith(("#", ";")):
            continue
        if words[0] == "nameserver":
            servers.append(words[1])
        elif words[0] == "search":
            searches = [word.rstrip(".") or "." for word in words[1:]]
        elif words[0] == "options":
            options = words[1:]
    return HostResolver(servers=servers, searches=searches, options=options)


def dns_config(
    pod: Object,
    platform: Platform,
    *,
    cluster_dns: Sequence[str],
    cluster_domain: str,
    host: HostResolver,
) -> dict[str, list[str]]:
    """The CRI DNSConfig of the pod."""
    spec, namespace = pod["spec"], pod["metadata"]["namespace"]
    kind = _kind(spec, platform)
    if kind == "cluster" and cluster_dns:
        servers, options = list(cluster_dns), list(CLUSTER_OPTIONS)
        suffix = f"svc.{cluster_domain}"
        searches = [f"{namespace}.{suffix}", suffix, cluster_domain, *host.searches]
    elif kind == "none":
        servers, searches, options = [], [], []
    else:
        servers, searches = list(host.servers), list(host.searches)
        options = list(host.options)
    own = spec.get("dnsConfig") or {}
    servers = _unique([*servers, *(own.get("nameservers") or ())])
    searches = _unique([*searches, *(own.get("searches") or ())])
    options = _merged_options(options, own.get("options") or ())
    if not platform.has(Feature.DNS_SEVERAL_SUFFIXES):
        searches = searches[:1]
    return {
        "servers": servers[:MAX_SERVERS],
        "searches": searches[:MAX_SEARCHES],
        "options": options,
    }


def _kind(spec: Object, platform: Platform) -> str:
    policy = spec.get("dnsPolicy", "ClusterFirst")
    if policy == "None":
        return "none"
    if policy == "ClusterFirstWithHostNet":
        return "cluster" if platform.has(Feature.CLUSTER_FIRST_WITH_HOST_NET) else "host"
    if policy == "ClusterFirst" and not spec.get("hostNetwork"):
        return "cluster"
    return "host"


def _unique(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _merged_options(existing: Sequence[str], own: Sequence[Object]) -> list[str]:
    options = {one.partition(":")[0]: one for one in existing}
    for row in own:
        value = row.get("value")
        options[row["name"]] = f"{row['name']}:{value}" if value is not None else row["name"]
    return list(options.values())
