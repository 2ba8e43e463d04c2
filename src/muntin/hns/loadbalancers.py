"""Load balancers (version 1: policy lists): a front end and the endpoints behind it."""

from __future__ import annotations

from ipaddress import IPv4Address

from muntin.hns import endpoints
from muntin.hns.dataplane import BalancerOrder
from muntin.hns.directory import Port
from muntin.hns.host import Host, address, members, number
from muntin.hns.store import Record
from muntin.model.windows import Feature, is_open, max_backends
from muntin.seams.hns import Kind, Object
from muntin.seams.hns.errors import failure

DSR = 1  # of the load balancer's Flags
IPV6 = 2
ILB = 1  # of a port mapping's Flags
BY_SOURCE = (1, 2)  # distribution types that look at the client's address only
_PROTOCOLS = (6, 17, 132)


def create(host: Host, document: Object) -> Record:
    """Program one load balancer; it works when this returns."""
    balancer_id = host.new_id(Kind.LOAD_BALANCER, document.get("ID"))
    record = _checked(host, balancer_id, document)
    host.directory.claim_ports(balancer_id.upper(), ports_of(record.document))
    try:
        host.dataplane.change_balancers((), orders(host, record))
    except OSError:
        host.directory.release_ports(balancer_id.upper())
        raise
    host.store.put(Kind.LOAD_BALANCER, record)
    return record


def modify(host: Host, record: Record, request: Object) -> None:
    """Replace the whole document; only newer builds can."""
    if not is_open(Feature.MODIFY_LOAD_BALANCER, host.profile):
        raise failure("E_NOTIMPL")
    changed = _checked(host, record.id, request.get("Settings") or {})
    host.directory.claim_ports(record.id.upper(), ports_of(changed.document))
    host.dataplane.change_balancers(orders(host, record), orders(host, changed))
    host.store.put(Kind.LOAD_BALANCER, changed)


def delete(host: Host, record: Record) -> None:
    """Stop one load balancer; connections that it made go on."""
    host.dataplane.change_balancers(orders(host, record), ())
    host.directory.release_ports(record.id.upper())
    host.store.remove(Kind.LOAD_BALANCER, record.id)


def ports_of(document: Object) -> list[Port]:
    vips: list[IPv4Address | None] = [IPv4Address(vip) for vip in document["FrontendVIPs"]]
    return [
        (vip, mapping["Protocol"], mapping["ExternalPort"])
        for vip in vips or [None]
        for mapping in document["PortMappings"]
    ]


def orders(host: Host, record: Record) -> list[BalancerOrder]:
    """What the machine has to hold: the same now and when it is taken away."""
    document, made = record.document, []
    source = record.meta["SourceVIP"]
    frontends: list[IPv4Address | None] = [IPv4Address(vip) for vip in document["FrontendVIPs"]]
    for vip in frontends or [None]:
        for mapping in document["PortMappings"]:
            port = mapping["InternalPort"]
            keeps_client = bool(document["Flags"] & DSR or mapping["Flags"] & ILB)
            order = BalancerOrder(
                vip=vip,
                protocol=mapping["Protocol"],
                external_port=mapping["ExternalPort"],
                backends=tuple((IPv4Address(ip), port) for ip in record.meta["Backends"]),
                source_vip=None if keeps_client or not source else IPv4Address(source),
                affinity=_has_affinity(host, mapping),
            )
            made.append(order)
    return made


def _has_affinity(host: Host, mapping: Object) -> bool:
    supported = is_open(Feature.SESSION_AFFINITY, host.profile)
    return supported and mapping.get("DistributionType") in BY_SOURCE


def _checked(host: Host, balancer_id: str, document: Object) -> Record:
    """A record of ``document`` with its defaults filled in."""
    backends = _backends(host, document)
    flags = number(document.get("Flags") or 0, 0, 0xFFFFFFFF, "INVALID_POLICY")
    if flags & DSR and not is_open(Feature.DSR, host.profile):
        raise failure("REQUEST_UNSUPPORTED", "Direct server return.")
    if flags & IPV6:
        raise failure("REQUEST_UNSUPPORTED", "IPv6 is not emulated.")
    mappings = [_mapping(item) for item in members(document, "PortMappings")]
    if not mappings:
        raise failure("INVALID_POLICY", "PortMappings is empty.")
    source = document.get("SourceVIP") or ""
    checked = {
        **document,
        "ID": balancer_id,
        "HostComputeEndpoints": [record.id for record in backends],
        "FrontendVIPs": [str(address(vip)) for vip in members(document, "FrontendVIPs")],
        "SourceVIP": str(address(source)) if source else "",
        "PortMappings": mappings,
        "Flags": flags,
    }
    management = host.dataplane.management_address()
    meta = {
        "Backends": [str(endpoints.address_of(record)) for record in backends],
        # An empty SourceVIP means the host's own address.
        "SourceVIP": checked["SourceVIP"] or (str(management.ip) if management else ""),
        "NetworkID": backends[0].document["HostComputeNetwork"],
    }
    return Record(balancer_id, checked, meta)


def _backends(host: Host, document: Object) -> list[Record]:
    ids = members(document, "HostComputeEndpoints")
    if not ids:
        raise failure("INVALID_POLICY", "A load balancer needs an endpoint.")
    if len(ids) > max_backends(host.profile):
        detail = "Unable to initialize VFP LB rule: invalid number of destinations."
        raise failure("E_INVALIDARG", detail)
    return [host.find(Kind.ENDPOINT, endpoint_id) for endpoint_id in ids]


def _mapping(item: Object) -> Object:
    protocol = number(item.get("Protocol"), 0, 255, "INVALID_POLICY")
    if protocol not in _PROTOCOLS:
        raise failure("INVALID_POLICY", f"Protocol {protocol}.")
    return {
        **item,
        "Protocol": protocol,
        "InternalPort": number(item.get("InternalPort"), 1, 65535, "INVALID_INTERNAL_PORT"),
        "ExternalPort": number(item.get("ExternalPort"), 1, 65535, "INVALID_POLICY"),
        "DistributionType": number(item.get("DistributionType") or 0, 0, 2, "INVALID_POLICY"),
        "Flags": number(item.get("Flags") or 0, 0, 0xFFFFFFFF, "INVALID_POLICY"),
    }
