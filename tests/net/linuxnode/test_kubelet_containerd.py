"""The kubelet between our API server and Debian's containerd: real pods, inside one node."""

from __future__ import annotations

from typing import Any

from node_lab import BUSYBOX, NODE, Lab, in_lab, phase, ready

from muntin.model.resources import CONFIG_MAPS, LEASES, NODES, PODS


async def held_leases(lab: Lab) -> list[str]:
    found = (await lab.client.list(LEASES, "kube-node-lease")).items
    return [lease["spec"]["holderIdentity"] for lease in found]


def test_node_is_registered_with_its_facts(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        node = await lab.client.get(NODES, NODE)
        labels, info = node["metadata"]["labels"], node["status"]["nodeInfo"]
        assert labels["kubernetes.io/os"] == labels["beta.kubernetes.io/os"] == "linux"
        assert node["metadata"]["annotations"]["example.com/test"] == "yes"
        assert info["containerRuntimeVersion"].startswith("containerd://")
        assert int(node["status"]["allocatable"]["cpu"]) >= 1
        leases = await lab.eventually(lambda: held_leases(lab))
        assert leases == [NODE]

    in_lab(linux_node, test)


def test_pod_with_init_container_config_env_and_probe(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_config_map("page", {"index.html": "hello from a map", "COLOR": "red"})
        shared = {"name": "shared", "mountPath": "/shared"}
        script = "echo $(COLOR) > /shared/$(POD_NAME); exec httpd -f -p 8080 -h /www"
        spec = {
            "terminationGracePeriodSeconds": 1,
            "volumes": [
                {"name": "shared", "emptyDir": {}},
                {"name": "www", "configMap": {"name": "page"}},
            ],
            "initContainers": [
                {
                    "name": "first",
                    "image": BUSYBOX,
                    "command": ["sh", "-c", "echo made by init > /shared/init"],
                    "volumeMounts": [shared],
                }
            ],
            "containers": [
                {
                    "name": "web",
                    "image": BUSYBOX,
                    "command": ["sh", "-c", script],
                    "ports": [{"name": "http", "containerPort": 8080}],
                    "env": [
                        {
                            "name": "POD_NAME",
                            "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
                        },
                        {
                            "name": "POD_IP",
                            "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}},
                        },
                        {
                            "name": "COLOR",
                            "valueFrom": {"configMapKeyRef": {"name": "page", "key": "COLOR"}},
                        },
                        {"name": "BOTH", "value": "$(COLOR)-$$(COLOR)"},
                    ],
                    "readinessProbe": {"httpGet": {"path": "/", "port": "http"}},
                    "livenessProbe": {"tcpSocket": {"port": 8080}},
                    "volumeMounts": [shared, {"name": "www", "mountPath": "/www"}],
                }
            ],
        }
        await lab.create_pod("web", spec)
        pod = await lab.until("web", ready, 30)
        status = pod["status"]
        assert status["phase"] == "Running"
        assert status["podIP"].startswith("10.244.7.")
        assert status["podIPs"] == [{"ip": status["podIP"]}]
        init = status["initContainerStatuses"][0]
        assert init["state"]["terminated"]["reason"] == "Completed"
        assert init["ready"]
        main = status["containerStatuses"][0]
        assert main["started"]
        assert main["containerID"].startswith("containerd://")
        values = await lab.exec(
            "web", "sh", "-c", "echo $BOTH $POD_IP; cat /shared/* /www/index.html"
        )
        assert values == (f"red-$(COLOR) {status['podIP']}\nmade by init\nred\nhello from a map")
        account = "/var/run/secrets/kubernetes.io/serviceaccount"
        token = await lab.exec("web", "cat", f"{account}/token")
        ca = await lab.exec("web", "cat", f"{account}/ca.crt")
        assert token.count(".") == 2
        assert ca == "the CA"
        hosts = await lab.exec("web", "cat", "/etc/hosts")
        assert f"{status['podIP']}\tweb" in hosts
        resolver = await lab.exec("web", "cat", "/etc/resolv.conf")
        assert "search default.svc.cluster.local svc.cluster.local cluster.local" in resolver
        assert "nameserver 10.96.0.10" in resolver
        reasons = [reason for reason, _ in await lab.events("web")]
        assert {"Pulled", "Created", "Started"} <= set(reasons)

        patch = {"data": {"index.html": "changed"}}
        await lab.client.patch(CONFIG_MAPS, "page", patch, "default")

        async def shows_change() -> bool:
            return await lab.exec("web", "cat", "/www/index.html") == "changed"

        await lab.eventually(shows_change)
        uid = pod["metadata"]["uid"]
        await lab.client.delete(PODS, "web", "default")
        await lab.gone("web")
        pods = linux_node.state / "kubelet/pods"
        assert pods.is_dir()
        assert not (pods / uid).exists()

        async def all_removed() -> bool:
            return not (await lab.cri.ListContainers()).get("containers")

        await lab.eventually(all_removed)

    in_lab(linux_node, test)


def test_restart_with_back_off_and_termination_message(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        script = "echo the reason > /dev/termination-log; echo to the log; exit 7"
        container = {"name": "bad", "image": BUSYBOX, "command": ["sh", "-c", script]}
        await lab.create_pod("crash", {"containers": [container]})

        def backed_off(pod: Any) -> bool:
            rows = (pod.get("status") or {}).get("containerStatuses") or [{}]
            waiting = rows[0].get("state", {}).get("waiting", {})
            return waiting.get("reason") == "CrashLoopBackOff"

        pod = await lab.until("crash", backed_off)
        row = pod["status"]["containerStatuses"][0]
        assert row["restartCount"] == 1
        assert row["lastState"]["terminated"]["exitCode"] == 7
        assert row["lastState"]["terminated"]["message"] == "the reason\n"
        assert row["state"]["waiting"]["message"].startswith("back-off 10s restarting failed")
        assert pod["status"]["phase"] == "Running"
        assert "stdout F to the log" in await lab.logs("crash", "bad", 1)
        events = await lab.events("crash")
        assert any(reason == "BackOff" for reason, _ in events)

    in_lab(linux_node, test)


def test_completed_and_failed_pods(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        for name, code, wanted in (("good", 0, "Succeeded"), ("ill", 3, "Failed")):
            container = {"name": "c", "image": BUSYBOX, "command": ["sh", "-c", f"exit {code}"]}
            await lab.create_pod(name, {"restartPolicy": "Never", "containers": [container]})
            pod = await lab.until(name, phase(wanted))
            terminated = pod["status"]["containerStatuses"][0]["state"]["terminated"]
            assert terminated["exitCode"] == code
        conditions = {row["type"]: row for row in pod["status"]["conditions"]}
        assert conditions["Ready"]["reason"] == "PodFailed"

    in_lab(linux_node, test)


def test_liveness_failure_restarts_the_container(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        container = {
            "name": "sick",
            "image": BUSYBOX,
            "command": ["sleep", "600"],
            "livenessProbe": {
                "exec": {"command": ["cat", "/absent"]},
                "periodSeconds": 1,
                "failureThreshold": 1,
            },
        }
        spec = {"terminationGracePeriodSeconds": 0, "containers": [container]}
        await lab.create_pod("sick", spec)
        await lab.until(
            "sick",
            lambda pod: ((pod.get("status") or {}).get("containerStatuses") or [{}])[0].get(
                "restartCount"
            ),
        )
        events = await lab.events("sick")
        assert ("Killing", "Container sick failed liveness probe, will be restarted") in events
        unhealthy = [message for reason, message in events if reason == "Unhealthy"]
        assert unhealthy[0].startswith("Liveness probe failed: cat: can't open '/absent'")

    in_lab(linux_node, test)


def test_errors_that_users_see(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        absent = {"name": "c", "image": "registry.invalid/none:1", "imagePullPolicy": "Never"}
        await lab.create_pod("never", {"containers": [absent]})
        await lab.create_pod("badname", {"containers": [{"name": "c", "image": "Not A Name"}]})
        unmapped = {
            "name": "c",
            "image": BUSYBOX,
            "envFrom": [{"configMapRef": {"name": "absent"}}],
        }
        await lab.create_pod("noconfig", {"containers": [unmapped]})
        lost = {"name": "c", "image": BUSYBOX, "command": ["/absent"]}
        await lab.create_pod("lost", {"containers": [lost]})

        def waits(reason: str) -> Any:
            def holds(pod: Any) -> bool:
                rows = (pod.get("status") or {}).get("containerStatuses") or [{}]
                return rows[0].get("state", {}).get("waiting", {}).get("reason") == reason

            return holds

        await lab.until("never", waits("ErrImageNeverPull"))
        await lab.until("badname", waits("InvalidImageName"))
        pod = await lab.until("noconfig", waits("CreateContainerConfigError"))
        waiting = pod["status"]["containerStatuses"][0]["state"]["waiting"]
        assert waiting["message"] == 'configmap "absent" not found'
        await lab.until("lost", waits("RunContainerError"))

    in_lab(linux_node, test)


def test_pod_survives_the_kubelet_and_an_orphan_does_not(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        container = {"name": "c", "image": BUSYBOX, "command": ["sleep", "600"]}
        spec = {"terminationGracePeriodSeconds": 0, "containers": [container]}
        await lab.create_pod("stays", spec)
        await lab.create_pod("goes", spec)
        before = await lab.until("stays", ready)
        await lab.until("goes", ready)
        await lab.kill_kubelet()
        await lab.client.delete(PODS, "goes", "default", grace_period_s=0)
        await lab.start_kubelet()

        async def one_left() -> bool:
            return len((await lab.cri.ListContainers()).get("containers", [])) == 1

        await lab.eventually(one_left)
        after = await lab.until("stays", ready)
        old, new = (pod["status"]["containerStatuses"][0] for pod in (before, after))
        assert old["containerID"] == new["containerID"]
        assert new["restartCount"] == 0

    in_lab(linux_node, test)
