"""Shapes of values: what an expression may do with a variable.

A shape with fields lets the compiler refuse names that are not among them. Values are plain: dicts
for objects and maps, lists, datetimes for timestamps, timedeltas for durations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Names = Callable[[str], str]

OPAQUE = "Opaque"  # the one message that all opaque values are


@dataclass(slots=True, eq=False)
class Shape:
    """``kind`` is one of dyn, bool, int, double, string, bytes, timestamp, duration, list, map,
    object, opaque, optional. ``name`` is that of an object's or opaque type; ``element`` is what
    lists, maps and optionals hold; ``fields`` are an object's. ``most`` is how many elements or
    characters there may be, for estimates of costs; ``least_bytes`` is how short it may be as JSON.
    A shape may contain itself."""

    kind: str
    name: str = ""
    element: Shape | None = None
    fields: Mapping[str, Shape] = field(default_factory=dict)
    most: int = 0
    least_bytes: int = 1

    @property
    def erased(self) -> str:
        """The type's signature when an expression runs: objects are of no known type."""
        return self._signature(lambda _: "dyn", lambda _: OPAQUE)

    @property
    def signature(self) -> str:
        """The type's signature."""
        return self._signature(lambda name: name, lambda name: name)

    def _signature(self, of_object: Names, of_opaque: Names) -> str:
        if self.kind == "object":
            return of_object(self.name)
        if self.kind == "opaque":
            return of_opaque(self.name)
        if self.element is not None:
            inner = self.element._signature(of_object, of_opaque)
            if self.kind == "list":
                return f"list({inner})"
            if self.kind == "map":
                return f"map(string,{inner})"
        return _SIMPLE.get(self.kind, "dyn")


_SIMPLE = {
    "bool": "bool",
    "bytes": "bytes",
    "double": "double",
    "duration": "google.protobuf.Duration",
    "int": "int",
    "string": "string",
    "timestamp": "google.protobuf.Timestamp",
}

DYN = Shape("dyn")
