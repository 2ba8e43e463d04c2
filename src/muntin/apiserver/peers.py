"""Several servers over one store: which of them live, and that the ``kubernetes`` Service leads to
all of them.

Each renews a record of its address; one that stands still for longer than ``ALIVE_S``, by the clock
of who looks, is of a server that has ended. Each also has a Lease that says who it is.
Source: kubernetes v1.34 pkg/controlplane/reconcilers/lease.go,
pkg/controlplane/controller/leaderelection and apiserverleasegc.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import socket
import uuid
from typing import Any

import orjson

from muntin.apiserver.bootstrap import objects
from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.items import ROOT
from muntin.kit import errors
from muntin.kit.clock import parse_rfc3339, rfc3339
from muntin.kit.log import fields
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources import LEASES
from muntin.model.windows_releases import parse_kubernetes
from muntin.seams.store import RevisionConflict

log = logging.getLogger(__name__)

RENEW_S, ALIVE_S = 10.0, 15.0
IDENTITY_S = 3600
LEAVE_S = 2.0  # a clean end waits no longer
_PREFIX = f"{ROOT}masterleases/apiservers//"
_NAMESPACE = "kube-system"
_LABEL = "apiserver.kubernetes.io/identity"
_HEADERS = {"content-type": "application/json", "user-agent": "kube-apiserver"}


class Peers:
    """This server among the others; ``transport`` acts as the server itself."""

    def __init__(self, core: Core, transport: DirectTransport) -> None:
        self._core, self._transport = core, transport
        self._address = core.config.advertise_address
        self._seen: dict[str, tuple[int, float]] = {}  # revisions of records, and since when
        host = socket.gethostname()
        digest = hashlib.sha256(f"{host}/{self._address}".encode()).digest()[:16]
        self._name = f"apiserver-{base64.b32encode(digest).decode().rstrip('=').lower()}"
        self._labels = {_LABEL: "kube-apiserver", "kubernetes.io/hostname": host}
        self._holder = f"{self._name}_{uuid.uuid4()}"
        version = parse_kubernetes(core.config.kubernetes_version)
        self._has_identity = is_in(ApiFeature.SERVER_IDENTITY, version)

    async def settle(self) -> None:
        """Say that this server lives, and lead the Service to all that do."""
        await self._renew()
        if self._has_identity:
            await self._renew_identity()
            await self._collect()
        await self._lead(await self._living())

    async def run(self) -> None:
        """Settle for ever."""
        while True:
            await self._core.clock.sleep(RENEW_S)
            try:
                await self.settle()
            except errors.MuntinError as err:
                log.warning("peers not settled", **fields(error=err))

    async def leave(self) -> None:
        """Before a clean end: lead the Service to the others."""
        try:
            async with asyncio.timeout(LEAVE_S):
                await self._remove(self._address)
                await self._lead(await self._living())
        except (errors.MuntinError, TimeoutError) as err:
            log.warning("not taken out of the endpoints", **fields(error=err))

    async def _renew(self) -> None:
        store, key = self._core.store, _PREFIX + self._address
        value = orjson.dumps({"renewTime": rfc3339(self._core.clock.now(), micros=True)})
        try:
            try:
                record = await store.get(key)
            except errors.NotFound:
                await store.create(key, value)
            else:
                await store.update(key, value, record.mod_revision)
        except (errors.AlreadyExists, errors.NotFound, RevisionConflict):
            return  # somebody took it for dead at this moment; the next round makes it anew

    async def _remove(self, address: str) -> None:
        store = self._core.store
        try:
            record = await store.get(_PREFIX + address)
            await store.delete(record.key, record.mod_revision)
        except (errors.NotFound, RevisionConflict):
            return  # it lives

    async def _living(self) -> list[str]:
        now, alive = self._core.clock.monotonic(), []
        page = await self._core.store.list(_PREFIX)
        for record in page.records:
            address = record.key.removeprefix(_PREFIX)
            revision, since = self._seen.get(address, (0, now))
            if revision != record.mod_revision:
                since = now
                self._seen[address] = record.mod_revision, now
            if now - since <= ALIVE_S:
                alive.append(address)
            else:
                log.info("server is gone", **fields(address=address))
                await self._remove(address)
        return sorted(alive)

    async def _lead(self, addresses: list[str]) -> None:
        for _ in range(2):  # the second time, if another server wrote at the same time
            await self._core.cache.fresh()
            await objects.lead_to(self._core, self._transport, addresses)

    # -- the Lease that says who this is -----------------------------------------------------

    async def _renew_identity(self) -> None:
        item = self._core.cache.get(LEASES, _NAMESPACE, self._name)
        now = rfc3339(self._core.clock.now(), micros=True)
        spec = {"holderIdentity": self._holder, "leaseDurationSeconds": IDENTITY_S}
        if item is None:
            metadata = {"name": self._name, "namespace": _NAMESPACE, "labels": self._labels}
            lease = {"metadata": metadata, "spec": {**spec, "renewTime": now}}
            await self._send("POST", LEASES.path(namespace=_NAMESPACE), lease)
            return
        found: dict[str, Any] = item.object()
        changed = {**found, "spec": {**found["spec"], **spec, "renewTime": now}}
        await self._send("PUT", LEASES.path(self._name, _NAMESPACE), changed)

    async def _collect(self) -> None:
        """Remove the Leases of servers that are long gone."""
        for item in list(self._core.cache.of(LEASES).select(_NAMESPACE)):
            lease: dict[str, Any] = item.object()
            labels = lease["metadata"].get("labels") or {}
            if labels.get(_LABEL) == "kube-apiserver" and self._is_over(lease.get("spec") or {}):
                await self._send("DELETE", LEASES.path(item.name, _NAMESPACE), {})

    def _is_over(self, spec: dict[str, Any]) -> bool:
        if not spec.get("renewTime"):
            return True
        end = parse_rfc3339(spec["renewTime"]) + (spec.get("leaseDurationSeconds") or 0)
        return end < self._core.clock.now()

    async def _send(self, method: str, path: str, obj: dict[str, Any]) -> None:
        body = orjson.dumps(obj)
        answer = await self._transport.request(method, path, headers=_HEADERS, body=body)
        if answer.status >= 400 and answer.status not in (404, 409):
            raise errors.Internal(f"peers: {method} {path}: {answer.status}")
