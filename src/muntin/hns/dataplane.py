"""What the emulator asks of the machine: plain typed orders, carried out by ``kernel.py``.

:class:`PaperDataplane` only writes the orders down; it is the fake, and needs no privileges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkOrder:
    """A virtual switch. A NAT network's gateway lives on the host, and all it sends is masked."""

    id: str
    is_nat: bool
    subnets: tuple[IPv4Network, ...]
    gateways: tuple[IPv4Address, ...]
    mac: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AclRule:
    """One ACL: empty ``protocols``, addresses or ports mean any. A lower priority wins."""

    allow: bool
    inbound: bool
    priority: int
    protocols: tuple[int, ...] = ()
    local_addresses: tuple[IPv4Network, ...] = ()
    remote_addresses: tuple[IPv4Network, ...] = ()
    local_ports: tuple[tuple[int, int], ...] = ()
    remote_ports: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PortMapping:
    """A port of the host that leads to the endpoint; ``vip`` None means all host addresses."""

    protocol: int
    external_port: int
    internal_port: int
    vip: IPv4Address | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointRules:
    """What an endpoint's policies ask of the packets that it sends and gets."""

    outbound_nat: bool = False
    exceptions: tuple[IPv4Network, ...] = ()
    destinations: tuple[IPv4Network, ...] = ()
    encap: tuple[IPv4Network, ...] = ()
    port_mappings: tuple[PortMapping, ...] = ()
    acls: tuple[AclRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOrder:
    """A local endpoint; ``routes`` are (destination, next hop)."""

    id: str
    network_id: str
    mac: str
    address: IPv4Interface
    routes: tuple[tuple[IPv4Network, IPv4Address], ...]
    rules: EndpointRules = field(default_factory=EndpointRules)


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancerOrder:
    """One front end: ``vip`` None means every address of the node.

    ``source_vip`` None keeps the client's address (direct server return). ``affinity`` keeps a
    client address on one backend.
    """

    vip: IPv4Address | None
    protocol: int
    external_port: int
    backends: tuple[tuple[IPv4Address, int], ...]
    source_vip: IPv4Address | None = None
    affinity: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All that should be there, for a start on a machine of unknown state.

    ``attachments`` are (endpoint id, namespace id), with "" for an attachment to the host.
    """

    networks: Sequence[NetworkOrder]
    endpoints: Sequence[EndpointOrder]
    namespaces: Sequence[str]
    attachments: Sequence[tuple[str, str]]
    balancers: Sequence[BalancerOrder]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """An endpoint's counters, as the endpoint sees them."""

    bytes_received: int = 0
    bytes_sent: int = 0
    packets_received: int = 0
    packets_sent: int = 0
    dropped_incoming: int = 0
    dropped_outgoing: int = 0


class Dataplane(Protocol):
    """Orders are carried out when the call returns; they raise OSError where the kernel refuses."""

    def reconcile(self, wanted: Snapshot) -> None:
        """Make the machine hold exactly ``wanted``, keeping what is right already."""

    def management_address(self) -> IPv4Interface | None:
        """The uplink's address."""

    def add_network(self, network: NetworkOrder) -> None: ...

    def remove_network(self, network: NetworkOrder) -> None: ...

    def add_namespace(self, namespace_id: str) -> None: ...

    def remove_namespace(self, namespace_id: str) -> None: ...

    def add_endpoint(self, endpoint: EndpointOrder) -> None:
        """Let the endpoint's rules hold; it has no port yet."""

    def change_endpoint(self, old: EndpointOrder, new: EndpointOrder) -> None: ...

    def remove_endpoint(self, endpoint: EndpointOrder) -> None: ...

    def attach(self, endpoint: EndpointOrder, namespace_id: str) -> None:
        """Give the endpoint a port and its interface in a namespace, or ("") in the host."""

    def detach(self, endpoint: EndpointOrder, namespace_id: str) -> None: ...

    def change_balancers(
        self, removed: Sequence[BalancerOrder], added: Sequence[BalancerOrder]
    ) -> None:
        """Take ``removed`` away and put ``added`` in their place, in one step."""

    def traffic(self, endpoint_id: str) -> Traffic: ...


class PaperDataplane:
    """The fake: remembers attachments and front ends, changes nothing."""

    def __init__(self, address: str = "172.31.0.12/24") -> None:
        self.address = IPv4Interface(address)
        self.balancers: set[BalancerOrder] = set()
        self.attached: dict[str, str] = {}
        self.namespaces: set[str] = set()

    def reconcile(self, wanted: Snapshot) -> None:
        self.balancers = set(wanted.balancers)
        self.attached = dict(wanted.attachments)
        self.namespaces = set(wanted.namespaces)

    def management_address(self) -> IPv4Interface | None:
        return self.address

    def add_network(self, network: NetworkOrder) -> None:
        pass

    def remove_network(self, network: NetworkOrder) -> None:
        pass

    def add_namespace(self, namespace_id: str) -> None:
        self.namespaces.add(namespace_id)

    def remove_namespace(self, namespace_id: str) -> None:
        self.namespaces.remove(namespace_id)

    def add_endpoint(self, endpoint: EndpointOrder) -> None:
        pass

    def change_endpoint(self, old: EndpointOrder, new: EndpointOrder) -> None:
        pass

    def remove_endpoint(self, endpoint: EndpointOrder) -> None:
        pass

    def attach(self, endpoint: EndpointOrder, namespace_id: str) -> None:
        self.attached[endpoint.id] = namespace_id

    def detach(self, endpoint: EndpointOrder, namespace_id: str) -> None:
        del self.attached[endpoint.id]

    def change_balancers(
        self, removed: Sequence[BalancerOrder], added: Sequence[BalancerOrder]
    ) -> None:
        assert set(removed) <= self.balancers
        self.balancers = self.balancers.difference(removed).union(added)

    def traffic(self, endpoint_id: str) -> Traffic:
        return Traffic()
