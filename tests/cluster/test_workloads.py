"""Workload controllers on a running cluster, Linux and Windows side by side, through kubectl.

What may never happen is checked on every state of the pods that a watch shows, not now and then.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from samples import SLEEP, container
from whole_cluster import Cluster, eventually

Pods = dict[str, dict[str, Any]]
SYSTEMS = {"lin": "linux", "win": "windows"}
SECONDS = 120


def workload(kind: str, system: str, **spec: Any) -> dict[str, Any]:
    """A workload named after its system, whose pods sleep there."""
    labels = {"app": system}
    pod_spec = {
        "nodeSelector": {"kubernetes.io/os": SYSTEMS[system]},
        "terminationGracePeriodSeconds": 0,
        "containers": [container(system, "main", SLEEP[system])],
    }
    plain = kind == "ReplicationController"
    return {
        "apiVersion": "v1" if plain else "apps/v1",
        "kind": kind,
        "metadata": {"name": system},
        "spec": {
            "selector": labels if plain else {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec},
            **spec,
        },
    }


def on_both(scenario: Callable[[str], None]) -> None:
    with ThreadPoolExecutor(len(SYSTEMS)) as pool:
        for done in [pool.submit(scenario, system) for system in SYSTEMS]:
            done.result()


def is_ready(pod: dict[str, Any]) -> bool:
    rows = pod["status"].get("conditions") or ()
    ready = any(row["type"] == "Ready" and row["status"] == "True" for row in rows)
    return ready and "deletionTimestamp" not in pod["metadata"]


def is_active(pod: dict[str, Any]) -> bool:
    ended = pod["status"].get("phase") in ("Succeeded", "Failed")
    return not ended and "deletionTimestamp" not in pod["metadata"]


class Watched:
    """Every state that the pods of a system went through."""

    def __init__(self) -> None:
        self.states: list[Pods] = []
        self.made: list[tuple[str, Pods]] = []

    def read(self, text: str) -> None:
        decoder, at = json.JSONDecoder(), 0
        now: Pods = {}
        text = text.strip()
        while at < len(text):
            try:
                event, end = decoder.raw_decode(text, at)
            except json.JSONDecodeError:
                return  # what came last was cut off
            pod = event["object"]
            name = pod["metadata"]["name"]
            if event["type"] == "ADDED":
                self.made.append((name, now))
            now = {key: value for key, value in now.items() if key != name}
            if event["type"] != "DELETED":
                now = {**now, name: pod}
            self.states.append(now)
            at = end + len(text[end:]) - len(text[end:].lstrip())


@contextlib.contextmanager
def watched(cluster: Cluster, namespace: str, system: str) -> Iterator[Watched]:
    """Watch the pods of ``system`` until the end of the block, and then tell."""
    found = Watched()
    path = cluster.folder / f"{namespace}-{system}.json"
    command = ("get", "pods", "-n", namespace, "-l", f"app={system}", "-o", "json")
    with path.open("w") as out:
        process = subprocess.Popen(
            [cluster.kubectl_program, *command, "--watch", "--output-watch-events"],
            stdout=out,
            env=cluster.environment,
        )
        try:
            wanted = {row["metadata"]["name"] for row in cluster.get(*command[1:-2])["items"]}
            eventually(lambda: all(name in path.read_text() for name in wanted))
            yield found
            last = cluster.get(*command[1:-2])
            versions = {row["metadata"]["resourceVersion"] for row in last["items"]}
            eventually(lambda: all(f'"{version}"' in path.read_text() for version in versions))
        finally:
            process.kill()
            process.wait()
    found.read(path.read_text())


def changed(value: str) -> str:
    """A patch of the template that the pods can see."""
    row = {"name": "main", "env": [{"name": "VALUE", "value": value}]}
    return json.dumps({"spec": {"template": {"spec": {"containers": [row]}}}})


def rolled(cluster: Cluster, this: str) -> str:
    done = cluster.kubectl(
        "rollout", "status", this, f"--timeout={SECONDS}s", timeout_s=SECONDS + 10
    )
    return str(done.stdout)


def values(cluster: Cluster, namespace: str, system: str) -> dict[str, str]:
    """What each pod was made with."""
    found = cluster.get("pods", "-n", namespace, "-l", f"app={system}")["items"]
    return {
        pod["metadata"]["name"]: (pod["spec"]["containers"][0].get("env") or [{"value": ""}])[0][
            "value"
        ]
        for pod in found
        if is_active(pod)
    }


def test_stateful_sets_start_in_order_and_update_to_the_partition(
    cluster: Cluster, namespace: str
) -> None:
    def partition(first: int) -> str:
        return json.dumps({"spec": {"updateStrategy": {"rollingUpdate": {"partition": first}}}})

    def scenario(system: str) -> None:
        this = f"statefulset/{system}"
        names = [f"{system}-{ordinal}" for ordinal in range(3)]
        with watched(cluster, namespace, system) as start:
            cluster.apply(workload("StatefulSet", system, replicas=3, serviceName=system))
            assert "complete" in rolled(cluster, this)
        assert [name for name, _ in start.made] == names
        for ordinal, (_, before) in enumerate(start.made):
            assert all(is_ready(before[name]) for name in names[:ordinal]), start.made
        host = cluster.kubectl("exec", names[2], "--", "hostname").stdout
        assert host.strip().lower() == names[2]  # Windows shows it in capitals

        cluster.kubectl("patch", this, "-p", partition(2))
        cluster.kubectl("patch", this, "-p", changed("new"))
        text = rolled(cluster, this)
        assert "partitioned roll out complete: 1 new pods have been updated" in text
        assert values(cluster, namespace, system) == dict(zip(names, ("", "", "new"), strict=True))
        with watched(cluster, namespace, system) as update:
            cluster.kubectl("patch", this, "-p", partition(0))
            rolled(cluster, this)
        assert [name for name, _ in update.made[3:]] == [names[1], names[0]]
        assert all(sum(map(is_ready, state.values())) >= 2 for state in update.states[2:])
        assert set(values(cluster, namespace, system).values()) == {"new"}

        history = cluster.kubectl("rollout", "history", this).stdout
        assert [line.split()[0] for line in history.split("\n") if line[:1].isdigit()] == ["1", "2"]
        cluster.kubectl("rollout", "undo", this)
        rolled(cluster, this)
        assert set(values(cluster, namespace, system).values()) == {""}

        with watched(cluster, namespace, system) as scaled:
            cluster.kubectl("scale", this, "--replicas=1")
            eventually(lambda: len(cluster.get(this)["status"]) and _replicas(cluster, this) == 1)
        assert all(names[0] in state for state in scaled.states)
        assert all(names[1] in state or names[2] not in state for state in scaled.states[2:])
        texts = _events(cluster, namespace, "StatefulSet", system)
        assert f"create Pod {names[0]} in StatefulSet {system} successful" in texts
        assert f"delete Pod {names[2]} in StatefulSet {system} successful" in texts

    on_both(scenario)


def _replicas(cluster: Cluster, this: str) -> int:
    return int(cluster.get(this)["status"]["replicas"])


def _events(cluster: Cluster, namespace: str, kind: str, name: str) -> set[str]:
    fields = f"involvedObject.kind={kind},involvedObject.name={name}"
    found = cluster.get("events", "-n", namespace, "--field-selector", fields)["items"]
    return {event["message"] for event in found}


def test_replication_controllers_scale_and_take_in_pods(cluster: Cluster, namespace: str) -> None:
    def scenario(system: str) -> None:
        this, manifest = f"rc/{system}", workload("ReplicationController", system, replicas=2)
        cluster.apply(manifest)
        eventually(lambda: cluster.get(this)["status"].get("readyReplicas") == 2, SECONDS)
        before = set(values(cluster, namespace, system))
        cluster.kubectl("delete", this, "--cascade=orphan")
        cluster.apply({**manifest, "spec": {**manifest["spec"], "replicas": 3}})
        eventually(lambda: cluster.get(this)["status"].get("readyReplicas") == 3, SECONDS)
        after = set(values(cluster, namespace, system))
        assert before < after
        cluster.kubectl("scale", this, "--current-replicas=3", "--replicas=1")
        eventually(lambda: len(values(cluster, namespace, system)) == 1, SECONDS)
        assert "Created pod: " in " ".join(
            _events(cluster, namespace, "ReplicationController", system)
        )

    on_both(scenario)


def test_daemon_sets_surge_on_every_node_of_a_system(cluster: Cluster, namespace: str) -> None:
    surge = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}

    def scenario(system: str) -> None:
        this = f"daemonset/{system}"
        nodes = cluster.get("nodes", "-l", f"kubernetes.io/os={SYSTEMS[system]}")["items"]
        names = {node["metadata"]["name"] for node in nodes}
        cluster.apply(workload("DaemonSet", system, updateStrategy=surge))
        rolled(cluster, this)
        with watched(cluster, namespace, system) as update:
            cluster.kubectl("patch", this, "-p", changed("new"))
            rolled(cluster, this)
            eventually(lambda: len(values(cluster, namespace, system)) == len(names), SECONDS)
        assert set(values(cluster, namespace, system).values()) == {"new"}
        for state in update.states[len(names) - 1 :]:
            ready = {pod["spec"]["nodeName"] for pod in state.values() if is_ready(pod)}
            assert ready == names
            assert sum(map(is_active, state.values())) <= len(names) + 1
        cluster.kubectl("rollout", "undo", this)
        rolled(cluster, this)
        eventually(lambda: set(values(cluster, namespace, system).values()) == {""}, SECONDS)
        history = cluster.kubectl("rollout", "history", this).stdout
        assert [line.split()[0] for line in history.split("\n") if line[:1].isdigit()] == ["2", "3"]

    on_both(scenario)


def test_deployments_roll_out_and_back_within_surge_and_unavailability(
    cluster: Cluster, namespace: str
) -> None:
    """Linux may have one pod more and none fewer, Windows one fewer and none more."""
    limits = {"lin": (1, 0), "win": (0, 1)}

    def scenario(system: str) -> None:
        this, (surge, down) = f"deployment/{system}", limits[system]
        rolling = {"maxSurge": surge, "maxUnavailable": down}
        strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
        cluster.apply(workload("Deployment", system, replicas=2, strategy=strategy))
        rolled(cluster, this)
        with watched(cluster, namespace, system) as update:
            cluster.kubectl("patch", this, "-p", changed("new"))
            rolled(cluster, this)
            assert set(values(cluster, namespace, system).values()) == {"new"}
            cluster.kubectl("rollout", "undo", this)
            rolled(cluster, this)
        assert set(values(cluster, namespace, system).values()) == {""}
        for state in update.states[1:]:
            assert sum(map(is_active, state.values())) <= 2 + surge
            assert sum(map(is_ready, state.values())) >= 2 - down

    on_both(scenario)


def test_running_pods_are_resized_where_the_system_can(cluster: Cluster, namespace: str):
    """The Linux container gets new limits without a restart; Windows says that it cannot."""
    less, more = ({"cpu": cpu, "memory": size} for cpu, size in (("200m", "128Mi"), ("1", "256Mi")))
    for system in SYSTEMS:
        own = container(system, "main", SLEEP[system], resources={"limits": less})
        spec = {"nodeSelector": {"kubernetes.io/os": SYSTEMS[system]}, "containers": [own]}
        cluster.apply(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": system}, "spec": spec}
        )
    cluster.wait_ready(*SYSTEMS)
    for system in SYSTEMS:
        pod = cluster.get("pod", system)
        del pod["metadata"]["resourceVersion"]
        pod["spec"]["containers"][0]["resources"] = {"limits": more, "requests": more}
        path = f"/api/v1/namespaces/{namespace}/pods/{system}/resize"
        cluster.kubectl("replace", "--raw", path, "-f", "-", input=json.dumps(pod))

    def reported(system: str, what: Callable[[dict[str, Any]], Any]) -> Any:
        return eventually(lambda: what(cluster.get("pod", system)["status"]), SECONDS, system)

    def resized(status: dict[str, Any]) -> Any:
        (row,) = status["containerStatuses"]
        return row if row["resources"].get("limits") == more else None

    def pending(status: dict[str, Any]) -> Any:
        rows = [row for row in status["conditions"] if row["type"] == "PodResizePending"]
        return rows[0] if rows else None

    row = reported("lin", resized)
    assert (row["allocatedResources"], row["restartCount"]) == (more, 0)
    read = "cat /sys/fs/cgroup/memory.max || cat /sys/fs/cgroup/memory/memory.limit_in_bytes"
    assert str(256 << 20) in cluster.kubectl("exec", "lin", "--", "sh", "-c", read).stdout
    row = reported("win", pending)
    assert row["reason"] == "Infeasible"
    assert row["message"] == "In-place pod resize is not supported on Windows"
