"""A runtime in memory for tests: keeps the rules of CRI, runs nothing, remembers every call.

Serve it with :func:`muntin.seams.cri.server.serving` so that the real wire is between. It refuses
what a runtime refuses: a container in a sandbox that is not ready, a start of what runs, unknown
ids. Tests end containers with :meth:`FakeRuntime.exit`.
"""

from __future__ import annotations

import time
from itertools import count

from muntin.kit.errors import Conflict, Invalid, NotFound
from muntin.seams.cri import Message, Unknown
from muntin.seams.cri.enums import ContainerState, PodSandboxState


def _matches(labels: dict[str, str], wanted: dict[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in wanted.items())


class FakeRuntime:
    """Both CRI services. ``calls`` is (RPC, request) in order; ``images`` the names that exist.

    ``fail`` maps an RPC name to the message it fails with, once.
    """

    def __init__(self, *, images: tuple[str, ...] = (), ip_prefix: str = "10.244.9.") -> None:
        """No sandboxes, no containers; the network is ready once it is told the pod CIDR."""
        self.calls: list[tuple[str, Message]] = []
        self.images = {name: f"sha256:{number:064x}" for number, name in enumerate(images)}
        self.fail: dict[str, str] = {}
        self.sandboxes: dict[str, Message] = {}
        self.containers: dict[str, Message] = {}
        self.pod_cidr = ""
        self.exec_answer: Message = {"stdout": b"", "exit_code": 0}
        self._ip_prefix = ip_prefix
        self._numbers = count(2)

    def requests(self, rpc: str) -> list[Message]:
        """The requests of all calls of ``rpc``."""
        return [request for name, request in self.calls if name == rpc]

    def exit(self, container_id: str, code: int) -> None:
        """The container's program ends with ``code``."""
        container = self.containers[container_id]
        container["state"] = ContainerState.CONTAINER_EXITED
        container["exit_code"] = code
        container["reason"] = "Error" if code else "Completed"
        container["finished_at"] = time.time_ns()

    def _called(self, rpc: str, request: Message) -> None:
        self.calls.append((rpc, request))
        message = self.fail.pop(rpc, None)
        if message is not None:
            raise Unknown(message)

    # -- runtime -------------------------------------------------------------------------------

    async def Version(self, request: Message) -> Message:
        """Says ``fake://1.0``."""
        return {"version": "0.1.0", "runtime_name": "fake", "runtime_version": "1.0"}

    async def Status(self, request: Message) -> Message:
        """Ready; the network only with a pod CIDR."""
        network = {"type": "NetworkReady", "status": bool(self.pod_cidr)}
        if not self.pod_cidr:
            network.update(reason="NetworkPluginNotReady", message="no pod CIDR")
        return {"status": {"conditions": [{"type": "RuntimeReady", "status": True}, network]}}

    async def UpdateRuntimeConfig(self, request: Message) -> Message:
        """Takes the pod CIDR."""
        self._called("UpdateRuntimeConfig", request)
        self.pod_cidr = request["runtime_config"]["network_config"]["pod_cidr"]
        return {}

    async def RunPodSandbox(self, request: Message) -> Message:
        """A ready sandbox with an address of its own."""
        self._called("RunPodSandbox", request)
        config, number = request["config"], next(self._numbers)
        key = f"sandbox{number}"
        self.sandboxes[key] = {
            "id": key,
            "metadata": config["metadata"],
            "state": PodSandboxState.SANDBOX_READY,
            "created_at": time.time_ns(),
            "network": {"ip": f"{self._ip_prefix}{number}"},
            "labels": config.get("labels", {}),
            "annotations": config.get("annotations", {}),
        }
        return {"pod_sandbox_id": key}

    def _sandbox(self, key: str) -> Message:
        if key not in self.sandboxes:
            raise NotFound(f"an error occurred when try to find sandbox {key!r}: not found")
        return self.sandboxes[key]

    async def StopPodSandbox(self, request: Message) -> Message:
        """Not ready any more; its containers are killed."""
        self._called("StopPodSandbox", request)
        sandbox = self._sandbox(request["pod_sandbox_id"])
        sandbox["state"] = PodSandboxState.SANDBOX_NOTREADY
        for container in self.containers.values():
            running = container["state"] == ContainerState.CONTAINER_RUNNING
            if container["pod_sandbox_id"] == sandbox["id"] and running:
                self.exit(container["id"], 137)
        return {}

    async def RemovePodSandbox(self, request: Message) -> Message:
        """Gone, with its containers; again is fine."""
        self._called("RemovePodSandbox", request)
        key = request["pod_sandbox_id"]
        self.sandboxes.pop(key, None)
        for container in [c for c in self.containers.values() if c["pod_sandbox_id"] == key]:
            del self.containers[container["id"]]
        return {}

    async def PodSandboxStatus(self, request: Message) -> Message:
        """The sandbox."""
        return {"status": self._sandbox(request["pod_sandbox_id"])}

    async def ListPodSandbox(self, request: Message) -> Message:
        """All that match the label selector."""
        wanted = request.get("filter", {}).get("label_selector", {})
        keys = ("id", "metadata", "state", "created_at", "labels", "annotations")
        items = [
            {key: one[key] for key in keys}
            for one in self.sandboxes.values()
            if _matches(one["labels"], wanted)
        ]
        return {"items": items}

    async def CreateContainer(self, request: Message) -> Message:
        """Created, in a ready sandbox, of an image that exists."""
        self._called("CreateContainer", request)
        sandbox = self._sandbox(request["pod_sandbox_id"])
        if sandbox["state"] != PodSandboxState.SANDBOX_READY:
            raise Unknown(f"sandbox {sandbox['id']} is not running")
        config = request["config"]
        image = config["image"]["image"]
        names = [name for name, digest in self.images.items() if image in (name, digest)]
        if not names:
            raise NotFound(f"failed to get image from containerd {image!r}: not found")
        for mount in config.get("mounts", []):
            if not (mount.get("host_path") or mount.get("image")) or not mount.get(
                "container_path"
            ):
                raise Invalid(f"mount {mount} names no path")
        key = f"container{next(self._numbers)}"
        self.containers[key] = {
            "id": key,
            "pod_sandbox_id": sandbox["id"],
            "metadata": config["metadata"],
            "state": ContainerState.CONTAINER_CREATED,
            "created_at": time.time_ns(),
            "image": {"image": names[0]},
            "image_ref": self.images[names[0]],
            "labels": config.get("labels", {}),
            "annotations": config.get("annotations", {}),
            "mounts": config.get("mounts", []),
        }
        return {"container_id": key}

    def _container(self, key: str) -> Message:
        if key not in self.containers:
            raise NotFound(f"an error occurred when try to find container {key!r}: not found")
        return self.containers[key]

    async def StartContainer(self, request: Message) -> Message:
        """Running; only once."""
        self._called("StartContainer", request)
        container = self._container(request["container_id"])
        if container["state"] != ContainerState.CONTAINER_CREATED:
            raise Conflict(f"container {container['id']} is not in the created state")
        container["state"] = ContainerState.CONTAINER_RUNNING
        container["started_at"] = time.time_ns()
        return {}

    async def StopContainer(self, request: Message) -> Message:
        """Exited at once: 0 with a timeout, 137 without."""
        self._called("StopContainer", request)
        container = self._container(request["container_id"])
        if container["state"] == ContainerState.CONTAINER_RUNNING:
            self.exit(container["id"], 0 if request.get("timeout") else 137)
        return {}

    async def RemoveContainer(self, request: Message) -> Message:
        """Gone; again is fine."""
        self._called("RemoveContainer", request)
        self.containers.pop(request["container_id"], None)
        return {}

    async def ListContainers(self, request: Message) -> Message:
        """All that match the label selector."""
        wanted = request.get("filter", {}).get("label_selector", {})
        keys = ("id", "pod_sandbox_id", "metadata", "state", "created_at", "labels", "annotations")
        items = [
            {key: one[key] for key in keys}
            for one in self.containers.values()
            if _matches(one["labels"], wanted)
        ]
        return {"containers": items}

    async def ContainerStatus(self, request: Message) -> Message:
        """The container."""
        found = dict(self._container(request["container_id"]))
        del found["pod_sandbox_id"]
        return {"status": found}

    async def ExecSync(self, request: Message) -> Message:
        """``exec_answer``, in a running container."""
        self._called("ExecSync", request)
        container = self._container(request["container_id"])
        if container["state"] != ContainerState.CONTAINER_RUNNING:
            raise Unknown(f"container {container['id']} is not running")
        return self.exec_answer

    async def ListContainerStats(self, request: Message) -> Message:
        """The same figures for every running container."""
        stats = [
            {
                "attributes": {"id": one["id"], "labels": one["labels"]},
                "cpu": {"timestamp": 1, "usage_core_nano_seconds": {"value": 5_000_000}},
                "memory": {"timestamp": 1, "working_set_bytes": {"value": 1_048_576}},
            }
            for one in self.containers.values()
            if one["state"] == ContainerState.CONTAINER_RUNNING
        ]
        return {"stats": stats}

    # -- images --------------------------------------------------------------------------------

    def _image(self, name: str) -> Message | None:
        names = [one for one, digest in self.images.items() if name in (one, digest)]
        if not names:
            return None
        return {"id": self.images[names[0]], "repo_tags": names, "size": 1000}

    async def ImageStatus(self, request: Message) -> Message:
        """The image, or nothing."""
        image = self._image(request["image"]["image"])
        return {"image": image} if image else {}

    async def ListImages(self, request: Message) -> Message:
        """All of them."""
        return {"images": [self._image(name) for name in self.images]}

    async def PullImage(self, request: Message) -> Message:
        """Only what exists can be pulled."""
        self._called("PullImage", request)
        name = request["image"]["image"]
        image = self._image(name)
        if image is None:
            raise NotFound(f'failed to pull and unpack image "{name}": not found')
        return {"image_ref": image["id"]}
