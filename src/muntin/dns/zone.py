"""The names of a cluster, pure: namespaces, services and their endpoints in, records out.

Names follow the Kubernetes DNS specification 1.1.0 (kubernetes/dns,
docs/specification.md); pod names
and the answers to what exists without such a record follow CoreDNS' kubernetes plugin (with
``pods insecure``).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

SPECIFICATION = "1.1.0"
"""The version of the DNS specification that ``dns-version`` tells."""
Object = Mapping[str, Any]
ServiceKey = tuple[str, str]  # namespace, name


@dataclass(frozen=True, slots=True)
class Record:
    """``kind`` A, AAAA, CNAME, PTR, TXT or SRV, which alone has a ``port``; an address, name
    or text."""

    name: str
    kind: str
    target: str
    port: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """``exists`` False is NXDOMAIN; no ``records`` for a name that exists is NODATA.

    ``extra`` holds the addresses of SRV targets.
    """

    exists: bool
    records: tuple[Record, ...] = ()
    extra: tuple[Record, ...] = ()


NOTHING = Found(False)
NODATA = Found(True)


@dataclass(frozen=True, slots=True)
class _Endpoint:
    address: str
    host: str  # its own label: the hostname, or the address with dashes
    ports: tuple[tuple[str, str, int], ...]  # name, protocol, number


@dataclass(frozen=True, slots=True)
class _Service:
    addresses: tuple[str, ...] = ()
    headless: bool = False
    external_name: str = ""
    ports: tuple[tuple[str, str, int], ...] = ()
    endpoints: tuple[_Endpoint, ...] = field(default=())


class Zone:
    """The records of one cluster domain, updated service by service."""

    def __init__(self, domain: str) -> None:
        self.domain = domain.strip(".").lower()
        self._services: dict[ServiceKey, _Service] = {}
        self._namespaces: set[str] = set()
        self._names: dict[str, dict[ServiceKey, str]] = {}  # address -> names for PTR

    def set_namespace(self, name: str, *, exists: bool) -> None:
        """Set whether the namespace ``name`` exists; if not, names in it do not resolve."""
        if exists:
            self._namespaces.add(name)
        else:
            self._namespaces.discard(name)

    def update(self, key: ServiceKey, service: Object | None, slices: Iterable[Object]) -> None:
        """Take in the current state of one service; None means that it is gone."""
        self._forget(key)
        if service is None:
            return
        row = _service(service, slices)
        self._services[key] = row
        base = f"{key[1]}.{key[0]}.svc.{self.domain}"
        for address in row.addresses:
            self._names.setdefault(address, {})[key] = base
        for endpoint in row.endpoints if row.headless else ():
            self._names.setdefault(endpoint.address, {})[key] = f"{endpoint.host}.{base}"

    def _forget(self, key: ServiceKey) -> None:
        old = self._services.pop(key, None)
        if old is None:
            return
        for address in (*old.addresses, *(endpoint.address for endpoint in old.endpoints)):
            names = self._names.get(address, {})
            names.pop(key, None)
            if not names:
                self._names.pop(address, None)

    def contains(self, name: str) -> bool:
        """Whether ``name`` (lower case, no final dot) is ours to answer."""
        return name == self.domain or name.endswith("." + self.domain)

    def reverse(self, address: str) -> Found:
        """The PTR records of ``address``; NOTHING if it is not one of ours."""
        names = self._names.get(address)
        if not names:
            return NOTHING
        owner = ipaddress.ip_address(address).reverse_pointer
        return Found(True, tuple(Record(owner, "PTR", name) for name in names.values()))

    def find(self, name: str, kind: str) -> Found:
        """What ``name`` (ours, lower case, no final dot) has of ``kind``."""
        labels = name.removesuffix(self.domain).rstrip(".").split(".")
        match labels:
            case [""] | ["svc"] | ["pod"]:
                return NODATA
            case ["dns-version"]:
                version = (Record(name, "TXT", SPECIFICATION),) if kind == "TXT" else ()
                return Found(True, version)
            case [namespace, "svc" | "pod"]:
                return NODATA if namespace in self._namespaces else NOTHING
            case [dashed, namespace, "pod"]:
                return self._pod(name, dashed, namespace, kind)
            case [service, namespace, "svc"]:
                return self._of_service(name, (namespace, service), kind)
            case [host, service, namespace, "svc"] if not host.startswith("_"):
                return self._of_endpoint(name, host, (namespace, service), kind)
            case [port, protocol, service, namespace, "svc"]:
                return self._srv(name, (namespace, service), kind, port, protocol)
            case [protocol, service, namespace, "svc"]:
                return NODATA if (namespace, service) in self._services else NOTHING
        return NOTHING

    def _pod(self, name: str, dashed: str, namespace: str, kind: str) -> Found:
        if namespace not in self._namespaces:
            return NOTHING
        address = _address_of(dashed)
        return _addresses(name, (address,), kind) if address else NOTHING

    def _of_service(self, name: str, key: ServiceKey, kind: str) -> Found:
        row = self._services.get(key)
        if row is None:
            return NOTHING
        if row.external_name:
            return Found(True, (Record(name, "CNAME", row.external_name),))
        if kind == "SRV":
            return self._srv_records(name, key, row, "", "")
        addresses = row.addresses or tuple(endpoint.address for endpoint in row.endpoints)
        if not addresses:
            return NOTHING  # a headless service without ready endpoints, as CoreDNS answers it
        return _addresses(name, dict.fromkeys(addresses), kind)

    def _of_endpoint(self, name: str, host: str, key: ServiceKey, kind: str) -> Found:
        row = self._services.get(key)
        addresses = [e.address for e in row.endpoints if e.host == host] if row else []
        return _addresses(name, addresses, kind) if addresses else NOTHING

    def _srv(self, name: str, key: ServiceKey, kind: str, port: str, protocol: str) -> Found:
        row = self._services.get(key)
        if row is None or not port.startswith("_") or not protocol.startswith("_"):
            return NOTHING
        found = self._srv_records(name, key, row, port[1:], protocol[1:])
        return found if kind == "SRV" or not found.exists else NODATA

    def _srv_records(
        self, name: str, key: ServiceKey, row: _Service, port: str, protocol: str
    ) -> Found:
        base = f"{key[1]}.{key[0]}.svc.{self.domain}"
        targets: list[tuple[str, tuple[str, ...], tuple[tuple[str, str, int], ...]]]
        if row.headless:
            targets = [(f"{e.host}.{base}", (e.address,), e.ports) for e in row.endpoints]
        else:
            targets = [(base, row.addresses, row.ports)]
        records, extra = [], []
        for target, addresses, ports in targets:
            for port_name, port_protocol, number in ports:
                if port and (port_name, port_protocol) != (port, protocol):
                    continue
                records.append(Record(name, "SRV", target, number))
                extra += [Record(target, _kind(address), address) for address in addresses]
        if not records:
            return NOTHING if port or row.headless else NODATA
        return Found(True, tuple(records), tuple(dict.fromkeys(extra)))


def _service(service: Object, slices: Iterable[Object]) -> _Service:
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return _Service(external_name=str(spec.get("externalName", "")).rstrip(".").lower())
    ports = tuple(
        (port.get("name", ""), port.get("protocol", "TCP").lower(), port["port"])
        for port in spec.get("ports") or ()
    )
    addresses = tuple(ip for ip in _cluster_ips(spec) if ip != "None")
    everyone = bool(spec.get("publishNotReadyAddresses"))
    endpoints = tuple(_endpoints(slices, everyone))
    return _Service(addresses, not addresses, "", ports, endpoints)


def _cluster_ips(spec: Mapping[str, Any]) -> list[str]:
    return spec.get("clusterIPs") or [ip for ip in [spec.get("clusterIP")] if ip]


def _endpoints(slices: Iterable[Object], everyone: bool) -> Iterable[_Endpoint]:
    for piece in slices:
        ports = tuple(
            (port.get("name") or "", (port.get("protocol") or "TCP").lower(), port["port"])
            for port in piece.get("ports") or ()
            if port.get("port") is not None
        )
        for endpoint in piece.get("endpoints") or ():
            ready = (endpoint.get("conditions") or {}).get("ready")
            if ready is False and not everyone:
                continue
            for address in endpoint.get("addresses") or ():
                host = endpoint.get("hostname") or address.replace(".", "-").replace(":", "-")
                yield _Endpoint(address, host.lower(), ports)


def _kind(address: str) -> str:
    return "AAAA" if ":" in address else "A"


def _addresses(name: str, addresses: Iterable[str], kind: str) -> Found:
    return Found(True, tuple(Record(name, kind, a) for a in addresses if _kind(a) == kind))


def _address_of(dashed: str) -> str:
    """``10-244-1-3`` as an address; empty if it is none."""
    is_v4 = dashed.count("-") == 3 and "--" not in dashed
    try:
        return str(ipaddress.ip_address(dashed.replace("-", "." if is_v4 else ":")))
    except ValueError:
        return ""
