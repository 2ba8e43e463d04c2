"""YAML and JSON texts as plain values that remember where they stand.

A text is composed to PyYAML's nodes with the C parser, and the values are made from the nodes: a
place in the text is looked up by its path only when something is found there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from muntin.kit import safe_yaml
from muntin.lint.places import Path
from muntin.model import yaml_scalars

MAX_VALUES = 2_000_000
"""Values in one document, counted with what anchors repeat; real ones have some thousands."""
_PLAIN, _QUOTED = "plain", "quoted"
_MERGE = "<<"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a text, or a part of it, cannot be linted, or what is wrong with it as a text."""

    rule: str
    message: str
    line: int = 1
    column: int = 1
    fatal: bool = True


@dataclass(slots=True)
class Document:
    """One document of a text: its values, and the nodes they were made from."""

    file: str
    text: str
    data: Any
    root: yaml.Node | None = None
    index: int = 0
    script: bool = False
    partial: bool = False
    """Of a patch, which holds a part of an object: the API never sees it so."""
    line: int = 0
    column: int = 0
    inside: str = ""
    """Of a text that stands inside another: where it begins there, and the field that holds it."""
    builds: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """The Windows builds of images, as far as registries told; 0 is an image for any build."""

    def mark(self, path: Path) -> tuple[int, int]:
        """Line and column, from 1, of the key at ``path``, or of the nearest that is there."""
        if self.root is None:
            return 1, 1
        mark = key_mark(self.root, path)
        return mark.line + self.line + 1, mark.column + self.column + 1


def key_mark(root: yaml.Node, path: Path) -> yaml.Mark:
    """Where the key (or the item) at ``path`` begins."""
    mark, node = root.start_mark, root
    for step in path:
        found = child(node, step)
        if found is None:
            break
        key, node = found
        mark = (key or node).start_mark
    return mark


def child(node: yaml.Node, step: str | int) -> tuple[yaml.Node | None, yaml.Node] | None:
    """The key's node and the value's at ``step``; a later key of the same name counts."""
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if key_text(key) == step:
                return key, value
        for key, value in node.value:  # what << brings
            if key.value == _MERGE and key.tag == _PLAIN:
                for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    if (found := child(source, step)) is not None:
                        return found
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None


def key_text(key: yaml.Node) -> str | None:
    """The text of a key; None for a key that is a map or a list."""
    if not isinstance(key, yaml.ScalarNode):
        return None
    if key.tag == _PLAIN:
        return yaml_scalars.key(yaml_scalars.read(key.value))
    return str(key.value)


class _Resolving(safe_yaml.DepthLimit):
    """Tells plain scalars from quoted ones in place of YAML's own tags, and counts the depth."""

    def resolve(self, kind: type, value: str | None, implicit: Any) -> str:
        if kind is yaml.ScalarNode and (implicit is True or (implicit and implicit[0])):
            return _PLAIN
        return _QUOTED

    most_nodes = MAX_VALUES


class _SlowComposer(
    _Resolving,
    yaml.reader.Reader,
    yaml.scanner.Scanner,
    yaml.parser.Parser,
    yaml.composer.Composer,
):
    """Where PyYAML was built without libyaml: slower, and the same nodes."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)
        yaml.composer.Composer.__init__(self)


def _fast_composer() -> Any:
    """A composer on libyaml's parser, if PyYAML has it."""
    try:
        from yaml._yaml import CParser
    except ImportError:
        return None
    return type("_FastComposer", (_Resolving, CParser), {"__init__": CParser.__init__})


_Composer: Any = _fast_composer() or _SlowComposer


class _Broken(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def read(text: str, file: str) -> tuple[list[Document], list[Problem]]:
    """The documents of a text, as far as it can be read, and what is wrong with it."""
    documents: list[Document] = []
    problems: list[Problem] = []
    try:
        for root in _roots(text):
            values = _Values()
            data = values.of(root)
            problems += values.problems
            documents.append(Document(file, text, data, root, len(documents)))
    except _Broken as err:
        problems.append(err.problem)
    return documents, problems


def _roots(text: str) -> Iterator[yaml.Node]:
    try:
        composer = _Composer(text)
        while composer.check_node():
            yield composer.get_node()
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        if mark and err.context_mark and mark.index >= len(text):
            mark = err.context_mark  # what is open at the end says more than the end
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        if place[0] > text.count("\n") + 1:  # libyaml ends the last line where nobody did
            place = text.count("\n") + 1, len(text) - text.rfind("\n")
        parts = [part for part in (err.context, err.problem) if part]
        raise _Broken(Problem("yaml-syntax", ", ".join(parts), *place)) from err
    except yaml.reader.ReaderError as err:
        raise _Broken(_control_character(text)) from err


def _control_character(text: str) -> Problem:
    for number, line in enumerate(text.split("\n")):
        for column, letter in enumerate(line):
            if yaml.reader.Reader.NON_PRINTABLE.match(letter):
                what = f"the character U+{ord(letter):04X} may not stand in YAML"
                return Problem("yaml-syntax", what, number + 1, column + 1)
    return Problem("yaml-syntax", "a character that may not stand in YAML")


class _Values:
    """Makes one document's values from its nodes; what an anchor repeats is made once."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._made: dict[int, tuple[Any, int]] = {}
        self._open: set[int] = set()

    def of(self, root: yaml.Node) -> Any:
        return self._of(root)[0]

    def _of(self, node: yaml.Node) -> tuple[Any, int]:
        """The value, and how many values it holds."""
        if isinstance(node, yaml.ScalarNode):
            return (yaml_scalars.read(node.value) if node.tag == _PLAIN else node.value), 1
        known = self._made.get(id(node))
        if known is not None:
            return known
        if id(node) in self._open:
            raise _Broken(_at(node, "yaml-anchors", "an anchor holds an alias of itself"))
        self._open.add(id(node))
        made = self._mapping(node) if isinstance(node, yaml.MappingNode) else self._list(node)
        self._open.remove(id(node))
        if made[1] > MAX_VALUES:
            text = f"anchors repeat themselves to more than {MAX_VALUES} values"
            raise _Broken(_at(node, "yaml-anchors", text))
        self._made[id(node)] = made
        return made

    def _list(self, node: yaml.Node) -> tuple[list[Any], int]:
        items, size = [], 1
        for item in node.value:
            value, count = self._of(item)
            items.append(value)
            size += count
        return items, size

    def _mapping(self, node: yaml.MappingNode) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        size = 1
        for key, value in node.value:
            name = key_text(key)
            made, count = self._of(value)
            size += count
            if name is None:
                self.problems.append(_at(key, "yaml-key", "a map or a list cannot be a key"))
            elif name == _MERGE and key.tag == _PLAIN:
                for source in reversed(made if isinstance(made, list) else [made]):
                    merged.update(source if isinstance(source, dict) else {})
            else:
                if name in found:
                    text = f"the key {name!r} is there twice: the API takes one of them"
                    self.problems.append(_at(key, "duplicate-key", text, fatal=False))
                found[name] = made
        return (merged | found if merged else found), size


def _at(node: yaml.Node, rule: str, text: str, *, fatal: bool = True) -> Problem:
    mark = node.start_mark
    return Problem(rule, text, mark.line + 1, mark.column + 1, fatal)
