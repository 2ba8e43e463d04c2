"""Variables, references, downward API, service variables."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.kit.errors import Invalid
from muntin.kubelet.downward import field_value, resource_value
from muntin.kubelet.environment import Sources, environment
from muntin.kubelet.expand import expand
from muntin.kubelet.service_env import service_variables, visible_services


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$(A)", "1"),
        ("$(A)$(B)", "12"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$(NONE)", "$(NONE)"),
        ("$A $x", "$A $x"),
        ("$(A", "$(A"),
        ("50%$", "50%$"),
        ("$$header='x'; $$(n)", "$header='x'; $(n)"),
    ],
)
def test_references(text: str, result: str) -> None:
    assert expand(text, {"A": "1", "B": "2"}) == result


POD: dict[str, Any] = {
    "metadata": {
        "name": "p",
        "namespace": "ns",
        "uid": "u",
        "labels": {"b": 'say "hi"', "a": "1"},
        "annotations": {"x.io/y": "z"},
    },
    "spec": {
        "nodeName": "win01",
        "serviceAccountName": "robot",
        "containers": [
            {
                "name": "c",
                "resources": {"limits": {"cpu": "1500m"}, "requests": {"memory": "64Mi"}},
            }
        ],
    },
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "p"),
        ("metadata.labels['a']", "1"),
        ("metadata.labels['none']", ""),
        ("metadata.annotations['x.io/y']", "z"),
        ("metadata.labels", 'a="1"\nb="say \\"hi\\""'),
        ("spec.nodeName", "win01"),
        ("spec.serviceAccountName", "robot"),
        ("status.hostIP", "172.31.0.12"),
        ("status.podIP", "10.0.0.1"),
        ("status.podIPs", "10.0.0.1,fd00::1"),
    ],
)
def test_fields(path: str, value: str) -> None:
    found = field_value(POD, path, ips=("10.0.0.1", "fd00::1"), host_ip="172.31.0.12")
    assert found == value


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(Invalid, match=r"unsupported fieldPath: spec\.color"):
        field_value(POD, "spec.color")


@pytest.mark.parametrize(
    ("resource", "divisor", "value"),
    [
        ("limits.cpu", None, "2"),
        ("limits.cpu", "1m", "1500"),
        ("requests.memory", "1Mi", "64"),
        ("limits.memory", "1Gi", "4"),  # not set: what the node has
        ("requests.cpu", None, "0"),
    ],
)
def test_resources(resource: str, divisor: str | None, value: str) -> None:
    reference = {"resource": resource, **({"divisor": divisor} if divisor else {})}
    assert resource_value(POD, "c", reference, {"cpu": "2", "memory": "4Gi"}) == value


def sources(**objects: Any) -> Sources:
    return Sources(
        services={"KUBERNETES_SERVICE_HOST": "10.96.0.1", "X_SERVICE_HOST": "10.96.0.7"},
        config_map=objects.get,
        secret=lambda name: {"data": {"password": b"s3\xff"}} if name == "vault" else None,
        field=lambda path: f"<{path}>",
        resource=lambda row: str(row["resource"]),
    )


def test_precedence_and_references_between_variables() -> None:
    container = {
        "envFrom": [{"prefix": "M_", "configMapRef": {"name": "map"}}],
        "env": [
            {"name": "M_COLOR", "value": "own"},
            {"name": "URL", "value": "http://$(X_SERVICE_HOST)/$(M_SIZE)/$(LATER)"},
            {"name": "LATER", "value": "l"},
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {
                "name": "PASS",
                "valueFrom": {"secretKeyRef": {"name": "vault", "key": "password"}},
            },
            {
                "name": "NONE",
                "valueFrom": {
                    "configMapKeyRef": {"name": "no", "key": "k", "optional": True},
                },
            },
        ],
    }
    found = environment(
        POD, container, sources(map={"data": {"COLOR": "blue", "SIZE": "9", "a=b": ""}})
    )
    assert found["M_COLOR"] == "own"
    assert found["URL"] == "http://10.96.0.7/9/$(LATER)"
    assert found["NODE"] == "<spec.nodeName>"
    assert found["PASS"].encode("utf-8", "surrogateescape") == b"s3\xff"
    assert found["KUBERNETES_SERVICE_HOST"] == "10.96.0.1"
    assert "NONE" not in found
    assert "M_a=b" not in found


@pytest.mark.parametrize(
    ("container", "message"),
    [
        ({"envFrom": [{"configMapRef": {"name": "no"}}]}, 'configmap "no" not found'),
        (
            {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "no", "key": "k"}}}]},
            'secret "no" not found',
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "vault", "key": "k"}}}]},
            "couldn't find key k in Secret ns/vault",
        ),
    ],
)
def test_what_is_missing_is_said(container: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        environment(POD, container, sources())


def a_service(name: str, namespace: str = "ns", ip: str = "10.96.0.7") -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "clusterIP": ip,
            "ports": [
                {"name": "http", "port": 80, "protocol": "TCP"},
                {"name": "dns-udp", "port": 53, "protocol": "UDP"},
            ],
        },
    }


def test_service_variables() -> None:
    found = service_variables([a_service("win-web")])
    assert found["WIN_WEB_SERVICE_HOST"] == "10.96.0.7"
    assert found["WIN_WEB_SERVICE_PORT"] == found["WIN_WEB_SERVICE_PORT_HTTP"] == "80"
    assert found["WIN_WEB_SERVICE_PORT_DNS_UDP"] == "53"
    assert found["WIN_WEB_PORT"] == "tcp://10.96.0.7:80"
    assert found["WIN_WEB_PORT_53_UDP"] == "udp://10.96.0.7:53"
    assert found["WIN_WEB_PORT_53_UDP_ADDR"] == "10.96.0.7"


def test_which_services_a_pod_sees() -> None:
    services = [
        a_service("b"),
        a_service("a"),
        a_service("headless", ip="None"),
        a_service("kubernetes", "default"),
        a_service("other", "elsewhere"),
    ]

    def names(links: bool) -> list[str]:
        chosen = visible_services(services, "ns", service_links=links)
        return [one["metadata"]["name"] for one in chosen]

    assert names(True) == ["a", "b", "kubernetes"]
    assert names(False) == ["kubernetes"]
