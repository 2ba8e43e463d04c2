"""Registers this node, keeps its status and its lease current, and hands it its pod CIDR.

Source: kubernetes v1.34 pkg/kubelet/kubelet_node_status.go; component-helpers/apimachinery/lease.
"""

from __future__ import annotations

import asyncio
import logging

from muntin.kit.clock import rfc3339
from muntin.kit.errors import AlreadyExists, MuntinError, NotFound
from muntin.kit.log import fields
from muntin.kubelet.context import Context
from muntin.kubelet.node_object import new_node, node_labels, node_status, runtime_problems
from muntin.model.resources import LEASES, NODES
from muntin.seams.kube import STRATEGIC_MERGE_PATCH, Object

log = logging.getLogger(__name__)

LEASE_NAMESPACE = "kube-node-lease"
STARTING_INTERVAL_S = 0.1
"""How often a node that is not ready yet looks whether it is."""
STARTING_FOR_S = 30.0
REPORT_ANYWAY_S = 300.0
MAX_IMAGES = 50


class NodeAgent:
    """``node`` is the object as last seen; ``ready`` whether the runtime can take pods."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._started_at = context.clock.monotonic()
        self._pod_cidr = ""
        self._sent_at = float("-inf")
        self._sent: Object = {}
        self.node: Object = new_node(context.config, {"allocatable": dict(context.allocatable)})
        self.ready = False
        self.registered = asyncio.Event()

    async def refresh(self) -> Object:
        """The Node as the API has it now; as last seen if the API does not answer."""
        try:
            self.node = await self._context.client.get(NODES, self._context.config.node_name)
        except MuntinError as err:
            log.warning("node not read, the last state counts", **fields(error=err))
        return self.node

    async def run(self) -> None:
        """Register, then report until cancelled."""
        context = self._context
        while True:
            try:
                await self._report()
            except MuntinError as err:
                log.warning("node status not sent, will retry", **fields(error=err))
            await context.clock.sleep(self._interval_s())

    def _interval_s(self) -> float:
        starting = self._context.clock.monotonic() - self._started_at < STARTING_FOR_S
        if not self.ready and starting:
            return STARTING_INTERVAL_S
        return self._context.config.status_interval_s

    async def _report(self) -> None:
        context, config = self._context, self._context.config
        problems, runtime_version = await self._ask_runtime()
        try:
            self.node = await context.client.get(NODES, config.node_name)
        except NotFound:
            status = self._status(problems, runtime_version, [], {})
            await self._register(status)
        self.registered.set()
        await self._hand_over_pod_cidr()
        images = await self._images() if not problems else []
        status = self._status(problems, runtime_version, images, self.node.get("status") or {})
        await self._assert_labels()
        if self._is_news(status) or _lacks(self.node.get("status") or {}, status):
            self.node = await context.client.patch(
                NODES,
                config.node_name,
                {"status": status},
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )
            self._sent, self._sent_at = status, context.clock.monotonic()
        if not problems and not self.ready:
            context.node_event(
                "Normal", "NodeReady", f"Node {config.node_name} status is now: NodeReady"
            )
        self.ready = not problems

    def _status(
        self, problems: list[str], runtime_version: str, images: list[Object], old: Object
    ) -> Object:
        return node_status(
            self._context.config,
            runtime_version=runtime_version,
            images=images,
            problems=problems,
            old=old,
            now=self._context.clock.now(),
        )

    def _is_news(self, status: Object) -> bool:
        """Whether anything but the heartbeat changed, or it is time to report anyway."""
        if self._context.clock.monotonic() - self._sent_at >= REPORT_ANYWAY_S:
            return True
        return _without_heartbeat(status) != _without_heartbeat(self._sent)

    async def _ask_runtime(self) -> tuple[list[str], str]:
        try:
            version = await self._context.cri.Version({"version": "0.1.0"})
            status = (await self._context.cri.Status()).get("status", {})
        except MuntinError as err:
            return [f"container runtime is down: {err.message}"], ""
        self._context.runtime_name = version["runtime_name"]
        name = f"{version['runtime_name']}://{version['runtime_version']}"
        return runtime_problems(status), name

    async def _register(self, status: Object) -> None:
        context, config = self._context, self._context.config
        try:
            self.node = await context.client.create(NODES, new_node(config, status))
        except AlreadyExists:
            self.node = await context.client.get(NODES, config.node_name)
            return
        log.info("node registered", **fields(node=config.node_name))
        context.node_event("Normal", "Starting", "Starting kubelet.")

    async def _assert_labels(self) -> None:
        """Put back labels and annotations that somebody changed."""
        config, meta = self._context.config, self.node["metadata"]
        labels = {
            key: value
            for key, value in node_labels(config).items()
            if (meta.get("labels") or {}).get(key) != value
        }
        annotations = {
            key: value
            for key, value in config.annotations.items()
            if (meta.get("annotations") or {}).get(key) != value
        }
        if labels or annotations:
            patch = {"metadata": {"labels": labels, "annotations": annotations}}
            self.node = await self._context.client.patch(NODES, config.node_name, patch)

    async def _hand_over_pod_cidr(self) -> None:
        """Tell the runtime the node's pod CIDR once the control plane has given it one."""
        cidr = (self.node.get("spec") or {}).get("podCIDR") or ""
        if cidr and cidr != self._pod_cidr:
            await self._context.cri.UpdateRuntimeConfig(
                {"runtime_config": {"network_config": {"pod_cidr": cidr}}}
            )
            self._pod_cidr = cidr

    async def _images(self) -> list[Object]:
        found = (await self._context.cri.ListImages()).get("images", [])
        rows = [
            {
                "names": [*one.get("repo_digests", []), *one.get("repo_tags", [])],
                "sizeBytes": one.get("size", 0),
            }
            for one in found
            if one.get("repo_tags") or one.get("repo_digests")
        ]
        return sorted(rows, key=lambda row: -row["sizeBytes"])[:MAX_IMAGES]


