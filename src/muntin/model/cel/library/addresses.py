"""``ip('10.0.0.1')`` and ``cidr('10.0.0.0/8')``.

Source: apiserver v1.34 pkg/cel/library/{ip,cidr}.go.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from muntin.kit import numbers
from muntin.kit.cel import EvaluationError, Function
from muntin.kit.cel.functions import STRING
from muntin.kit.cel.messages import opaque, text_of

IP, CIDR = "net.IP", "net.CIDR"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Interface | ipaddress.IPv6Interface


def _address(text: str) -> Address:
    found = ipaddress.ip_address(text)
    if isinstance(found, ipaddress.IPv6Address):
        if found.scope_id:
            raise ValueError(f"IP address with zone value {text!r} is not allowed")
        if found.ipv4_mapped:
            raise ValueError(f"IPv4-mapped IPv6 address {text!r} is not allowed")
    return found


def _network(text: str) -> Network:
    if "/" not in text or not numbers.is_digits(text.rpartition("/")[2]):
        raise ValueError(f"{text!r} has no prefix length")
    _address(text.rpartition("/")[0])
    return ipaddress.ip_interface(text)


def _is(parse: Any, text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def ip(text: str) -> Any:
    try:
        return opaque(IP, str(_address(text)))
    except ValueError as err:
        text = f'IP Address "{text}" parse error during conversion from string: {err}'
        raise EvaluationError(text) from err


def cidr(text: str) -> Any:
    try:
        return opaque(CIDR, str(_network(text)))
    except ValueError as err:
        text = f"network address parse error during conversion from string: {err}"
        raise EvaluationError(text) from err


def is_canonical(text: str) -> bool:
    return text_of(ip(text)) == text


def family(value: Any) -> int:
    return _address(text_of(value)).version


def _asks(name: str) -> Any:
    return lambda value: bool(getattr(_address(text_of(value)), name))


def is_link_local_multicast(value: Any) -> bool:
    found = _address(text_of(value))
    if found.version == 4:
        return found in ipaddress.ip_network("224.0.0.0/24")
    return found.packed[0] == 0xFF and found.packed[1] & 0x0F == 0x02


def is_global_unicast(value: Any) -> bool:
    """Go's meaning: neither unspecified, loopback, multicast, link-local nor the broadcast."""
    found = _address(text_of(value))
    return not (
        found.is_unspecified
        or found.is_loopback
        or found.is_multicast
        or found.is_link_local
        or str(found) == "255.255.255.255"
    )


def contains_ip(value: Any, wanted: Any) -> bool:
    text = text_of(ip(wanted)) if isinstance(wanted, str) else text_of(wanted)
    return _address(text) in _network(text_of(value)).network


def contains_cidr(value: Any, wanted: Any) -> bool:
    text = text_of(cidr(wanted)) if isinstance(wanted, str) else text_of(wanted)
    outer, inner = _network(text_of(value)).network, _network(text).network
    if isinstance(outer, ipaddress.IPv4Network) and isinstance(inner, ipaddress.IPv4Network):
        return inner.subnet_of(outer)
    if isinstance(outer, ipaddress.IPv6Network) and isinstance(inner, ipaddress.IPv6Network):
        return inner.subnet_of(outer)
    return False


FUNCTIONS = (
    Function("ip", ("string",), IP, ip, member=False),
    Function("isIP", ("string",), "bool", lambda text: _is(_address, text), member=False),
    Function("ip.isCanonical", ("string",), "bool", is_canonical, member=False),
    Function(STRING, (IP,), "string", text_of, member=False),
    Function(STRING, (CIDR,), "string", text_of, member=False),
    Function("family", (IP,), "int", family),
    Function("isUnspecified", (IP,), "bool", _asks("is_unspecified")),
    Function("isLoopback", (IP,), "bool", _asks("is_loopback")),
    Function("isLinkLocalMulticast", (IP,), "bool", is_link_local_multicast),
    Function("isLinkLocalUnicast", (IP,), "bool", _asks("is_link_local")),
    Function("isGlobalUnicast", (IP,), "bool", is_global_unicast),
    Function("cidr", ("string",), CIDR, cidr, member=False),
    Function("isCIDR", ("string",), "bool", lambda text: _is(_network, text), member=False),
    Function("containsIP", (CIDR, "string"), "bool", contains_ip),
    Function("containsIP", (CIDR, IP), "bool", contains_ip),
    Function("containsCIDR", (CIDR, "string"), "bool", contains_cidr),
    Function("containsCIDR", (CIDR, CIDR), "bool", contains_cidr),
    Function("ip", (CIDR,), IP, lambda value: opaque(IP, str(_network(text_of(value)).ip))),
    Function("masked", (CIDR,), CIDR,
             lambda value: opaque(CIDR, str(_network(text_of(value)).network))),
    Function("prefixLength", (CIDR,), "int",
             lambda value: _network(text_of(value)).network.prefixlen),
)  # fmt: skip
