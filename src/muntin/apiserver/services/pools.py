"""Pools of addresses and ports: each member has at most one owner.

New ones come from the upper part; the lower part is left to those who choose for themselves.
Source: kubernetes v1.34 pkg/registry/core/service/{ipallocator,portallocator}.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, ip_address, ip_network

from muntin.kit import errors

TRIES = 16  # random draws before the pool is searched from its start


class Taken(errors.Conflict):
    """It belongs to another Service."""


class OutOfRange(errors.Invalid):
    """It is not in the pool."""


class Pool:
    """Integers ``first`` to ``last``, drawn from ``dynamic`` on."""

    def __init__(
        self, first: int, last: int, dynamic: int, owners: dict[int, str] | None = None
    ) -> None:
        """``owners`` may be shared with pools of the same numbers."""
        self._first, self._last, self._dynamic = first, last, dynamic
        self._owners: dict[int, str] = {} if owners is None else owners

    def _hold(self, number: int, owner: str) -> None:
        if not self._first <= number <= self._last:
            raise OutOfRange("it is not in the range")
        if self._owners.get(number, owner) != owner:
            raise Taken("it is already allocated")
        self._owners[number] = owner

    def _give(self, number: int, owner: str) -> None:
        if self._first <= number <= self._last:
            self._owners[number] = owner

    def _release(self, number: int, owner: str) -> None:
        if self._owners.get(number) == owner:
            del self._owners[number]

    def _draw(self, owner: str) -> int:
        for _ in range(TRIES if self._dynamic <= self._last else 0):
            number: int = random.randint(self._dynamic, self._last)
            if number not in self._owners:
                self._owners[number] = owner
                return number
        for number in (*range(self._dynamic, self._last + 1), *range(self._first, self._dynamic)):
            if number not in self._owners:
                self._owners[number] = owner
                return number
        raise errors.Exhausted("the range is full")

    @property
    def taken(self) -> int:
        """How many are taken."""
        return len(self._owners)


class PortPool(Pool):
    """Node ports. The same number for TCP and UDP of one Service is one port of that owner."""

    def __init__(self, first: int, last: int) -> None:
        size = last - first + 1
        offset = 0 if size < 16 * 2 else min(max(16, size // 32), 128)
        super().__init__(first, last, first + offset)
        self.text = f"{first}-{last}"

    def hold(self, port: int, owner: str) -> None:
        """Give ``port`` to ``owner``, who may have it already.

        Raises:
            Taken, OutOfRange: it cannot be had.
        """
        self._hold(port, owner)

    def give(self, port: int, owner: str) -> None:
        """Say that ``port`` is ``owner``'s, whoever had it: the store has the last word."""
        self._give(port, owner)

    def release(self, port: int, owner: str) -> None:
        """Take ``port`` back if it is ``owner``'s."""
        self._release(port, owner)

    def draw(self, owner: str) -> int:
        """Any free port."""
        return self._draw(owner)


class AddressPool(Pool):
    """Cluster addresses of one range, without its first and last one."""

    def __init__(self, cidr: str, owners: dict[int, str] | None = None) -> None:
        network = ip_network(cidr, strict=False)
        assert isinstance(network, IPv4Network)
        size = network.num_addresses
        offset = 0 if size < 16 * 2 else min(max(16, size // 16), 256)
        base = int(network.network_address)
        super().__init__(base + 1, base + size - 2, base + 1 + offset, owners)
        self.text = str(network)

    def hold(self, address: str, owner: str) -> None:
        """Give ``address`` to ``owner``, who may have it already.

        Raises:
            Taken, OutOfRange: it cannot be had.
        """
        parsed = ip_address(address)
        if not isinstance(parsed, IPv4Address):
            raise OutOfRange("it is not in the range")
        self._hold(int(parsed), owner)

    def draw(self, owner: str) -> str:
        """Any free address."""
        return str(IPv4Address(self._draw(owner)))


class AddressPools:
    """Cluster addresses from several ranges, which may overlap: an address has a single owner.

    Source: kubernetes v1.34 pkg/registry/core/service/ipallocator/cidrallocator.go.
    """

    def __init__(self, ranges: Iterable[str]) -> None:
        self._owners: dict[int, str] = {}
        self._pools: dict[str, AddressPool] = {}
        self.offer(ranges)

    def offer(self, ranges: Iterable[str]) -> None:
        """Allocate from these IPv4 ranges from now on; other addresses keep their owners."""
        wanted = [text for text in dict.fromkeys(ranges) if ":" not in text]
        self._pools = {
            text: self._pools.get(text) or AddressPool(text, self._owners) for text in wanted
        }

    def hold(self, address: str, owner: str) -> None:
        """Give ``address`` to ``owner``, who may have it already.

        Raises:
            Taken, OutOfRange: it cannot be had.
        """
        for pool in self._pools.values():
            try:
                return pool.hold(address, owner)
            except OutOfRange:
                continue
        raise OutOfRange("it is not in any range")

    def give(self, address: str, owner: str) -> None:
        """Make ``owner`` the owner of ``address``, regardless of its previous owner and range."""
        parsed = ip_address(address)
        if isinstance(parsed, IPv4Address):
            self._owners[int(parsed)] = owner

    def release(self, address: str, owner: str) -> None:
        """Take ``address`` back if it is ``owner``'s."""
        number = int(ip_address(address))
        if self._owners.get(number) == owner:
            del self._owners[number]

    def draw(self, owner: str) -> str:
        """Any free address.

        Raises:
            Exhausted: every range is full, or there is none.
        """
        for pool in self._pools.values():
            try:
                return pool.draw(owner)
            except errors.Exhausted:
                continue
        raise errors.Exhausted("range is full")

    @property
    def taken(self) -> int:
        """How many are taken."""
        return len(self._owners)
