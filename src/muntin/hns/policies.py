"""Policies: which there are, how version 1 writes them, and what an endpoint's mean for packets.

Documents keep policies in version 2's form, ``{"Type": ..., "Settings": {...}}``; version 1 puts
the settings flat beside the type, under other names. Settings that no table knows pass unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, collapse_addresses
from typing import Any

from muntin.hns.dataplane import AclRule, EndpointRules, PortMapping
from muntin.model.windows import Feature, Profile, is_open
from muntin.seams.hns.errors import failure

Policy = dict[str, Any]
ANY_PROTOCOL = 256
_PROTOCOLS = {"tcp": 6, "udp": 17, "icmpv4": 1, "igmp": 2, "icmpv6": 58}

ENDPOINT_POLICIES: Mapping[str, Feature | None] = {
    "PortMapping": None,
    "ACL": None,
    "OutBoundNAT": None,
    "SDNRoute": None,
    "ProviderAddress": None,
    "QOS": None,
    "L2Driver": None,
    "PortName": None,
    "EncapOverhead": None,
    "Iov": None,
    "InterfaceConstraint": None,
    "Isolation": None,
    "VLAN": None,
    "L4Proxy": Feature.L4_PROXY,
    "L4WFPPROXY": Feature.L4_WFP_PROXY,
    "TierAcl": Feature.TIER_ACL,
}
NETWORK_POLICIES: Mapping[str, Feature | None] = {
    "NetAdapterName": None,
    "SourceMacAddress": None,
    "InterfaceConstraint": None,
    "VSwitchExtension": None,
    "DrMacAddress": None,
    "AutomaticDNS": None,
    "ProviderAddress": None,
    "LayerConstraint": None,
    "NeighborDiscovery": None,
    "RemoteSubnetRoute": Feature.REMOTE_SUBNET,
    "HostRoute": Feature.HOST_ROUTE,
    "VxlanPort": Feature.VXLAN_PORT,
    "SetPolicy": Feature.SET_POLICY,
    "L4Proxy": Feature.L4_PROXY,
    "NetworkACL": Feature.NETWORK_ACL,
}
SUBNET_POLICIES: Mapping[str, Feature | None] = {"VLAN": None, "VSID": None}


@dataclass(frozen=True, slots=True)
class _Translation:
    """One row: version 1's type, version 2's, and the settings that have another name there."""

    v1: str
    v2: str
    renamed: Mapping[str, str]


_TRANSLATIONS = (
    _Translation("OutBoundNAT", "OutBoundNAT", {"VIP": "VirtualIP", "ExceptionList": "Exceptions"}),
    _Translation("ROUTE", "SDNRoute", {}),
    _Translation("PA", "ProviderAddress", {"PA": "ProviderAddress"}),
    _Translation("NAT", "PortMapping", {}),
    _Translation("VSID", "VSID", {"VSID": "IsolationId"}),
    _Translation("VLAN", "VLAN", {"VLAN": "IsolationId"}),
    _Translation("PROXY", "L4Proxy", {"ExceptionList": "Exceptions", "OutboundNat": "OutboundNAT"}),
)
_FROM_V1 = {row.v1.upper(): row for row in _TRANSLATIONS}
_TO_V1 = {row.v2.upper(): row for row in _TRANSLATIONS}


def from_v1(flat: Mapping[str, Any]) -> Policy:
    """A version 1 policy in version 2's form."""
    if not isinstance(flat, Mapping) or not isinstance(flat.get("Type"), str):
        raise failure("INVALID_POLICY", "A policy has no Type.")
    row = _FROM_V1.get(flat["Type"].upper())
    renamed = row.renamed if row else {}
    settings = {renamed.get(key, key): value for key, value in flat.items() if key != "Type"}
    if row and row.v2 == "PortMapping" and isinstance(settings.get("Protocol"), str):
        settings["Protocol"] = _PROTOCOLS.get(settings["Protocol"].lower(), 0)
    if flat["Type"].upper() == "ACL":
        _acl_from_v1(settings)
    return {"Type": row.v2 if row else flat["Type"], "Settings": settings}


def _acl_from_v1(settings: dict[str, Any]) -> None:
    protocol = settings.pop("Protocol", None)
    if protocol is not None and "Protocols" not in settings:
        settings["Protocols"] = "" if protocol == ANY_PROTOCOL else str(protocol)
    for plural, singular in (("LocalPorts", "LocalPort"), ("RemotePorts", "RemotePort")):
        port = settings.pop(singular, 0)
        if port and plural not in settings:
            settings[plural] = str(port)


def to_v1(policy: Policy) -> Policy:
    """A version 2 policy in version 1's form."""
    row = _TO_V1.get(policy["Type"].upper())
    renamed = {new: old for old, new in row.renamed.items()} if row else {}
    settings = policy.get("Settings") or {}
    flat = {"Type": row.v1 if row else policy["Type"]}
    flat |= {renamed.get(key, key): value for key, value in settings.items()}
    if row and row.v1 == "NAT":
        names: dict[Any, str] = {number: name.upper() for name, number in _PROTOCOLS.items()}
        protocol: Any = flat.get("Protocol")
        flat["Protocol"] = names.get(protocol, protocol)
    return flat


