"""The Windows data plane, "kernelspace": load balancers and remote endpoints through HNS alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from muntin.kit.errors import MuntinError
from muntin.kit.log import fields
from muntin.model.windows import Feature, is_open
from muntin.proxy.config import KernelspaceConfig
from muntin.proxy.dataplane import Change, StartOver
from muntin.proxy.plan import Backend, Frontend, FrontendKey
from muntin.proxy.plan_hns import HnsFacts, backends, limits, load_balancer, remote_endpoint
from muntin.seams.hns import HnsClient, Kind, Object, query_by_name
from muntin.seams.hns.errors import HnsNotFound

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Applied:
    """One load balancer that HNS has for us, and the remote endpoints that it holds on to."""

    balancer_id: str
    remote: tuple[IPv4Address, ...]


@dataclass(slots=True)
class _Remote:
    """A remote endpoint of ours and how many load balancers use it."""

    endpoint_id: str
    users: int = 0


@dataclass(slots=True)
class _State:
    applied: dict[FrontendKey, _Applied] = field(default_factory=dict)
    remote: dict[IPv4Address, _Remote] = field(default_factory=dict)
    local: dict[IPv4Address, str] = field(default_factory=dict)


class KernelspaceDataplane:
    """See the module. It looks at nothing but HNS' answers."""

    def __init__(self, config: KernelspaceConfig, hns: HnsClient) -> None:
        self._config = config
        self._hns = hns
        self._facts = HnsFacts(profile=config.profile, source_vip=config.source_vip)
        self._modifies = is_open(Feature.MODIFY_LOAD_BALANCER, config.profile)
        self._network_id = ""
        self._state = _State()

    def limits(self, frontend: Frontend) -> Sequence[str]:
        return limits(frontend, self._facts)

    async def start(self) -> None:
        """Wait for the network, and delete all load balancers and remote endpoints on it.

        As on real nodes, every restart takes the services away until the first sync.
        """
        self._state = _State()
        while (network := await self._network()) is None:
            log.info("waiting for the HNS network", **fields(name=self._config.network_name))
            await asyncio.sleep(self._config.network_poll_s)
        self._network_id = network["ID"]
        for balancer_id in await self._hns.enumerate(Kind.LOAD_BALANCER):
            await self._delete(Kind.LOAD_BALANCER, balancer_id)
        for endpoint in await self._endpoints():
            if endpoint["IsRemoteEndpoint"]:
                await self._delete(Kind.ENDPOINT, endpoint["ID"])

    async def apply(self, changes: Sequence[Change]) -> Mapping[FrontendKey, str]:
        network = await self._network()
        if network is None or network["ID"] != self._network_id:
            raise StartOver(f"HNS network {self._config.network_name} is not the one it was")
        # What a change does away with goes first: HNS refuses two owners of one address and port.
        for change in changes:
            if change.new is None or not self._modifies:
                await self._withdraw(change.key)
        failures: dict[FrontendKey, str] = {}
        for change in changes:
            if change.new is not None:
                problem = await self._try(change.new)
                if problem:
                    failures[change.key] = problem
        await self._drop_unused()
        return failures

    async def _try(self, frontend: Frontend) -> str:
        """Why ``frontend`` is not, or not wholly, carried out; empty when it is."""
        if not backends(frontend, self._facts):
            await self._withdraw(frontend.key)
            return ""
        try:
            return await self._program(frontend)
        except HnsNotFound:
            # An endpoint vanished and may have come back under another identity.
            self._state.local.clear()
        except MuntinError as err:
            return err.message
        try:
            return await self._program(frontend)
        except MuntinError as err:
            return err.message

    async def _program(self, frontend: Frontend) -> str:
        ids, remote, missing = await self._resolve(backends(frontend, self._facts))
        if not ids:
            await self._withdraw(frontend.key)
            return f"local endpoint not found for {', '.join(map(str, missing))}"
        document = load_balancer(frontend, ids, self._facts)
        known = self._state.applied.get(frontend.key)
        if known is not None:
            request = {"RequestType": "Update", "Settings": document}
            await self._hns.modify(Kind.LOAD_BALANCER, known.balancer_id, request)
            balancer_id = known.balancer_id
        else:
            made = await self._hns.create(Kind.LOAD_BALANCER, document)
            balancer_id = made["ID"]
        self._count(known.remote if known else (), -1)
        self._count(remote, +1)
        self._state.applied[frontend.key] = _Applied(balancer_id, remote)
        if missing:
            return f"local endpoint not found for {', '.join(map(str, missing))}"
        return ""

    async def _resolve(
        self, wanted: Sequence[Backend]
    ) -> tuple[list[str], tuple[IPv4Address, ...], list[IPv4Address]]:
        """(endpoint ids, which of them are ours and remote, local addresses that HNS lacks)."""
        ids: list[str] = []
        remote: list[IPv4Address] = []
        missing: list[IPv4Address] = []
        if any(item.is_local and item.address not in self._state.local for item in wanted):
            await self._refresh_local()
        for backend in wanted:
            if backend.is_local:
                known = self._state.local.get(backend.address)
                ids.append(known) if known else missing.append(backend.address)
            else:
                ids.append(await self._remote(backend.address))
                remote.append(backend.address)
        return ids, tuple(remote), missing

    async def _remote(self, address: IPv4Address) -> str:
        known = self._state.remote.get(address)
        if known is None:
            document = remote_endpoint(address, self._network_id)
            made = await self._hns.create(Kind.ENDPOINT, document)
            known = self._state.remote[address] = _Remote(made["ID"])
        return known.endpoint_id

    def _count(self, addresses: Sequence[IPv4Address], step: int) -> None:
        for address in addresses:
            if address in self._state.remote:
                self._state.remote[address].users += step

    async def _drop_unused(self) -> None:
        """Delete remote endpoints that no load balancer uses any more."""
        unused = [ip for ip, entry in self._state.remote.items() if entry.users <= 0]
        for address in unused:
            await self._delete(Kind.ENDPOINT, self._state.remote.pop(address).endpoint_id)

    async def _withdraw(self, key: FrontendKey) -> None:
        applied = self._state.applied.pop(key, None)
        if applied is not None:
            await self._delete(Kind.LOAD_BALANCER, applied.balancer_id)
            self._count(applied.remote, -1)

    async def _delete(self, kind: Kind, object_id: str) -> None:
        try:
            await self._hns.delete(kind, object_id)
        except HnsNotFound:
            log.debug("already gone", **fields(kind=kind, id=object_id))

    async def _refresh_local(self) -> None:
        self._state.local = {
            IPv4Address(item["IPAddress"]): item["ID"]
            for item in await self._endpoints()
            if not item["IsRemoteEndpoint"] and item.get("IPAddress")
        }

    async def _endpoints(self) -> list[Object]:
        """All endpoints of the network, in version 1's form: one call instead of one for each."""
        found = await self._hns.call("GET", "/endpoints/")
        wanted = self._network_id.upper()
        return [item for item in found if str(item["VirtualNetwork"]).upper() == wanted]

    async def _network(self) -> Object | None:
        return await query_by_name(self._hns, Kind.NETWORK, self._config.network_name)
