"""What a cluster consists of, in the order it is made and started: the composition root.

Called by the supervisor. Slow things start first and alone; what Python needs is imported here,
once, and shared by the processes that are forked afterwards.
"""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

from muntin.cluster import adoption, config_store, egress, fabric, seats, watchdog
from muntin.cluster.adoption import Survivors
from muntin.cluster.config import ClusterConfig, Os
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import Component, ProcessTable, Survivor
from muntin.cluster.store_config import StoreKind
from muntin.kit.errors import AlreadyExists, Internal

Step = Callable[[str], AbstractContextManager[None]]


def launch(config: ClusterConfig, paths: ClusterPaths, table: ProcessTable, step: Step) -> None:
    """Make the network and start all processes of ``config``.

    Raises:
        MuntinError, OSError: something could not be made; the caller cleans up.
    """
    paths.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    config_store.save(paths.config, config)
    listener = host_listener(config.networking.api_server_port)
    with step("network"):
        fabric.create(config)
        front = seats.prepare(config)
        egress.prepare(config)
        if config.networking.egress:
            table.start(egress.component(paths))
    with step("runtimes"):
        for component in _containerds(config, paths):
            table.start(component)
    with step("certificates"):
        _in_child(lambda: _make_certificates(config, paths))
    if config.store.kind is StoreKind.ETCD:
        from muntin.cluster import etcd_member

        table.start(etcd_member.component(config, paths))
    with step("control plane"):
        for plane in _planes(config, paths, [listener, front] if front else [listener]):
            table.start(plane)
    with step("nodes"):
        for component in _nodes(config, paths):
            table.start(component)
    table.start(watchdog.component(config, paths))


def adopt(
    config: ClusterConfig, paths: ClusterPaths, table: ProcessTable, survivors: Survivors
) -> None:
    """Adopt the processes that another supervisor left, and restart those that have ended.

    Raises:
        MuntinError, OSError: something could not be made.
    """
    components = []
    if config.networking.egress:
        components.append(egress.component(paths))
    components += _containerds(config, paths)
    if config.store.kind is StoreKind.ETCD:
        from muntin.cluster import etcd_member

        components.append(etcd_member.component(config, paths))
    components += _planes(config, paths, _kept_listeners(config, survivors))
    components += _nodes(config, paths)
    for component in components:
        table.adopt(component, survivors.get(component.name, Survivor(0, 0)))
    table.start(watchdog.component(config, paths))


def _kept_listeners(config: ClusterConfig, survivors: Survivors) -> list[socket.socket]:
    """The sockets of the control planes that run, or new ones when none does."""
    if kept := adoption.listeners(survivors):
        return kept
    listener = host_listener(config.networking.api_server_port)
    front = seats.front_listener(config)
    return [listener, front] if front else [listener]


def _planes(
    config: ClusterConfig, paths: ClusterPaths, listeners: Sequence[socket.socket]
) -> list[Component]:
    from muntin.cluster import control_plane

    return [
        Component(
            name=seat.name,
            main=partial(control_plane.main, config, seat, listeners),
            namespace=paths.netns("master"),
            inherit=tuple(sock.fileno() for sock in listeners),
        )
        for seat in seats.seats(config)
    ]


def _nodes(config: ClusterConfig, paths: ClusterPaths) -> list[Component]:
    """The components of the nodes, with what they need imported."""
    from muntin.cluster import node

    node.preload(config)
    gc.collect()
    gc.freeze()
    made = []
    if config.simulated_nodes:
        from muntin.cluster import simulated_nodes

        made.append(simulated_nodes.component(config, paths))
    for row in config.nodes:
        main = partial(node.main, config, row)
        made.append(Component(name=row.name, main=main, namespace=paths.netns(row.name)))
    return made


def stop_order(names: Sequence[str]) -> list[list[str]]:
    """Groups of components to stop one after another: the watchdog, nodes, the control plane,
    helpers."""
    helpers = [
        name for name in names if name in ("egress", "etcd") or name.startswith("containerd-")
    ]
    planes = [name for name in names if seats.is_seat(name)]
    others = (adoption.WATCHDOG, *helpers, *planes)
    nodes = [name for name in names if name not in others]
    return [[adoption.WATCHDOG], nodes, planes, helpers]


def host_listener(port: int) -> socket.socket:
    """The API server's socket on the host's loopback; it outlives restarts of the server.

    Raises:
        AlreadyExists: the port is taken.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as err:
        listener.close()
        raise AlreadyExists(
            f"127.0.0.1:{port} is taken by another program\n"
            "stop it, or choose another port with --api-server-port"
        ) from err
    listener.listen(1024)
    return listener


def _containerds(config: ClusterConfig, paths: ClusterPaths) -> list[Component]:
    from muntin.cluster import linux_containerd

    return [
        linux_containerd.component(paths, row.name, config.registry_config_dir)
        for row in config.nodes
        if row.os is Os.LINUX
    ]


def _make_certificates(config: ClusterConfig, paths: ClusterPaths) -> None:
    from muntin.cluster import certificates

    certificates.ensure(config, paths.pki)


def _in_child(action: Callable[[], None]) -> None:
    """Run ``action`` in a fork, so that what it imports is gone afterwards."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise Internal("certificates could not be made\nsee the supervisor's log: muntin logs")
