"""A pod as a CRI PodSandboxConfig, for either operating system. Pure.

Source: kubernetes v1.34 pkg/kubelet/kuberuntime/kuberuntime_sandbox.go, _windows.go, _linux.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.dns_config import HostResolver, dns_config
from muntin.kubelet.hosts_file import hostname_and_domain
from muntin.kubelet.resources import cgroup_limits, pod_cgroup
from muntin.kubelet.runtime_state import POD_NAME, POD_NAMESPACE, POD_UID
from muntin.kubelet.security import linux_sandbox_security, windows_sandbox_security
from muntin.kubelet.user_namespaces import user_namespace
from muntin.model.pods import limits, requests
from muntin.seams.cri.enums import Protocol

Object = Mapping[str, Any]


def sandbox_config(
    pod: Object, attempt: int, config: KubeletConfig, host: HostResolver
) -> dict[str, Any]:
    """What RunPodSandbox gets, and every CreateContainer in it."""
    meta, spec = pod["metadata"], pod["spec"]
    platform = config.platform
    logs = platform.log_dir(meta["namespace"], meta["name"], meta["uid"])
    result: dict[str, Any] = {
        "metadata": {
            "name": meta["name"],
            "uid": meta["uid"],
            "namespace": meta["namespace"],
            "attempt": attempt,
        },
        "log_directory": config.files.runtime(logs),
        "dns_config": dns_config(
            pod,
            platform,
            cluster_dns=config.cluster_dns,
            cluster_domain=config.cluster_domain,
            host=host,
        ),
        "port_mappings": port_mappings(pod),
        "labels": {
            **(meta.get("labels") or {}),
            POD_NAME: meta["name"],
            POD_NAMESPACE: meta["namespace"],
            POD_UID: meta["uid"],
        },
        "annotations": dict(meta.get("annotations") or {}),
    }
    if not spec.get("hostNetwork"):
        result["hostname"] = hostname_and_domain(pod, config.cluster_domain)[0]
    if platform.is_windows:
        result["windows"] = {"security_context": windows_sandbox_security(pod, platform)}
    else:
        sysctls = (spec.get("securityContext") or {}).get("sysctls") or ()
        result["linux"] = {
            "cgroup_parent": pod_cgroup(config.cgroup_parent, pod),
            "security_context": linux_sandbox_security(pod, user_namespace(pod, platform)),
            "sysctls": {row["name"]: row["value"] for row in sysctls},
            "resources": cgroup_limits(requests(pod), limits(pod)),
        }
    return result


def port_mappings(pod: Object) -> list[dict[str, Any]]:
    """Every container port; host_port 0 is left out on the wire."""
    return [
        {
            "protocol": Protocol[port.get("protocol", "TCP")],
            "container_port": port["containerPort"],
            "host_port": port.get("hostPort", 0),
            "host_ip": port.get("hostIP", ""),
        }
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
    ]
