"""A small cluster without nodes that answer, for what kubectl asks: recorded once, then replayed.

The API server is in this process, on the memory store. Objects that nobody tends here (there are
no controllers and no kubelets) have the status that they would have in a settled cluster.
"""

import contextlib
import json
from dataclasses import replace

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.kit.http.messages import Request, Response
from muntin.seams.store.memory import MemoryStore

ADMIN = {
    "subject": ((("organizationName", "system:masters"),), (("commonName", "kubernetes-admin"),))
}
KEY = ec.generate_private_key(ec.SECP256R1()).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
)
JSON = {"content-type": "application/json", "accept": "application/json"}
SINCE = "2024-01-01T00:00:00Z"


def _condition(type_):
    return {"type": type_, "status": "True", "reason": "Fine", "lastTransitionTime": SINCE,
            "lastUpdateTime": SINCE}  # fmt: skip


def _pod_condition(type_):
    return {"type": type_, "status": "True", "lastTransitionTime": SINCE}


def _template(image):
    container = {"name": "main", "image": image, "ports": [{"containerPort": 80}]}
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}


def _replica_set(name, revision, image, replicas):
    labels = {"app": "web", "pod-template-hash": name}
    template = _template(image)
    template["metadata"] = {"labels": labels}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "{web}",
             "controller": True}  # fmt: skip
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"web-{name}",
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": str(revision)},
            "ownerReferences": [owner],
        },
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
        "status": {"replicas": replicas, "readyReplicas": replicas, "observedGeneration": 1},
    }


def _event(name, reason):
    return {
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "name": "one", "namespace": "default"},
        "reason": reason,
        "message": "as it should",
        "type": "Normal",
        "firstTimestamp": SINCE,
        "lastTimestamp": SINCE,
        "count": 1,
        "source": {"component": "kubelet"},
    }


NAMESPACE = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
SEEDS = (
    (
        "/api/v1/nodes",
        {
            "metadata": {"name": "lin01", "labels": {"kubernetes.io/os": "linux"}},
            "spec": {"podCIDR": "10.244.0.0/24", "podCIDRs": ["10.244.0.0/24"]},
            "status": {
                "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                "conditions": [{**_pod_condition("Ready"), "lastHeartbeatTime": SINCE}],
                "capacity": {"cpu": "2", "memory": "4Gi", "pods": "110"},
                "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "110"},
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 1}},
                "nodeInfo": {"kubeletVersion": "v1.34.0", "operatingSystem": "linux",
                             "architecture": "amd64", "osImage": "Debian", "bootID": "b",
                             "kernelVersion": "6.1", "containerRuntimeVersion": "containerd://1",
                             "kubeProxyVersion": "", "machineID": "m", "systemUUID": "s"},
            },
        },
    ),
    ("/api/v1/namespaces", {"metadata": {"name": "default"}}),
    (f"{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}}),
    (
        f"{NAMESPACE}/configmaps",
        {
            "metadata": {
                "name": "made",
                "annotations": {
                    "kubectl.kubernetes.io/last-applied-configuration": json.dumps(
                        {
                            "apiVersion": "v1",
                            "data": {"a": "1", "b": "2"},
                            "kind": "ConfigMap",
                            "metadata": {
                                "annotations": {},
                                "name": "made",
                                "namespace": "default",
                            },
                        }
                    )
                    + "\n"
                },
            },
            "data": {"a": "1", "b": "2"},
        },
    ),
    (
        f"{NAMESPACE}/pods",
        {
            "metadata": {"name": "one", "labels": {"app": "web"}},
            "spec": {"nodeName": "lin01", "containers": [
                {"name": "main", "image": "busybox:1.35", "ports": [{"containerPort": 80}]}]},
            "status": {
                "phase": "Running",
                "hostIP": "127.0.0.1",
                "podIP": "10.244.0.2",
                "podIPs": [{"ip": "10.244.0.2"}],
                "startTime": SINCE,
                "conditions": [_pod_condition("Ready"), _pod_condition("ContainersReady")],
                "containerStatuses": [
                    {"name": "main", "image": "busybox:1.35", "imageID": "i", "ready": True,
                     "restartCount": 0, "state": {"running": {"startedAt": SINCE}}}
                ],
            },
        },
    ),
    (
        f"{NAMESPACE}/services",
        {
            "metadata": {"name": "web"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
        },
    ),
    (f"{NAMESPACE}/events", _event("one.1", "Scheduled")),
    (f"{NAMESPACE}/events", _event("one.2", "Started")),
    (
        f"{APPS}/deployments",
        {
            "metadata": {"name": "web", "annotations": {"deployment.kubernetes.io/revision": "2"}},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "web"}},
                "template": _template("busybox:2"),
            },
            "status": {
                "observedGeneration": 1,
                "replicas": 2,
                "updatedReplicas": 2,
                "readyReplicas": 2,
                "availableReplicas": 2,
                "conditions": [_condition("Available"), _condition("Progressing")],
            },
        },
    ),
    (f"{APPS}/replicasets", _replica_set("old", 1, "busybox:1", 0)),
    (f"{APPS}/replicasets", _replica_set("new", 2, "busybox:2", 2)),
)  # fmt: skip


class World:
    """One server with the seeds in it, asked as the administrator."""

    def __init__(self, server):
        self.server = server

    async def ask(self, request):
        """The answer to one request: a Response or an Upgrade."""
        return await self.server.handler(replace(request, peer_certificate=ADMIN))

    async def call(self, method, path, document=None):
        """A JSON request's status and document."""
        body = json.dumps(document).encode() if document is not None else b""
        answer = await self.ask(Request(method=method, path=path, headers=JSON, body=body))
        assert isinstance(answer, Response)
        assert isinstance(answer.body, bytes)
        return answer.status, json.loads(answer.body)

    async def seed(self):
        """Create the seeds, with their status."""
        uids = {}
        for path, seed in SEEDS:
            text = json.dumps(seed)
            for name, uid in uids.items():
                text = text.replace(f"{{{name}}}", uid)
            document = json.loads(text)
            code, made = await self.call("POST", path, document)
            name = document["metadata"]["name"]
            assert code in (201, 409), made
            if code == 409:
                continue
            uids[name] = made["metadata"]["uid"]
            if "status" in document:
                made["status"] = document["status"]
                code, made = await self.call("PUT", f"{path}/{name}/status", made)
                assert code == 200, made


@contextlib.asynccontextmanager
async def world():
    """A fresh world."""
    config = ApiServerConfig(
        kubernetes_version="1.34", service_account_key=KEY, advertise_address="192.0.2.1", port=6443
    )
    async with ApiServer(config, MemoryStore()) as server:
        found = World(server)
        await found.seed()
        yield found
