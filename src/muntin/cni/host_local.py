"""The host-local IPAM plugin: addresses of one node, remembered as files.

The directory's layout is upstream's: a file per address holding the container and interface,
``last_reserved_ip.<range>``, and ``lock``, so that either program can follow the other. IPv4.
Source: containernetworking/plugins v1.9.1 plugins/ipam/host-local.
"""

from __future__ import annotations

import fcntl
import os

from muntin.cni import addresses
from muntin.cni.plugin import INVALID_CONFIG, NOT_AVAILABLE, Orders, PluginError, main, result_in
from muntin.kit import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    Object = dict[str, Any]

DEFAULT_DIRECTORY = "/var/lib/cni/networks"
_LAST = "last_reserved_ip."


class Range:
    """Addresses ``first`` to ``last`` of one subnet, without its gateway."""

    def __init__(self, item: Object) -> None:
        try:
            address, self.length = addresses.parse_prefix(str(item.get("subnet", "")))
            base = address & addresses.mask(self.length)
            broadcast = base | ~addresses.mask(self.length) & 0xFFFFFFFF
            self.first = _within(item, "rangeStart", base + 1, base, broadcast)
            self.last = _within(item, "rangeEnd", broadcast - 1, base, broadcast)
            self.gateway = addresses.parse(item["gateway"]) if item.get("gateway") else base + 1
        except ValueError as err:
            raise PluginError(str(err), INVALID_CONFIG) from None
        if self.length > 30:
            text = f"network {item['subnet']} too small to allocate from"
            raise PluginError(text, INVALID_CONFIG)

    def __contains__(self, address: int) -> bool:
        return self.first <= address <= self.last

    def __str__(self) -> str:
        return f"{addresses.text(self.first)}-{addresses.text(self.last)}"


def _within(item: Object, key: str, default: int, base: int, broadcast: int) -> int:
    if not item.get(key):
        return default
    value = addresses.parse(item[key])
    if not base < value < broadcast:
        raise ValueError(f"{key} {item[key]} not in network {item['subnet']}")
    return value


