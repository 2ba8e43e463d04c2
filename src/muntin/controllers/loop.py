"""All controllers in one process: shared caches, one queue each, every one as its own identity."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from muntin.controllers.access import (
    BootstrapSigner,
    ClusterRoleAggregation,
    ServiceAccountTokens,
    TokenCleaner,
)
from muntin.controllers.attach_detach import AttachDetach
from muntin.controllers.autoscaling import HorizontalPodAutoscalers
from muntin.controllers.caches import Caches
from muntin.controllers.catalog import Catalog
from muntin.controllers.certificates import (
    CertificateApprover,
    CertificateCleaner,
    CertificateSigner,
)
from muntin.controllers.config import ControllersConfig
from muntin.controllers.controller import Controller, ControllerLoop, service_account
from muntin.controllers.disruption import ContestedPods, Disruption, StaleDisruptions
from muntin.controllers.endpoint_mirroring import EndpointSliceMirroring
from muntin.controllers.garbage import GarbageCollector, PodGarbageCollector
from muntin.controllers.jobs import CronJobs, FinishedJobs, JobOrphans, Jobs
from muntin.controllers.load_balancers import LoadBalancers
from muntin.controllers.local_volumes import Directories, LocalVolumes
from muntin.controllers.namespaces import Namespaces, RootCaPublisher, ServiceAccounts
from muntin.controllers.nodes import NodeIpam, NodeLifecycle, TaintEviction
from muntin.controllers.perform import Performer
from muntin.controllers.quotas import ResourceQuotas
from muntin.controllers.rules.certificate_signing import Authority
from muntin.controllers.service_cidrs import ServiceCidrs
from muntin.controllers.services import Endpoints, EndpointSlices
from muntin.controllers.volume_binding import EphemeralVolumes, VolumeBinder, VolumeExpander
from muntin.controllers.volumes import (
    AttributesClassProtection,
    ClaimProtection,
    VolumeProtection,
)
from muntin.controllers.workloads import (
    DaemonSets,
    Deployments,
    ReplicaSets,
    ReplicationControllers,
    StatefulSets,
)
from muntin.kit import supervised
from muntin.kit.clock import Clock, SystemClock
from muntin.model.features import ApiFeature
from muntin.seams.kube.client import Client
from muntin.seams.kube.events import EventRecorder

log = logging.getLogger(__name__)

INFORMER_USER = "system:kube-controller-manager"
"""Who reads for all; every write is made as the controller's own ServiceAccount."""

ClientFor = Callable[[str], Client]
"""From a user name, as RBAC knows it, to a client that acts as that user."""


async def run(
    config: ControllersConfig,
    client_for: ClientFor,
    *,
    clock: Clock | None = None,
    directories: Directories | None = None,
) -> None:
    """Run every controller until cancelled.

    ``client_for`` is asked for ``system:kube-controller-manager`` and for the ServiceAccounts
    ``system:serviceaccount:kube-system:<name>`` of the controllers. With ``directories`` of the
    nodes, volumes are provisioned in them.
    """
    clock = clock or SystemClock()
    reader = client_for(INFORMER_USER)
    caches = Caches(reader, clock)
    catalog = Catalog(reader, clock, config.discovery_interval_s)
    clients: dict[str, Client] = {}

    def client(account: str) -> Client:
        if account not in clients:
            is_user = account.startswith("system:")
            clients[account] = client_for(account if is_user else service_account(account))
        return clients[account]

    collector = GarbageCollector(caches, catalog, client(GarbageCollector.account), clock)
    controllers = _controllers(config, caches, catalog, client, clock, directories)
    async with supervised.Group() as group:
        group.start("controllers-caches", caches.run)
        for controller in controllers:
            loop, recorder = _loop(controller, caches, client(controller.account), clock)
            if isinstance(controller, ResourceQuotas):
                controller.queue = loop.queue
            group.start("events", recorder.run)
            workers = 1 if isinstance(controller, NodeIpam | LoadBalancers) else 2
            group.start(controller.name, partial(loop.run, workers=workers))
        loop, recorder = _loop(collector, caches, client(collector.account), clock)
        group.start("events", recorder.run)
        discover = partial(collector.watch, loop.queue, config.discovery_interval_s)
        group.start("garbage-collector-discovery", discover)
        group.start(collector.name, partial(_collect, collector, loop))
        log.info("controllers started")


