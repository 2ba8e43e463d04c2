"""What is warned of in objects that are taken, in upstream's words."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from muntin.model import warnings
from muntin.model.resources import (
    CRON_JOBS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    known,
)

NEWEST, TODAY = (1, 36), (1, 34)
NET, STORAGE = "networking.k8s.io/v1", "storage.k8s.io/v1"
NOTHING = "a null labelSelector results in matching no pod"
OLD_OS = "beta.kubernetes.io/os"
NEW_OS = 'deprecated since v1.14; use "kubernetes.io/os" instead'
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def of(resource: Any, obj: dict[str, Any], old: Any = None, api: Any = NEWEST) -> list[str]:
    return warnings.of_object(resource, {"metadata": {"name": "a"}, **obj}, old, api)


def pod(**spec: Any) -> list[str]:
    return of(PODS, {"spec": spec})


def containers(*ports: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"c{index}", "ports": [port]} for index, port in enumerate(ports)]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nodeSelector": {OLD_OS: "x"}}, f"spec.nodeSelector[{OLD_OS}]: {NEW_OS}"),
        (
            {"affinity": {"nodeAffinity": {PREFERRED: [
                {"preference": {"matchExpressions": [{"key": OLD_OS}]}}]}}},
            f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[0].key: "
            f"{OLD_OS} is {NEW_OS}",
        ),
        (
            {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "z"}]}}},
            f"spec.affinity.podAntiAffinity.{REQUIRED}[0].labelSelector: {NOTHING}",
        ),
        (
            {"topologySpreadConstraints": [{"topologyKey": "z"}]},
            f"spec.topologySpreadConstraints[0].labelSelector: {NOTHING}",
        ),
        (
            {"hostAliases": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]},
            'spec.hostAliases[1].ip: duplicate ip "10.0.0.1"',
        ),
        (
            {"hostAliases": [{"ip": "010.0.0.1"}]},
            'spec.hostAliases[0].ip: non-standard IP address "010.0.0.1" is invalid: use '
            '"10.0.0.1"',
        ),
        (
            {"dnsConfig": {"nameservers": ["2001:DB8::1"]}},
            'spec.dnsConfig.nameservers[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 '
            'canonical format ("2001:db8::1")',
        ),
        (
            {"imagePullSecrets": [{}]},
            'spec.imagePullSecrets[0].name: invalid empty name ""',
        ),
        (
            {"containers": [{"resources": {"limits": {"memory": "1500m"}}}]},
            'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is '
            "invalid, must be an integer",
        ),
        (
            {"containers": [{"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}]},
            'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped '
            "when using apply",
        ),
        (
            {"containers": containers({"containerPort": 1}, {"containerPort": 1})},
            "spec.containers[1].ports[0]: duplicate port definition with "
            "spec.containers[0].ports[0]",
        ),
        (
            {"containers": containers({"containerPort": 1, "hostPort": 1}, {"containerPort": 1})},
            "spec.containers[1].ports[0]: overlapping port definition with "
            "spec.containers[0].ports[0]",
        ),
        (
            {"containers": containers(
                {"containerPort": 1, "hostPort": 1, "hostIP": "1.1.1.1"},
                {"containerPort": 1, "hostPort": 1})},
            "spec.containers[1].ports[0]: dangerously ambiguous port definition with "
            "spec.containers[0].ports[0]",
        ),
        (
            {"containers": containers(
                {"containerPort": 1, "protocol": "TCP", "hostIP": "1.1.1.1"})},
            "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 "
            "ContainerPort:1 Protocol:TCP HostIP:1.1.1.1}",
        ),
        (
            {"containers": containers(
                {"containerPort": 1, "name": "web"}, {"containerPort": 2, "name": "web"})},
            'spec.containers[1].ports[0]: duplicate port name "web" with '
            "spec.containers[0].ports[0], services and probes that select ports by name will use "
            "spec.containers[0].ports[0]",
        ),
        (
            {"volumes": [{"name": "v", "gitRepo": {"repository": "r"}}]},
            "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
        ),
        (
            {"volumes": [{"name": "v", "configMap": {
                "name": "m", "items": [{"path": "a"}, {"path": "a/b"}]}}]},
            'volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"',
        ),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{}]}}]},
            'volume "v" (Projected) has no sources provided',
        ),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [
                {"secret": {"name": "s", "items": [{"path": "t"}]}},
                {"serviceAccountToken": {"path": "t"}}]}}]},
            'volume "v" (Projected): overlapping paths: "t" (ServiceAccountToken) with "t" '
            '(Secret "s")',
        ),
    ],
)  # fmt: skip
def test_a_new_pod(spec: dict[str, Any], expected: str) -> None:
    assert pod(**spec) == [expected]


def test_a_name_that_is_no_host_name() -> None:
    (text,) = warnings.of_object(PODS, {"metadata": {"name": "a.b"}, "spec": {}}, None, NEWEST)
    assert text.startswith("metadata.name: this is used in the Pod's hostname, which can result in")
    (text,) = warnings.of_object(
        DEPLOYMENTS, {"metadata": {"name": "a.b"}, "spec": {}}, None, NEWEST
    )
    assert text.startswith("metadata.name: this is used in Pod names and hostnames, which can")


def test_a_changed_pod_and_an_unchanged_template_are_not_warned_of() -> None:
    spec = {"nodeSelector": {OLD_OS: "x"}}
    assert of(PODS, {"spec": spec}, {"metadata": {}}) == []
    template = {"spec": {"template": {"spec": spec}}}
    same = {"metadata": {"name": "a", "generation": 1}}
    assert of(DEPLOYMENTS, {**same, **template}, same) == []
    changed = {"metadata": {"name": "a", "generation": 2}}
    (text,) = of(DEPLOYMENTS, {**changed, **template}, same)
    assert text == f"spec.template.spec.nodeSelector[{OLD_OS}]: {NEW_OS}"


def test_a_template_that_gives_no_time_to_end() -> None:
    template = {"spec": {"terminationGracePeriodSeconds": -1}}
    (text,) = of(DEPLOYMENTS, {"spec": {"template": template}})
    assert text.startswith("spec.template.spec.terminationGracePeriodSeconds: must be >= 0;")
    assert pod(terminationGracePeriodSeconds=-1) == []


def test_an_api_of_1_20_says_nothing() -> None:
    assert of(PODS, {"spec": {"nodeSelector": {OLD_OS: "x"}}}, api=(1, 20)) == []


def test_annotations_of_old_in_pods_and_templates() -> None:
    seccomp = "seccomp.security.alpha.kubernetes.io/pod"
    armor = "container.apparmor.security.beta.kubernetes.io/c"
    meta = {"name": "a", "annotations": {seccomp: "x", armor: "x"}}
    spec = {"containers": [{"name": "c"}]}
    (text,) = of(PODS, {"metadata": meta, "spec": spec})
    assert text == (
        f"metadata.annotations[{seccomp}]: non-functional in v1.27+; use the \"seccompProfile\" "
        "field instead"
    )  # fmt: skip
    found = of(CRON_JOBS, {"spec": {"jobTemplate": {"spec": {"template": {
        "metadata": meta, "spec": spec}}}}})  # fmt: skip
    at = "spec.jobTemplate.spec.template.metadata.annotations"
    assert [text.partition("]")[0] for text in found] == [f"{at}[{seccomp}", f"{at}[{armor}"]


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ({"clusterIP": "None", "externalIPs": ["1.2.3.4"]}, "spec.externalIPs is ignored for head"),
        ({"clusterIP": "None", "loadBalancerIP": "192.0.2.1"}, "spec.loadBalancerIP is ignored"),
        ({"clusterIP": "None", "sessionAffinity": "ClientIP"}, "spec.SessionAffinity is ignored"),
        ({"type": "ExternalName", "externalIPs": ["1.2.3.4"]}, "spec.externalIPs is ignored when"),
        ({"externalName": "a.b"}, "spec.externalName is ignored"),
        ({"trafficDistribution": "PreferClose"}, 'spec.trafficDistribution: "PreferClose" is depr'),
        ({"loadBalancerSourceRanges": ["10.0.0.1/8"]},
         'spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/8" is ambiguous in this context '
         '(should be "10.0.0.0/8" or "10.0.0.1/32"?)'),
        ({"loadBalancerIP": "::ffff:10.0.0.1"},
         'spec.loadBalancerIP: non-standard IP address "::ffff:10.0.0.1" is invalid: use '
         '"10.0.0.1"'),
    ],
)  # fmt: skip
def test_services(spec: dict[str, Any], word: str) -> None:
    (text,) = of(SERVICES, {"spec": spec})
    assert text.startswith(word)


def test_external_addresses_are_deprecated_in_the_newest_version_only() -> None:
    (text,) = of(SERVICES, {"spec": {"externalIPs": ["203.0.113.9"]}})
    assert text.startswith("spec.externalIPs is deprecated")
    assert of(SERVICES, {"spec": {"externalIPs": ["203.0.113.9"]}}, api=TODAY) == []


def test_an_ingress_with_the_annotation_of_old() -> None:
    ingresses = known(NET, "Ingress")
    meta = {"name": "a", "annotations": {"kubernetes.io/ingress.class": "x"}}
    assert of(ingresses, {"metadata": meta}) == [
        'annotation "kubernetes.io/ingress.class" is deprecated, please use '
        "'spec.ingressClassName' instead"
    ]
    assert of(ingresses, {"metadata": meta, "spec": {"ingressClassName": "y"}}) == []
    assert of(ingresses, {"metadata": meta}, {"metadata": {}}) == []


def test_ranges_and_names() -> None:
    block = {"ipBlock": {"cidr": "010.0.0.0/8"}}
    (text,) = of(known(NET, "NetworkPolicy"), {"spec": {"egress": [{"to": [block]}]}})
    assert text == (
        'spec.egress[0].to[0].ipBlock.cidr: non-standard CIDR value "010.0.0.0/8" is invalid: use '
        '"10.0.0.0/8"'
    )
    (text,) = of(ENDPOINT_SLICES, {"addressType": "FQDN", "endpoints": [{"addresses": ["a.b"]}]})
    assert text == "spec.addressType: FQDN endpoints are deprecated"


def test_volumes_and_claims() -> None:
    old = "volume.beta.kubernetes.io/storage-class"
    volume = {"metadata": {"annotations": {old: "x"}},
              "spec": {"persistentVolumeReclaimPolicy": "Recycle", "rbd": {}}}  # fmt: skip
    texts = of(PERSISTENT_VOLUMES, volume)
    assert [text.partition(":")[0] for text in texts] == [
        f"metadata.annotations[{old}]", "spec.persistentVolumeReclaimPolicy", "spec.rbd",
    ]  # fmt: skip
    asked = {"spec": {"resources": {"requests": {"storage": "0.5"}}}}
    (text,) = of(PERSISTENT_VOLUME_CLAIMS, asked)
    assert text == (
        'spec.resources.requests[storage]: fractional byte value "500m" is invalid, must be an '
        "integer"
    )
    (text,) = of(STATEFUL_SETS, {"spec": {"volumeClaimTemplates": [asked]}})
    assert text.startswith("spec.volumeClaimTemplates[0].resources.requests[storage]: fract")


def test_drivers_and_slices() -> None:
    (text,) = of(known(STORAGE, "CSIDriver"), {"spec": {"tokenRequests": [{"audience": "a"}]}})
    assert text.startswith("spec.serviceAccountTokenInSecrets is unset")
    (text,) = of(known("resource.k8s.io/v1", "ResourceSlice"), {"spec": {"driver": "D.example"}})
    assert text == (
        'spec.driver: driver names should be lowercase; "D.example" contains uppercase characters'
    )


def test_pairs_of_keys() -> None:
    def secret(certificate: str, key: str) -> list[str]:
        data = {"tls.crt": certificate, "tls.key": key}
        coded = {name: base64.b64encode(text.encode()).decode() for name, text in data.items()}
        return of(SECRETS, {"type": "kubernetes.io/tls", "data": coded})

    def block(kind: str) -> str:
        return f"-----BEGIN {kind}-----\nYQ==\n-----END {kind}-----\n"

    good = block("CERTIFICATE")
    assert secret("x", "y") == ["tls: failed to find any PEM data in certificate input"]
    assert secret(good, "y") == ["tls: failed to find any PEM data in key input"]
    assert secret(good, good) == [
        "tls: found a certificate rather than a key in the PEM for the private key"
    ]
    assert secret(good, block("EC PRIVATE KEY")) == []
