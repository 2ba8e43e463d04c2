"""What kubectl shows: get in its forms, describe, watch, wait, explain, access, of both systems."""

from __future__ import annotations

import json
import re

import pytest
from samples import User, container, pod
from whole_cluster import eventually

NODE = {"lin": "lin01", "win": "win0"}
IMAGE = {"lin": "busybox:1.35", "win": "mcr.microsoft.com/windows/servercore:ltsc2019"}


def test_tables_of_pods(user: User, system: str):
    head, row = user("get", "pod", system, "-o", "wide").splitlines()
    assert head.split()[:7] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"]
    assert row.split()[:4] == [system, "3/3", "Running", "0"]
    assert NODE[system] in row
    assert re.search(r" 10\.244\.\d+\.\d+ ", row)
    assert user("get", "pod", f"{system}-half", "--no-headers").split()[1:3] == ["1/2", "Error"]
    # a container is ready for as long as it runs, and this one runs now and again
    crash = ("get", "pod", f"{system}-crash", "--no-headers")
    eventually(lambda: user(*crash).split()[1] == "0/1", what="0/1")


def test_forms_of_output(user: User, system: str):
    pod = f"pod/{system}"
    assert user("get", pod, "-o", "name").strip() == pod
    assert user("get", pod, "-o", "jsonpath={.spec.containers[*].name}") == "main web stdin"
    assert user("get", pod, "-o", "go-template={{.metadata.name}}") == system
    columns = "custom-columns=NAME:.metadata.name,PHASE:.status.phase"
    assert user("get", pod, "-o", columns).split() == ["NAME", "PHASE", system, "Running"]
    text = user("get", pod, "-o", "yaml")
    assert text.startswith("apiVersion: v1\nkind: Pod\n")
    assert f"image: {IMAGE[system]}" in text


def test_choosing(user: User):
    def names(*args: str) -> list[str]:
        return user("get", "pods", "-o", "name", *args).split()

    assert names("-l", "app in (lin, win)") == ["pod/lin", "pod/win"]
    assert names("--field-selector=metadata.name=win") == ["pod/win"]
    running = names("--field-selector=status.phase=Running")
    assert {"pod/lin", "pod/win", "pod/win-half"} <= set(running)
    assert names("--sort-by=.metadata.name", "-l", "app in (lin, win)") == ["pod/lin", "pod/win"]
    assert "samples" in user("get", "pods", "-A")
    assert "No resources found" in user.run("get", "pods", "-l", "app=none").stderr


def test_tables_of_nodes(user: User):
    head, *rows = user("get", "nodes", "-o", "wide").splitlines()
    assert head.split()[:5] == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [row.split()[:2] for row in rows] == [[n, "Ready"] for n in ("lin01", "win01", "win02")]
    assert "Windows Server 2019 Datacenter" in rows[1]
    assert "10.0.17763" in rows[1]
    assert "kubernetes.io/os=windows" in user("get", "node", "win01", "--show-labels")


def test_describe_pod(user: User, system: str):
    text = user("describe", "pod", system)
    assert re.search(rf"^Node: +{NODE[system]}", text, re.M)
    assert re.search(r"^Status: +Running$", text, re.M)
    assert re.search(rf"^    Image: +{re.escape(IMAGE[system])}$", text, re.M)
    assert re.search(r"^  Ready +True", text, re.M)
    assert f"Node-Selectors:  kubernetes.io/os={'linux' if system == 'lin' else 'windows'}" in (
        re.sub(r"Node-Selectors: +", "Node-Selectors:  ", text)
    )


def test_describe_shows_events_in_their_order(user: User, system: str):
    events = user("describe", "pod", f"{system}-half").partition("Events:")[2]
    reasons = [line.split()[1] for line in events.splitlines()[3:] if line.strip()]
    started = [reason for reason in reasons if reason in ("Scheduled", "Created", "Started")]
    assert started == ["Scheduled", "Created", "Started", "Created", "Started"]


def test_describe_a_container_that_ended(user: User, system: str):
    text = user("describe", "pod", f"{system}-half")
    assert re.search(r"State: +Terminated\n +Reason: +Error\n +Exit Code: +2\n", text)
    text = user("describe", "pod", f"{system}-crash")
    assert "Back-off restarting failed container" in text or "Last State:" in text


def test_describe_nodes(user: User, system: str):
    name = {"lin": "lin01", "win": "win01"}[system]
    text = user("describe", "node", name)
    address = {"lin": "172.31.0.11", "win": "172.31.0.12"}[system]
    words = [
        "MemoryPressure",
        "KubeletReady",
        f"InternalIP:  {address}",
        "Allocatable:",
        "PodCIDR:",
    ]
    words += ["Non-terminated Pods:"] + ["muntin.dev/emulated: true"] * (system == "win")
    assert [word for word in words if word not in text] == []