def _controllers(
    config: ControllersConfig,
    caches: Caches,
    catalog: Catalog,
    client: Callable[[str], Client],
    clock: Clock,
    directories: Directories | None,
) -> list[Controller]:
    """All but the garbage collector; ``client`` gives each its own."""
    controllers: list[Controller] = [
        Deployments(caches),
        ReplicaSets(caches, config.features),
        ReplicationControllers(caches),
        StatefulSets(caches, config.features),
        DaemonSets(caches, config.features),
        Jobs(caches, config.features),
        JobOrphans(caches),
        CronJobs(caches, config.features),
        FinishedJobs(caches),
        EndpointSlices(caches),
        Endpoints(caches),
        EndpointSliceMirroring(caches),
        ServiceAccounts(caches),
        RootCaPublisher(caches, config.root_ca),
        Namespaces(
            caches,
            catalog,
            client(Namespaces.account),
            pods_first=ApiFeature.NAMESPACED_PODS_FIRST in config.features,
        ),
        NodeLifecycle(caches, config, clock),
        TaintEviction(caches),
        PodGarbageCollector(caches),
        Disruption(caches, catalog, client(Disruption.account)),
        ContestedPods(caches),
        StaleDisruptions(caches),
        ResourceQuotas(caches, catalog, clock),
        ClaimProtection(caches),
        VolumeProtection(caches),
        VolumeBinder(caches, client(VolumeBinder.account)),
        VolumeExpander(caches),
        EphemeralVolumes(caches),
        AttachDetach(caches, clock),
        ClusterRoleAggregation(caches),
        TokenCleaner(caches),
        BootstrapSigner(caches),
        CertificateApprover(caches, client(CertificateApprover.account)),
        CertificateCleaner(caches),
    ]
    if config.signing_key:
        authority = Authority(config.root_ca.encode(), config.signing_key)
        controllers.append(CertificateSigner(caches, authority))
    if config.cluster_cidr is not None:
        controllers.append(NodeIpam(caches, config.cluster_cidr, config.node_mask))
    if config.service_account_key:
        tokens = client(ServiceAccountTokens.account)
        controllers.append(ServiceAccountTokens(caches, config, tokens))
    if ApiFeature.VOLUME_ATTRIBUTES in config.features:
        controllers.append(AttributesClassProtection(caches))
    if ApiFeature.SERVICE_CIDRS in config.features:
        controllers.append(ServiceCidrs(caches))
    if directories is not None:
        recovers = ApiFeature.EXPANSION_RECOVERY in config.features
        controllers.append(LocalVolumes(caches, directories, clock, recovers=recovers))
    if config.load_balancer_pool is not None:
        controllers.append(LoadBalancers(caches, config.load_balancer_pool))
    autoscaler = client(HorizontalPodAutoscalers.account)
    controllers.append(
        HorizontalPodAutoscalers(
            caches, catalog, autoscaler, clock, config.autoscaling, config.features
        )
    )
    return controllers


def _loop(
    controller: Controller, caches: Caches, client: Client, clock: Clock
) -> tuple[ControllerLoop, EventRecorder]:
    recorder = EventRecorder(client, controller.name, clock=clock)
    performer = Performer(client, caches, recorder)
    return ControllerLoop(controller, caches, performer, clock), recorder


async def _collect(collector: GarbageCollector, loop: ControllerLoop) -> None:
    await collector.synced()
    await loop.run(workers=4)
