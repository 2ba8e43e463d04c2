"""The one place where YAML is parsed: with limits on depth and on what aliases repeat.

libyaml composes nodes by recursion on the thread's stack, so the depth is counted while it
composes, not afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from muntin.kit import depth
from muntin.kit.errors import Invalid

Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# A document may have this many times the values that were sent, once aliases are replaced by what
# they name; small documents always may. Source: go-yaml decode.go allowedAliasRatio.
_ALIASED = 10
_ALWAYS_ALIASED = 10_000


class DepthLimit:
    """To be inherited before a composer: raises MarkedYAMLError at the first level too deep, or at
    the first node too many of a document. A node takes about 400 bytes."""

    most_nodes = 250_000
    _depth = 0
    _nodes = 0

    def descend_resolver(self, parent: yaml.Node | None, index: Any) -> None:
        """The composer calls this before it makes a node; ``parent`` holds the new node."""
        self._depth += 1
        self._nodes = self._nodes + 1 if self._depth > 1 else 1
        # Scalars descend, too, so that a value may be one level below the last map or list.
        if self._depth > depth.MAX_DEPTH + 1:
            mark = parent.start_mark if parent else None
            raise yaml.MarkedYAMLError(None, None, depth.MESSAGE, mark)
        if self._nodes > self.most_nodes:
            mark = parent.start_mark if parent else None
            text = f"exceeded max number of values of {self.most_nodes}"
            raise yaml.MarkedYAMLError(None, None, text, mark)

    def ascend_resolver(self) -> None:
        """The composer calls this when a node is complete."""
        self._depth -= 1


class Loader(DepthLimit, Base):  # type: ignore[misc]
    """PyYAML's safe loader with a limit on depth."""


def compose_all(text: str | bytes) -> Iterator[yaml.Node]:
    """The root nodes of all documents.

    Raises:
        yaml.YAMLError: not YAML, too deep, or too large because of aliases.
    """
    try:
        loader = Loader(text)
    except UnicodeError as err:
        raise yaml.YAMLError(str(err)) from err
    try:
        while loader.check_node():
            node = loader.get_node()
            check_aliases(node)
            yield node
    except ValueError as err:  # a code point that no character has, a directive's huge number
        raise yaml.YAMLError(str(err)) from err
    finally:
        loader.dispose()


def construct(node: yaml.Node) -> Any:
    """The plain value of a node.

    Raises:
        yaml.YAMLError: a scalar has no value, such as a date with a month 13.
    """
    loader = Loader("")
    try:
        return loader.construct_document(node)
    except (ValueError, LookupError, ArithmeticError, AttributeError, TypeError) as err:
        # PyYAML's own constructors raise these for tagged scalars of the wrong form.
        raise yaml.constructor.ConstructorError(
            None, None, f"invalid value: {err}", node.start_mark
        ) from err
    finally:
        loader.dispose()


def load(text: str | bytes) -> Any:
    """The value of the one document in ``text``; None for an empty text.

    Raises:
        Invalid: not YAML, several documents, or above a limit; the message gives line and column.
    """
    try:
        nodes = list(compose_all(text))
        if len(nodes) > 1:
            raise Invalid(f"must be one YAML document, not {len(nodes)}")
        return construct(nodes[0]) if nodes else None
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise Invalid(f"not YAML: {where}{err.problem or err.context}") from err
    except yaml.YAMLError as err:
        raise Invalid(f"not YAML: {' '.join(str(err).split())}") from err


def check_aliases(root: yaml.Node) -> None:
    """Raise MarkedYAMLError for excessive aliasing or aliases that contain themselves.

    The depth after alias expansion is limited as well, because values are walked as trees.
    """
    sizes: dict[int, tuple[int, int]] = {}  # values and levels, by the identity of the node
    open_nodes: set[int] = set()
    todo = [(root, False)]
    while todo:
        node, done = todo.pop()
        key = id(node)
        if done:
            open_nodes.discard(key)
            parts = [sizes[id(child)] for child in children(node)]
            levels = 1 + max((part[1] for part in parts), default=0)
            if levels > depth.MAX_DEPTH + 1:
                raise _refusal(depth.MESSAGE, node)
            sizes[key] = 1 + sum(part[0] for part in parts), levels
        elif key in open_nodes:
            raise _refusal("anchor value contains itself", node)
        elif key not in sizes:
            open_nodes.add(key)
            todo.append((node, True))
            todo += [(child, False) for child in children(node)]
    if sizes[id(root)][0] > max(_ALWAYS_ALIASED, _ALIASED * len(sizes)):
        raise _refusal("document contains excessive aliasing", root)


def _refusal(problem: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(None, None, problem, node.start_mark)


def children(node: yaml.Node) -> list[yaml.Node]:
    """The nodes directly inside: items, or keys and values."""
    if not isinstance(node.value, list):
        return []
    return [part for item in node.value for part in (item if isinstance(item, tuple) else (item,))]
