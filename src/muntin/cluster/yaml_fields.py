"""Strict reading of a YAML document: every error knows its file, line, column and field.

A :class:`Mapping` hands out its keys one by one with the type the caller asks for; ``finish``
refuses whatever nobody asked for. Works on PyYAML's node tree, so places are never guessed.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import yaml

from muntin.kit import safe_yaml
from muntin.kit.errors import Invalid

T = TypeVar("T")
_STRING, _INT, _BOOL, _NULL = (
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "bool", "null")
)


class Place:
    """Where a value stands: ``file:line:column: field``."""

    def __init__(self, file: str, node: yaml.Node, field: str) -> None:
        self.file, self.node, self.field = file, node, field

    def wrong(self, message: str) -> Invalid:
        """The error to raise: ``message`` says what is wrong and what would be right."""
        mark = self.node.start_mark
        where = f"{self.file}:{mark.line + 1}:{mark.column + 1}"
        return Invalid(f"{where}: {self.field}: {message}" if self.field else f"{where}: {message}")

    def checked(self, make: Callable[[str], T], text: str) -> T:
        """``make(text)``, with its Invalid or ValueError put at this place."""
        try:
            return make(text)
        except Invalid as err:
            raise self.wrong(err.message) from err
        except ValueError as err:
            raise self.wrong(str(err)) from err

    def mapping(self) -> Mapping:
        if not isinstance(self.node, yaml.MappingNode):
            raise self.wrong(f"must be a mapping of keys to values, not {_kind(self.node)}")
        return Mapping(self.file, self.node, self.field)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    def items(self) -> Iterator[Place]:
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.wrong(f"must be a list (lines that begin with '-'), not {_kind(self.node)}")
        for index, node in enumerate(self.node.value):
            yield Place(self.file, node, f"{self.field}[{index}]")

    def text(self) -> str:
        """A string; numbers are taken as they are written, so ``1.34`` needs no quotes."""
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag in (_NULL, _BOOL):
            raise self.wrong(f"must be a string, not {_kind(self.node)}")
        return str(self.node.value)

    def integer(self) -> int:
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag != _INT:
            raise self.wrong(f"must be a whole number, not {_kind(self.node)}")
        return int(self._value())

    def boolean(self) -> bool:
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag != _BOOL:
            raise self.wrong(f"must be true or false, not {_kind(self.node)}")
        return bool(self._value())

    def _value(self) -> Any:
        try:
            return safe_yaml.construct(self.node)
        except yaml.YAMLError as err:
            raise self.wrong(f"`{self.node.value[:40]}` cannot be read as a value") from err


class Mapping(Place):
    """A mapping whose keys are taken one at a time."""

    def __init__(self, file: str, node: yaml.MappingNode, field: str) -> None:
        super().__init__(file, node, field)
        self._values: dict[str, Place] = {}
        self._keys: dict[str, Place] = {}
        self._known: list[str] = []
        for key_node, value_node in node.value:
            key = Place(file, key_node, field).text()
            at = f"{field}.{key}" if field else key
            if key in self._values:
                raise Place(file, key_node, at).wrong("appears twice; keep one of them")
            self._values[key] = Place(file, value_node, at)
            self._keys[key] = Place(file, key_node, at)

    def take(self, key: str) -> Place | None:
        """The value of ``key``; None when it is absent or null."""
        self._known.append(key)
        place = self._values.get(key)
        return None if place is None or place.node.tag == _NULL else place

    def require(self, key: str, example: str) -> Place:
        """The value of ``key``, which must be there."""
        place = self.take(key)
        if place is None:
            raise self.wrong(f"{key} is missing; add `{key}: {example}`")
        return place

    def texts(self) -> dict[str, tuple[str, Place]]:
        """All keys with string values, for labels and the like."""
        self._known.extend(self._values)
        return {key: (place.text(), place) for key, place in self._values.items()}

    def booleans(self) -> dict[str, bool]:
        """All keys with values that are true or false."""
        self._known.extend(self._values)
        return {key: place.boolean() for key, place in self._values.items()}

    def plain(self) -> dict[str, Any]:
        """Everything in it as plain values: a document of another format, checked elsewhere."""
        self._known.extend(self._values)
        found: dict[str, Any] = self._value()
        return found

    def left(self) -> list[Place]:
        """The keys that nobody took, and that have a value."""
        return [
            place
            for key, place in self._keys.items()
            if key not in self._known and self._values[key].node.tag != _NULL
        ]

    def finish(self) -> None:
        """Refuse the keys that nobody took, naming the nearest known one."""
        for key, place in self._keys.items():
            if key not in self._known:
                near = difflib.get_close_matches(key, self._known, n=1, cutoff=0.6)
                right = f"did you mean {near[0]}?" if near else f"known: {', '.join(self._known)}"
                raise place.wrong(f"unknown field; {right}")


def parse(text: str, file: str) -> Mapping:
    """The one document in ``text`` as a mapping.

    Raises:
        Invalid: not YAML, not one document, or not a mapping; the message names the place.
    """
    try:
        documents = list(safe_yaml.compose_all(text))
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        where = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        raise Invalid(f"{where}: not YAML: {err.problem or err.context}") from err
    except yaml.YAMLError as err:
        raise Invalid(f"{file}: not YAML: {' '.join(str(err).split())}") from err
    if len(documents) != 1:
        raise Invalid(f"{file}:1:1: must hold one YAML document, it holds {len(documents)}")
    return Place(file, documents[0], "").mapping()


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return "nothing" if node.tag == _NULL else f"`{node.value}`"
