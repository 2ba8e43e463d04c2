"""What the Virtual Filtering Platform does to packets on Windows, as one nftables table.

A fixed skeleton of maps and sets; every endpoint and front end is some elements in them. Chains
are shared by all front ends with the same number of backends and way of choosing. Nothing hooks
``output`` (unless a gate says so), and that is the point: as on Windows, packets that the node
itself sends meet no load balancer, so a node reaches neither service IPs nor its own node ports.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network

from muntin.hns.dataplane import AclRule, BalancerOrder, EndpointOrder, NetworkOrder
from muntin.kit import conntrack, nft
from muntin.kit.errors import Invalid
from muntin.model.windows import Feature, Profile, is_open

TABLE = "hns"
_SEED = 0x6D756E74
_UDP = 17
_Elements = dict[tuple[str, bytes], nft.Element]
_BY_VIP = "ip daddr . meta l4proto . th dport vmap @vip"
_BY_PORT = "fib daddr type local meta l4proto . th dport vmap @port"
_NAMES = {6: "tcp", 17: "udp", 1: "icmp", 132: "sctp"}


# The number of the chosen backend passes through the packet's mark, because nft has no name for a
# plain number in a map's type, and maps declared by expressions refuse rules that are added later.
def _skeleton(uplink: str, address: IPv4Address | None, profile: Profile) -> str:
    to_host = f"snat to {address}" if address else "masquerade"
    icmp = (
        ""
        if is_open(Feature.OUTBOUND_ICMP, profile)
        else (
            f'ip saddr @outbound_nat oifname "{uplink}" ip protocol icmp ct direction original '
            "ip saddr . ip daddr != @exceptions drop"
        )
    )
    from_node = [
        rule
        for feature, rule in (
            (Feature.NODE_REACHES_SERVICE_IP, _BY_VIP),
            (Feature.NODE_REACHES_OWN_NODE_PORT, _BY_PORT),
        )
        if is_open(feature, profile)
    ]
    head = "chain output { type nat hook output priority -100; policy accept;"
    output = "\n  ".join([head, *from_node]) + "\n }" if from_node else ""
    return f"""
