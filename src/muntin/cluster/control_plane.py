"""The control plane: one asyncio process in the master's namespace.

API server, controllers, scheduler, cluster DNS, resource metrics, and what keeps the fabric in step
with the API: pod routes and published node ports. All but kubelets and proxies reach the API in
process, each under an identity of its own.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from muntin.apiserver.access_config import RequestHeaderConfig
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer, Listener, server_context
from muntin.cluster import (
    advice,
    certificate_names,
    cluster_dns,
    cluster_info,
    cluster_metrics,
    elections,
    event_loop,
    host_network,
    local_storage,
    proxies,
    store_access,
)
from muntin.cluster.config import API_PORT, POD_PREFIX_LENGTH, ClusterConfig
from muntin.cluster.load_balancer import LoadBalancer
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.publish import Publisher
from muntin.cluster.routes import PodRoutes
from muntin.cluster.seats import Seat
from muntin.controllers import loop as controllers
from muntin.controllers.config import ControllersConfig
from muntin.dns import loop as dns
from muntin.kit import supervised
from muntin.model.features import ApiFeature, features_of, is_in
from muntin.model.windows_releases import git_version
from muntin.scheduler import loop as scheduler
from muntin.scheduler.config import SchedulerConfig
from muntin.seams.kube import Transport
from muntin.seams.kube.client import Client

ADMIN = ("kubernetes-admin", "system:masters")
_SERVICE_ACCOUNT = "system:serviceaccount:"
ClientFor = Callable[[str], Client]


def main(config: ClusterConfig, seat: Seat, listeners: Sequence[socket.socket]) -> None:
    """Run until SIGTERM; called in a process that stands in the master's namespace.

    ``listeners`` are shared with what stands beside this process, and outlive it.
    """
    event_loop.run(run(config, seat, listeners))


async def run(config: ClusterConfig, seat: Seat, listeners: Sequence[socket.socket]) -> None:
    """Everything, until cancelled."""
    paths = ClusterPaths(config.name)
    store = await store_access.open_store(config, paths)
    api_config = _api_config(config, paths, seat)
    async with ApiServer(api_config, store) as server, supervised.Group() as group:
        await server.serve(_listeners(paths, seat, listeners))
        client_for = _clients(server)

        async def manage(may_write: elections.MayWrite) -> None:
            await controllers.run(
                _controllers_config(config, paths),
                _clients(server, may_write),
                directories=local_storage.NodeDirectories(config),
            )

        async def place(may_write: elections.MayWrite) -> None:
            client = _clients(server, may_write)("system:kube-scheduler")
            await scheduler.run(_scheduler_config(config), client)

        for name, work in (("controller-manager", manage), ("scheduler", place)):
            client = client_for(f"system:kube-{name}")
            elected = partial(elections.run, config, seat, f"kube-{name}", client, work)
            server.core.components.add_task(name, group.start(name, elected))
        admin = Client(server.user(*ADMIN))
        group.start("fabric", partial(_beside, config, paths, client_for, admin))


async def _beside(
    config: ClusterConfig, paths: ClusterPaths, client_for: ClientFor, admin: Client
) -> None:
    """What exists once on this machine: of several control planes, one does it."""
    fabric = client_for("muntin:fabric")
    dns_client = client_for(f"{_SERVICE_ACCOUNT}kube-system:coredns")
    metrics_client = client_for(f"{_SERVICE_ACCOUNT}kube-system:metrics-server")

    async def ensure() -> None:
        await cluster_dns.ensure_service(config, admin)
        await cluster_info.ensure(config, paths, admin)
        await local_storage.ensure(admin)

    async def answer_names() -> None:
        udp, tcp = cluster_dns.sockets(config)
        with udp, tcp:
            await dns.run(cluster_dns.config_of(config), dns_client, udp=udp, tcp=tcp)

    async with elections.only_one(config, paths), supervised.Group() as group:
        proxy_client = client_for("system:kube-proxy")
        group.start("proxy", partial(proxies.run_on_linux, config, "master", proxy_client))
        group.start("pod-routes", lambda: PodRoutes(config, fabric).run())
        publisher = Publisher(config, fabric, host_network.path())
        balancer = LoadBalancer(config, publisher.services, publisher.nodes)
        group.start("publisher", publisher.run)
        group.start("load-balancer", balancer.run)
        group.start("cluster-objects", ensure)
        group.start("dns", answer_names)
        metrics = partial(cluster_metrics.run, config, paths, admin, metrics_client)
        group.start("metrics-server", metrics)


def _clients(server: ApiServer, may_write: elections.MayWrite | None = None) -> ClientFor:
    """In-process clients by user name; with ``may_write``, for who may lose the lead."""

    def client_for(name: str) -> Client:
        agent = name
        if name.startswith(_SERVICE_ACCOUNT):
            namespace, _, agent = name.removeprefix(_SERVICE_ACCOUNT).partition(":")
            transport: Transport = server.service_account(namespace, agent)
        else:
            transport = server.user(name)
        if may_write is not None:
            transport = elections.Leading(transport, may_write)
        return Client(transport, user_agent=agent)

    return client_for


def _api_config(config: ClusterConfig, paths: ClusterPaths, seat: Seat) -> ApiServerConfig:
    net, pki = config.networking, paths.pki
    front = RequestHeaderConfig(
        client_ca=(pki / f"{certificate_names.FRONT_PROXY_CA}.crt").read_bytes(),
        allowed_names=(certificate_names.FRONT_PROXY_CLIENT,),
    )
    ca = (pki / f"{certificate_names.CA}.crt").read_bytes()
    return ApiServerConfig(
        kubernetes_version=git_version(config.kubernetes),
        service_account_key=(pki / f"{certificate_names.SERVICE_ACCOUNT}.key").read_bytes(),
        advertise_address=str(seat.address),
        several=config.control_planes > 1,
        port=API_PORT,
        service_cidr=str(net.service_subnet),
        issuer=f"https://kubernetes.default.svc.{net.dns_domain}",
        access=replace(config.access, client_ca=ca, request_header=front),
        admission=config.admission,
        runtime_config=config.runtime_config,
        advise=advice.adviser(config),
        kubelet_ca=ca,
        kubelet_client_certificate=(pki / f"{certificate_names.KUBELET_CLIENT}.crt").read_bytes(),
        kubelet_client_key=(pki / f"{certificate_names.KUBELET_CLIENT}.key").read_bytes(),
        proxy_client_certificate=(pki / f"{certificate_names.FRONT_PROXY_CLIENT}.crt").read_bytes(),
        proxy_client_key=(pki / f"{certificate_names.FRONT_PROXY_CLIENT}.key").read_bytes(),
    )


def _controllers_config(config: ClusterConfig, paths: ClusterPaths) -> ControllersConfig:
    return ControllersConfig(
        root_ca=(paths.pki / f"{certificate_names.CA}.crt").read_text(),
        service_account_key=(paths.pki / f"{certificate_names.SERVICE_ACCOUNT}.key").read_bytes(),
        signing_key=(paths.pki / f"{certificate_names.CA}.key").read_bytes(),
        secret_tokens=not is_in(ApiFeature.TOKENS_WITHOUT_SECRETS, config.kubernetes),
        cluster_cidr=config.networking.pod_subnet,
        node_mask=POD_PREFIX_LENGTH,
        features=features_of(config.kubernetes),
        load_balancer_pool=config.networking.load_balancer_subnet,
        autoscaling=config.autoscaling,
    )


def _scheduler_config(config: ClusterConfig) -> SchedulerConfig:
    base = SchedulerConfig(kubernetes=config.kubernetes)
    if not config.scheduler:
        return base
    from muntin.scheduler import configuration

    return configuration.read(config.scheduler, base)


def _listeners(paths: ClusterPaths, seat: Seat, shared: Sequence[socket.socket]) -> list[Listener]:
    pki = paths.pki
    context = server_context(
        certificate=str(pki / f"{certificate_names.API_SERVER}.crt"),
        key=str(pki / f"{certificate_names.API_SERVER}.key"),
        client_ca_pem="".join(
            (pki / f"{name}.crt").read_text()
            for name in (certificate_names.CA, certificate_names.FRONT_PROXY_CA)
        ),
    )
    own = socket.create_server((str(seat.address), API_PORT), backlog=1024)
    for sock in (own, *shared):
        sock.setblocking(False)
    return [Listener(sock, context) for sock in (own, *shared)]
