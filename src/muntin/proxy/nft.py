"""The Linux data plane: nftables, with front ends as map elements and chains shared by all.

A change of one Service is a handful of elements in one netlink batch, whatever the number of
Services. Unlike on Windows the rules also hook ``output``, so the node itself reaches services.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address
from typing import Any

from muntin.kit import conntrack, nft
from muntin.proxy.config import NftConfig
from muntin.proxy.dataplane import Change
from muntin.proxy.plan import Backend, Frontend, FrontendKey, FrontendKind

TABLE = "muntin-proxy"
_UDP = 17
_MASQUERADE = 0x4000
_SLOT_SHIFT = 16
_Elements = dict[tuple[str, bytes], nft.Element]


def _skeleton(config: NftConfig) -> str:
    """Maps per scope: front ends that all clients meet, and those of the cluster's own clients.

    The backends are looked up by one rule for all: the kernel goes through all of a map for each
    new rule that names it, which takes milliseconds once there are thousands of Services.
    """
    maps = "".join(
        f"""
 map {scope}vip {{ type ipv4_addr . inet_proto . inet_service : verdict; }}
 map {scope}port {{ type inet_proto . inet_service : verdict; }}
 map {scope}vip_backend {{
  type ipv4_addr . inet_proto . inet_service . mark : ipv4_addr . inet_service
 }}
 map {scope}port_backend {{ type inet_proto . inet_service . mark : ipv4_addr . inet_service; }}
 chain {scope}vip_send {{
  dnat ip to ip daddr . meta l4proto . th dport . meta mark map @{scope}vip_backend
 }}
 chain {scope}port_send {{
  dnat ip to meta l4proto . th dport . meta mark map @{scope}port_backend
 }}
 chain {scope}balance {{
  ip daddr . meta l4proto . th dport vmap @{scope}vip
  fib daddr type local ip daddr != 127.0.0.0/8 meta l4proto . th dport vmap @{scope}port
 }}"""
        for scope in ("", "inside_")
    )
    unserved = """
  ip daddr . meta l4proto . th dport @unserved_vip reject
  fib daddr type local meta l4proto . th dport @unserved_port reject"""
    return f"""
