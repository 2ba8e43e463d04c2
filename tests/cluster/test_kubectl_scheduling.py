"""The scheduler on a running cluster, as kubectl shows it: preemption with its events, gates."""

import json

from whole_cluster import eventually

SEAT = "example.com/seat"
"""A resource of this test alone, so that no pod of another one is in the way or has to leave."""


def pod(name, *, seat=False, **spec):
    container = {
        "name": "c",
        "image": "busybox",
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", "3600"],
    }
    if seat:
        container["resources"] = {"limits": {SEAT: "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "containers": [container],
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "terminationGracePeriodSeconds": 1,
            **spec,
        },
    }


def events(cluster, name, reason):
    rows = cluster.get("events", "--field-selector", f"involvedObject.name={name},reason={reason}")
    return [row["message"] for row in rows["items"]]


def scheduled(cluster, name):
    rows = cluster.get("pod", name)["status"].get("conditions") or ()
    return next((row for row in rows if row["type"] == "PodScheduled"), {})


def test_a_more_important_pod_takes_the_seat(cluster, namespace):
    name = SEAT.replace("/", "~1")
    rows = [
        {"op": "add", "path": f"/status/{field}/{name}", "value": "1"}
        for field in ("capacity", "allocatable")
    ]
    patch = ("--subresource=status", "--type=json", "-p", json.dumps(rows))
    cluster.kubectl("patch", "node", "lin01", *patch)
    cluster.kubectl("create", "priorityclass", namespace, "--value=1000")
    try:
        cluster.apply(pod("low", seat=True))
        cluster.wait_ready("low")
        cluster.apply(pod("late", seat=True))
        refused = eventually(lambda: scheduled(cluster, "late").get("message"), 60, "late refused")
        assert f"1 Insufficient {SEAT}" in refused
        assert "1 No preemption victims found for incoming pod" in refused
        assert eventually(lambda: events(cluster, "late", "FailedScheduling"), 60) == [refused]
        cluster.apply(pod("top", seat=True, priorityClassName=namespace))
        uid = cluster.get("pod", "top")["metadata"]["uid"]
        told = eventually(lambda: events(cluster, "low", "Preempted"), 60, "low is preempted")
        assert told == [f"Preempted by pod {uid} on node lin01"]
        cluster.wait_ready("top")
        assert "low" not in cluster.kubectl("get", "pods", "-o", "name").stdout
        assert events(cluster, "top", "Scheduled") == [
            f"Successfully assigned {namespace}/top to lin01"
        ]
        assert scheduled(cluster, "late").get("status") != "True"
    finally:
        cluster.kubectl("delete", "priorityclass", namespace)
        cluster.kubectl("delete", "pods", "--all", "--wait=false")


def test_a_gated_pod_is_shown_as_such_until_its_gates_are_gone(cluster, namespace):
    cluster.apply(pod("gated", schedulingGates=[{"name": "example.com/hold"}]))
    line = cluster.kubectl("get", "pod", "gated", "--no-headers").stdout.split()
    assert line[2] == "SchedulingGated"
    cluster.apply(pod("free"))
    cluster.wait_ready("free")
    assert scheduled(cluster, "gated")["reason"] == "SchedulingGated"
    assert "nodeName" not in cluster.get("pod", "gated")["spec"]
    gone = '[{"op": "remove", "path": "/spec/schedulingGates"}]'
    cluster.kubectl("patch", "pod", "gated", "--type=json", "-p", gone)
    cluster.wait_ready("gated")
