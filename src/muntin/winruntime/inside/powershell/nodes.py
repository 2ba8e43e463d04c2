"""The syntax tree. ``start`` and ``end`` of every node are offsets into the script's text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T", bound=type)


def _init_for(names: tuple[str, ...]) -> Callable[..., None]:
    body = "".join(f" self.{name} = {name}\n" for name in names) + " self.start = 0; self.end = 0\n"
    scope: dict[str, Any] = {}
    exec(f"def __init__(self, {', '.join(names)}):\n{body}", scope)
    init: Callable[..., None] = scope["__init__"]
    return init


@dataclass_transform()
def _node(cls: _T) -> _T:
    """A constructor from the class's own annotations (the dataclasses module is slow to import)."""
    names = tuple(cls.__annotations__)
    cls.__init__ = _init_for(names)  # type: ignore[misc]  # dataclass_transform declares it
    return cls


class Node:
    """Anything in the tree."""

    start = 0
    end = 0


# --- expressions ---------------------------------------------------------------------------


@_node
class Literal(Node):
    """A constant; ``text`` is how it was written, for native programs."""

    value: Any
    text: str


@_node
class ExpandableString(Node):
    """Text with variables and subexpressions in it: str and Node parts in order."""

    parts: list[Any]


@_node
class Variable(Node):
    """``$scope:name``; ``scope`` is lower case and may be empty."""

    scope: str
    name: str


@_node
class Splat(Node):
    """``@name`` among the arguments of a command."""

    name: str


@_node
class ArrayLiteral(Node):
    """``a, b, c``."""

    items: list[Node]


@_node
class ArrayExpression(Node):
    """``@( statements )``."""

    body: Block


@_node
class SubExpression(Node):
    """``$( statements )``."""

    body: Block


@_node
class Paren(Node):
    """``( pipeline )``."""

    body: Node


@_node
class HashLiteral(Node):
    """``@{ key = value }``."""

    pairs: list[tuple[Node, Node]]


@_node
class ScriptBlockLiteral(Node):
    """``{ ... }``; ``param`` is None where the block declares none."""

    params: list[Parameter] | None
    begin: Block | None
    process: Block | None
    body: Block
    text: str


@_node
class TypeName(Node):
    """``[Name]`` as a value."""

    name: str


@_node
class Cast(Node):
    """``[Name] operand``."""

    type_name: str
    operand: Node


@_node
class Unary(Node):
    """``op operand``."""

    op: str
    operand: Node


@_node
class Step(Node):
    """``++``/``--`` before (``prefix``) or after a target."""

    op: str
    target: Node
    prefix: bool


@_node
class Binary(Node):
    """``left op right``; ``op`` is lower case, its dash included, ``i`` prefix dropped."""

    op: str
    left: Node
    right: Node


@_node
class Member(Node):
    """``target.name`` or ``[Type]::name``; ``name`` is str or an expression."""

    target: Node
    name: Any
    static: bool


@_node
class Invoke(Node):
    """``target.name(args)``."""

    target: Node
    name: Any
    args: list[Node]
    static: bool


@_node
class Index(Node):
    """``target[index]``."""

    target: Node
    index: Node


# --- commands and statements ---------------------------------------------------------------


@_node
class CommandParameter(Node):
    """``-Name`` or ``-Name:value`` as written; ``text`` is for native programs."""

    name: str
    value: Node | None
    text: str


@_node
class Redirection(Node):
    """``stream>target``; ``target`` None merges into the output stream."""

    stream: str
    append: bool
    target: Node | None


@_node
class Command(Node):
    """One command of a pipeline; ``how`` is '', '&' or '.'."""

    how: str
    name: Node
    args: list[Node]
    redirections: list[Redirection]


@_node
class CommandExpression(Node):
    """An expression as an element of a pipeline."""

    expression: Node
    redirections: list[Redirection]


@_node
class Pipeline(Node):
    """Elements joined by ``|``."""

    elements: list[Node]


@_node
class Assignment(Node):
    """``target op statement``."""

    target: Node
    op: str
    value: Node


@_node
class Block(Node):
    """Statements in order."""

    statements: list[Node]


@_node
class If(Node):
    """``if``/``elseif`` clauses in order, then ``else``."""

    clauses: list[tuple[Node, Block]]
    otherwise: Block | None


@_node
class While(Node):
    """``while (condition) {}``; ``do {} while/until`` when ``post``."""

    label: str
    condition: Node
    body: Block
    post: bool
    until: bool


@_node
class For(Node):
    """``for (init; condition; step) {}``; each part may be missing."""

    label: str
    init: Node | None
    condition: Node | None
    step: Node | None
    body: Block


@_node
class ForEach(Node):
    """``foreach ($name in items) {}``."""

    label: str
    variable: Variable
    items: Node
    body: Block


@_node
class Switch(Node):
    """``switch [-flags] (value) { clause {} ... default {} }``."""

    label: str
    flags: list[str]
    value: Node
    clauses: list[tuple[Node, Block]]
    default: Block | None


@_node
class Try(Node):
    """``try {} catch [T] {} finally {}``; a catch with no types takes everything."""

    body: Block
    catches: list[tuple[list[str], Block]]
    final: Block | None


@_node
class Flow(Node):
    """``break continue return throw exit`` with their optional value."""

    keyword: str
    value: Node | None


@_node
class Parameter(Node):
    """One parameter of a function or script block."""

    name: str
    type_name: str
    default: Node | None
    mandatory: bool
    position: int | None
    pipeline: bool
    aliases: list[str]
    validate: list[tuple[str, list[Node]]]


@_node
class Function(Node):
    """``function name {}`` (or ``filter``)."""

    name: str
    block: ScriptBlockLiteral
