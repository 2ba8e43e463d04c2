"""Ports of a pod's containers that meet each other.

Source: kubernetes v1.36 pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Object = Mapping[str, Any]
Placed = tuple[str, Object]  # a path and what stands there


def of_ports(containers: Sequence[Placed]) -> Iterator[str]:
    """Ports of several containers."""
    rows = [
        (f"{path}.ports[{index}]", row)
        for path, container in containers
        for index, row in enumerate(container.get("ports") or ())
    ]
    if not rows:
        return
    known: dict[tuple[Any, Any], list[Placed]] = {}
    for path, row in rows:
        if row.get("hostIP") and not row.get("hostPort"):
            yield f"{path}: hostIP set without hostPort: {_shown(row)}"
        others = known.setdefault((row.get("containerPort"), row.get("protocol")), [])
        for other in others:
            yield from _meeting(path, row, other)
        others.append((path, row))
    named: dict[str, str] = {}
    for path, row in rows:
        name = row.get("name")
        if name and name in named:
            first = named[name]
            yield (
                f'{path}: duplicate port name "{name}" with {first}, services and probes that '
                f"select ports by name will use {first}"
            )
        elif name:
            named[name] = path


def _meeting(path: str, row: Object, other: Placed) -> Iterator[str]:
    where, before = other
    ip, other_ip = row.get("hostIP") or "", before.get("hostIP") or ""
    port, other_port = row.get("hostPort") or 0, before.get("hostPort") or 0
    if (ip, port) == (other_ip, other_port):
        yield f"{path}: duplicate port definition with {where}"
    elif not port or not other_port:
        yield f"{path}: overlapping port definition with {where}"
    elif port == other_port and bool(ip) != bool(other_ip):
        yield f"{path}: dangerously ambiguous port definition with {where}"


def _shown(row: Object) -> str:
    """As ``%+v`` prints a port."""
    return (
        f"{{Name:{row.get('name') or ''} HostPort:{row.get('hostPort') or 0} "
        f"ContainerPort:{row.get('containerPort') or 0} Protocol:{row.get('protocol') or ''} "
        f"HostIP:{row.get('hostIP') or ''}}}"
    )