class Store:
    """The directory of one network, locked while it is open."""

    def __init__(self, directory: str) -> None:
        os.makedirs(directory, mode=0o755, exist_ok=True)  # noqa: PTH103 - see delegate.py
        self._directory = directory
        self._lock = os.open(f"{directory}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        os.close(self._lock)

    def reserve(self, address: int, owner: str, range_index: int) -> bool:
        """Take ``address`` unless it is taken."""
        path = f"{self._directory}/{addresses.text(address)}"
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return False
        os.write(file, owner.encode())
        os.close(file)
        self._write(f"{_LAST}{range_index}", addresses.text(address))
        return True

    def owned(self, owner: str) -> list[str]:
        """The addresses of one container's interface."""
        # Files of old releases hold the container alone.
        container = owner.partition("\r\n")[0]
        names = [name for name in os.listdir(self._directory) if numbers.is_digits(name[:1])]  # noqa: PTH208
        return sorted(name for name in names if self._read(name).strip() in (owner, container))

    def release(self, owner: str) -> None:
        for name in self.owned(owner):
            os.unlink(f"{self._directory}/{name}")  # noqa: PTH108

    def last_reserved(self, range_index: int) -> int | None:
        try:
            return addresses.parse(self._read(f"{_LAST}{range_index}").strip())
        except (OSError, ValueError):
            return None

    def _read(self, name: str) -> str:
        with open(f"{self._directory}/{name}", newline="") as file:  # noqa: PTH123
            return file.read()

    def _write(self, name: str, text: str) -> None:
        path = f"{self._directory}/{name}"
        with open(path + ".part", "w") as file:  # noqa: PTH123
            file.write(text)
        os.replace(path + ".part", path)  # noqa: PTH105


def range_sets(conf: Object) -> list[list[Range]]:
    """One address is allotted from each set: the runtime's, the old single one, and the list."""
    ipam = conf.get("ipam") or {}
    sets = list((conf.get("runtimeConfig") or {}).get("ipRanges") or ())
    if ipam.get("subnet"):
        sets.append([ipam])
    sets += ipam.get("ranges") or ()
    if not sets:
        raise PluginError("no IP ranges specified", INVALID_CONFIG)
    return [[Range(item) for item in ranges] for ranges in sets]


def allot(store: Store, ranges: list[Range], index: int, owner: str, wanted: int | None) -> Object:
    """The next free address of a set, or exactly ``wanted``."""
    names = ",".join(map(str, ranges))
    mine = [name for name in store.owned(owner) if any(addresses.parse(name) in r for r in ranges)]
    if mine:
        container = owner.partition("\r\n")[0]
        text = f"{mine[0]} has been allocated to {container}, duplicate allocation is not allowed"
        raise PluginError(text)
    if wanted is not None:
        return _allot_wanted(store, ranges, index, owner, wanted, names)
    for item, address in _candidates(ranges, store.last_reserved(index)):
        if address != item.gateway and store.reserve(address, owner, index):
            return _answer(item, address)
    raise PluginError(f"no IP addresses available in range set: {names}")


def _allot_wanted(
    store: Store, ranges: list[Range], index: int, owner: str, wanted: int, names: str
) -> Object:
    item = next(item for item in ranges if wanted in item)
    if wanted == item.gateway:
        raise PluginError(f"requested ip {addresses.text(wanted)} is subnet's gateway")
    if not store.reserve(wanted, owner, index):
        text = (
            f"requested IP address {addresses.text(wanted)} is not available in range set {names}"
        )
        raise PluginError(text)
    return _answer(item, wanted)


def _candidates(ranges: list[Range], last: int | None) -> Iterator[tuple[Range, int]]:
    """Every address of a set, beginning after the one reserved last."""
    at = next((at for at, item in enumerate(ranges) if last is not None and last in item), None)
    if at is None or last is None:
        for item in ranges:
            yield from _span(item, item.first, item.last)
        return
    yield from _span(ranges[at], last + 1, ranges[at].last)
    for item in ranges[at + 1 :] + ranges[:at]:
        yield from _span(item, item.first, item.last)
    yield from _span(ranges[at], ranges[at].first, last)


def _span(item: Range, first: int, last: int) -> Iterator[tuple[Range, int]]:
    for address in range(first, last + 1):
        yield item, address


def _answer(item: Range, address: int) -> Object:
    text = f"{addresses.text(address)}/{item.length}"
    return {"address": text, "gateway": addresses.text(item.gateway)}


def requested(orders: Orders) -> list[int]:
    """Addresses that the runtime or CNI_ARGS ask for."""
    args = (orders.conf.get("args") or {}).get("cni") or {}
    runtime = orders.conf.get("runtimeConfig") or {}
    wanted = [*(args.get("ips") or ()), *(runtime.get("ips") or ())]
    single = orders.args().get("IP")
    try:
        return [
            addresses.parse(str(item).partition("/")[0])
            for item in [*wanted, *([single] if single else [])]
        ]
    except ValueError as err:
        raise PluginError(str(err), INVALID_CONFIG) from None


def add(orders: Orders) -> Object:
    sets, wanted = range_sets(orders.conf), requested(orders)
    ipam = orders.conf.get("ipam") or {}
    owner = _owner(orders)
    store = _open(orders)
    try:
        ips = []
        for index, ranges in enumerate(sets):
            own = next((ip for ip in wanted if any(ip in item for item in ranges)), None)
            if own is not None:
                wanted.remove(own)
            ips.append(allot(store, ranges, index, owner, own))
        if wanted:
            text = ", ".join(map(addresses.text, wanted))
            raise PluginError(f"requested IP {text} is not in any range")
    except PluginError:
        store.release(owner)
        raise
    finally:
        store.close()
    result: Object = {"ips": ips}
    if ipam.get("routes"):
        result["routes"] = ipam["routes"]
    return result_in(orders.version, result)


def delete(orders: Orders) -> None:
    store = _open(orders)
    try:
        store.release(_owner(orders))
    finally:
        store.close()


def check(orders: Orders) -> None:
    store = _open(orders)
    try:
        if not store.owned(_owner(orders)):
            raise PluginError(
                f"host-local: Failed to find address added by container {orders.container_id}"
            )
    finally:
        store.close()


def status(orders: Orders) -> None:
    try:
        range_sets(orders.conf)
    except PluginError as err:
        raise PluginError(err.message, NOT_AVAILABLE) from None


def _owner(orders: Orders) -> str:
    return f"{orders.container_id}\r\n{orders.ifname}"


def _open(orders: Orders) -> Store:
    ipam = orders.conf.get("ipam") or {}
    return Store(f"{ipam.get('dataDir') or DEFAULT_DIRECTORY}/{orders.conf['name']}")


def run() -> NoReturn:
    """The program."""
    main({"ADD": add, "DEL": delete, "CHECK": check, "STATUS": status})
