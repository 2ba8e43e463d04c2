"""Rows of name resolution in Windows pods."""

from __future__ import annotations

from muntin.model.gates import Condition, Gate, Kind, Otherwise, Severity, row, since
from muntin.model.windows.features import Feature

ROWS: dict[Feature, Gate] = {
    Feature.DNS_TCP_RETRY_ONLY_1_5: row(
        "The cluster's DNS answers over UDP.",
        holds=Condition(kubernetes=since(1, 6)),
        applies_to="cluster DNS",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.5, limitations; pkg/proxy/winuserspace (since 1.6) has UDP",
        advice="Use clients that ask again over TCP.",
        not_yet="our kube-proxy is the kernel-space one in every version",
    ),
    Feature.CLUSTER_FIRST_WITH_HOST_NET: row(
        "dnsPolicy ClusterFirstWithHostNet is not supported.",
        applies_to="spec.dnsPolicy",
        otherwise=Otherwise.IGNORE,
        source="doc20, DNS limitations; V1.Pod",
        advice="Use ClusterFirst.",
        restates="dns-clusterfirstwithhostnet",
    ),
    Feature.DNS_PARTLY_QUALIFIED_NAMES: row(
        "A name with a dot is taken as fully qualified: kubernetes.default does not resolve.",
        applies_to=(
            "spec.containers[*].env[*].value",
            "spec.containers[*].args",
            "spec.containers[*].command",
            "spec.dnsConfig.options",
        ),
        otherwise=Otherwise.DEGRADE,
        source="doc20, DNS limitations: all names with a '.' are FQDNs",
        advice="Use the service's name alone, or the full name with .svc.cluster.local.",
        restates="dns-dot-means-fqdn",
    ),
    Feature.DNS_SEVERAL_SUFFIXES: row(
        "Pods have one DNS suffix, that of their namespace.",
        applies_to="spec.dnsConfig.searches",
        otherwise=Otherwise.DEGRADE,
        source="doc20, DNS limitations: only 1 DNS suffix",
        advice="Write full names where the first suffix does not do.",
        restates="dns-single-suffix",
    ),
    Feature.DNS_MULTIPLE_RESOLVERS: row(
        "Windows has several resolvers that differ; Resolve-DnsName is the one to test with.",
        kind=Kind.PROCEDURE,
        applies_to="nslookup",
        otherwise=Otherwise.DIFFER,
        source="doc20, DNS limitations; Troubleshooting: DNS resolution",
        severity=Severity.INFO,
        advice="Test with Resolve-DnsName, not with nslookup.",
        restates="t13-dns",
        page="WIN-T13",
    ),
}
