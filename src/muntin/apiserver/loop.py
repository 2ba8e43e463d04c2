"""The server: ``ApiServer(config, store)``, ``async with`` it, then ``serve`` its sockets.

``__aenter__`` loads everything and writes what a new cluster needs, so a server that listens is
ready; there is no state between.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl as ssl_module
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from muntin.apiserver import background, checks, describe, status
from muntin.apiserver.admission import Admission, DynamicParts, Parts
from muntin.apiserver.admission.measures import AdmissionMetrics
from muntin.apiserver.admission.policies import type_checking
from muntin.apiserver.audit import Auditor
from muntin.apiserver.authn import Authenticator
from muntin.apiserver.authn.service_account import TokenIssuer, groups_of, user_name
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.bootstrap import objects
from muntin.apiserver.cache import Cache
from muntin.apiserver.components import Components
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.core import Core
from muntin.apiserver.custom.definitions import Definitions
from muntin.apiserver.custom.forms import CustomForms
from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.field_forms import FieldForms
from muntin.apiserver.flowcontrol import FlowControl
from muntin.apiserver.handler import Handler
from muntin.apiserver.health import Health
from muntin.apiserver.limits import RequestLimits
from muntin.apiserver.measured_store import MeasuredStore
from muntin.apiserver.metrics import Metrics
from muntin.apiserver.paging import Snapshots
from muntin.apiserver.peers import Peers
from muntin.apiserver.published import Published
from muntin.apiserver.registry import Registry
from muntin.apiserver.request import User
from muntin.apiserver.services import ServiceAllocator
from muntin.apiserver.token_tracking import TokenTracking
from muntin.apiserver.webhooks import WebhookClient
from muntin.kit import errors, memory, supervised
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.http.client import HttpClient
from muntin.kit.http.server import HttpServer, Limits
from muntin.kit.log import fields
from muntin.model import schema as schemas
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources import served
from muntin.model.windows_releases import parse_kubernetes
from muntin.seams.store import Store

log = logging.getLogger(__name__)

LOOK_S = 5.0
# What makes a burst; malloc_trim takes some milliseconds, in a thread.
MANY_CONNECTIONS, MANY_BYTES = 50, 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Listener:
    """A bound stream socket and how it is secured (None: plain, for tests and Unix sockets)."""

    sock: socket.socket
    ssl: ssl_module.SSLContext | None = None


class ApiServer:
    """One API server over one store."""

    def __init__(self, config: ApiServerConfig, store: Store, clock: Clock | None = None) -> None:
        clock = clock or SystemClock()
        schema = schemas.load(config.kubernetes_version)
        registry = Registry(served(schema, config.runtime_config), schema.version)
        metrics = Metrics()
        store = MeasuredStore(store, metrics, config.limits.object_bytes)
        cache = Cache(store, registry)
        access, version = config.access, parse_kubernetes(config.kubernetes_version)
        issuer = _issuer(config, clock)
        authorizer = Authorizer(
            cache,
            access,
            clock,
            nodes_by_selector=is_in(ApiFeature.NODES_READ_BY_SELECTOR, version),
        )
        webhooks = WebhookClient(cache, guarded=not config.dials_any)
        cache.forms = CustomForms(registry, webhooks)
        tracked = is_in(ApiFeature.TOKEN_TRACKING, version)
        self._tracking = TokenTracking(clock) if tracked else None
        self._kubelet_clients: dict[bool, HttpClient] = {}
        self.config = config
        forms = FieldForms(schema, registry, cache.forms)
        authenticator = Authenticator(
            access,
            issuer,
            cache,
            clock,
            secret_used=self._tracking.used if self._tracking else None,
            credential_ids=is_in(ApiFeature.CREDENTIAL_IDS, version),
        )
        parts = Parts(
            config=config,
            cache=cache,
            store=store,
            clock=clock,
            authorizer=authorizer,
            find_kind=registry.kind,
        )
        dynamic = DynamicParts(
            cache=cache,
            schema=schema,
            registry=registry,
            authorizer=authorizer,
            webhooks=webhooks,
            types=forms,
            metrics=AdmissionMetrics(metrics.families),
        )
        self.core = Core(
            config=config,
            clock=clock,
            store=store,
            schema=schema,
            registry=registry,
            published=Published(schema, registry),
            cache=cache,
            forms=forms,
            snapshots=Snapshots(clock),
            authenticator=authenticator,
            authorizer=authorizer,
            auditor=Auditor(access.audit, clock) if access.audit else None,
            admission=Admission.standard(parts, dynamic),
            issuer=issuer,
            allocator=_allocator(config, cache, store, clock, registry),
            metrics=metrics,
            health=Health(),
            components=Components(),
            limits=_limits(config, cache, metrics, clock),
            kubelet_client=self._kubelets,
            webhooks=webhooks,
        )
        self.handler = Handler(self.core)
        limits = config.limits
        self._http = HttpServer(
            self.handler,
            Limits(
                body=limits.request_body_bytes,
                connections=limits.connections,
                held=limits.held_bytes,
                held_of_user=limits.held_bytes_of_user,
            ),
            status.refusal,
            self.handler.gate,
        )
        describe.install(metrics, cache, store, config.kubernetes_version, self._http)
        self._tasks: list[asyncio.Task[None]] = []
        self._peers: Peers | None = None

    async def __aenter__(self) -> Self:
        memory.keep_large_apart()
        cache = self.core.cache
        await cache.load()
        definitions = Definitions(self.core, self.transport(objects.USER))
        definitions.load()
        self._tasks = [
            supervised.start("apiserver-follow", cache.follow),
            supervised.start("apiserver-compact", self._compact),
            supervised.start("apiserver-forget", self._forget),
            supervised.start("apiserver-give-back", self._give_back),
            supervised.start("apiserver-definitions", definitions.run),
        ]
        if self._tracking is not None:
            track = partial(self._tracking.run, self.transport(objects.USER))
            self._tasks.append(supervised.start("apiserver-token-tracking", track))
        for backend in self.core.auditor.backends if self.core.auditor else ():
            self._tasks.append(supervised.start("apiserver-audit", backend.run))
        await cache.fresh()
        self.core.allocator.load()
        await objects.run(self.core, self.transport(objects.USER))
        hooks = await background.begin(self.core, self.transport(objects.USER))
        if self.config.several:
            self._peers = Peers(self.core, self.transport(objects.USER))
            await self._peers.settle()
            renewing = supervised.start("apiserver-peers", self._peers.run)
            hooks["start-kube-apiserver-identity-lease-controller"] = renewing
        self.core.components.add("etcd-0", self._store_answers)
        checks.install(self.core.health, self.core.store, cache, self._tasks[0], hooks)
        self._tasks += hooks.values()
        if (checking := type_checking.of(self.core, self.transport(objects.USER))) is not None:
            self._tasks.append(supervised.start("apiserver-type-checking", checking.run))
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.core.health.stopping = True  # first of all, so that nobody new is sent here
        if self._peers is not None:
            await self._peers.leave()
        limits = self.config.limits
        if limits.shutdown_delay_s:
            await asyncio.sleep(limits.shutdown_delay_s)
        await self._http.close(limits.shutdown_grace_s)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.core.auditor is not None:
            await self.core.auditor.close()
        await self.core.authenticator.close()
        await self.core.authorizer.close()
        await self.core.webhooks.close()
        for client in self._kubelet_clients.values():
            await client.close()

    async def serve(self, listeners: Sequence[Listener]) -> None:
        """Answer on ``listeners`` too."""
        for listener in listeners:
            await self._http.listen(listener.sock, listener.ssl)

    def transport(self, user: User) -> DirectTransport:
        """In-process access as ``user``."""
        return DirectTransport(self.handler, user)

    def service_account(self, namespace: str, name: str) -> DirectTransport:
        """In-process access as a ServiceAccount, which need not exist."""
        return self.transport(User(user_name(namespace, name), groups_of(namespace)))

    def user(self, name: str, *groups: str) -> DirectTransport:
        """In-process access as the user that a certificate of ``name`` and ``groups`` is."""
        return self.transport(User(name, (*groups, "system:authenticated")))

    def _kubelets(self, *, verify: bool = True) -> HttpClient:
        """The client of kubelets; without ``verify`` it takes any certificate of theirs."""
        config = self.config
        verify = verify and bool(config.kubelet_ca)
        if verify not in self._kubelet_clients:
            from muntin.kit.http.tls import client_context

            context = client_context(
                ca=config.kubelet_ca,
                certificate=config.kubelet_client_certificate,
                key=config.kubelet_client_key,
                verify=verify,
            )
            self._kubelet_clients[verify] = HttpClient(tls=context, guarded=not config.dials_any)
        return self._kubelet_clients[verify]

    async def _store_answers(self) -> None:
        await self.core.store.current_revision()

    async def _compact(self) -> None:
        """Forget history that is two intervals old, as upstream has etcd do."""
        core = self.core
        before = await core.store.current_revision()
        while True:
            await core.clock.sleep(self.config.compaction_interval_s)
            now = await core.store.current_revision()
            with contextlib.suppress(errors.Gone):
                try:
                    await core.store.compact(before)
                except errors.Unavailable as err:
                    log.warning("compaction failed", **fields(error=err))
            before = now

    async def _give_back(self) -> None:
        """After a burst of connections or bodies, give the kernel the memory that they held."""
        most = 0
        while True:
            await self.core.clock.sleep(LOOK_S)
            connections, held = self._http.connections, self._http.budget.most_held
            most = max(most, connections)
            self._http.budget.most_held = self._http.budget.held
            if most - connections >= MANY_CONNECTIONS or held >= MANY_BYTES:
                most = connections
                await asyncio.to_thread(memory.give_back)

    async def _forget(self) -> None:
        """Forget events that no client needs who is still there, and give back what they held."""
        core = self.core
        before = core.cache.revision
        while True:
            await core.clock.sleep(self.config.events_fresh_s)
            core.cache.forget(before)
            before = core.cache.revision
            await asyncio.to_thread(memory.give_back)


def _limits(config: ApiServerConfig, cache: Cache, metrics: Metrics, clock: Clock) -> RequestLimits:
    limits = config.limits
    flow = FlowControl(
        cache,
        metrics,
        version=parse_kubernetes(config.kubernetes_version),
        seats=limits.seats,
        wait_s=limits.request_timeout_s / 4,
    )
    return RequestLimits(flow, metrics, clock, limits.request_timeout_s)


def _allocator(
    config: ApiServerConfig, cache: Cache, store: Store, clock: Clock, registry: Registry
) -> ServiceAllocator:
    group = "networking.k8s.io"
    addresses, ranges = (registry.kind(group, "v1", kind) for kind in ("IPAddress", "ServiceCIDR"))
    return ServiceAllocator(
        cache, store, clock, config.service_cidr, config.node_ports, addresses, ranges
    )


def _issuer(config: ApiServerConfig, clock: Clock) -> TokenIssuer:
    access = config.access
    return TokenIssuer(
        config.service_account_key,
        (config.issuer, *access.more_issuers),
        clock,
        audiences=access.api_audiences,
        more_keys=access.service_account_verification_keys,
    )


# Forward secrecy only. The level is for clients of TLS 1.2 that name no signature algorithms, which
# means SHA-1 (RFC 5246, 7.4.1.4.1): wget of a BusyBox in a pod. Measured with OpenSSL 3.0 and a key
# of P-256: from level 1 on it ends with "handshake failure"; at level 0 it and those that offer
# nothing but SHA-1 get SHA-1, who also offers SHA-256 (even as second) gets that, and TLS 1.3 has
# no SHA-1. So nobody is given less than they could have. Python shows nobody what a ClientHello
# offers, so the level cannot be another one for each connection. Upstream's server does the same.
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:@SECLEVEL=0"


def server_context(
    *, certificate: str, key: str, client_ca: str = "", client_ca_pem: str = ""
) -> ssl_module.SSLContext:
    """TLS of a listener: files of the server's pair, and who signs client certificates.

    A client need not show a certificate (it may have a token); a wrong one fails the handshake.
    """
    context = ssl_module.SSLContext(ssl_module.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl_module.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["http/1.1"])
    if client_ca or client_ca_pem:
        context.load_verify_locations(cafile=client_ca or None, cadata=client_ca_pem or None)
        context.verify_mode = ssl_module.CERT_OPTIONAL
    return context


async def run(config: ApiServerConfig, store: Store, listeners: Sequence[Listener]) -> None:
    """Serve until cancelled."""
    async with ApiServer(config, store) as server:
        await server.serve(listeners)
        log.info("API server is ready", **fields(version=config.kubernetes_version))
        await asyncio.Event().wait()
