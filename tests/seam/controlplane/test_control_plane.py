"""Controllers and scheduler at work on the real API server, with its default roles."""

import asyncio

import pytest
from control_plane import control_plane

from muntin.kit import errors
from muntin.model.resources import (
    CONFIG_MAPS,
    CONTROLLER_REVISIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    ENDPOINTS,
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICE_CIDRS,
    SERVICES,
)

WEB = {"app": "web"}


def template(image="one", **spec):
    containers = [{"name": "c", "image": image}]
    return {"metadata": {"labels": WEB}, "spec": {"containers": containers, **spec}}


def workload(kind, name="web", namespace="default", image="one", pod=None, **spec):
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": WEB},
            "template": template(image, **(pod or {})),
            **spec,
        },
    }


def service(name="web", **spec):
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": WEB, "ports": [{"port": 80}], **spec},
    }


def run(scenario, **kwargs):
    async def main():
        async with control_plane(**kwargs) as plane:
            await scenario(plane)

    asyncio.run(asyncio.wait_for(main(), 60))


async def complete(plane, replicas, image="one", name="web"):
    """Wait until the Deployment has ``replicas`` available pods of ``image`` and no others."""

    async def check():
        found = await plane.admin.get(DEPLOYMENTS, name, "default")
        status = found.get("status") or {}
        counts = [status.get(f, 0) for f in ("replicas", "updatedReplicas", "availableReplicas")]
        current = status.get("observedGeneration") == found["metadata"]["generation"]
        pods = (await plane.admin.list(PODS, "default", label_selector="app=web")).items
        images = {pod["spec"]["containers"][0]["image"] for pod in pods}
        done = current and counts == [replicas] * 3 and len(pods) == replicas
        return found if done and images <= {image} else None

    return await plane.until(check, f"{replicas} pods of {image}")


async def events_about(plane, kind, reason):
    async def check():
        found = (await plane.admin.list(EVENTS, "default")).items
        texts = [
            event["message"]
            for event in found
            if event["involvedObject"]["kind"] == kind and event["reason"] == reason
        ]
        return texts or None

    return await plane.until(check, f"events {reason} about {kind}")


async def change(plane, resource, name, patch):
    await plane.admin.patch(resource, name, patch, "default")


@pytest.mark.parametrize("version", [(1, 20), (1, 25), (1, 37)])
def test_the_roles_of_a_version_are_enough_for_its_pods_to_run(version):
    async def scenario(plane):
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=2))
        found = await complete(plane, 2)
        notes = found["metadata"]["annotations"]
        assert notes["deployment.kubernetes.io/revision"] == "1"
        assert found["metadata"]["generation"] == 1

    run(scenario, version=version)


def test_a_deployment_becomes_pods_on_nodes_and_endpoints_of_its_service():
    async def scenario(plane):
        await plane.admin.create(SERVICES, service())
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=3))
        await complete(plane, 3)
        pods = (await plane.admin.list(PODS, "default")).items
        assert {pod["spec"]["nodeName"] for pod in pods} == {"n1", "n2", "n3"}
        addresses = {pod["status"]["podIP"] for pod in pods}

        async def sliced():
            selector = "kubernetes.io/service-name=web"
            found = await plane.admin.list(ENDPOINT_SLICES, "default", label_selector=selector)
            rows = [row for item in found.items for row in item.get("endpoints") or ()]
            return {a for row in rows if row["conditions"]["ready"] for a in row["addresses"]}

        async def listed():
            found = await plane.admin.get(ENDPOINTS, "web", "default")
            return {a["ip"] for s in found.get("subsets") or () for a in s.get("addresses") or ()}

        async def both():
            return await sliced() == addresses == await listed()

        await plane.until(both, "endpoints of all pods")
        created = await events_about(plane, "ReplicaSet", "SuccessfulCreate")
        assert sorted(created) == sorted(f"Created pod: {p['metadata']['name']}" for p in pods)
        scheduled = await events_about(plane, "Pod", "Scheduled")
        assert all(text.startswith("Successfully assigned default/web-") for text in scheduled)
        await plane.admin.delete(SERVICES, "web", "default")
        await plane.gone(ENDPOINTS, "web", "default")
        await plane.until(lambda: _none(plane, ENDPOINT_SLICES, "web"), "slices gone")

    run(scenario)


