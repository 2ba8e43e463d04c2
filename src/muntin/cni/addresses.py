"""IPv4 addresses as integers: what plugins need of ``ipaddress``, which takes long to import."""

from __future__ import annotations

from muntin.kit import numbers


def parse(text: str) -> int:
    """The number of a dotted address; ValueError where it is none."""
    parts = text.split(".")
    if len(parts) != 4:
        raise ValueError(f"invalid IP address: {text}")
    value = 0
    for part in parts:
        number = numbers.int_or_none(part, 0, 255)
        if number is None or len(part) > 3:
            raise ValueError(f"invalid IP address: {text}")
        value = value << 8 | number
    return value


def text(value: int) -> str:
    """A number as a dotted address."""
    return f"{value >> 24}.{value >> 16 & 255}.{value >> 8 & 255}.{value & 255}"


def parse_prefix(prefix: str) -> tuple[int, int]:
    """(address as it stands, length) of ``10.0.0.0/24``; ValueError where it is none."""
    address, slash, length = prefix.partition("/")
    bits = numbers.int_or_none(length, 0, 32)
    if not slash or bits is None:
        raise ValueError(f"invalid CIDR address: {prefix}")
    return parse(address), bits


def mask(length: int) -> int:
    """The netmask of a prefix length."""
    return (0xFFFFFFFF << (32 - length)) & 0xFFFFFFFF
