"""Rules of ``x-kubernetes-validations``: compiled with a schema, asked about its objects.

``compile_rules`` gives a tree that has a node for each place with rules, here or below; `evaluate`
walks an object along it. A rule over ``oldSelf`` is asked only where a place has a predecessor.
Source: apiextensions-apiserver pkg/apiserver/schema/cel.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from muntin.kit.errors import Cause, Invalid
from muntin.model.custom import paths
from muntin.model.custom.structural import Json, Structural, parse
from muntin.model.custom.values import NOTHING
from muntin.model.gates import Version
from muntin.model.validation.findings import Findings

LONGEST_MESSAGE = 5 * 1024
_without_literals = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//[^\n]*')
_names_old_self = re.compile(r"(?<![\w.])oldSelf(?!\w)").search
_STOP = "operation cancelled: actual cost limit exceeded"


@dataclass(slots=True)
class Rule:
    """One rule; ``error`` says why it has no ``program``, ``message_error`` the same of the
    expression that makes its message."""

    raw: Json
    uses_old: bool
    program: Any = None
    error: str = ""
    message_program: Any = None
    message_error: str = ""
    path: str = ""
    environment: Any = None

    @property
    def optional_old(self) -> bool:
        """Whether it is asked without a predecessor, too."""
        return bool(self.raw.get("optionalOldSelf"))

    def cost(self, shape: Any) -> int:
        """What it costs at most to ask it once of a value of ``shape``."""
        from muntin.model.cel import most_cost

        return most_cost(self.raw["rule"], self.environment, shape)

    def message_cost(self, shape: Any) -> int:
        """The same of the expression that makes its message."""
        from muntin.model.cel import most_cost

        return most_cost(self.raw["messageExpression"], self.environment, shape)

    @property
    def text(self) -> str:
        """How messages name it."""
        return str(self.raw.get("message") or self.raw.get("rule") or "").strip()

    @property
    def message(self) -> str:
        """What is said when it does not hold."""
        text = str(self.raw.get("message") or "").strip()
        return text or f"failed rule: {self.text}"


@dataclass(slots=True)
class Node:
    """The rules at one place and below; ``shape`` is what its value looks like to them."""

    schema: Structural
    shape: Any
    rules: list[Rule] = field(default_factory=list)
    properties: dict[str, Node] = field(default_factory=dict)
    additional: Node | None = None
    items: Node | None = None
    all_of: list[Node] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to ask."""
        below = self.properties or self.additional or self.items or self.all_of
        return not self.rules and not below


def names_old_self(text: str) -> bool:
    """Whether a rule speaks of the predecessor."""
    return _names_old_self(_without_literals.sub("", text)) is not None


def compile_rules(schema: Structural) -> Node | None:
    """The rules of ``schema``; None if it has none."""
    if not schema.has_rules:
        return None
    from muntin.model.custom.shapes import shape_of

    return _node(schema, shape_of(schema))


def _node(schema: Structural, shape: Any, rules: tuple[Json, ...] | None = None) -> Node | None:
    from muntin.model.cel import escape
    from muntin.model.custom.shapes import shape_of

    node = Node(schema, shape)
    found = schema.rules if rules is None else rules
    if found and shape is not None:
        node.rules = [compile_rule(raw, schema, shape) for raw in found]
    if rules is not None:
        return node if node.rules else None
    for key, place in schema.properties.items():
        if place.has_rules:
            name = escape(key)
            inner = shape.fields.get(name) if shape is not None and name else shape_of(place)
            if inner is not None and (below := _node(place, inner)):
                node.properties[key] = below
    element = shape.element if shape is not None else None
    if schema.additional is not None and schema.additional.has_rules and element is not None:
        node.additional = _node(schema.additional, element)
    if schema.items is not None and schema.items.has_rules and element is not None:
        node.items = _node(schema.items, element)
    for part in schema.raw.get("allOf") or ():
        nested = parse(part)
        if nested.rules and (below := _node(schema, shape, nested.rules)):
            node.all_of.append(below)
    return None if node.is_empty else node


def compile_rule(raw: Json, schema: Structural, shape: Any, api: Version = ()) -> Rule:
    """One rule of a place with that ``schema``; what is wrong with it is kept in it. A new one
    may use what expressions of the ``api`` may."""
    from muntin.model.cel import CompileError, Shape, compile, environment

    text = raw.get("rule") or ""
    rule = Rule(raw, names_old_self(text))
    variables = {"self": shape, "oldSelf": shape}
    if raw.get("optionalOldSelf"):
        variables["oldSelf"] = Shape("optional", element=shape)
    env = rule.environment = environment(variables, api=api)
    if not text.strip():
        return rule
    try:
        rule.program = compile(text, env)
        if rule.program.result != "bool":
            rule.program, rule.error = None, "cel expression must evaluate to a bool"
    except CompileError as err:
        rule.error = f"compilation failed: {err.message}"
    if expression := raw.get("messageExpression"):
        try:
            rule.message_program = compile(expression, env)
            if rule.message_program.result != "string":
                rule.message_program = None
                rule.message_error = "messageExpression must evaluate to a string"
        except CompileError as err:
            rule.message_error = f"messageExpression compilation failed: {err.message}"
    if raw.get("fieldPath"):
        try:
            rule.path = paths.resolve(raw["fieldPath"], schema)[0]
        except Invalid:
            rule.path = ""
    return rule


# -- evaluating -------------------------------------------------------------------------------

Pair = tuple[Any, Any]  # a place and its predecessor, or NOTHING


class _Stopped(Exception):
    """A rule took too long: no further ones are asked."""


