"""The machine itself as a ``Dataplane``: links and namespaces, and the packet rules above them."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Interface

from muntin.hns.config import HnsConfig
from muntin.hns.dataplane import BalancerOrder, EndpointOrder, NetworkOrder, Snapshot, Traffic
from muntin.hns.links import Links
from muntin.hns.vfp import Vfp


class KernelDataplane:
    """Carries orders out in one node's network namespace."""

    def __init__(self, config: HnsConfig) -> None:
        self._links = Links(
            config.netns,
            uplink=config.uplink,
            netns_prefix=config.netns_prefix,
            switching=config.switching,
        )
        self._vfp = Vfp(config.netns, uplink=config.uplink, profile=config.profile)
        self._address: IPv4Interface | None = None

    def close(self) -> None:
        self._links.close()
        self._vfp.close()

    def reconcile(self, wanted: Snapshot) -> None:
        self._links.prepare()
        address = self.management_address()
        self._vfp.load(
            address.ip if address else None, wanted.networks, wanted.endpoints, wanted.balancers
        )
        self._links.reconcile(wanted)

    def management_address(self) -> IPv4Interface | None:
        if self._address is None:
            self._address = self._links.uplink_address()
        return self._address

    def add_network(self, network: NetworkOrder) -> None:
        self._links.add_network(network)
        self._vfp.add_network(network)

    def remove_network(self, network: NetworkOrder) -> None:
        self._vfp.remove_network(network)
        self._links.remove_network(network)

    def add_namespace(self, namespace_id: str) -> None:
        self._links.add_namespace(namespace_id)

    def remove_namespace(self, namespace_id: str) -> None:
        self._links.remove_namespace(namespace_id)

    def add_endpoint(self, endpoint: EndpointOrder) -> None:
        self._vfp.change_endpoint(None, endpoint)

    def change_endpoint(self, old: EndpointOrder, new: EndpointOrder) -> None:
        self._vfp.change_endpoint(old, new)

    def remove_endpoint(self, endpoint: EndpointOrder) -> None:
        self._vfp.change_endpoint(endpoint, None)

    def attach(self, endpoint: EndpointOrder, namespace_id: str) -> None:
        self._links.attach(endpoint, namespace_id)

    def detach(self, endpoint: EndpointOrder, namespace_id: str) -> None:
        self._links.detach(endpoint, namespace_id)

    def change_balancers(
        self, removed: Sequence[BalancerOrder], added: Sequence[BalancerOrder]
    ) -> None:
        self._vfp.change_balancers(removed, added)

    def traffic(self, endpoint_id: str) -> Traffic:
        return self._links.traffic(endpoint_id)