table ip {TABLE} {{
 map vip {{ type ipv4_addr . inet_proto . inet_service : verdict; }}
 map port {{ type inet_proto . inet_service : verdict; }}
 map vip_backend {{
  type ipv4_addr . inet_proto . inet_service . mark : ipv4_addr . inet_service
 }}
 map port_backend {{ type inet_proto . inet_service . mark : ipv4_addr . inet_service; }}
 map source_vip {{ typeof ct mark : ip saddr; }}
 map acl_in {{ typeof ip daddr : verdict; }}
 map acl_out {{ typeof ip saddr : verdict; }}
 set pods {{ type ipv4_addr; }}
 set outbound_nat {{ type ipv4_addr; }}
 set exceptions {{ type ipv4_addr . ipv4_addr; flags interval; }}
 set destinations {{ type ipv4_addr . ipv4_addr; flags interval; }}
 set encap {{ type ipv4_addr . ipv4_addr; flags interval; }}
 set nat_subnets {{ type ipv4_addr; flags interval; }}
 chain balance {{
  {_BY_VIP}
  {_BY_PORT}
 }}
 {output}
 chain prerouting {{ type nat hook prerouting priority dstnat; policy accept;
  jump balance
 }}
 chain postrouting {{ type nat hook postrouting priority srcnat; policy accept;
  snat ip to ct mark map @source_vip
  ip saddr . ip daddr @destinations meta l4proto {{ tcp, udp }} {to_host}
  ip saddr @nat_subnets oifname "{uplink}" masquerade
  ip saddr @outbound_nat oifname "{uplink}" meta l4proto {{ tcp, udp }} \
ip saddr . ip daddr != @exceptions masquerade
 }}
 chain forward {{ type filter hook forward priority filter; policy accept;
  {icmp}
  ip daddr @nat_subnets iifname "{uplink}" ct state new ct status ! dnat drop
  ct state established,related accept
  ip saddr vmap @acl_out
  ip daddr vmap @acl_in
 }}
}}
"""


class Vfp:
    """The table of one node, whose namespace is ``node``."""

    def __init__(self, node: str | None, *, uplink: str, profile: Profile) -> None:
        self._node = node
        self._uplink = uplink
        self._profile = profile
        self._netlink = nft.NftSocket(node)
        self._chains: set[str] = set()
        self._marks: dict[IPv4Address, int] = {}

    def close(self) -> None:
        self._netlink.close()

    def load(
        self,
        address: IPv4Address | None,
        networks: Sequence[NetworkOrder],
        endpoints: Sequence[EndpointOrder],
        balancers: Sequence[BalancerOrder],
    ) -> None:
        """Replace the whole table."""
        skeleton = _skeleton(self._uplink, address, self._profile)
        nft.run(f"add table ip {TABLE}\ndelete table ip {TABLE}\n{skeleton}", self._node)
        self._chains.clear()
        self._marks.clear()
        for network in networks:
            self.add_network(network)
        elements: _Elements = {}
        for endpoint in endpoints:
            elements |= _endpoint_elements(endpoint) | self._mappings(endpoint)
        for balancer in balancers:
            elements |= self._balancer_elements(balancer)
        self._change({}, elements)
        for endpoint in endpoints:
            self._add_acls(endpoint)

    def add_network(self, network: NetworkOrder) -> None:
        if network.is_nat and network.subnets:
            subnets = ", ".join(map(str, network.subnets))
            nft.run(f"add element ip {TABLE} nat_subnets {{ {subnets} }}", self._node)

    def remove_network(self, network: NetworkOrder) -> None:
        if network.is_nat and network.subnets:
            subnets = ", ".join(map(str, network.subnets))
            nft.run(f"delete element ip {TABLE} nat_subnets {{ {subnets} }}", self._node)

    def change_endpoint(self, old: EndpointOrder | None, new: EndpointOrder | None) -> None:
        """Let the rules of ``new`` hold instead of ``old``'s."""
        before = _endpoint_elements(old) | self._mappings(old) if old else {}
        after = _endpoint_elements(new) | self._mappings(new) if new else {}
        self._change(before, after)
        if old and (new is None or old.rules.acls != new.rules.acls):
            self._remove_acls(old)
        if new and (old is None or old.rules.acls != new.rules.acls):
            self._add_acls(new)

    def change_balancers(
        self, removed: Sequence[BalancerOrder], added: Sequence[BalancerOrder]
    ) -> None:
        """One transaction; UDP flows that lost their backend are forgotten."""
        before: _Elements = {}
        for order in removed:
            before |= self._balancer_elements(order)
        after: _Elements = {}
        for order in added:
            after |= self._balancer_elements(order)
        self._change(before, after)
        self._forget_flows(removed, added)

    def _forget_flows(
        self, removed: Sequence[BalancerOrder], added: Sequence[BalancerOrder]
    ) -> None:
        """Unified flows are judged anew when rules change: those of UDP choose again.

        A flow to a backend of today stays. One that began before there was a load balancer was
        not translated, and would stay so.
        """
        current: dict[tuple[IPv4Address | None, int], set[tuple[IPv4Address, int]]] = {}
        for orders, stays in ((removed, False), (added, True)):
            for order in orders:
                if order.protocol == _UDP:
                    backends = current.setdefault((order.vip, order.external_port), set())
                    backends.update(order.backends if stays else ())
        if not current:
            return

        def is_stale(flow: conntrack.Flow) -> bool:
            if flow.protocol != _UDP:
                return False
            backends = current.get((flow.destination, flow.destination_port))
            if backends is None:
                backends = current.get((None, flow.destination_port))
            return backends is not None and (flow.reply_source, flow.reply_port) not in backends

        conntrack.forget(self._node, is_stale)

    def _change(self, before: _Elements, after: _Elements) -> None:
        batch = nft.SetBatch(TABLE)
        for verb, elements, other in ((batch.delete, before, after), (batch.add, after, before)):
            by_set: dict[str, list[nft.Element]] = {}
            for key, element in elements.items():
                if other.get(key) != element:
                    by_set.setdefault(key[0], []).append(element)
            for name, found in by_set.items():
                verb(name, found)
        batch.commit(self._netlink)

    # -- load balancers ------------------------------------------------------------------------

    def _mappings(self, endpoint: EndpointOrder) -> _Elements:
        """An endpoint's host ports: front ends with one backend that see the client."""
        elements: _Elements = {}
        for mapping in endpoint.rules.port_mappings:
            order = BalancerOrder(
                vip=mapping.vip,
                protocol=mapping.protocol,
                external_port=mapping.external_port,
                backends=((endpoint.address.ip, mapping.internal_port),),
            )
            elements |= self._balancer_elements(order)
        return elements

    def _balancer_elements(self, order: BalancerOrder) -> _Elements:
        if not order.backends:
            return {}
        head = () if order.vip is None else (order.vip,)
        front = nft.key(*head, nft.proto_part(order.protocol), nft.port_part(order.external_port))
        name = "port" if order.vip is None else "vip"
        elements = [(name, nft.Element(front, goto=self._chain(order)))]
        for index, (ip, port) in enumerate(order.backends):
            data = nft.key(ip, nft.port_part(port))
            element = nft.Element(front + nft.index_part(index), data=data)
            elements.append((f"{name}_backend", element))
        return {(name, element.key): element for name, element in elements}

    def _chain(self, order: BalancerOrder) -> str:
        """The chain for such front ends, made when the first one needs it."""
        mark = self._mark(order.source_vip) if order.source_vip else 0
        count = len(order.backends)
        front = "port" if order.vip is None else "vip"
        name = f"{front}_{mark}_{'source' if order.affinity else 'any'}_{count}"
        if name not in self._chains:
            choose = f"jhash ip saddr mod {count} seed {_SEED:#x}"
            choose = choose if order.affinity else f"numgen random mod {count}"
            head = "" if order.vip is None else "ip daddr . "
            rules = []
            if mark:
                # Without direct server return the host's port translates, which pods reach
                # only by a route that diverts the destination there.
                rules.append("ip saddr @pods ip saddr . ip daddr != @encap return")
                rules.append(f"ct mark set {mark}")
            rules.append(
                f"meta mark set {choose} "
                f"dnat ip to {head}meta l4proto . th dport . meta mark map @{front}_backend"
            )
            commands = [f"add rule ip {TABLE} {name} {rule}" for rule in rules]
            nft.run("\n".join([f"add chain ip {TABLE} {name}", *commands]), self._node)
            self._chains.add(name)
        return name

    def _mark(self, source: IPv4Address) -> int:
        mark = self._marks.get(source)
        if mark is None:
            mark = len(self._marks) + 1
            batch = nft.SetBatch(TABLE)
            batch.add("source_vip", [nft.Element(nft.index_part(mark), data=source.packed)])
            batch.commit(self._netlink)
            self._marks[source] = mark
        return mark

    # -- ACLs ----------------------------------------------------------------------------------

    def _add_acls(self, endpoint: EndpointOrder) -> None:
        commands = []
        for inbound, name in ((True, "acl_in"), (False, "acl_out")):
            rules = [rule for rule in endpoint.rules.acls if rule.inbound is inbound]
            if rules:
                chain = _acl_chain(endpoint, name)
                commands.append(f"add chain ip {TABLE} {chain}")
                commands += [f"add rule ip {TABLE} {chain} {_acl_text(rule)}" for rule in rules]
                element = f"{{ {endpoint.address.ip} : jump {chain} }}"
                commands.append(f"add element ip {TABLE} {name} {element}")
        if commands:
            nft.run("\n".join(commands), self._node)

    def _remove_acls(self, endpoint: EndpointOrder) -> None:
        for inbound, name in ((True, "acl_in"), (False, "acl_out")):
            if any(rule.inbound is inbound for rule in endpoint.rules.acls):
                chain = _acl_chain(endpoint, name)
                element = f"delete element ip {TABLE} {name} {{ {endpoint.address.ip} }}"
                with suppress(Invalid):
                    nft.run(f"{element}\ndelete chain ip {TABLE} {chain}", self._node)