def _lacks(live: Object, status: Object) -> bool:
    """Whether another client changed the node's resources since the last update."""
    return any(
        (live.get(field) or {}).get(name) != amount
        for field in ("capacity", "allocatable")
        for name, amount in status[field].items()
    )


def _without_heartbeat(status: Object) -> Object:
    rows = [
        {key: value for key, value in row.items() if key != "lastHeartbeatTime"}
        for row in status.get("conditions", [])
    ]
    return {**status, "conditions": rows}


class NodeLease:
    """The lease by which the control plane knows that this node lives."""

    def __init__(self, context: Context, registered: asyncio.Event) -> None:
        self._context = context
        self._registered = registered
        self._exists = False

    async def run(self) -> None:
        """Renew until cancelled."""
        context = self._context
        await self._registered.wait()
        while True:
            delay_s = context.config.lease_interval_s
            try:
                await self._renew()
            except MuntinError as err:
                log.warning("lease not renewed, will retry", **fields(error=err))
                delay_s = 1.0
            await context.clock.sleep(delay_s)

    async def _renew(self) -> None:
        context, config = self._context, self._context.config
        spec = {
            "holderIdentity": config.node_name,
            "leaseDurationSeconds": config.lease_duration_s,
            "renewTime": rfc3339(context.clock.now(), micros=True),
        }
        if self._exists:
            try:
                await context.client.patch(
                    LEASES, config.node_name, {"spec": spec}, LEASE_NAMESPACE
                )
                return
            except NotFound:
                self._exists = False
        node = await context.client.get(NODES, config.node_name)
        owner = {
            "apiVersion": "v1",
            "kind": "Node",
            "name": config.node_name,
            "uid": node["metadata"]["uid"],
        }
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": config.node_name,
                "namespace": LEASE_NAMESPACE,
                "ownerReferences": [owner],
            },
            "spec": spec,
        }
        try:
            await context.client.create(LEASES, lease, LEASE_NAMESPACE)
        except AlreadyExists:
            await context.client.patch(LEASES, config.node_name, {"spec": spec}, LEASE_NAMESPACE)
        self._exists = True
