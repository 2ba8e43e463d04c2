"""Fields of a pod by the paths that rows of the gates table name: ``spec.containers[*].image``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_UNSET: tuple[Any, ...] = (None, "", [], {})


def values(pod: Mapping[str, Any], path: str) -> Iterator[Any]:
    """What stands at ``path``; what is said of containers holds for those of all kinds."""
    steps = path.replace("[*]", ".*").split(".")
    if steps[:3] == ["spec", "containers", "*"]:
        for field in _CONTAINERS:
            yield from _values(pod, ["spec", field, *steps[2:]])
    else:
        yield from _values(pod, steps)


def is_set(pod: Mapping[str, Any], path: str) -> bool:
    """Whether the pod says something there; false and 0 are something."""
    return any(value not in _UNSET for value in values(pod, path))


def _values(data: Any, steps: list[str]) -> Iterator[Any]:
    if not steps:
        yield data
    elif steps[0] == "*":
        for item in data.values() if isinstance(data, dict) else data or ():
            yield from _values(item, steps[1:])
    elif isinstance(data, Mapping) and steps[0] in data:
        yield from _values(data[steps[0]], steps[1:])
