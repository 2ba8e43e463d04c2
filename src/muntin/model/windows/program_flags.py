"""The flags of the programs that run on nodes: one that is not here has never been one.

All that kubelet and kube-proxy took from `SINCE` on and those that were gone by then and are still
met in guides; `_` and `-` are the same in them.
Sources: kubernetes v1.20 and v1.36 cmd/kubelet/app/options, cmd/kube-proxy/app; component-base and
klog; kubernetes.io, command line tools reference.
"""

from __future__ import annotations

from collections.abc import Mapping

from muntin.model.gates import Profile, Version

SINCE: Version = (1, 20)

_COMMON = """
    add-dir-header alsologtostderr alsologtostderrthreshold emulated-version
    experimental-logging-sanitization feature-gates h help legacy-stderr-threshold-behavior
    log-backtrace-at log-dir log-file log-file-max-size log-flush-frequency
    log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream
    logging-format logtostderr one-output skip-headers skip-log-headers stderrthreshold v version
    vmodule
"""
_KUBELET = """
    address allow-privileged allowed-unsafe-sysctls anonymous-auth api-servers
    application-metrics-count-limit authentication-token-webhook
    authentication-token-webhook-cache-ttl authorization-mode
    authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
    azure-container-registry-config boot-id-file bootstrap-kubeconfig cadvisor-port cert-dir
    cgroup-driver cgroup-root cgroups-per-qos chaos-chance client-ca-file cloud-config
    cloud-provider cluster-dns cluster-domain cni-bin-dir cni-cache-dir cni-conf-dir config
    config-dir container-log-max-files container-log-max-size container-runtime
    container-runtime-endpoint containerd containerd-namespace contention-profiling cpu-cfs-quota
    cpu-cfs-quota-period cpu-manager-policy cpu-manager-policy-options cpu-manager-reconcile-period
    docker docker-endpoint docker-env-metadata-whitelist docker-only docker-root docker-tls
    docker-tls-ca docker-tls-cert docker-tls-key dynamic-config-dir enable-cadvisor-json-endpoints
    enable-controller-attach-detach enable-debugging-handlers enable-load-reader enable-server
    enforce-node-allocatable event-burst event-qps event-storage-age-limit event-storage-event-limit
    eviction-hard eviction-max-pod-grace-period eviction-minimum-reclaim
    eviction-pressure-transition-period eviction-soft eviction-soft-grace-period
    exit-on-lock-contention experimental-allocatable-ignore-eviction
    experimental-bootstrap-kubeconfig experimental-check-node-capabilities-before-mount
    experimental-cri experimental-dockershim-root-directory experimental-kernel-memcg-notification
    experimental-mounter-path fail-cgroupv1 fail-swap-on file-check-frequency
    global-housekeeping-interval hairpin-mode healthz-bind-address healthz-port hostname-override
    housekeeping-interval http-check-frequency image-credential-provider-bin-dir
    image-credential-provider-config image-gc-high-threshold image-gc-low-threshold
    image-pull-progress-deadline image-service-endpoint iptables-drop-bit iptables-masquerade-bit
    keep-terminated-pod-volumes kernel-memcg-notification kube-api-burst kube-api-content-type
    kube-api-qps kube-reserved kube-reserved-cgroup kubeconfig kubelet-cgroups
    local-storage-capacity-isolation lock-file log-cadvisor-usage machine-id-file
    make-iptables-util-chains manifest-url manifest-url-header master-service-namespace
    max-open-files max-pods maximum-dead-containers maximum-dead-containers-per-container
    memory-manager-policy minimum-container-ttl-duration minimum-image-ttl-duration network-plugin
    network-plugin-mtu node-ip node-labels node-status-max-images node-status-update-frequency
    non-masquerade-cidr oom-score-adj pod-cidr pod-infra-container-image pod-manifest-path
    pod-max-pids pods-per-core port protect-kernel-defaults provider-id qos-reserved read-only-port
    really-crash-for-testing redirect-container-streaming register-node register-schedulable
    register-with-taints registry-burst registry-qps require-kubeconfig reserved-cpus
    reserved-memory resolv-conf root-dir rotate-certificates rotate-server-certificates runonce
    runtime-cgroups runtime-request-timeout seccomp-default seccomp-profile-root
    serialize-image-pulls storage-driver-buffer-duration storage-driver-db storage-driver-host
    storage-driver-password storage-driver-secure storage-driver-table storage-driver-user
    streaming-connection-idle-timeout sync-frequency system-cgroups system-reserved
    system-reserved-cgroup tls-cert-file tls-cipher-suites tls-min-version tls-private-key-file
    topology-manager-policy topology-manager-policy-options topology-manager-scope volume-plugin-dir
    volume-stats-agg-period windows-priorityclass windows-service
"""
_KUBE_PROXY = """
    bind-address bind-address-hard-fail cleanup cleanup-iptables cleanup-ipvs cluster-cidr config
    config-sync-period conntrack-be-liberal conntrack-max-per-core conntrack-min
    conntrack-tcp-timeout-close-wait conntrack-tcp-timeout-established conntrack-udp-timeout
    conntrack-udp-timeout-stream detect-local-mode enable-dsr forward-healthcheck-vip
    google-json-key healthz-bind-address healthz-port hostname-override init-only
    iptables-localhost-nodeports iptables-masquerade-bit iptables-min-sync-period
    iptables-sync-period ipvs-exclude-cidrs ipvs-min-sync-period ipvs-scheduler ipvs-strict-arp
    ipvs-sync-period ipvs-tcp-timeout ipvs-tcpfin-timeout ipvs-udp-timeout kube-api-burst
    kube-api-content-type kube-api-qps kubeconfig masquerade-all master metrics-bind-address
    metrics-port network-name nodeport-addresses oom-score-adj pod-bridge-interface
    pod-interface-name-prefix profiling proxy-mode proxy-port-range resource-container
    root-hnsendpoint-name show-hidden-metrics-for-version source-vip udp-timeout windows-service
    write-config-to
"""


def are_known(profile: Profile) -> bool:
    """Whether all flags of the programs of that node are here."""
    return profile.kubernetes >= SINCE


def _names(*texts: str) -> frozenset[str]:
    return frozenset(name for text in texts for name in text.split())


FLAGS: Mapping[str, frozenset[str]] = {
    "kubelet": _names(_COMMON, _KUBELET),
    "kube-proxy": _names(_COMMON, _KUBE_PROXY),
}
"""By program, without the dashes before them."""
