"""Keeps the resolved configuration beside the cluster's state, as JSON."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import msgspec

from muntin.cluster.config import ClusterConfig
from muntin.kit import files
from muntin.kit.errors import Forbidden, Internal


def encode(config: ClusterConfig) -> bytes:
    """``config`` as JSON."""
    return msgspec.json.format(msgspec.json.encode(config, enc_hook=str))


def decode(data: bytes) -> ClusterConfig:
    """The configuration that ``encode`` wrote.

    Raises:
        Internal: another version of Muntin wrote it.
    """
    try:
        return msgspec.json.decode(data, type=ClusterConfig, dec_hook=_decode_address)
    except (msgspec.DecodeError, ValueError) as err:
        raise Internal(f"stored configuration is not readable: {err}") from err


def load(path: Path) -> ClusterConfig | None:
    """The configuration stored at ``path``; None when there is none.

    Raises:
        Forbidden: it is there, and not for us to read.
    """
    try:
        return decode(path.read_bytes())
    except FileNotFoundError:
        return None
    except PermissionError as err:
        raise Forbidden(f"{path.parent} is for root alone\nuse sudo") from err


def save(path: Path, config: ClusterConfig) -> None:
    """Store ``config`` at ``path`` in one step."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    files.put(path, encode(config))


def _decode_address(kind: type, value: Any) -> Any:
    if kind in (IPv4Address, IPv4Network):
        return kind(value)
    raise ValueError(f"cannot read a {kind.__name__}")
