"""``/configz``: the KubeletConfiguration that this kubelet runs with.

Only fields that mean something here are there; programs that read the document take the others
as zero. Source: kubernetes v1.34 staging/src/k8s.io/kubelet/config/v1beta1/types.go; the key
``kubeletconfig`` and the missing kind are pkg/kubelet's own (cmd/kubelet/app/server.go).
"""

from __future__ import annotations

from typing import Any

from muntin.kubelet import log_rotation
from muntin.kubelet.authorize import CACHE_S
from muntin.kubelet.backoff import duration
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.node_object import EVICTION_STORAGE_PERCENT, eviction_memory
from muntin.seams.cri.client import DEFAULT_TIMEOUT_S

Object = dict[str, Any]


def configuration(config: KubeletConfig) -> Object:
    """The document of ``/configz``. Pure."""
    found: Object = {
        "enableServer": True,
        "address": config.node_ip,
        "port": config.port,
        "tlsCertFile": config.serving_certificate,
        "tlsPrivateKeyFile": config.serving_key,
        "authentication": _authentication(config),
        "authorization": {
            "mode": "Webhook",
            "webhook": {
                "cacheAuthorizedTTL": duration(CACHE_S),
                "cacheUnauthorizedTTL": duration(0),
            },
        },
        "clusterDomain": config.cluster_domain,
        "clusterDNS": list(config.cluster_dns),
        "registerNode": True,
        "registerWithTaints": [dict(taint) for taint in config.taints],
        "nodeStatusUpdateFrequency": duration(config.status_interval_s),
        "nodeStatusReportFrequency": duration(config.status_interval_s),
        "nodeLeaseDurationSeconds": config.lease_duration_s,
        "runtimeRequestTimeout": duration(DEFAULT_TIMEOUT_S),
        "staticPodPath": config.static_pod_path,
        "maxPods": config.max_pods,
        "podPidsLimit": config.pod_pids_limit,
        "seccompDefault": config.seccomp_default,
        "evictionHard": {
            "memory.available": eviction_memory(config),
            "nodefs.available": f"{EVICTION_STORAGE_PERCENT}%",
        },
        "kubeReserved": dict(config.reserved),
        "containerLogMaxSize": f"{log_rotation.MAX_BYTES >> 20}Mi",
        "containerLogMaxFiles": log_rotation.MAX_FILES,
    }
    if not config.is_windows:
        found["resolvConf"] = config.resolv_conf
        found["cgroupRoot"] = config.cgroup_parent
    said = {key: value for key, value in found.items() if value not in ("", [], {})}
    return {"kubeletconfig": said}


def _authentication(config: KubeletConfig) -> Object:
    """As in ``authorize.py``: certificates of one CA, tokens by TokenReview, no anonymous users."""
    return {
        "x509": {"clientCAFile": config.client_ca} if config.client_ca else {},
        "webhook": {"enabled": True, "cacheTTL": duration(CACHE_S)},
        "anonymous": {"enabled": False},
    }
