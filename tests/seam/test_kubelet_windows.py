"""The kubelet of a Windows node: our API server on one side, the CRI wire on the other.

What a Windows runtime is sent: Windows paths, job values, one DNS suffix, nothing of Linux.
Rules: Kubernetes documentation "Windows containers in Kubernetes"; K20 pkg/kubelet.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

import strange_objects as strange
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.cluster.node_files import WindowsNodeFiles
from muntin.kit import supervised
from muntin.kit.clock import SystemClock
from muntin.kit.errors import MuntinError, NotFound
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.facts import windows_facts
from muntin.kubelet.loop import Kubelet
from muntin.kubelet.platform import windows
from muntin.model import schema as schemas
from muntin.model.gates import Version
from muntin.model.resources import CONFIG_MAPS, EVENTS, NODES, PODS, SERVICE_ACCOUNTS, SERVICES
from muntin.model.windows import Feature, gate
from muntin.model.windows_releases import (
    DEFAULT_BUILD,
    DEFAULT_KUBERNETES,
    build_named,
    git_version,
    profile_of,
)
from muntin.seams.cri.client import CriClient
from muntin.seams.cri.fake import FakeRuntime
from muntin.seams.cri.server import serving
from muntin.seams.kube.client import Client
from muntin.seams.store.memory import MemoryStore
from stumbles import Stumbles
from supervision import Bombs, names

IMAGE = "mcr.microsoft.com/windows/servercore:ltsc2019"
NODE = "win01"


class Bench:
    def __init__(self, client: Client, fake: FakeRuntime, drive: Path) -> None:
        self.client, self.fake, self.drive = client, fake, drive

    async def eventually(self, holds: Callable[[], Awaitable[Any]], timeout_s: float = 30.0) -> Any:
        end = time.monotonic() + timeout_s
        while not (value := await holds()):
            if time.monotonic() > end:
                pods = (await self.client.list(PODS)).items
                events = (await self.client.list(EVENTS)).items
                rows = [(one["reason"], one["message"]) for one in events]
                raise AssertionError([[pod.get("status") for pod in pods], rows])
            await asyncio.sleep(0.02)
        return value

    async def create(self, name: str, container: Any, **spec: Any) -> None:
        full = {"name": "web", "image": IMAGE, **container}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"nodeName": NODE, "containers": [full], **spec},
        }
        await self.client.create(PODS, pod, "default")

    async def until(self, name: str, holds: Callable[[Any], Any]) -> Any:
        async def look() -> Any:
            with contextlib.suppress(NotFound):
                pod = await self.client.get(PODS, name, "default")
                return pod if holds(pod.get("status") or {}) else None
            return None

        return await self.eventually(look)


@contextlib.asynccontextmanager
async def bench(
    tmp_path: Path, reserved: dict[str, str], kubernetes: Version = DEFAULT_KUBERNETES
) -> AsyncIterator[Bench]:
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    version = "{}.{}".format(*kubernetes)
    config = ApiServerConfig(kubernetes_version=version, service_account_key=key)
    fake = FakeRuntime(images=(IMAGE,))
    drive = tmp_path / "c"
    drive.mkdir()
    socket = str(tmp_path / "cri.sock")
    profile = profile_of(build_named(str(DEFAULT_BUILD)), kubernetes)
    async with (
        ApiServer(config, MemoryStore()) as server,
        serving(socket, fake, fake),
        CriClient(socket) as cri,
    ):
        admin = Client(server.user("admin", "system:masters"))
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        await admin.create(SERVICE_ACCOUNTS, account, "default")
        root = {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "CA"}}
        await admin.create(
            CONFIG_MAPS, {"apiVersion": "v1", "kind": "ConfigMap", **root}, "default"
        )
        kubelet = Kubelet(
            KubeletConfig(
                node_name=NODE,
                node_ip="172.31.0.12",
                version=git_version(profile.kubernetes),
                platform=windows(profile),
                facts=windows_facts(
                    profile, NODE, cpus=8, memory_bytes=16 << 30, storage_bytes=100 << 30
                ),
                files=WindowsNodeFiles(drive),
                static_pod_path="C:\\etc\\kubernetes\\manifests",
                cluster_dns=("10.96.0.10",),
                annotations={"muntin.dev/emulated": "true"},
                reserved=reserved,
            ),
            Client(server.user(f"system:node:{NODE}", "system:nodes")),
            cri,
            SystemClock(),
        )
        running = asyncio.create_task(kubelet.run())
        one = Bench(admin, fake, drive)
        try:

            async def has_node() -> bool:
                with contextlib.suppress(NotFound):
                    cidr = {"spec": {"podCIDR": "10.244.9.0/24"}}
                    await admin.patch(NODES, NODE, cidr)
                    return True
                return False

            async def has_network() -> str:
                return fake.pod_cidr

            await one.eventually(has_node)
            await one.eventually(has_network)
            yield one
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


def on_bench(
    tmp_path: Path,
    test: Callable[[Bench], Awaitable[None]],
    reserved: dict[str, str] | None = None,
    kubernetes: Version = DEFAULT_KUBERNETES,
) -> None:
    async def run() -> None:
        async with bench(tmp_path, reserved or {}, kubernetes) as one:
            await test(one)

    asyncio.run(run())


def is_running(status: Any) -> bool:
    return bool(status.get("phase") == "Running")


def test_node_object(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        async def is_ready() -> Any:
            node = await bench.client.get(NODES, NODE)
            rows = {row["type"]: row for row in node["status"]["conditions"]}
            return node if rows["Ready"]["status"] == "True" else None

        node = await bench.eventually(is_ready)
        assert bench.fake.pod_cidr == "10.244.9.0/24"
        labels = node["metadata"]["labels"]
        assert labels == {
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "windows",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": "win01",
            "kubernetes.io/os": "windows",
            "node.kubernetes.io/windows-build": f"10.0.{DEFAULT_BUILD}",
        }
        assert node["metadata"]["annotations"]["muntin.dev/emulated"] == "true"
        status = node["status"]
        info = status["nodeInfo"]
        assert info["osImage"] == "Windows Server 2019 Datacenter"
        assert info["kernelVersion"].startswith(f"10.0.{DEFAULT_BUILD}.")
        assert info["operatingSystem"] == "windows"
        assert (info["machineID"], info["bootID"]) == ("win01", "")
        assert info["containerRuntimeVersion"] == "fake://1.0"
        assert status["capacity"]["cpu"] == "8"
        assert status["allocatable"]["memory"] == "13836Mi"
        assert not any("hugepages" in name for name in status["capacity"])
        rows = {row["type"]: row for row in status["conditions"]}
        assert rows["Ready"]["message"] == "kubelet is posting ready status"
        assert {(row["type"], row["address"]) for row in status["addresses"]} == {
            ("InternalIP", "172.31.0.12"),
            ("Hostname", "win01"),
        }

    on_bench(tmp_path, test, {"memory": "2Gi"})


@pytest.mark.reproduces(Feature.MOUNTPATH_WINDOWS_FORM, Feature.HOSTPATH_WINDOWS_FORM)
def test_what_the_runtime_is_sent(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "win-webserver", "namespace": "default"},
            "spec": {"ports": [{"port": 80}], "selector": {"app": "x"}},
        }
        await bench.client.create(SERVICES, service, "default")
        container = {
            "command": ["powershell.exe", "-command", "$$x='1'; $$(y) $(NODE)"],
            "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
            "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}},
            "securityContext": {
                "runAsUser": 1000,
                "windowsOptions": {"runAsUserName": "ContainerUser"},
            },
            "volumeMounts": [
                {"name": "data", "mountPath": "/data", "subPath": "Logs"},
                {"name": "host", "mountPath": "D:\\host", "readOnly": True},
                {"name": "pipe", "mountPath": "\\\\.\\pipe\\docker"},
            ],
        }
        volumes = [
            {"name": "data", "emptyDir": {}},
            {"name": "host", "hostPath": {"path": "/Programs", "type": "DirectoryOrCreate"}},
            {"name": "pipe", "hostPath": {"path": "\\\\.\\pipe\\docker"}},
        ]
        await bench.create("web", container, volumes=volumes, terminationGracePeriodSeconds=5)
        pod = await bench.until("web", is_running)
        uid = pod["metadata"]["uid"]
        sandbox = bench.fake.requests("RunPodSandbox")[0]["config"]
        assert "linux" not in sandbox
        assert sandbox["hostname"] == "web"
        assert sandbox["log_directory"] == f"C:\\var\\log\\pods\\default_web_{uid}"
        assert sandbox["dns_config"]["servers"] == ["10.96.0.10"]
        assert sandbox["dns_config"]["searches"] == ["default.svc.cluster.local"]
        assert sandbox["port_mappings"] == [{"container_port": 80}]
        request = bench.fake.requests("CreateContainer")[0]
        config = request["config"]
        assert "linux" not in config
        assert config["command"] == ["powershell.exe", "-command", "$x='1'; $(y) win01"]
        assert config["log_path"] == "web/0.log"
        assert config["windows"] == {
            "resources": {"cpu_maximum": 625, "memory_limit_in_bytes": 256 << 20},
            "security_context": {"run_as_username": "ContainerUser"},
        }
        pod_dir = f"C:\\var\\lib\\kubelet\\pods\\{uid}"
        mounts = {one["container_path"]: one for one in config["mounts"]}
        data = mounts["c:/data"]["host_path"]
        assert data == f"{pod_dir}\\volume-subpaths\\data\\web\\0"
        assert mounts["D:\\host"] == {
            "container_path": "D:\\host",
            "host_path": "c:/Programs",
            "readonly": True,
        }
        assert mounts["\\\\.\\pipe\\docker"]["host_path"] == "\\\\.\\pipe\\docker"
        message = mounts["c:/dev/termination-log"]["host_path"]
        assert message == f"{pod_dir}\\containers\\web\\00000000"
        token = mounts["c:/var/run/secrets/kubernetes.io/serviceaccount"]
        assert token["readonly"]
        assert "/etc/hosts" not in mounts
        assert (bench.drive / "Programs").is_dir()
        local = bench.drive / "var/lib/kubelet/pods" / uid
        assert (local / "volumes/kubernetes.io~empty-dir/data/Logs").is_dir()
        assert (local / "volumes/kubernetes.io~empty-dir/data").stat().st_mode & 0o777 == 0o777
        values = {one["key"]: one["value"] for one in config["envs"]}
        assert values["NODE"] == b"win01"
        assert values["WIN_WEBSERVER_SERVICE_PORT"] == b"80"
        assert "KUBERNETES_SERVICE_HOST" in values
        assert pod["status"]["podIP"].startswith("10.244.9.")

        await bench.client.delete(PODS, "web", "default")

        async def gone() -> bool:
            return not (await bench.client.list(PODS, "default")).items

        await bench.eventually(gone)
        assert bench.fake.requests("StopContainer")[0]["timeout"] == 5
        assert not local.exists()

        async def removed() -> bool:
            return not bench.fake.containers and not bench.fake.sandboxes

        await bench.eventually(removed)

    on_bench(tmp_path, test)


def test_static_pods_run_and_are_shown(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        folder = bench.drive / "etc/kubernetes/manifests"

        async def is_there() -> bool:
            return folder.is_dir()

        await bench.eventually(is_there)
        (folder / ".hidden").write_text("{")
        (folder / "bad.yaml").write_text("kind: Pod")
        (folder / "loop.yaml").symlink_to("/dev/zero")
        pod = {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "own"},
            "spec": {"containers": [{"name": "web", "image": IMAGE}]},
        }  # fmt: skip
        (folder / "own.yaml").write_text(json.dumps(pod))
        name = f"own-{NODE}"
        mirror = await bench.until(name, is_running)
        (first,) = mirror["status"]["containerStatuses"]
        uid = mirror["metadata"]["annotations"]["kubernetes.io/config.mirror"]
        (sandbox,) = bench.fake.sandboxes.values()
        assert sandbox["labels"]["io.kubernetes.pod.uid"] == uid
        await bench.client.delete(PODS, name, "default")

        async def shown_again() -> Any:
            with contextlib.suppress(NotFound):
                mirror_now = await bench.client.get(PODS, name, "default")
                rows = (mirror_now.get("status") or {}).get("containerStatuses")
                return rows if mirror_now["metadata"]["uid"] != mirror["metadata"]["uid"] else None
            return None

        (again,) = await bench.eventually(shown_again)
        assert again["containerID"] == first["containerID"]
        (folder / "own.yaml").unlink()

        async def gone() -> bool:
            items = (await bench.client.list(PODS, "default")).items
            return not items and not bench.fake.containers and not bench.fake.sandboxes

        await bench.eventually(gone)

    on_bench(tmp_path, test)


def test_a_label_that_the_node_has_just_got_counts(tmp_path: Path) -> None:
    """Upstream: the specs of SchedulerPredicates label a node and start a pod by the label."""

    async def test(bench: Bench) -> None:
        await bench.client.patch(NODES, NODE, {"metadata": {"labels": {"disk": "ssd"}}})
        await bench.create("new", {}, nodeSelector={"disk": "ssd"})
        await bench.until("new", is_running)

    on_bench(tmp_path, test)


def test_images_as_volumes(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        mount = {"name": "v", "mountPath": "C:\\v", "subPath": "a\\b"}
        volumes = [{"name": "v", "image": {"reference": IMAGE, "pullPolicy": "IfNotPresent"}}]
        await bench.create("web", {"volumeMounts": [mount]}, volumes=volumes)
        await bench.until("web", is_running)
        mounts = bench.fake.requests("CreateContainer")[0]["config"]["mounts"]
        (variants,) = [row for row in mounts if row.get("image")]
        assert variants == {
            "container_path": "C:\\v",
            "image": {"image": bench.fake.images[IMAGE], "user_specified_image": IMAGE},
            "image_sub_path": "a/b",
            "readonly": True,
        }
        gone = [{"name": "v", "image": {"reference": "no/image:1", "pullPolicy": "Never"}}]
        await bench.create("none", {"volumeMounts": [mount]}, volumes=gone)
        pod = await bench.until("none", lambda status: "ErrImageNeverPull" in str(status))
        waiting = pod["status"]["containerStatuses"][0]["state"]["waiting"]
        assert waiting["message"] == (
            'Container image "no/image:1" is not present with pull policy of Never'
        )

    on_bench(tmp_path, test, kubernetes=(1, 36))


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        (
            {"os": {"name": "linux"}},
            "PodOSNotSupported",
            "Pod was rejected: Failed to admit pod as the OS field doesn't match node OS",
        ),
        (
            {"nodeSelector": {"kubernetes.io/os": "linux"}},
            "PodOSSelectorNodeLabelDoesNotMatch",
            "Pod was rejected: Failed to admit pod as the `kubernetes.io/os` label doesn't match "
            "node label",
        ),
        (
            {"nodeSelector": {"disk": "ssd"}},
            "NodeAffinity",
            "Pod was rejected: Predicate NodeAffinity failed: "
            "node(s) didn't match Pod's node affinity/selector",
        ),
    ],
)
def test_pods_that_the_node_refuses(
    tmp_path: Path, spec: dict[str, Any], reason: str, message: str
) -> None:
    async def test(bench: Bench) -> None:
        await bench.create("odd", {}, **spec)
        pod = await bench.until("odd", lambda status: status.get("phase") == "Failed")
        assert pod["status"]["reason"] == reason
        assert pod["status"]["message"] == message
        assert bench.fake.requests("RunPodSandbox") == []

    on_bench(tmp_path, test)


def test_runtime_errors_reach_the_user(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        text = "hcs::CreateComputeSystem web: The container operating system does not match"
        bench.fake.fail["RunPodSandbox"] = text
        bench.fake.fail["CreateContainer"] = "no pipe"
        await bench.create("web", {})
        pod = await bench.until("web", lambda status: "CreateContainerError" in str(status))
        waiting = pod["status"]["containerStatuses"][0]["state"]["waiting"]
        assert waiting == {
            "reason": "CreateContainerError",
            "message": "rpc error: code = Unknown desc = no pipe",
        }

        async def told() -> bool:
            events = (await bench.client.list(EVENTS, "default")).items
            wanted = f"Failed to create pod sandbox: rpc error: code = Unknown desc = {text}"
            return ("FailedCreatePodSandBox", wanted) in [
                (one["reason"], one["message"]) for one in events
            ]

        await bench.eventually(told)

    on_bench(tmp_path, test)


def test_administrator_is_root_to_the_non_root_rule(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        options = {"windowsOptions": {"runAsUserName": "ContainerAdministrator"}}
        await bench.create("web", {"securityContext": {"runAsNonRoot": True, **options}})
        pod = await bench.until("web", lambda status: "CreateContainerConfigError" in str(status))
        waiting = pod["status"]["containerStatuses"][0]["state"]["waiting"]
        assert "will break non-root policy" in waiting["message"]

    on_bench(tmp_path, test)


ELSEWHERE = (
    Feature.HOST_IPC,
    Feature.HOST_NETWORK,
    Feature.JOB_OBJECT_PER_CONTAINER,
    Feature.PROC_MOUNT,
    Feature.SHARED_PROCESSES,
)


@pytest.mark.reproduces(
    Feature.HOST_IPC,
    Feature.HOST_NETWORK,
    Feature.JOB_OBJECT_PER_CONTAINER,
    Feature.PROC_MOUNT,
    Feature.SHARED_PROCESSES,
)
def test_what_the_node_does_otherwise_is_told_and_not_asked_of_the_runtime(tmp_path: Path) -> None:
    async def test(bench: Bench) -> None:
        await bench.create(
            "web",
            {"securityContext": {"procMount": "Default"}},
            hostNetwork=True,
            hostIPC=True,
            shareProcessNamespace=True,
            resources={"limits": {"memory": "1Gi"}},
        )
        await bench.until("web", is_running)

        async def told() -> bool:
            events = (await bench.client.list(EVENTS, "default")).items
            said = [one["message"] for one in events if one["reason"] == "IgnoredOnWindows"]
            return all(any(gate(feature).summary in text for text in said) for feature in ELSEWHERE)

        await bench.eventually(told)
        config = bench.fake.requests("RunPodSandbox")[0]["config"]
        security = config["windows"]["security_context"]
        assert security["namespace_options"].get("network", 0) == 0
        assert not config.get("linux")

    on_bench(tmp_path, test)


def test_a_failure_of_each_task_ends_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bombs, real = Bombs(), supervised.run
    monkeypatch.setattr(supervised, "run", lambda name, work: real(name, bombs.wrapped(name, work)))
    monkeypatch.setattr(supervised, "FIRST_DELAY_S", 0.001)

    async def test(bench: Bench) -> None:
        probe = {"exec": {"command": ["x"]}, "periodSeconds": 1}
        await bench.create("one", {"livenessProbe": probe})
        await bench.until("one", is_running)
        running = [name for name in bombs.running() if name != "workqueue-timer"]
        # No certificate, no events of this runtime, no manifests, an image age of its own.
        ended = {"kubelet-server", "kubelet-runtime-events"}
        known = {name for name in names("start") if name.startswith("kubelet-")}
        assert known - set(running) <= ended | {"kubelet-static-pod", "kubelet-image-garbage"}
        for name in running:
            before, alive = bombs.starts[name], bombs.alive(name)
            bombs.fire(name)

            async def is_restarted(name: str = name, wanted: int = before + alive) -> bool:
                return bombs.starts[name] >= wanted

            await bench.eventually(is_restarted)
        await bench.create("two", {})
        await bench.until("two", is_running)

    on_bench(tmp_path, test)


def test_strange_pods_hold_up_no_other(tmp_path: Path) -> None:
    stumbles = Stumbles()

    async def test(bench: Bench) -> None:
        taken = 0
        schema = schemas.load("{}.{}".format(*DEFAULT_KUBERNETES))
        plain = [obj for resource, obj in strange.plain_objects() if resource is PODS]
        for number, obj in enumerate(plain):
            obj["spec"] |= {"nodeName": NODE, "automountServiceAccountToken": False}
            variants = strange.variants(schema, PODS, obj, most=40, seed=number)
            secretless = {**obj, "spec": {**obj["spec"], "imagePullSecrets": [{}]}}
            for index, (_, pod) in enumerate([*variants, ("no name", secretless)]):
                pod["metadata"] = {**pod["metadata"], "name": f"strange-{number}-{index}"}
                with contextlib.suppress(MuntinError):
                    await bench.client.create(PODS, pod, "default")
                    taken += 1
        assert taken > 10
        await bench.create("healthy", {})
        await bench.until("healthy", is_running)
        for pod in (await bench.client.list(PODS)).items:
            await bench.client.delete(PODS, pod["metadata"]["name"], "default", grace_period_s=1)

        async def all_gone() -> bool:
            return not (await bench.client.list(PODS)).items

        await bench.eventually(all_gone)

    logging.getLogger().addHandler(stumbles)
    try:
        on_bench(tmp_path, test)
    finally:
        logging.getLogger().removeHandler(stumbles)
    assert list(stumbles.seen.values()) == []
