"""What the checks of Pod Security share: containers, and the words of a finding.

Source: pod-security-admission v1.34 policy/helpers.go, policy/visitor.go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Object = Mapping[str, Any]


class Finding(NamedTuple):
    """Why a pod is not allowed: in short, and with the names and values that are wrong."""

    reason: str
    detail: str


Check = Callable[[Object, Object], Finding | None]
"""From a pod's metadata and spec to what is wrong with it."""


def containers(spec: Object) -> Iterator[Object]:
    """All containers: init, ordinary, ephemeral."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(field) or ()


def security_of(holder: Object) -> Object:
    """The security context of a pod's spec or of a container."""
    return holder.get("securityContext") or {}


def named(spec: Object, is_bad: Callable[[Object], bool]) -> list[str]:
    """The names of the containers that are bad."""
    return [row["name"] for row in containers(spec) if is_bad(row)]


def quoted(items: Iterable[str]) -> str:
    """``"a", "b"``."""
    return ", ".join(f'"{item}"' for item in items)


def plural(one: str, items: Collection[object]) -> str:
    """``one`` with an s unless there is exactly one item."""
    return one if len(items) == 1 else f"{one}s"


def these(names: Sequence[str], kind: str = "container") -> str:
    """``containers "a", "b"``."""
    return f"{plural(kind, names)} {quoted(names)}"


def setters(pod_is_bad: bool, names: Sequence[str]) -> str:
    """Who set a wrong value: ``pod and container "a"``; empty if nobody did."""
    who = ["pod"] if pod_is_bad else []
    if names:
        who.append(these(names))
    return " and ".join(who)


def is_windows(spec: Object) -> bool:
    """Whether the spec says that its pod is for Windows."""
    return (spec.get("os") or {}).get("name") == "windows"


def has_user_namespace(spec: Object) -> bool:
    """Whether the pod runs in a user namespace of its own."""
    return spec.get("hostUsers") is False
