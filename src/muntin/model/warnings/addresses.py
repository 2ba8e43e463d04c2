"""Addresses and ranges that are read, and that should be written otherwise.

Source: apimachinery v1.36 pkg/util/validation/ip.go.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from muntin.kit import numbers
from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version

_zeros = re.compile(r"(^|[.:])0+(?=[0-9])")


def of_ip(value: str, path: str, api: Version) -> Iterator[str]:
    """An address: with zeros before its numbers, of an old kind, or not in its shortest form."""
    if not is_in(ApiFeature.ADDRESS_WARNINGS, api):
        return
    plain = _plain(value)
    if plain is None:
        return
    if plain != value and (":" not in value or ":" not in plain):
        yield f'{path}: non-standard IP address "{value}" is invalid: use "{plain}"'
    elif plain != value:
        canonical = f'should be in RFC 5952 canonical format ("{plain}")'
        yield f'{path}: IPv6 address "{value}" {canonical}'


def of_range(value: str, path: str, api: Version) -> Iterator[str]:
    """A range: also one with bits that its mask does not cover."""
    if not is_in(ApiFeature.ADDRESS_WARNINGS, api):
        return
    address, _, mask = value.partition("/")
    plain = _plain(address)
    bits = numbers.int_or_none(mask, 0, 128)
    if plain is None or bits is None:
        return
    if ":" in address and ":" not in plain:
        bits -= 96
    try:
        whole = ipaddress.ip_network(f"{plain}/{bits}", strict=False)
    except ValueError:
        return
    found = False
    if str(whole.network_address) != plain:
        alone = f"{plain}/{whole.max_prefixlen}"
        yield (
            f'{path}: CIDR value "{value}" is ambiguous in this context (should be "{whole}" or '
            f'"{alone}"?)'
        )
        found = True
    if ":" not in plain and plain != address:
        yield f'{path}: non-standard CIDR value "{value}" is invalid: use "{whole}"'
        found = True
    if not found and f"{plain}/{bits}" != value:
        canonical = f'should be in RFC 5952 canonical format ("{plain}/{bits}")'
        yield f'{path}: IPv6 CIDR value "{value}" {canonical}'


def _plain(value: str) -> str | None:
    """The address as it should be written."""
    text = value if ":" in value and "." not in value else _zeros.sub(r"\1", value)
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    old = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(old or address)