def evaluate(
    node: Node, new: Any, old: Any = None, *, ratchets: bool = True, base: str = "",
    passed: list[Cause] | None = None,
) -> list[Cause]:  # fmt: skip
    """What the rules say of ``new``, the successor of ``old`` (None: there is none).

    Into ``passed`` goes what is wrong and let pass, because it was so before.
    """
    walk = _Walk()
    earlier = NOTHING if old is None else old
    anchor = (new, earlier) if ratchets else (new, NOTHING)
    with contextlib.suppress(_Stopped):
        walk.visit(node, new, earlier, anchor, base)
    if passed is not None:
        passed += walk.passed.causes
    return walk.found.causes


class _Walk:
    def __init__(self) -> None:
        self.found = Findings()
        self.passed = Findings()

    def visit(self, node: Node, value: Any, old: Any, anchor: Pair, path: str) -> None:
        if value is None:
            return
        self._ask(node, value, old, anchor, path)
        for part in node.all_of:
            self._ask(part, value, old, (value, NOTHING), path)
        if isinstance(value, dict):
            self._members(node, value, old, anchor, path)
        elif isinstance(value, list) and node.items is not None:
            earlier = _by_keys(node.schema, old)
            for index, item in enumerate(value):
                before = earlier(item)
                below = (item, before) if before is not NOTHING else anchor
                self.visit(node.items, item, before, below, f"{path}[{index}]")

    def _members(
        self, node: Node, value: dict[str, Any], old: Any, anchor: Pair, path: str
    ) -> None:
        is_granular = node.schema.map_type != "atomic"
        known = old if isinstance(old, dict) and is_granular else {}
        for key, item in value.items():
            place = node.properties.get(key)
            at = f"{path}.{key}" if path else key
            if place is None:
                place, at = node.additional, f"{path}[{key}]"
            if place is not None:
                before = known.get(key, NOTHING)
                below = (item, before) if before is not NOTHING else anchor
                self.visit(place, item, before, below, at)

    def _ask(self, node: Node, value: Any, old: Any, anchor: Pair, path: str) -> None:
        if not node.rules:
            return
        variables = _variables(node, value, old)
        for rule in node.rules:
            self._ask_one(rule, node, value, variables, anchor, path)

    def _ask_one(
        self, rule: Rule, node: Node, value: Any, variables: Mapping[str, Any], anchor: Pair,
        path: str,
    ) -> None:  # fmt: skip
        from muntin.model.cel import EvaluationError

        if rule.error:
            self.found.invalid(
                path or "<nil>", node.schema.type, f"rule compile error: {rule.error}"
            )
            return
        has_old = "oldSelf" in variables
        if rule.program is None or (rule.uses_old and not has_old and not rule.optional_old):
            return
        try:
            if rule.program.evaluate(variables) is True:
                return
        except EvaluationError as err:
            self._failed(err.message, rule, node, path)
            return
        was_so = not rule.uses_old and anchor[1] is not NOTHING and anchor[0] == anchor[1]
        found = self.passed if was_so else self.found
        _refuse(found, rule, node, value, variables, path)

    def _failed(self, text: str, rule: Rule, node: Node, path: str) -> None:
        where, kind = path or "<nil>", node.schema.type
        if text.startswith("no such overload"):
            detail = (
                f"'{text}': call arguments did not match a supported operator, function or macro "
                f"signature for rule: {rule.text}"
            )
        elif text.startswith(_STOP):
            detail = (
                f"'{text}': no further validation rules will be run due to call cost exceeds limit "
                f"for rule: {rule.text}"
            )
            self.found.invalid(where, kind, detail)
            raise _Stopped
        else:
            detail = f"{text} evaluating rule: {rule.text}"
        self.found.invalid(where, kind, detail)


def _refuse(
    found: Findings, rule: Rule, node: Node, value: Any, variables: Mapping[str, Any], path: str
) -> None:
    detail = _said(rule, variables) or rule.message
    if rule.path:
        path = f"{path}.{rule.path}" if path and rule.path[0] != "[" else path + rule.path
    where = path or "<nil>"
    match rule.raw.get("reason"):
        case "FieldValueForbidden":
            found.forbidden(where, detail)
        case "FieldValueRequired":
            found.required(where, detail)
        case "FieldValueDuplicate":
            found.duplicate(where, value)
        case _ if node.schema.type in ("object", "array"):
            found.omitted(where, detail)
        case _:
            found.invalid(where, value, detail)


def _variables(node: Node, value: Any, old: Any) -> dict[str, Any]:
    from muntin.model.cel import EvaluationError
    from muntin.model.cel.values import convert

    try:
        found = {"self": convert(value, node.shape)}
        if old is not NOTHING and old is not None:
            found["oldSelf"] = convert(old, node.shape)
    except EvaluationError:  # a text of the wrong format, which the schema has refused already
        return {"self": value}
    return found


def _said(rule: Rule, variables: Mapping[str, Any]) -> str:
    """What the rule's own expression says; empty if it gives nothing that could be shown."""
    from muntin.model.cel import EvaluationError

    if rule.message_program is None:
        return ""
    try:
        text = str(rule.message_program.evaluate(variables)).strip()
    except EvaluationError:
        return ""
    return "" if "\n" in text or len(text) > LONGEST_MESSAGE else text


def _by_keys(schema: Structural, old: Any) -> Callable[[Any], Any]:
    """How an element's predecessor is found: only in a list that is a map."""
    if schema.list_type != "map" or not isinstance(old, list):
        return lambda item: NOTHING
    keys = schema.list_map_keys
    known = {tuple(map(repr, map(item.get, keys))): item for item in old if isinstance(item, dict)}

    def earlier(item: Any) -> Any:
        if not isinstance(item, dict):
            return NOTHING
        return known.get(tuple(map(repr, map(item.get, keys))), NOTHING)

    return earlier
