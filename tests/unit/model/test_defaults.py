"""Defaults, as the API reference documents them field by field."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from muntin.model import defaults, resources
from muntin.model.resources import DEPLOYMENTS, NAMESPACES, PODS, SECRETS, SERVICES, Resource


def defaulted(resource: Resource, obj: dict[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(obj)
    defaults.apply(resource, result)
    return result


def pod(container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return defaulted(PODS, {"spec": {"containers": [container], **spec}})["spec"]


def test_pod() -> None:
    spec = pod({"name": "c", "image": "i:1"})
    container = spec.pop("containers")[0]
    assert spec == {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "enableServiceLinks": True,
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }
    assert container == {
        "name": "c",
        "image": "i:1",
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("busybox", "Always"),
        ("busybox:latest", "Always"),
        ("busybox:1", "IfNotPresent"),
        ("localhost:5000/busybox", "Always"),
        ("localhost:5000/busybox:1", "IfNotPresent"),
        ("busybox@sha256:0", "IfNotPresent"),
    ],
)
def test_pull_policy_follows_the_tag(image: str, policy: str) -> None:
    assert pod({"image": image})["containers"][0]["imagePullPolicy"] == policy


def test_requests_default_to_limits_one_by_one() -> None:
    resources_ = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    found = pod({"image": "i", "resources": resources_})["containers"][0]["resources"]["requests"]
    assert found == {"cpu": "500m", "memory": "1Gi"}


def test_host_ports_of_host_network_pods() -> None:
    ports = [{"containerPort": 80}]
    found = pod({"image": "i", "ports": ports}, hostNetwork=True)["containers"][0]["ports"]
    assert found == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]


def test_probe() -> None:
    probe = pod({"image": "i", "readinessProbe": {"httpGet": {"port": 80}}})["containers"][0]
    assert probe["readinessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def test_volumes() -> None:
    token = {"serviceAccountToken": {"path": "token"}}
    field = {"downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "metadata.name"}}]}}
    volumes = [
        {"name": "a"},
        {"name": "b", "secret": {"secretName": "s"}},
        {"name": "c", "hostPath": {"path": "/x"}},
        {"name": "d", "projected": {"sources": [token, field]}},
    ]
    found = pod({"image": "i"}, volumes=volumes)["volumes"]
    assert found[0] == {"name": "a", "emptyDir": {}}
    assert found[1]["secret"] == {"secretName": "s", "defaultMode": 0o644}
    assert found[2]["hostPath"] == {"path": "/x", "type": ""}
    sources = found[3]["projected"]["sources"]
    assert sources[0]["serviceAccountToken"] == {"path": "token", "expirationSeconds": 3600}
    assert sources[1]["downwardAPI"]["items"][0]["fieldRef"]["apiVersion"] == "v1"


def test_the_old_name_of_the_service_account_follows() -> None:
    assert pod({"image": "i"}, serviceAccountName="a")["serviceAccount"] == "a"
    assert pod({"image": "i"}, serviceAccount="b")["serviceAccountName"] == "b"


def test_deployment() -> None:
    found = defaulted(DEPLOYMENTS, {"spec": {"template": {"spec": {"containers": []}}}})["spec"]
    assert found["replicas"] == 1
    assert found["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    }
    assert (found["revisionHistoryLimit"], found["progressDeadlineSeconds"]) == (10, 600)
    assert found["template"]["spec"]["restartPolicy"] == "Always"
    assert "enableServiceLinks" not in found["template"]["spec"]


def test_zero_replicas_stay_zero() -> None:
    assert defaulted(DEPLOYMENTS, {"spec": {"replicas": 0}})["spec"]["replicas"] == 0


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"ports": [{"port": 80}]},
         {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"}),
        ({"type": "NodePort"}, {"externalTrafficPolicy": "Cluster"}),
        ({"type": "LoadBalancer"}, {"allocateLoadBalancerNodePorts": True}),
        ({"sessionAffinity": "ClientIP"},
         {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}}),
    ],
)  # fmt: skip
def test_service(spec: dict[str, Any], expected: dict[str, Any]) -> None:
    found = defaulted(SERVICES, {"spec": spec})["spec"]
    assert expected.items() <= found.items()
    for port in found.get("ports", ()):
        assert port == {"port": 80, "targetPort": 80, "protocol": "TCP"}


def test_namespace_and_secret() -> None:
    found = defaulted(NAMESPACES, {"metadata": {"name": "a"}})
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": "a"}
    assert found["spec"] == {}  # what keeps it is no default, but set when it is created
    assert found["status"] == {"phase": "Active"}
    secret = defaulted(SECRETS, {"data": {"a": "eA=="}, "stringData": {"b": "y"}})
    assert secret == {"data": {"a": "eA==", "b": "eQ=="}, "type": "Opaque"}


@pytest.mark.parametrize("resource", resources.RESOURCES, ids=lambda row: row.group_resource)
def test_defaults_are_filled_in_once(resource: Resource) -> None:
    once = defaulted(resource, {"metadata": {"name": "a"}})
    assert defaulted(resource, once) == once
