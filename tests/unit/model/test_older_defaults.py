"""Defaults of older versions of a kind, and what an older API does not have yet."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from muntin.model import defaults
from muntin.model.defaults.older import apply_older
from muntin.model.fitting import fitting
from muntin.model.resources import (
    HORIZONTAL_POD_AUTOSCALERS,
    JOBS,
    NAMESPACES,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    known,
)

TEMPLATE = {"metadata": {"labels": {"app": "iis"}}, "spec": {"containers": []}}
NO_LIMIT = 2147483647


def defaulted(api_version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    obj = {"apiVersion": api_version, "kind": kind, "metadata": {}, "spec": spec}
    apply_older(known(api_version, kind), obj)
    return obj


def test_a_deployment_of_extensions() -> None:
    obj = defaulted("extensions/v1beta1", "Deployment", {"template": TEMPLATE})
    assert obj["metadata"]["labels"] == {"app": "iis"}
    spec = obj["spec"]
    assert spec["selector"] == {"matchLabels": {"app": "iis"}}
    assert spec["revisionHistoryLimit"] == spec["progressDeadlineSeconds"] == NO_LIMIT
    rolling = {"maxUnavailable": 1, "maxSurge": 1}
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": rolling}


def test_a_deployment_of_the_first_beta_keeps_two_revisions() -> None:
    spec = defaulted("apps/v1beta1", "Deployment", {"template": TEMPLATE})["spec"]
    assert spec["revisionHistoryLimit"] == 2
    assert spec["selector"] == {"matchLabels": {"app": "iis"}}
    assert "strategy" not in spec  # as in the stable version: a quarter at a time


def test_the_second_beta_selects_nothing_by_itself() -> None:
    spec = defaulted("apps/v1beta2", "Deployment", {"template": TEMPLATE})["spec"]
    assert "selector" not in spec


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("extensions/v1beta1", "DaemonSet"), ("apps/v1beta1", "StatefulSet")],
)
def test_sets_of_old_wait_for_deletion(api_version: str, kind: str) -> None:
    spec = defaulted(api_version, kind, {"template": TEMPLATE})["spec"]
    assert spec["updateStrategy"] == {"type": "OnDelete"}
    assert spec["selector"] == {"matchLabels": {"app": "iis"}}


def test_what_is_set_stays() -> None:
    spec = {
        "template": TEMPLATE,
        "selector": {"matchLabels": {"a": "b"}},
        "revisionHistoryLimit": 0,
    }
    obj = defaulted("extensions/v1beta1", "Deployment", spec)
    assert obj["spec"]["selector"] == {"matchLabels": {"a": "b"}}
    assert obj["spec"]["revisionHistoryLimit"] == 0


def request_of(name: str, organization: str, alternative: bool = False) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if alternative:
        names = x509.SubjectAlternativeName([x509.DNSName("n")])
        builder = builder.add_extension(names, critical=False)
    pem = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    return base64.b64encode(pem).decode()


CLIENT = ["digital signature", "key encipherment", "client auth"]
SERVING = ["digital signature", "key encipherment", "server auth"]


@pytest.mark.parametrize(
    ("name", "organization", "alternative", "usages", "signer"),
    [
        ("system:node:a", "system:nodes", False, CLIENT, "kube-apiserver-client-kubelet"),
        ("system:node:a", "system:nodes", True, SERVING, "kubelet-serving"),
        ("system:node:a", "system:nodes", False, SERVING, "legacy-unknown"),
        ("jane", "dev", False, CLIENT, "legacy-unknown"),
    ],
)
def test_who_signs(
    name: str, organization: str, alternative: bool, usages: list[str], signer: str
) -> None:
    request = request_of(name, organization, alternative)
    spec = {"request": request, "usages": usages}
    obj = defaulted("certificates.k8s.io/v1beta1", "CertificateSigningRequest", spec)
    assert obj["spec"]["signerName"] == f"kubernetes.io/{signer}"


def test_a_request_that_is_none_is_signed_as_of_old() -> None:
    obj = defaulted("certificates.k8s.io/v1beta1", "CertificateSigningRequest", {"request": "eA=="})
    assert obj["spec"]["signerName"] == "kubernetes.io/legacy-unknown"
    assert obj["spec"]["usages"] == ["digital signature", "key encipherment"]


def test_what_came_later_is_taken_away() -> None:
    service = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}
    defaults.apply(SERVICES, service)
    assert "internalTrafficPolicy" in service["spec"]
    fitting("1.20").apply(SERVICES, service)
    assert "internalTrafficPolicy" not in service["spec"]
    pod = {"metadata": {"generation": 1}}
    fitting("1.37").apply(PODS, pod)
    assert pod == {"metadata": {"generation": 1}}
    fitting("1.32").apply(PODS, pod)
    assert pod == {"metadata": {}}
    namespace = {"metadata": {"name": "a"}}
    defaults.apply(NAMESPACES, namespace)
    fitting("1.20").apply(NAMESPACES, namespace)
    assert namespace["metadata"] == {"name": "a"}


def test_jobs_of_old_are_named_without_a_prefix() -> None:
    labels = {"batch.kubernetes.io/controller-uid": "u", "controller-uid": "u", "app": "x"}
    job = {
        "spec": {
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}},
            "template": {"metadata": {"labels": labels}},
        }
    }
    fitting("1.26").apply(JOBS, job)
    assert job["spec"]["selector"] == {"matchLabels": {"controller-uid": "u"}}
    assert job["spec"]["template"]["metadata"]["labels"] == {"controller-uid": "u", "app": "x"}


@pytest.mark.parametrize(
    "version, rolling, limits",
    [
        ("1.20", {"partition": 0}, {"backoffLimit": 6}),
        ("1.28", {"partition": 0}, {"backoffLimit": 6}),
        ("1.36", {"partition": 0}, {"backoffLimit": 2**31 - 1, "backoffLimitPerIndex": 1}),
        (
            "1.37",
            {"partition": 0, "maxUnavailable": 2},
            {"backoffLimit": 2**31 - 1, "backoffLimitPerIndex": 1},
        ),
    ],
)
def test_what_a_version_ignores_has_no_defaults_either(version, rolling, limits):
    found = {"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}}}
    job = {"spec": {"completionMode": "Indexed", "backoffLimitPerIndex": 1}}
    for resource, obj in ((STATEFUL_SETS, found), (JOBS, job)):
        fitting(version).ignore(resource, obj)
        defaults.apply(resource, obj)
        fitting(version).complete(resource, obj)
    assert found["spec"]["updateStrategy"]["rollingUpdate"] == rolling
    assert {key: job["spec"][key] for key in job["spec"] if "Limit" in key} == limits


@pytest.mark.parametrize("version, has", [("1.26", False), ("1.27", True)])
def test_single_containers_are_measured_from_1_27_on(version, has):
    hpa = {"spec": {"metrics": [{"type": "ContainerResource", "containerResource": {}}]}}
    fitting(version).ignore(HORIZONTAL_POD_AUTOSCALERS, hpa)
    assert ("containerResource" in hpa["spec"]["metrics"][0]) == has


@pytest.mark.parametrize("version, has", [("1.34", False), ("1.35", True)])
def test_tolerances_of_ones_own_from_1_35_on(version, has):
    rules = {"scaleUp": {"tolerance": "1"}, "scaleDown": {"tolerance": "1", "policies": []}}
    hpa = {"spec": {"maxReplicas": 1, "behavior": rules}}
    fitting(version).ignore(HORIZONTAL_POD_AUTOSCALERS, hpa)
    defaults.apply(HORIZONTAL_POD_AUTOSCALERS, hpa)
    behavior = hpa["spec"]["behavior"]
    assert ["tolerance" in behavior[way] for way in ("scaleUp", "scaleDown")] == [has, has]
    assert behavior["scaleUp"]["policies"]


def test_1_28_alone_drops_rules_that_fail_an_index():
    def rules(version):
        job = {"spec": {"podFailurePolicy": {"rules": [{"action": "FailIndex"}, {"action": "x"}]}}}
        fitting(version).ignore(JOBS, job)
        return [row["action"] for row in job["spec"]["podFailurePolicy"]["rules"]]

    assert (rules("1.27"), rules("1.28"), rules("1.29")) == (
        ["FailIndex", "x"],
        ["x"],
        ["FailIndex", "x"],
    )