def test_describe_services_and_deployments(user: User, system: str):
    user("create", "deployment", f"{system}-shown", f"--image={IMAGE[system]}", "--replicas=0")
    user("expose", "deployment", f"{system}-shown", "--port=80")
    try:
        text = user("describe", "deployment", f"{system}-shown")
        assert re.search(r"Replicas: +0 desired", text)
        assert "NewReplicaSet:" in text
        text = user("describe", "service", f"{system}-shown")
        assert re.search(r"^IP: +10\.", text, re.M)
        assert re.search(r"^Endpoints: +(<none>)?$", text, re.M)
        assert f"{system}-shown" in user("get", "all")
    finally:
        user("delete", "deployment,service", f"{system}-shown")


def test_watch_prints_what_changes(user: User, system: str):
    with user.running("get", "pod", system, "-o", "wide", "-w") as lines:
        lines.wait(system)
        user("label", "pod", system, f"watched=yes{user.old}", "--overwrite")
        eventually(lambda: sum(line.startswith(system) for line in lines.seen) > 1)


def test_wait(user: User, system: str):
    assert "condition met" in user("wait", f"pod/{system}", "--for=condition=Ready")
    error = user.fails("wait", f"pod/{system}", "--for=condition=Nosuch", "--timeout=1s")
    assert "timed out waiting for the condition" in error


def test_events(user: User, system: str):
    text = user("get", "events", f"--field-selector=involvedObject.name={system}")
    assert "Scheduled" in text
    assert f"Successfully assigned samples/{system} to {NODE[system]}" in text
    if not user.old:
        assert "Started container main" in user("events", f"--for=pod/{system}")


def test_what_the_server_knows(user: User):
    assert re.search(
        r"^deployments +deploy +apps/v1 +true +Deployment", user("api-resources"), re.M
    )
    assert "rbac.authorization.k8s.io/v1" in user("api-versions").split()
    assert "restartPolicy" in user("explain", "pod.spec")
    assert "Kubernetes control plane" in user("cluster-info")
    assert re.search(r"Server Version.*1\.34", user("version"), re.S)


def test_access(user: User):
    assert user("auth", "can-i", "delete", "pods").strip() == "yes"
    someone = "--as=system:serviceaccount:samples:default"
    assert user.run("auth", "can-i", "delete", "pods", someone).stdout.strip() == "no"
    assert "pods is forbidden" in user.fails("get", "pods", someone)
    if not user.old:
        assert user("create", "token", "default").count(".") == 2
        assert "kubernetes-admin" in user("auth", "whoami")


def test_top_shows_what_pods_and_nodes_use(user: User, system: str):
    name = f"spin-{system}"
    loop = {
        "lin": ["sh", "-c", "while true; do :; done"],
        "win": ["powershell", "-command", "while ($true) { $i++ }"],
    }
    user(
        "create",
        "-f",
        "-",
        input=json.dumps(pod(system, name, container(system, "a", loop[system]))),
    )
    try:

        def cores() -> int:
            head, row = user("top", "pod", name).splitlines()
            assert head.split() == ["NAME", "CPU(cores)", "MEMORY(bytes)"]
            found = re.fullmatch(rf"{name} +(\d+)m +(\d+)Mi *", row)
            assert found, row
            return int(found[1])

        def spins() -> bool:
            if user.run("top", "pod", name).returncode != 0:
                return False  # not looked at twice yet
            return cores() > 50

        eventually(spins, 90)
        node = user("get", "pod", name, "-o", "jsonpath={.spec.nodeName}")
        row = next(row for row in user("top", "nodes").splitlines() if row.startswith(node))
        used = re.match(rf"{node} +(\d+)m +\d+% +\d+Mi +\d+%", row)
        assert used, row
        assert int(used[1]) > 50
    finally:
        user("delete", "pod", name, "--wait=false", "--grace-period=0", "--force")


def test_metrics_are_for_those_who_may_read_them(user: User):
    someone = "--as=system:serviceaccount:samples:default"
    path = "/apis/metrics.k8s.io/v1beta1/nodes"
    assert "forbidden" in user.fails("get", "--raw", path, someone)
    assert "NodeMetrics" in user("get", "--raw", path)


@pytest.mark.parametrize("verb", ["get", "describe", "delete"])
def test_what_is_not_there(user: User, verb: str):
    assert 'pods "nosuch" not found' in user.fails(verb, "pod", "nosuch")
    assert "the server doesn't have a resource type" in user.fails(verb, "nosuch", "x")