table ip {TABLE} {{{maps}
 set unserved_vip {{ type ipv4_addr . inet_proto . inet_service; }}
 set unserved_port {{ type inet_proto . inet_service; }}
 set guarded {{ type ipv4_addr . inet_proto . inet_service; }}
 set admitted {{ type ipv4_addr . inet_proto . inet_service . ipv4_addr; flags interval; }}
 set hairpin {{ type ipv4_addr . ipv4_addr; }}
 chain nowhere {{ drop
 }}
 chain guard {{ type filter hook prerouting priority dstnat - 10; policy accept;
  ip daddr . meta l4proto . th dport @guarded \
ip daddr . meta l4proto . th dport . ip saddr != @admitted drop
 }}
 chain prerouting {{ type nat hook prerouting priority dstnat; policy accept;
  ip saddr {config.cluster_cidr} jump inside_balance
  fib saddr type local jump inside_balance
  jump balance
 }}
 chain output {{ type nat hook output priority -100; policy accept;
  jump inside_balance
  jump balance
 }}
 chain forward {{ type filter hook forward priority filter - 10; policy accept;{unserved}
 }}
 chain input {{ type filter hook input priority filter - 10; policy accept;{unserved}
  jump learn
 }}
 chain sent {{ type filter hook output priority filter - 10; policy accept;{unserved}
 }}
 chain learn {{
 }}
 chain learn_forwarded {{ type filter hook postrouting priority srcnat - 10; policy accept;
  jump learn
 }}
 chain postrouting {{ type nat hook postrouting priority srcnat; policy accept;
  ct mark and {_MASQUERADE:#x} != 0 masquerade
  ct status dnat ip saddr . ip daddr @hairpin masquerade
 }}
}}
"""


class NftDataplane:
    """See the module; state is kept here and only differences are sent."""

    def __init__(self, config: NftConfig) -> None:
        self._config = config
        self._netlink = nft.NftSocket(config.netns)
        self._chains: set[str] = set()
        self._slots: dict[int, int] = {}
        self._hairpins: Counter[IPv4Address] = Counter()

    def close(self) -> None:
        self._netlink.close()

    def limits(self, frontend: Frontend) -> Sequence[str]:
        return ()

    async def start(self) -> None:
        skeleton = _skeleton(self._config)
        nft.run(f"add table ip {TABLE}\ndelete table ip {TABLE}\n{skeleton}", self._config.netns)
        self._chains.clear()
        self._slots.clear()
        self._hairpins.clear()

    async def apply(self, changes: Sequence[Change]) -> Mapping[FrontendKey, str]:
        before: _Elements = {}
        after: _Elements = {}
        for change in changes:
            if change.old:
                before |= self._elements(change.old)
            if change.new:
                after |= self._elements(change.new)
        batch = nft.SetBatch(TABLE)
        _difference(batch, before, after)
        self._change_hairpins(batch, changes)
        batch.commit(self._netlink)
        self._forget_affinity(changes)
        self._forget_flows(changes)
        return {}

    # -- elements ------------------------------------------------------------------------------

    def _elements(self, frontend: Frontend) -> _Elements:
        front = _front_key(frontend.key)
        name = "port" if frontend.key.vip is None else "vip"
        if not frontend.is_served:
            return {(f"unserved_{name}", front): nft.Element(front)}
        elements = self._scope("", name, front, frontend, frontend.backends)
        if frontend.inside_backends is not None:
            inside = frontend.inside_backends
            elements |= self._scope("inside_", name, front, frontend, inside)
        if frontend.source_ranges and frontend.key.vip:
            elements["guarded", front] = nft.Element(front)
            for prefix in frontend.source_ranges:
                first = front + nft.key(prefix.network_address)
                last = front + nft.key(prefix.broadcast_address)
                elements["admitted", first] = nft.Element(first, key_end=last)
        return elements

    def _scope(
        self, scope: str, name: str, front: bytes, frontend: Frontend, backends: Sequence[Backend]
    ) -> _Elements:
        chain = self._chain(scope + name, frontend, len(backends)) if backends else "nowhere"
        elements: _Elements = {(scope + name, front): nft.Element(front, goto=chain)}
        map_name = f"{scope}{name}_backend"
        for index, backend in enumerate(backends):
            key = front + nft.index_part(index)
            data = nft.address_port(backend.address, backend.port)
            elements[map_name, key] = nft.Element(key, data=data)
        return elements

    # -- chains --------------------------------------------------------------------------------

    def _chain(self, map_name: str, frontend: Frontend, count: int) -> str:
        """The chain for front ends of this sort, made when the first one needs it."""
        mask = _mask(frontend, map_name.startswith("inside_"))
        slot = self._slot(frontend.affinity_s) if frontend.affinity_s else 0
        name = f"{map_name}_{mask}_{slot}_{count}"
        if name not in self._chains:
            rules = self._chain_rules(map_name, mask, slot, frontend.affinity_s, count)
            commands = [f"add rule ip {TABLE} {name} {rule}" for rule in rules]
            text = "\n".join([f"add chain ip {TABLE} {name}", *commands])
            nft.run(text, self._config.netns)
            self._chains.add(name)
        return name

    def _chain_rules(
        self, map_name: str, mask: str, slot: int, affinity_s: int, count: int
    ) -> Iterable[str]:
        if mask == "always":
            yield f"ct mark set ct mark or {_MASQUERADE:#x}"
        elif mask == "foreign":
            # Hosts that do not know the way back to a pod must see the node answer.
            yield f"ip saddr != {self._config.cluster_cidr} ct mark set ct mark or {_MASQUERADE:#x}"
        if slot:
            yield f"ct mark set ct mark or {slot << _SLOT_SHIFT:#x}"
            known = f"map @affinity_{affinity_s}"
            yield f"dnat ip to ip saddr . ip daddr . meta l4proto . th dport {known}"
        yield f"meta mark set numgen random mod {count} goto {map_name}_send"

    def _slot(self, seconds: int) -> int:
        """A number for one affinity time-out, with the map that remembers clients that long."""
        if seconds not in self._slots:
            slot = len(self._slots) + 1
            update = (
                f"update @affinity_{seconds} {{ ip saddr . ct original ip daddr . meta l4proto . "
                "ct original proto-dst : ip daddr . th dport }"
            )
            marked = (
                f"ct state new ct mark and {0xFF << _SLOT_SHIFT:#x} == {slot << _SLOT_SHIFT:#x}"
            )
            nft.run(
                f"""
table ip {TABLE} {{
 map affinity_{seconds} {{
  type ipv4_addr . ipv4_addr . inet_proto . inet_service : ipv4_addr . inet_service
  size 65536; flags dynamic,timeout; timeout {seconds}s;
 }}
 chain learn {{
  {marked} meta l4proto tcp {update}
  {marked} meta l4proto udp {update}
 }}
}}
""",
                self._config.netns,
            )
            self._slots[seconds] = slot
        return self._slots[seconds]

    # -- what follows a change -----------------------------------------------------------------

    def _change_hairpins(self, batch: nft.SetBatch, changes: Sequence[Change]) -> None:
        """Pods that may be sent back to themselves, counted over all front ends."""
        before = set(self._hairpins)
        for change in changes:
            self._hairpins.subtract(_local_addresses(change.old))
            self._hairpins.update(_local_addresses(change.new))
        self._hairpins = +self._hairpins
        after = set(self._hairpins)
        batch.delete("hairpin", [nft.Element(nft.key(ip, ip)) for ip in sorted(before - after)])
        batch.add("hairpin", [nft.Element(nft.key(ip, ip)) for ip in sorted(after - before)])

    def _forget_affinity(self, changes: Sequence[Change]) -> None:
        """Clients remembered for a backend that is gone choose anew."""
        for seconds in self._slots:
            gone = {
                (str(change.key.port), str(backend.address), backend.port)
                for change in changes
                if change.old and change.old.affinity_s == seconds
                for backend in _all_backends(change.old) - _all_backends(change.new)
            }
            if not gone:
                continue
            name = f"affinity_{seconds}"
            doomed = []
            for item in nft.listing(f"list map ip {TABLE} {name}", self._config.netns):
                for element, value in item.get("map", {}).get("elem", []):
                    key = _concat(element)
                    address, port = value["concat"]
                    if (str(key[3]), address, port) in gone:
                        doomed.append(" . ".join(map(str, key)))
            if doomed:
                text = f"delete element ip {TABLE} {name} {{ {', '.join(doomed)} }}"
                nft.run(text, self._config.netns)

    def _forget_flows(self, changes: Sequence[Change]) -> None:
        """UDP flows stick to what they met first: those not to a backend of today are dropped."""
        current: dict[FrontendKey, set[tuple[IPv4Address, int]]] = {
            change.key: {(item.address, item.port) for item in _all_backends(change.new)}
            for change in changes
            if change.key.protocol == _UDP and not _keeps_backends(change)
        }
        if not current:
            return

        def is_stale(flow: conntrack.Flow) -> bool:
            if flow.protocol != _UDP:
                return False
            key = FrontendKey(flow.destination, _UDP, flow.destination_port)
            if key not in current:
                # A node port is matched by its number alone. What met it before it was one, and a
                # flow to another machine's port that happens to be equal, only choose again.
                key = FrontendKey(None, _UDP, flow.destination_port)
                if key not in current:
                    return False
            return (flow.reply_source, flow.reply_port) not in current[key]

        conntrack.forget(self._config.netns, is_stale)


def _difference(batch: nft.SetBatch, before: _Elements, after: _Elements) -> None:
    for verb, elements, other in ((batch.delete, before, after), (batch.add, after, before)):
        by_set: dict[str, list[nft.Element]] = {}
        for key, element in elements.items():
            if other.get(key) != element:
                by_set.setdefault(key[0], []).append(element)
        for name, found in by_set.items():
            verb(name, found)


def _front_key(key: FrontendKey) -> bytes:
    head = () if key.vip is None else (key.vip,)
    return nft.key(*head, nft.proto_part(key.protocol), nft.port_part(key.port))


def _mask(frontend: Frontend, inside: bool) -> str:
    """Whose source address is replaced by the node's: everybody's, foreigners', nobody's."""
    if frontend.kind is FrontendKind.CLUSTER_IP or inside:
        return "foreign"
    return "never" if frontend.local_only else "always"


def _all_backends(frontend: Frontend | None) -> set[Backend]:
    if frontend is None:
        return set()
    return {*frontend.backends, *(frontend.inside_backends or ())}


def _keeps_backends(change: Change) -> bool:
    """Whether every flow that was sent to a backend may stay with it."""
    before = _all_backends(change.old)
    return bool(before) and before <= _all_backends(change.new)


def _local_addresses(frontend: Frontend | None) -> set[IPv4Address]:
    return {backend.address for backend in _all_backends(frontend) if backend.is_local}


def _concat(element: Any) -> list[Any]:
    """The parts of a listed key, whether or not it carries a time-out."""
    inner = element["elem"]["val"] if "elem" in element else element
    return list(inner["concat"])