def check(policies: object, known: Mapping[str, Feature | None], profile: Profile) -> list[Policy]:
    """``policies`` as a list, with their types spelled as the tables spell them.

    Raises:
        HnsInvalid: one is malformed, of no known type, or not for this build of Windows.
    """
    if policies is None:
        return []
    if not isinstance(policies, list):
        raise failure("INVALID_JSON", "Policies is not a list.")
    spelled = {name.upper(): name for name in known}
    checked = []
    for policy in policies:
        if not isinstance(policy, dict) or not isinstance(policy.get("Type"), str):
            raise failure("INVALID_POLICY", "A policy has no Type.")
        name = spelled.get(policy["Type"].upper())
        if name is None:
            raise failure("INVALID_POLICY_TYPE", f"{policy['Type']}.")
        feature = known[name]
        if feature is not None and not is_open(feature, profile):
            raise failure("INVALID_POLICY", f"{name} is not supported by this build.")
        settings = policy.get("Settings")
        if settings is not None and not isinstance(settings, dict):
            raise failure("INVALID_POLICY", f"The Settings of {name} are not an object.")
        checked.append({**policy, "Type": name, "Settings": settings or {}})
    return checked


def rules_of(policies: Iterable[Policy], profile: Profile) -> EndpointRules:
    """What ``policies`` (checked) mean for packets.

    Several OutBoundNAT policies count as one with all their exceptions; one with Destinations
    translates only what goes there, which is how an endpoint reaches itself through a service.

    Raises:
        HnsInvalid: an address, a prefix or a number in them cannot be read.
    """
    nat, exceptions, destinations = False, [], []  # type: bool, list[IPv4Network], list[IPv4Network]
    encap, mappings, acls = [], [], []  # type: list[IPv4Network], list[PortMapping], list[AclRule]
    for policy in policies:
        kind, settings = policy["Type"], policy["Settings"]
        try:
            if kind == "OutBoundNAT":
                own = _networks(settings.get("Destinations"))
                destinations += own
                exceptions += _networks(settings.get("Exceptions"))
                nat = nat or not own
            elif kind == "SDNRoute" and settings.get("NeedEncap"):
                encap += _networks([settings["DestinationPrefix"]])
            elif kind == "PortMapping":
                mappings.append(_port_mapping(settings))
            elif kind == "ACL":
                acls.append(_acl(settings, profile))
        except (KeyError, TypeError, ValueError) as err:
            raise failure("INVALID_POLICY", f"{kind}: {err}.") from err
    return EndpointRules(
        outbound_nat=nat,
        exceptions=tuple(collapse_addresses(exceptions)),
        destinations=tuple(collapse_addresses(destinations)),
        encap=tuple(collapse_addresses(encap)),
        port_mappings=tuple(mappings),
        acls=tuple(sorted(acls, key=lambda rule: rule.priority)),
    )


def _networks(values: object) -> list[IPv4Network]:
    if values is None:
        return []
    if not isinstance(values, list):
        raise ValueError("a list of prefixes is expected")
    return [IPv4Network(value, strict=False) for value in values]


def _port(value: object) -> int:
    number = int(str(value))
    if not 0 < number < 65536:
        raise ValueError(f"{number} is not a port")
    return number


def _port_mapping(settings: Mapping[str, Any]) -> PortMapping:
    protocol = settings.get("Protocol", 6)
    number = _PROTOCOLS[protocol.lower()] if isinstance(protocol, str) else int(protocol)
    vip = settings.get("VIP")
    return PortMapping(
        protocol=number,
        external_port=_port(settings["ExternalPort"]),
        internal_port=_port(settings["InternalPort"]),
        vip=IPv4Address(vip) if vip and vip != "0.0.0.0" else None,
    )


def _acl(settings: Mapping[str, Any], profile: Profile) -> AclRule:
    action, direction = settings["Action"], settings["Direction"]
    if action not in ("Allow", "Block", "Pass") or direction not in ("In", "Out"):
        raise ValueError(f"Action {action!r} or Direction {direction!r} is unknown")
    lists = {key: _commas(settings.get(key)) for key in ("LocalAddresses", "RemoteAddresses")}
    ports = {key: _commas(settings.get(key)) for key in ("LocalPorts", "RemotePorts")}
    every = (*lists.values(), *ports.values())
    if any(len(values) > 1 for values in every) and not is_open(Feature.ACL_LISTS, profile):
        raise ValueError("lists are not supported by this build")
    protocols = [int(value) for value in _commas(settings.get("Protocols"))]
    if 252 in protocols and not is_open(Feature.ACL_PROTOCOL_252, profile):
        raise ValueError("protocol 252 is not supported by this build")
    return AclRule(
        allow=action != "Block",
        inbound=direction == "In",
        priority=int(settings.get("Priority") or 0),
        protocols=tuple(number for number in protocols if number not in (252, ANY_PROTOCOL)),
        local_addresses=tuple(collapse_addresses(_networks(lists["LocalAddresses"]))),
        remote_addresses=tuple(collapse_addresses(_networks(lists["RemoteAddresses"]))),
        local_ports=tuple(_port_range(value) for value in ports["LocalPorts"]),
        remote_ports=tuple(_port_range(value) for value in ports["RemotePorts"]),
    )


def _commas(value: object) -> list[str]:
    return [part.strip() for part in str(value or "").split(",") if part.strip()]


def _port_range(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return _port(low), _port(high or low)