async def _none(plane, resource, name=""):
    items = (await plane.admin.list(resource, "default")).items
    return not [item for item in items if item["metadata"]["name"].startswith(name)]


def test_roll_out_scale_and_roll_back():
    async def scenario(plane):
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=4))
        await complete(plane, 4)
        image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "two"}]}}}}
        await change(plane, DEPLOYMENTS, "web", image)
        found = await complete(plane, 4, "two")
        assert found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
        await change(plane, DEPLOYMENTS, "web", {"spec": {"replicas": 7}})
        await complete(plane, 7, "two")
        await change(plane, DEPLOYMENTS, "web", {"spec": {"replicas": 2}})
        await complete(plane, 2, "two")
        image["spec"]["template"]["spec"]["containers"][0]["image"] = "one"
        await change(plane, DEPLOYMENTS, "web", image)
        found = await complete(plane, 2, "one")
        assert found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"
        reasons = {row["type"]: row["reason"] for row in found["status"]["conditions"]}
        assert reasons == {
            "Available": "MinimumReplicasAvailable",
            "Progressing": "NewReplicaSetAvailable",
        }
        assert len((await plane.admin.list(REPLICA_SETS, "default")).items) == 2

    run(scenario)


def test_a_roll_out_never_leaves_its_bounds_and_stops_at_pods_that_do_not_start():
    async def scenario(plane):
        rolling = {"maxSurge": 1, "maxUnavailable": 1}
        strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
        obj = workload("Deployment", replicas=4, strategy=strategy)
        await plane.admin.create(DEPLOYMENTS, obj)
        await complete(plane, 4)
        plane.ready = False
        image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "two"}]}}}}
        await change(plane, DEPLOYMENTS, "web", image)

        async def stuck():
            pods = (await plane.admin.list(PODS, "default")).items
            pods = [p for p in pods if "deletionTimestamp" not in p["metadata"]]
            running = [p for p in pods if p["status"].get("phase") == "Running"]
            assert len(pods) <= 5
            assert len(running) >= 3
            return (len(pods), len(running)) == (5, 3)

        await plane.until(stuck, "three old and two new pods")
        await asyncio.sleep(0.2)
        assert await stuck()

    run(scenario)


def test_recreate_has_no_two_versions_at_once():
    async def scenario(plane):
        obj = workload("Deployment", replicas=2, strategy={"type": "Recreate"})
        await plane.admin.create(DEPLOYMENTS, obj)
        await complete(plane, 2)
        image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "two"}]}}}}
        await change(plane, DEPLOYMENTS, "web", image)
        await complete(plane, 2, "two")

    run(scenario)


