"""Validation: what users do wrong, and the texts that kube-apiserver answers with."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from muntin.model import defaults, validation
from muntin.model.resources import (
    CLUSTER_ROLE_BINDINGS,
    CONFIG_MAPS,
    CRON_JOBS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    NAMESPACES,
    NODES,
    PODS,
    ROLES,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)

CONTAINER = {"name": "c", "image": "i"}


def made(resource: Resource, obj: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"metadata": {"name": "a"}, **copy.deepcopy(dict(obj))}
    if resource.namespaced:
        result["metadata"].setdefault("namespace", "default")
    defaults.apply(resource, result)
    return result


def problems(resource: Resource, obj: Mapping[str, Any]) -> list[str]:
    causes = validation.validate_create(resource, made(resource, obj))
    return [f"{cause.field}: {cause.message}" for cause in causes]


def changed(resource: Resource, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    causes = validation.validate_update(resource, made(resource, new), made(resource, old))
    return [f"{cause.field}: {cause.message}" for cause in causes]


def pod(container: Mapping[str, Any] = CONTAINER, **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [container], **spec}}


def with_container(**fields: Any) -> dict[str, Any]:
    return pod({**CONTAINER, **fields})


def test_a_good_pod() -> None:
    probe = {"httpGet": {"port": "web"}, "initialDelaySeconds": 3}
    good = with_container(
        ports=[{"containerPort": 80, "name": "web"}],
        readinessProbe=probe,
        volumeMounts=[{"name": "v", "mountPath": "C:\\data"}],
        resources={"limits": {"cpu": "1", "example.com/gpu": "2"}},
    )
    good["spec"]["volumes"] = [{"name": "v"}]
    assert problems(PODS, good) == []


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({"spec": {}}, "spec.containers: Required value"),
        (pod({"name": "c"}), "spec.containers[0].image: Required value"),
        (pod({"image": "i"}), "spec.containers[0].name: Required value"),
        (
            pod(restartPolicy="Sometimes"),
            'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", '
            '"OnFailure", "Never"',
        ),
        (
            with_container(ports=[{"containerPort": 70000}]),
            "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 "
            "and 65535, inclusive",
        ),
        (
            with_container(volumeMounts=[{"name": "v", "mountPath": "/x"}]),
            'spec.containers[0].volumeMounts[0].name: Not found: "v"',
        ),
        (
            pod(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}]),
            "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
        ),
        (
            with_container(livenessProbe={}),
            "spec.containers[0].livenessProbe: Required value: must specify a handler type",
        ),
        (
            with_container(
                livenessProbe={"tcpSocket": {"port": 80}, "successThreshold": 2},
            ),
            "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        ),
        (
            with_container(
                resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
            ),
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal '
            "to cpu limit of 1",
        ),
        (
            pod(initContainers=[CONTAINER]),
            'spec.initContainers[0].name: Duplicate value: "c"',
        ),
        (
            pod(dnsPolicy="None"),
            "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
        ),
        (
            pod(tolerations=[{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}]),
            'spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' '
            "when `tolerationSeconds` is set",
        ),
        (
            with_container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]),
            "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"x\": error "
            "converting fieldPath: field label not supported: x",
        ),
        (
            {"metadata": {"name": "a", "labels": {"a b": "c"}}, **pod()},
            'metadata.labels: Invalid value: "a b": name part must consist of alphanumeric '
            "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
            "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
            "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
        (
            {"metadata": {}, **pod()},
            "metadata.name: Required value: name or generateName is required",
        ),
    ],
)  # fmt: skip
def test_pods(obj: dict[str, Any], expected: str) -> None:
    assert problems(PODS, obj) == [expected]


WINDOWS = {"os": {"name": "windows"}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"os": {"name": "plan9"}},
            'spec.os: Unsupported value: "plan9": supported values: "linux", "windows"',
        ),
        (
            {**WINDOWS, "securityContext": {"runAsUser": 5}},
            "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
        ),
        ({**WINDOWS, "hostPID": True}, "spec.hostPID: Forbidden: cannot be set for a windows pod"),
        (
            {"os": {"name": "linux"}, "securityContext": {"windowsOptions": {}}},
            "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a "
            "linux pod",
        ),
        (
            {"securityContext": {"windowsOptions": {"hostProcess": True}}},
            "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any "
            "hostProcess containers",
        ),
        (
            {"securityContext": {"windowsOptions": {"gmsaCredentialSpec": ""}}},
            'spec.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": '
            "gmsaCredentialSpec cannot be an empty string",
        ),
    ],
)
def test_windows_pods(spec: dict[str, Any], expected: str) -> None:
    assert problems(PODS, pod(**spec)) == [expected]


@pytest.mark.parametrize(
    "field", ["privileged", "allowPrivilegeEscalation", "readOnlyRootFilesystem", "procMount"]
)
def test_container_fields_that_windows_does_not_have(field: str) -> None:
    obj = with_container(securityContext={field: "Default" if field == "procMount" else True})
    obj["spec"].update(WINDOWS)
    assert problems(PODS, obj) == [
        f"spec.containers[0].securityContext.{field}: Forbidden: cannot be set for a windows pod"
    ]


def test_all_containers_are_host_processes_or_none() -> None:
    one = {**CONTAINER, "securityContext": {"windowsOptions": {"hostProcess": True}}}
    obj = {"spec": {"containers": [one, {"name": "d", "image": "i"}], "hostNetwork": True}}
    assert problems(PODS, obj) == [
        'spec: Invalid value: "": If pod contains any hostProcess containers then all containers '
        "must be HostProcess containers"
    ]


# Rules of validateWindowsSecurityContextOptions, in its order.
@pytest.mark.parametrize(
    ("user", "problem"),
    [
        ("ContainerUser", ""),
        ("NT AUTHORITY\\NETWORK SERVICE", ""),
        ("corp.example.com\\jane", ""),
        ("", "runAsUserName cannot be an empty string"),
        ("a\tb", "runAsUserName cannot contain control characters"),
        ("a\\b\\c", "runAsUserName cannot contain more than one backslash"),
        ("d" * 256 + "\\u", "runAsUserName's Domain length must be under 256 characters"),
        (".x\\u", "runAsUserName's Domain doesn't match the NetBios nor the DNS format"),
        ("domain\\", "runAsUserName's User cannot be empty"),
        ("u" * 105, "runAsUserName's User length must not be longer than 104 characters"),
        ("...", "runAsUserName's User cannot contain only periods or spaces"),
        ("a:b", "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"),
    ],
)
def test_run_as_user_name(user: str, problem: str) -> None:
    obj = pod(securityContext={"windowsOptions": {"runAsUserName": user}})
    texts = problems(PODS, obj)
    assert bool(texts) == bool(problem)
    assert not problem or texts[0].endswith(f": {problem}")


def test_pod_updates_change_images_and_little_else() -> None:
    other = {**CONTAINER, "image": "j"}
    assert changed(PODS, pod(), pod(other)) == []
    more = [{"key": "a", "operator": "Exists"}]
    assert changed(PODS, pod(), pod(tolerations=more)) == []
    assert changed(PODS, pod(), pod(hostNetwork=True))[0].startswith(
        "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`"
    )
    two = {"spec": {"containers": [CONTAINER, {"name": "d", "image": "i"}]}}
    assert changed(PODS, pod(), two) == [
        "spec.containers: Forbidden: pod updates may not add or remove containers"
    ]


def workload(labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": labels or {"app": "x"}}, **pod()}
    selector = {"matchLabels": {"app": "x"}}
    return {"spec": {"selector": selector, "template": template, **spec}}


def test_a_good_deployment() -> None:
    assert problems(DEPLOYMENTS, workload()) == []


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (
            workload({"app": "y"}),
            'spec.template.metadata.labels: Invalid value: {"app":"y"}: `selector` does not match '
            "template `labels`",
        ),
        (
            workload(selector={}),
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
        ),
        (
            workload(replicas=-1),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            workload(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
            "`maxSurge` is 0",
        ),
        (
            workload(strategy={"type": "Recreate", "rollingUpdate": {}}),
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is "
            "'Recreate'",
        ),
    ],
)
def test_deployments(obj: dict[str, Any], expected: str) -> None:
    assert problems(DEPLOYMENTS, obj) == [expected]


def test_selectors_of_workloads_are_immutable() -> None:
    other = workload({"app": "x", "b": "c"}, selector={"matchLabels": {"b": "c"}})
    assert changed(DEPLOYMENTS, workload(), other) == [
        'spec.selector: Invalid value: {"matchLabels":{"b":"c"}}: field is immutable'
    ]
    assert changed(STATEFUL_SETS, workload(serviceName="a"), workload(serviceName="b"))[
        0
    ].startswith("spec: Forbidden: updates to statefulset spec for fields other than 'replicas'")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, "spec.ports: Required value"),
        (
            {"ports": [{"port": 80}, {"port": 81, "name": "b"}]},
            "spec.ports[0].name: Required value",
        ),
        (
            {"ports": [{"port": 80, "nodePort": 30000}]},
            "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
        ),
        (
            {"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]},
            'spec.ports[1]: Duplicate value: {"protocol":"TCP","port":80}',
        ),
        ({"type": "ExternalName"}, "spec.externalName: Required value"),
        (
            {"type": "X", "ports": [{"port": 1}]},
            'spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", '
            '"LoadBalancer", "NodePort"',
        ),
        (
            {"type": "NodePort", "clusterIP": "None", "ports": [{"port": 1}]},
            "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort "
            "services",
        ),
    ],
)
def test_services(spec: dict[str, Any], expected: str) -> None:
    assert problems(SERVICES, {"spec": spec}) == [expected]


def test_headless_services_need_no_ports() -> None:
    assert problems(SERVICES, {"spec": {"clusterIP": "None"}}) == []


def test_the_address_of_a_service_is_given_once() -> None:
    one = {"spec": {"clusterIP": "10.96.0.7", "ports": [{"port": 1}]}}
    other = {"spec": {"clusterIP": "10.96.0.8", "ports": [{"port": 1}]}}
    assert changed(SERVICES, one, other) == [
        'spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set'
    ]


@pytest.mark.parametrize(
    ("resource", "obj", "expected"),
    [
        (
            SECRETS,
            {"type": "kubernetes.io/tls", "data": {"tls.crt": ""}},
            ["data[tls.key]: Required value"],
        ),
        (
            SECRETS,
            {"data": {"a": "A" * 4 * 400_000}},
            ["data: Too long: may not be more than 1048576 bytes"],
        ),
        (
            CONFIG_MAPS,
            {"data": {"a": "x"}, "binaryData": {"a": "eA=="}},
            ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
        ),
        (
            ROLES,
            {"rules": [{"verbs": [], "apiGroups": [""], "resources": ["pods"]}]},
            ["rules[0].verbs: Required value: verbs must contain at least one value"],
        ),
        (
            CLUSTER_ROLE_BINDINGS,
            {"roleRef": {"kind": "Role", "name": "a"}},
            ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
        ),
        (
            NODES,
            {"spec": {"taints": [{"key": "a", "effect": "X"}]}},
            [
                'metadata.taints[0].effect: Unsupported value: "X": '
                'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'
            ],
        ),
        (
            ENDPOINT_SLICES,
            {"addressType": "IPv4", "endpoints": [{"addresses": ["fd00::1"]}]},
            ['endpoints[0].addresses[0]: Invalid value: "fd00::1": must be an IPv4 address'],
        ),
    ],
)
def test_other_kinds(resource: Resource, obj: dict[str, Any], expected: list[str]) -> None:
    assert problems(resource, obj) == expected


def test_immutable_config_maps_and_secret_types() -> None:
    frozen = {"data": {"a": "x"}, "immutable": True}
    message = "field is immutable when `immutable` is set"
    assert changed(CONFIG_MAPS, frozen, {"data": {"a": "y"}}) == [
        f"immutable: Forbidden: {message}",
        f"data: Forbidden: {message}",
    ]
    assert changed(SECRETS, {"type": "a/b"}, {"type": "c/d"}) == [
        'type: Invalid value: "c/d": field is immutable'
    ]


def test_schedules() -> None:
    template = {**pod(restartPolicy="Never")}
    spec = {"schedule": "* * *", "jobTemplate": {"spec": {"template": template}}}
    (text,) = problems(CRON_JOBS, {"spec": spec})
    assert "expected exactly 5 fields, found 3" in text
    assert problems(CRON_JOBS, {"spec": {**spec, "schedule": "*/5 1-3 * * MON"}}) == []


def test_names_follow_the_kind() -> None:
    assert problems(NAMESPACES, {"metadata": {"name": "a.b"}}) != []
    assert problems(ROLES, {"metadata": {"name": "system:x"}, "rules": []}) == []


@pytest.mark.parametrize(
    "name, older, newest",
    [
        ("1a", "a DNS-1035 label must consist of", ""),
        ("a.b", "a DNS-1035 label must consist of", "must not contain dots"),
        ("1_a", "a DNS-1035 label must consist of", "a lowercase RFC 1123 label must consist of"),
    ],
)
def test_names_of_services_may_begin_with_a_digit_lately(
    name: str, older: str, newest: str
) -> None:
    service = made(SERVICES, {"metadata": {"name": name}, "spec": {"ports": [{"port": 1}]}})
    for server, wanted in (((1, 35), older), ((1, 36), newest)):
        found = validation.validate_create(SERVICES, service, server=server)
        assert [cause.field for cause in found] == (["metadata.name"] if wanted else [])
        assert not wanted or wanted in found[0].message


def test_summary_of_causes() -> None:
    causes = validation.validate_create(PODS, made(PODS, {"metadata": {}, "spec": {}}))
    assert validation.summary(causes) == (
        "[metadata.name: Required value: name or generateName is required, "
        "spec.containers: Required value]"
    )
    assert [cause.reason for cause in causes] == ["FieldValueRequired", "FieldValueRequired"]