def _acl_chain(endpoint: EndpointOrder, name: str) -> str:
    return f"{name}_{endpoint.id.replace('-', '').lower()}"


def _acl_text(rule: AclRule) -> str:
    """One ACL as an nft rule; the rules of a chain stand in the order of their priorities."""
    local, remote = ("daddr", "saddr") if rule.inbound else ("saddr", "daddr")
    local_port, remote_port = ("dport", "sport") if rule.inbound else ("sport", "dport")
    parts = []
    if rule.protocols:
        names = ", ".join(_NAMES.get(number, str(number)) for number in rule.protocols)
        parts.append(f"meta l4proto {{ {names} }}")
    for side, networks in ((local, rule.local_addresses), (remote, rule.remote_addresses)):
        if networks:
            parts.append(f"ip {side} {{ {', '.join(map(str, networks))} }}")
    for side, ports in ((local_port, rule.local_ports), (remote_port, rule.remote_ports)):
        if ports:
            ranges = ", ".join(f"{low}-{high}" if low != high else str(low) for low, high in ports)
            parts.append(f"th {side} {{ {ranges} }}")
    return " ".join([*parts, "return" if rule.allow else "drop"])


def _endpoint_elements(endpoint: EndpointOrder) -> _Elements:
    own, rules = endpoint.address.ip, endpoint.rules
    elements = [("pods", nft.Element(nft.key(own)))]
    if rules.outbound_nat:
        elements.append(("outbound_nat", nft.Element(nft.key(own))))
    for name, prefixes in (
        ("exceptions", rules.exceptions),
        ("destinations", rules.destinations),
        ("encap", rules.encap),
    ):
        elements += [(name, element) for element in _pairs(own, prefixes)]
    return {(name, element.key): element for name, element in elements}


def _pairs(own: IPv4Address, prefixes: Iterable[IPv4Network]) -> list[nft.Element]:
    return [
        nft.Element(
            nft.key(own, prefix.network_address), key_end=nft.key(own, prefix.broadcast_address)
        )
        for prefix in prefixes
    ]