def test_a_daemon_set_follows_nodes_and_its_template():
    windows = [{"key": "os", "value": "windows", "effect": "NoSchedule"}]

    async def scenario(plane):
        await plane.add_node("win01", os="windows", taints=windows)
        await plane.admin.create(DAEMON_SETS, workload("DaemonSet"))

        async def on(*names, image="one"):
            async def check():
                pods = (await plane.admin.list(PODS, "default")).items
                where = sorted(
                    pod["spec"].get("nodeName", "")
                    for pod in pods
                    if pod["spec"]["containers"][0]["image"] == image
                )
                return where == sorted(names) and len(pods) == len(names)

            await plane.until(check, f"{image} on {names}")

        await on("n1", "n2")
        await plane.add_node("n3")
        await on("n1", "n2", "n3")
        image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "two"}]}}}}
        await change(plane, DAEMON_SETS, "web", image)
        await on("n1", "n2", "n3", image="two")
        revisions = (await plane.admin.list(CONTROLLER_REVISIONS, "default")).items
        assert sorted(row["revision"] for row in revisions) == [1, 2]

        async def counted():
            status = (await plane.admin.get(DAEMON_SETS, "web", "default"))["status"]
            names = ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
            return [status.get(name) for name in names] == [3, 3, 3]

        await plane.until(counted, "status of the daemon set")

    run(scenario, nodes=("n1", "n2"))


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_what_a_deployment_owns_goes_with_it(policy):
    async def scenario(plane):
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=3))
        await complete(plane, 3)
        await plane.admin.delete(DEPLOYMENTS, "web", "default", propagation_policy=policy)
        await plane.gone(DEPLOYMENTS, "web", "default")
        if policy == "Foreground":
            assert await _none(plane, REPLICA_SETS)
        await plane.until(lambda: _none(plane, REPLICA_SETS), "replica sets gone")
        await plane.until(lambda: _none(plane, PODS), "pods gone")

    run(scenario)


def test_a_cycle_of_owners_is_deleted_in_the_foreground():
    """Upstream: "Garbage collector should not be blocked by dependency circle"."""

    async def scenario(plane):
        names = ("a", "b", "c")
        made = [
            await plane.admin.create(CONFIG_MAPS, {"metadata": {"name": name}}, "default")
            for name in names
        ]
        for name, owner in zip(names, (made[2], *made[:2]), strict=True):
            reference = {
                "apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True,
            }  # fmt: skip
            await change(plane, CONFIG_MAPS, name, {"metadata": {"ownerReferences": [reference]}})
        await plane.admin.delete(CONFIG_MAPS, "a", "default", propagation_policy="Foreground")
        for name in names:
            await plane.gone(CONFIG_MAPS, name, "default")

    run(scenario, nodes=())


def test_orphans_stay_and_are_adopted():
    async def scenario(plane):
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=2))
        await complete(plane, 2)
        before = {p["metadata"]["uid"] for p in (await plane.admin.list(PODS, "default")).items}
        await plane.admin.delete(DEPLOYMENTS, "web", "default", propagation_policy="Orphan")
        await plane.gone(DEPLOYMENTS, "web", "default")

        async def free():
            (found,) = (await plane.admin.list(REPLICA_SETS, "default")).items
            return "ownerReferences" not in found["metadata"]

        await plane.until(free, "a replica set without owner")
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=2))
        await complete(plane, 2)
        after = {p["metadata"]["uid"] for p in (await plane.admin.list(PODS, "default")).items}
        assert after == before

    run(scenario)


def test_a_namespace_has_what_all_have_and_goes_with_all_it_has():
    async def scenario(plane):
        admin = plane.admin
        await admin.create(NAMESPACES, {"kind": "Namespace", "metadata": {"name": "team"}})
        for resource, name in ((SERVICE_ACCOUNTS, "default"), (CONFIG_MAPS, "kube-root-ca.crt")):
            await plane.until(
                lambda resource=resource, name=name: admin.get(resource, name, "team"), name
            )
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        await admin.create(SECRETS, secret, "team")
        await admin.create(DEPLOYMENTS, workload("Deployment", namespace="team", replicas=2))

        async def running():
            return len((await admin.list(PODS, "team")).items) == 2

        await plane.until(running, "pods")
        await admin.delete(NAMESPACES, "team")
        await plane.gone(NAMESPACES, "team")
        for resource in (SECRETS, DEPLOYMENTS, REPLICA_SETS, PODS, SERVICE_ACCOUNTS, CONFIG_MAPS):
            assert (await admin.list(resource, "team")).items == []

    run(scenario)


