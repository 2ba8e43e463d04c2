"""The everyday commands of kubectl, old and new, on Linux and on Windows pods."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import time

import kubectls
import pytest

from conftest import eventually, free_port

LINUX, WINDOWS = "linux", "windows"
IMAGES = {LINUX: "busybox:1.35", WINDOWS: "mcr.microsoft.com/windows/servercore:ltsc2019"}
SERVER = """
$l = New-Object System.Net.HttpListener; $l.Prefixes.Add('http://*:80/'); $l.Start();
Write-Host 'listening'; while ($l.IsListening) { $c = $l.GetContext();
$b = [System.Text.Encoding]::UTF8.GetBytes('hello from windows'); $r = $c.Response;
$r.ContentLength64 = $b.Length; $r.OutputStream.Write($b, 0, $b.Length); $r.Close();
Write-Host ('served {0}' -f $c.Request.Url.AbsolutePath) }
"""
COMMANDS = {
    LINUX: [
        "sh",
        "-c",
        "mkdir /www; echo hello from linux >/www/index.html; echo listening;"
        "exec httpd -f -v -p 80 -h /www 2>&1",
    ],
    WINDOWS: ["powershell.exe", "-command", " ".join(SERVER.split("\n"))],
}
SAY = {LINUX: ["echo", "said"], WINDOWS: ["cmd.exe", "/c", "echo said"]}
FAIL = {LINUX: ["sh", "-c", "exit 5"], WINDOWS: ["cmd.exe", "/c", "exit 5"]}
ECHO_INPUT = {LINUX: ["cat"], WINDOWS: ["findstr.exe", "x"]}


@pytest.fixture(params=sorted(kubectls.PROGRAMS), scope="module")
def kube(request, cluster):
    """The cluster, driven by one of the kubectl programs."""
    return dataclasses.replace(cluster, kubectl_program=kubectls.PROGRAMS[request.param]())


@pytest.fixture(scope="module", params=[LINUX, WINDOWS])
def web(request, kube):
    """A Deployment of one web server, with a Service; its system."""
    system = request.param
    name = f"web-{system}"
    kube.apply(deployment(name, system))
    kube.kubectl("rollout", "status", f"deployment/{name}", "--timeout=60s", timeout_s=70)
    yield name, system
    kube.kubectl("delete", "deployment,service", name, "--now")


def deployment(name, system, replicas=1):
    labels = {"app": name}
    container = {
        "name": "web",
        "image": IMAGES[system],
        "command": COMMANDS[system],
        "ports": [{"containerPort": 80}],
        "readinessProbe": {"httpGet": {"port": 80}, "periodSeconds": 1},
    }
    spec = {
        "terminationGracePeriodSeconds": 1,
        "nodeSelector": {"kubernetes.io/os": system},
        "containers": [container],
    }
    items = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {"selector": labels, "ports": [{"port": 80}]},
        },
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def pod_of(kube, name):
    return kube.get("pods", "-l", f"app={name}")["items"][0]["metadata"]["name"]


def test_get_and_describe(kube, web):
    name, system = web
    rows = kube.kubectl("get", "pods", "-l", f"app={name}", "-o", "wide").stdout.splitlines()
    assert rows[0].split()[:5] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert re.search(r" 1/1 +Running +0 .*10\.244\.\d+\.\d+ ", rows[1])
    text = kube.kubectl("describe", "pod", pod_of(kube, name)).stdout
    for word in ("Successfully assigned", "Started container", "kubernetes.io/os="):
        assert word in text
    node = kube.get("pods", "-l", f"app={name}")["items"][0]["spec"]["nodeName"]
    text = kube.kubectl("describe", "node", node).stdout
    assert re.search(rf"Operating System: +{system}", text)


def test_logs_and_follow(kube, web):
    name, _ = web
    pod = pod_of(kube, name)
    assert kube.kubectl("logs", pod).stdout.startswith("listening")
    command = (kube.kubectl_program, "logs", "-f", "--tail=1", pod)
    with subprocess.Popen(
        command, env=kube.environment, stdout=subprocess.PIPE, text=True
    ) as follow:
        try:
            assert follow.stdout is not None
            follow.stdout.readline()
            address = kube.get("pod", pod)["status"]["podIP"]
            kube.shell("master", "curl", "-s", "-m", "5", f"http://{address}/")
            started = time.monotonic()
            assert follow.stdout.readline()
            assert time.monotonic() - started < 10
        finally:
            follow.kill()


def test_exec(kube, web):
    name, system = web
    pod = pod_of(kube, name)
    assert kube.kubectl("exec", pod, "--", *SAY[system]).stdout.strip() == "said"
    done = kube.kubectl("exec", pod, "--", *FAIL[system], check=False)
    assert "exit code 5" in done.stderr
    done = kube.kubectl("exec", "-i", pod, "--", *ECHO_INPUT[system], input="x1\ny\nx2\n")
    assert "x1" in done.stdout
    assert "x2" in done.stdout


def test_port_forward(kube, web):
    name, system = web
    port = free_port()
    command = (kube.kubectl_program, "port-forward", pod_of(kube, name), f"{port}:80")
    with subprocess.Popen(command, env=kube.environment, stdout=subprocess.PIPE) as forward:
        try:
            assert forward.stdout is not None
            assert b"Forwarding" in forward.stdout.readline()
            for _ in range(2):
                page = subprocess.run(
                    ["curl", "-s", "-m", "5", f"http://127.0.0.1:{port}/"],
                    capture_output=True,
                    text=True,
                    timeout=10,
                )
                assert f"hello from {system}" in page.stdout
        finally:
            forward.kill()


def test_scale_and_rollout(kube, web):
    name, _ = web
    kube.kubectl("scale", f"deployment/{name}", "--replicas=2")
    kube.kubectl("rollout", "status", f"deployment/{name}", "--timeout=60s", timeout_s=70)
    assert len(kube.get("pods", "-l", f"app={name}")["items"]) == 2
    kube.kubectl("scale", f"deployment/{name}", "--replicas=1")
    before = pod_of(kube, name)
    kube.kubectl("rollout", "restart", f"deployment/{name}")
    kube.kubectl("rollout", "status", f"deployment/{name}", "--timeout=60s", timeout_s=70)
    history = kube.kubectl("rollout", "history", f"deployment/{name}").stdout
    assert re.search(r"^2 ", history, re.MULTILINE)

    def one_new():
        names = [row["metadata"]["name"] for row in kube.get("pods", "-l", f"app={name}")["items"]]
        return len(names) == 1 and names[0] != before

    eventually(one_new, 60, "the old pods are gone")


def test_watch_and_delete(kube, web):
    name, _ = web
    pod = pod_of(kube, name)
    command = (kube.kubectl_program, "get", "pods", "-l", f"app={name}", "-w", "-o", "name")
    with subprocess.Popen(command, env=kube.environment, stdout=subprocess.PIPE) as watch:
        try:
            assert watch.stdout is not None
            assert watch.stdout.readline().decode().strip() == f"pod/{pod}"
            kube.kubectl("delete", "pod", pod, "--now")
            names = set()
            end = time.monotonic() + 30
            while len(names) < 2 and time.monotonic() < end:
                names.add(watch.stdout.readline())
            assert len(names) == 2, "the new pod was shown"
        finally:
            watch.kill()
    kube.kubectl("rollout", "status", f"deployment/{name}", "--timeout=60s", timeout_s=70)


def test_pods_reach_each_other(cluster):
    """Linux to Windows and back: by IP, by service and by name."""
    names = {system: f"peer-{system}" for system in (LINUX, WINDOWS)}
    try:
        for system, name in names.items():
            cluster.apply(deployment(name, system))
        for name in names.values():
            cluster.kubectl("rollout", "status", f"deployment/{name}", "--timeout=60s")
        get = {LINUX: ["wget", "-q", "-O", "-"], WINDOWS: ["curl.exe", "-s", "-m", "5"]}
        for system, name in names.items():
            to = WINDOWS if system == LINUX else LINUX
            service = cluster.get("service", names[to])["spec"]["clusterIP"]
            address = cluster.get("pods", "-l", f"app={names[to]}")["items"][0]["status"]["podIP"]
            long = f"{names[to]}.default.svc.cluster.local"
            for host in (address, service, names[to], long):
                command = [*get[system], f"http://{host}/"]
                page = cluster.kubectl("exec", pod_of(cluster, name), "--", *command).stdout
                assert f"hello from {to}" in page, f"{system} to {host}"
    finally:
        cluster.kubectl("delete", "deployment,service", *names.values(), "--now")


def test_nodes_are_as_their_profile_says(kube):
    text = kube.kubectl("get", "nodes", "-o", "wide").stdout
    assert re.search(r"^win01 +Ready .*172\.31\.0\.12 .*Windows Server 2019", text, re.MULTILINE)
    assert re.search(r"10\.0\.17763\.\d+ +containerd://", text)
    node = kube.get("node", "win01")
    labels = node["metadata"]["labels"]
    expected = {
        "kubernetes.io/os": "windows",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "windows",
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "win01",
        "node.kubernetes.io/windows-build": "10.0.17763",
    }
    assert expected.items() <= labels.items()
    assert "muntin.dev/emulated" in node["metadata"]["annotations"]
    assert "muntin.dev/emulated" not in kube.get("node", "lin01")["metadata"]["annotations"]


def test_bad_objects_are_refused_with_their_fields(kube):
    bad = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "Bad"}, "spec": {}}
    done = kube.kubectl("create", "--validate=false", "-f", "-", input=json.dumps(bad), check=False)
    assert done.returncode == 1
    assert "metadata.name" in done.stderr
    assert "spec.containers: Required value" in done.stderr
