"""What a printer is, and the small pieces that several kinds print alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.model import durations, selectors

Object = Mapping[str, Any]
Cells = list[Any]

NOTHING = "<none>"
UNSET = "<unset>"
UNKNOWN = "<unknown>"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``priority`` 1 is shown by ``-o wide`` only.

    Without a format, that of a name is its own.
    """

    name: str
    type: str = "string"
    priority: int = 0
    format: str | None = None
    description: str = ""

    def definition(self) -> dict[str, Any]:
        """The TableColumnDefinition."""
        found = self.format
        if found is None:
            found = "name" if self.name == "Name" and not self.priority else ""
        return {
            "name": self.name,
            "type": self.type,
            "format": found,
            "description": self.description,
            "priority": self.priority,
        }


@dataclass(frozen=True, slots=True)
class Printer:
    """The columns of a kind; ``cells(object, now in epoch seconds)`` gives one row.

    ``conditions`` gives the TableRowConditions of an object, for kinds that have any; ``order``
    is the key that lists are sorted by, for kinds whose lists are not shown by name.
    """

    columns: tuple[Column, ...]
    cells: Callable[[Object, float], Cells]
    conditions: Callable[[Object], list[dict[str, str]]] | None = None
    order: Callable[[Object], tuple[Any, ...]] | None = None


AGE = "Age"


def columns(*shown: str | tuple[str, str], wide: Iterable[str] = ()) -> tuple[Column, ...]:
    """Columns by name, or by (name, type); then the wide ones."""
    first = tuple(Column(item) if isinstance(item, str) else Column(*item) for item in shown)
    return (*first, *(Column(name, priority=1) for name in wide))


def name(obj: Object) -> str:
    """``metadata.name``."""
    return str(obj["metadata"].get("name", ""))


def age(obj: Object, now_s: float) -> str:
    """How long ago the object was made."""
    return durations.since(obj["metadata"].get("creationTimestamp"), now_s)


def spec_of(obj: Object) -> Object:
    """``spec``, or an empty one."""
    return obj.get("spec") or {}


def status_of(obj: Object) -> Object:
    """``status``, or an empty one."""
    return obj.get("status") or {}


def labels_text(labels: Mapping[str, str] | None) -> str:
    """``a=b,c=d`` in the order of keys."""
    if not labels:
        return NOTHING
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels))


def selector_text(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector as text."""
    if selector is None:
        return ""
    return str(selectors.labels_of(selector)) or NOTHING


def container_names(spec: Object) -> str:
    """The names of a pod spec's containers."""
    return ",".join(container.get("name", "") for container in spec.get("containers") or ())


def container_images(spec: Object) -> str:
    """The images of a pod spec's containers."""
    return ",".join(container.get("image", "") for container in spec.get("containers") or ())


def template_cells(spec: Object) -> list[str]:
    """Containers and images of a workload's template."""
    pod = (spec.get("template") or {}).get("spec") or {}
    return [container_names(pod), container_images(pod)]


def some_of(items: Iterable[str], limit: int = 3, empty: str = NOTHING) -> str:
    """The first ``limit`` items, and how many more there are."""
    every = list(items)
    text = ",".join(every[:limit])
    if len(every) > limit:
        return f"{text} + {len(every) - limit} more..."
    return text or empty


def boolean(value: bool | None) -> str:
    """``True`` or ``False`` as Go's printers write them; unset without a value."""
    return UNSET if value is None else "True" if value else "False"