@pytest.mark.parametrize("version, kept", [((1, 33), True), ((1, 32), False)])
def test_the_pods_of_a_namespace_go_before_all_else(version, kept):
    """Upstream: "OrderedNamespaceDeletion namespace deletion should delete pod first"."""

    async def scenario(plane):
        admin = plane.admin
        await admin.create(NAMESPACES, {"kind": "Namespace", "metadata": {"name": "team"}})
        await plane.until(lambda: admin.get(SERVICE_ACCOUNTS, "default", "team"), "an account")
        await admin.create(CONFIG_MAPS, {"metadata": {"name": "config"}}, "team")
        held = {**template(), "metadata": {"name": "held", "finalizers": ["example.com/keep"]}}
        await admin.create(PODS, held, "team")
        await admin.delete(NAMESPACES, "team")

        async def told():
            status = (await admin.get(NAMESPACES, "team"))["status"]
            rows = {row["type"]: row["message"] for row in status.get("conditions") or ()}
            text = "Some resources are remaining: pods has 1 resource instances"
            return rows if rows.get("NamespaceContentRemaining") == text else None

        rows = await plane.until(told, "what remains")
        assert rows["NamespaceFinalizersRemaining"].endswith(
            "example.com/keep in 1 resource instances"
        )
        assert "NamespaceDeletionDiscoveryFailure" in rows
        names = [row["metadata"]["name"] for row in (await admin.list(CONFIG_MAPS, "team")).items]
        assert ("config" in names) is kept
        await admin.patch(PODS, "held", {"metadata": {"finalizers": None}}, "team")
        await plane.gone(NAMESPACES, "team")

    run(scenario, version=version)


def test_further_service_cidrs():
    """Upstream: "should create Services and serve on different Service CIDRs"."""

    async def scenario(plane):
        admin, name = plane.admin, "10-168-0-0-24"
        extra = {"metadata": {"name": name}, "spec": {"cidrs": ["10.168.0.0/24"]}}
        await admin.create(SERVICE_CIDRS, extra)

        async def ready():
            service_cidr = await admin.get(SERVICE_CIDRS, name)
            rows = (service_cidr.get("status") or {}).get("conditions") or ()
            return service_cidr if [row["status"] for row in rows] == ["True"] else None

        ready_cidr = await plane.until(ready, "a ServiceCIDR that is ready")
        assert ready_cidr["metadata"]["finalizers"] == ["networking.k8s.io/service-cidr-finalizer"]
        await admin.create(SERVICES, service("one", clusterIP="10.168.0.10"), "default")
        await admin.delete(SERVICE_CIDRS, name)

        async def held():
            (row,) = (await admin.get(SERVICE_CIDRS, name))["status"]["conditions"]
            return row["reason"] == "Terminating"

        await plane.until(held, "a ServiceCIDR that its address holds")
        with pytest.raises(errors.Invalid, match="does not match the current range"):
            await admin.create(SERVICES, service("two", clusterIP="10.168.0.11"), "default")
        await admin.delete(SERVICES, "one", "default")
        await plane.gone(SERVICE_CIDRS, name)

    run(scenario, nodes=())


def test_a_pod_that_fits_nowhere_says_why_and_goes_when_it_can():
    async def scenario(plane):
        pod = {"nodeSelector": {"disk": "ssd"}}
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=1, pod=pod))
        (message,) = await events_about(plane, "Pod", "FailedScheduling")
        assert message == (
            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. "
            "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is "
            "not helpful for scheduling."
        )

        async def told():
            (found,) = (await plane.admin.list(PODS, "default")).items
            rows = (found.get("status") or {}).get("conditions") or ()
            return [row for row in rows if row["type"] == "PodScheduled"]

        (row,) = await plane.until(told, "the condition PodScheduled")
        assert (row["status"], row["reason"], row["message"]) == ("False", "Unschedulable", message)
        await plane.admin.patch(NODES, "n2", {"metadata": {"labels": {"disk": "ssd"}}})
        await complete(plane, 1)

    run(scenario)


