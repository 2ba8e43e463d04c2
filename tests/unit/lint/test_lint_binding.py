"""What makes a pod one for Windows nodes, and which pods a Service has."""

import json

import pytest

from muntin.lint.binding import is_windows_image
from muntin.lint.documents import read
from muntin.lint.run import gather

CLASSES = [
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "win-2019"},
     "handler": "x", "scheduling": {"nodeSelector": {"kubernetes.io/os": "windows"}}},
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "wcow"},
     "handler": "runhcs-wcow-process"},
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "gvisor"},
     "handler": "runsc"},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "win01", "labels": {
        "kubernetes.io/os": "windows"}}},
]  # fmt: skip


def gathered(*objects):
    text = "\n---\n".join(json.dumps(one) for one in objects)
    documents, problems = read(text, "x")
    assert problems == []
    return gather(documents)


def affinity(*terms):
    node = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [expression]} for expression in terms]}}  # fmt: skip
    return {"affinity": {"nodeAffinity": node}}


def said(operator, *values, key="kubernetes.io/os"):
    return {"key": key, "operator": operator, "values": list(values)}


def image(name):
    return {"containers": [{"name": "a", "image": name}]}


@pytest.mark.parametrize(
    ("spec", "os"),
    [
        ({}, ""),
        (image("nginx"), ""),
        ({"os": {"name": "windows"}}, "windows"),
        ({"os": {"name": "linux"}, "nodeSelector": {"kubernetes.io/os": "windows"}}, "linux"),
        ({"nodeSelector": {"kubernetes.io/os": "windows"}}, "windows"),
        ({"nodeSelector": {"beta.kubernetes.io/os": "windows"}}, "windows"),
        ({"nodeSelector": {"node.kubernetes.io/windows-build": "10.0.17763"}}, "windows"),
        ({"nodeSelector": {"kubernetes.io/os": "linux"}}, "linux"),
        (affinity(said("In", "windows")), "windows"),
        (affinity(said("NotIn", "linux")), "windows"),
        (affinity(said("NotIn", "windows")), "linux"),
        (affinity(said("In", "windows"), said("In", "linux")), ""),
        (affinity(said("In", "windows", "linux")), ""),
        (affinity(said("Exists", key="node.kubernetes.io/windows-build")), "windows"),
        ({"runtimeClassName": "win-2019"}, "windows"),
        ({"runtimeClassName": "wcow"}, "windows"),
        ({"runtimeClassName": "gvisor"}, ""),
        ({"runtimeClassName": "of-another-set"}, ""),
        ({"nodeName": "win01"}, "windows"),
        ({"nodeName": "lin01"}, ""),
        (image("mcr.microsoft.com/windows/nanoserver:ltsc2022"), "windows"),
        ({"securityContext": {"windowsOptions": {"runAsUserName": "x"}}}, "windows"),
    ],
)
def test_pods(spec, os):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    assert gathered(pod, *CLASSES).pods[0].os == os


@pytest.mark.parametrize(
    ("name", "windows"),
    [
        ("mcr.microsoft.com/windows/servercore:ltsc2019", True),
        ("mcr.microsoft.com/windows:1809", True),
        ("mcr.microsoft.com/windows/servercore/iis@sha256:0", True),
        ("mcr.microsoft.com/dotnet/framework/aspnet:4.8", True),
        ("mcr.microsoft.com/dotnet/samples:aspnetapp-nanoserver-ltsc2022", True),
        ("golang:1.22-windowsservercore-ltsc2022", True),
        ("registry:5000/team/app:v1-ltsc2019", True),
        ("microsoft/windowsservercore:1709", True),
        ("microsoft/iis", True),
        ("mcr.microsoft.com/dotnet/aspnet:8.0", False),
        ("mcr.microsoft.com/windowsfoo/x", False),
        ("grafana/windows-dashboards:1", False),
        ("prom/prometheus:v2", False),
        ("registry:5000/nanoserver-tools", False),
    ],
)
def test_images(name, windows):
    assert is_windows_image(name) is windows


TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {"os": {"name": "windows"}}}


@pytest.mark.parametrize(
    ("version", "kind", "path"),
    [
        ("apps/v1", "Deployment", "spec.template"),
        ("extensions/v1beta1", "Deployment", "spec.template"),
        ("apps/v1", "StatefulSet", "spec.template"),
        ("apps/v1", "DaemonSet", "spec.template"),
        ("apps/v1", "ReplicaSet", "spec.template"),
        ("v1", "ReplicationController", "spec.template"),
        ("batch/v1", "Job", "spec.template"),
        ("batch/v1beta1", "CronJob", "spec.jobTemplate.spec.template"),
        ("v1", "PodTemplate", "template"),
    ],
)
def test_templates_of_workloads(version, kind, path):
    body = TEMPLATE
    for step in reversed(path.split(".")):
        body = {step: body}
    (pod,) = gathered({"apiVersion": version, "kind": kind, "metadata": {}, **body}).pods
    assert (pod.os, ".".join(pod.path)) == ("windows", path)


def test_kinds_of_others_are_left_alone():
    custom = {"apiVersion": "example.com/v1", "kind": "Deployment", "spec": {"template": TEMPLATE}}
    assert gathered(custom).pods == []


def test_lists_are_taken_apart():
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}}
    typed = {"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "b"}}]}
    found = gathered({"kind": "List", "apiVersion": "v1", "items": [pod, typed]})
    assert [(one.name, one.path) for one in found.objects] == [
        ("a", ("items", 0)),
        ("b", ("items", 1, "items", 0)),
    ]


def test_a_service_has_the_pods_it_selects_in_its_namespace():
    def pod(name, namespace, os, **labels):
        meta = {"name": name, "namespace": namespace, "labels": labels}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"os": {"name": os}}}

    def service(**selector):
        spec = {"selector": selector}
        meta = {"name": "s", "namespace": "x"}
        return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}

    pods = [pod("a", "x", "windows", app="w"), pod("b", "x", "linux", app="l"),
            pod("c", "y", "windows", app="l")]  # fmt: skip
    found = gathered(*pods, service(app="w"), service(app="l"), service(app="n"), service())
    names = [([pod.object.name for pod in one.pods], one.os) for one in found.services]
    assert names == [(["a"], "windows"), (["b"], "linux"), ([], ""), ([], "")]
