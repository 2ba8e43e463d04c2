"""Indexes of what is taken: ports by load balancers and mappings, addresses by endpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from muntin.seams.hns.errors import failure

Port = tuple[IPv4Address | None, int, int]
"""(virtual address or None for all of the host's, protocol, external port)."""


@dataclass(slots=True)
class Directory:
    """Rebuilt from the store at start. Owners and networks are ids in upper case."""

    _ports: dict[Port, str] = field(default_factory=dict)
    _ports_of: dict[str, list[Port]] = field(default_factory=dict)
    _macs: dict[tuple[str, str], str] = field(default_factory=dict)
    _local: dict[tuple[str, IPv4Address], str] = field(default_factory=dict)
    _members: dict[str, dict[str, None]] = field(default_factory=dict)

    def claim_ports(self, owner: str, ports: Iterable[Port]) -> None:
        """Let ``owner`` have exactly ``ports``, or change nothing.

        Raises:
            HnsAlreadyExists: another owner has one, or one is named twice.
        """
        wanted = list(ports)
        if len(set(wanted)) != len(wanted):
            raise failure("PORT_ALREADY_EXISTS")
        if any(self._ports.get(port, owner) != owner for port in wanted):
            raise failure("PORT_ALREADY_EXISTS")
        self.release_ports(owner)
        if wanted:
            self._ports_of[owner] = wanted
            self._ports.update(dict.fromkeys(wanted, owner))

    def release_ports(self, owner: str) -> None:
        for port in self._ports_of.pop(owner, ()):
            del self._ports[port]

    def enter(self, network: str, endpoint: str, mac: str, local: IPv4Address | None) -> None:
        """Note an endpoint; ``local`` is its address unless it is a remote one."""
        self._members.setdefault(network, {})[endpoint] = None
        self._macs[network, mac] = endpoint
        if local is not None:
            self._local[network, local] = endpoint

    def leave(self, network: str, endpoint: str, mac: str, local: IPv4Address | None) -> None:
        self._members.get(network, {}).pop(endpoint, None)
        self._macs.pop((network, mac), None)
        if local is not None:
            self._local.pop((network, local), None)

    def members(self, network: str) -> Sequence[str]:
        """The endpoints of ``network`` in the order of creation."""
        return list(self._members.get(network, {}))

    def has_mac(self, network: str, mac: str) -> bool:
        return (network, mac) in self._macs

    def has_local(self, network: str, address: IPv4Address) -> bool:
        return (network, address) in self._local