def test_pods_that_are_refused_are_told_of_and_made_when_they_may_be():
    async def scenario(plane):
        pod = {"serviceAccountName": "later"}
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=3, pod=pod))
        messages = await events_about(plane, "ReplicaSet", "FailedCreate")
        assert 'serviceaccount "later" not found' in messages[0]
        assert messages[0].startswith("Error creating: pods ")

        async def failing():
            found = await plane.admin.get(DEPLOYMENTS, "web", "default")
            rows = (found.get("status") or {}).get("conditions") or ()
            return [row for row in rows if row["type"] == "ReplicaFailure"]

        (row,) = await plane.until(failing, "the condition ReplicaFailure")
        assert (row["status"], row["reason"]) == ("True", "FailedCreate")
        account = {"metadata": {"name": "later"}}
        await plane.admin.create(SERVICE_ACCOUNTS, account, "default")
        await complete(plane, 3)

        async def well():
            return not await failing()

        await plane.until(well, "no ReplicaFailure")

    run(scenario)


def test_a_gated_pod_waits_for_its_gate():
    async def scenario(plane):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, **template()}
        pod = {**pod, "metadata": {"name": "p", "namespace": "default"}}
        pod["spec"] = {**pod["spec"], "schedulingGates": [{"name": "example.com/wait"}]}
        await plane.admin.create(PODS, pod)
        await asyncio.sleep(0.2)
        found = await plane.admin.get(PODS, "p", "default")
        assert "nodeName" not in found["spec"]
        (row,) = found["status"]["conditions"]
        assert (row["type"], row["status"], row["reason"]) == (
            "PodScheduled",
            "False",
            "SchedulingGated",
        )
        await plane.admin.update(PODS, {**found, "spec": {**found["spec"], "schedulingGates": []}})

        async def bound():
            return (await plane.admin.get(PODS, "p", "default"))["spec"].get("nodeName")

        await plane.until(bound, "the pod bound")

    run(scenario)


def test_a_silent_node_is_tainted_and_its_pods_move():
    async def scenario(plane):
        quick = {
            "tolerations": [
                {
                    "key": f"node.kubernetes.io/{key}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 0,
                }
                for key in ("unreachable", "not-ready")
            ]
        }
        alive = ["n1", "n2"]

        async def keep_beating():
            while True:
                for name in alive:
                    found = await plane.admin.get(NODES, name)
                    for row in found["status"]["conditions"]:
                        row["lastHeartbeatTime"] = _next_second(row.get("lastHeartbeatTime"))
                    await plane.admin.patch(
                        NODES, name, {"status": found["status"]}, subresource="status"
                    )
                await asyncio.sleep(0.2)

        beating = asyncio.ensure_future(keep_beating())
        try:
            await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=2, pod=quick))
            await complete(plane, 2)
            alive.remove("n1")

            async def moved():
                pods = (await plane.admin.list(PODS, "default")).items
                return len(pods) == 2 and {p["spec"].get("nodeName") for p in pods} == {"n2"}

            await plane.until(moved, "both pods on n2")
            found = await plane.admin.get(NODES, "n1")
            taints = {(row["key"], row["effect"]) for row in found["spec"]["taints"]}
            unreachable = "node.kubernetes.io/unreachable"
            assert taints == {(unreachable, "NoSchedule"), (unreachable, "NoExecute")}
            ready = next(r for r in found["status"]["conditions"] if r["type"] == "Ready")
            assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
            assert await events_about(plane, "Node", "NodeNotReady")
            evicted = await events_about(plane, "Pod", "TaintManagerEviction")
            assert evicted[0].startswith("Marking for deletion Pod default/web-")
        finally:
            beating.cancel()

    run(scenario, nodes=("n1", "n2"), node_grace_s=5.0)


def _next_second(text):
    from muntin.kit.clock import parse_rfc3339, rfc3339

    return rfc3339(parse_rfc3339(text or "2026-01-01T00:00:00Z") + 1)
