"""Validation of network policies.

Source: kubernetes v1.34 pkg/apis/networking/validation/validation.go (ValidateNetworkPolicySpec).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from muntin.model import names
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_selector

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_TYPES = ("Ingress", "Egress")


def network_policy(obj: Object, found: Findings) -> None:
    """A network policy."""
    spec = obj.get("spec") or {}
    label_selector(spec.get("podSelector"), "spec.podSelector", found)
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            path = f"spec.{direction}[{index}]"
            _ports(rule.get("ports") or (), f"{path}.ports", found)
            for at, peer in enumerate(rule.get(peers) or ()):
                _peer(peer, f"{path}.{peers}[{at}]", found)
    kinds = spec.get("policyTypes") or ()
    if len(kinds) > len(_TYPES):
        found.invalid("spec.policyTypes", kinds, "may not specify more than two policyTypes")
        return
    for index, kind in enumerate(kinds):
        if kind not in _TYPES:
            found.not_supported(f"spec.policyTypes[{index}]", kind, _TYPES)


def _ports(ports: Iterable[Object], path: str, found: Findings) -> None:
    for index, row in enumerate(ports):
        here, value, end = f"{path}[{index}]", row.get("port"), row.get("endPort")
        protocol = row.get("protocol")
        if protocol is not None and protocol not in _PROTOCOLS:
            found.not_supported(f"{here}.protocol", protocol, _PROTOCOLS)
        if isinstance(value, int):
            found.each_invalid(f"{here}.port", value, names.port_number(value))
            if end is not None and end < value:
                text = "must be greater than or equal to `port`"
                found.invalid(f"{here}.endPort", value, text)
            if end is not None:
                found.each_invalid(f"{here}.endPort", end, names.port_number(end))
            continue
        if end is not None:
            why = "not specified" if value is None else "non-numeric"
            found.invalid(f"{here}.endPort", end, f"may not be specified when `port` is {why}")
        if value is not None:
            found.each_invalid(f"{here}.port", value, names.port_name(value))


def _peer(peer: Object, path: str, found: Findings) -> None:
    given = [name for name in ("podSelector", "namespaceSelector") if peer.get(name) is not None]
    for name in given:
        label_selector(peer[name], f"{path}.{name}", found)
    block = peer.get("ipBlock")
    if block is not None:
        _block(block, f"{path}.ipBlock", found)
    if block is None and not given:
        found.required(path, "must specify a peer")
    elif block is not None and given:
        found.forbidden(path, "may not specify both ipBlock and another peer")


def _block(block: Object, path: str, found: Findings) -> None:
    cidr = block.get("cidr")
    if not cidr:
        found.required(f"{path}.cidr")
        return
    problems = names.cidr(cidr)
    found.each_invalid(f"{path}.cidr", cidr, problems)
    if problems:
        return
    whole = ipaddress.ip_interface(cidr).network
    for index, row in enumerate(block.get("except") or ()):
        here, problems = f"{path}.except[{index}]", names.cidr(row)
        found.each_invalid(here, row, problems)
        if problems:
            continue
        part = ipaddress.ip_interface(row)
        if part.ip not in whole or whole.prefixlen >= part.network.prefixlen:
            found.invalid(here, row, "must be a strict subset of `cidr`")
