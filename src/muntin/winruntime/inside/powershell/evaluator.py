"""Runs the tree: statements write to a sink, expressions give a value.

One method for each kind of node, found by the node's class. Commands are ``pipeline.py``'s,
assignments ``assign.py``'s, error records ``reporting.py``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import nodes as n
from . import operators as ops
from . import types
from . import values as v
from .assign import Assigner
from .errors import (
    LoopExit,
    NetError,
    NetException,
    ParseError,
    PSError,
    Refusal,
    ReturnSignal,
    StopUpstream,
)
from .host import Host
from .members import find_method, get_member
from .reporting import Reporter, Source
from .scope import Scope
from .textformat import regex, wildcard
from .variables import Variables

Sink = Callable[[Any], None]
MAX_DEPTH = 120


class Evaluator:
    """State of one running script: scopes, errors, and what the last command did."""

    def __init__(self, host: Host, show: Sink) -> None:
        """``show`` is where output goes that nothing in the script takes (the console)."""
        self.host = host
        self.show = show
        self.scope = Scope()
        self.source = Source("", "")
        self.ok = True
        self.failed = False
        self.try_depth = 0
        self.depth = 0
        self.handling: PSError | None = None
        self.reporter = Reporter(self)
        self.variables = Variables(self)
        self.assigner = Assigner(self)
        from .pipeline import Pipelines

        self.pipelines = Pipelines(self)

    # --- statements -------------------------------------------------------------------------

    def run_block(self, block: n.Block, out: Sink) -> None:
        """The statements in order; an error ends only its own, unless something handles it."""
        for statement in block.statements:
            self.run_statement(statement, out)

    def run_statement(self, node: n.Node, out: Sink) -> None:
        """One statement, with its errors shown or passed on."""
        try:
            self.execute(node, out)
        except (NetError, RecursionError) as err:
            error = self.reporter.from_other(err)
            self._failed(error, node)
        except PSError as error:
            self._failed(error, node)

    def _failed(self, error: PSError, node: n.Node) -> None:
        self.reporter.locate(error, node)
        self.ok = False
        stop = v.to_text(self.scope.get("erroractionpreference")).lower()
        if error.fatal or self.try_depth or stop == "stop":
            raise error
        self.reporter.report(error)

    def execute(self, node: n.Node, out: Sink) -> None:
        """Run a statement node."""
        method = _STATEMENTS.get(type(node))
        if method is None:
            out(self.value(node))
        else:
            method(self, node, out)

    def collect(self, node: n.Node) -> list[Any]:
        """Everything that a statement writes."""
        found: list[Any] = []
        self.execute(node, found.append)
        return found

    def statement_value(self, node: n.Node) -> Any:
        """What an assignment gets from the statement on its right."""
        if isinstance(node, n.Pipeline) and len(node.elements) == 1:
            only = node.elements[0]
            if isinstance(only, n.CommandExpression) and not only.redirections:
                value = self.value(only.expression)
                self.ok = True
                return value
        if isinstance(node, n.Assignment):
            return self.assigner.assign(node)
        return v.unwrap(self.collect(node))

    def _pipeline(self, node: n.Pipeline, out: Sink) -> None:
        if len(node.elements) == 1:
            only = node.elements[0]
            if isinstance(only, n.CommandExpression) and not only.redirections:
                self._expression_statement(only.expression, out)
                return
        outer, self.failed = self.failed, False
        try:
            self.pipelines.run(node, out)
        finally:
            failed, self.failed = self.failed, outer
        self.ok = not failed

    def _expression_statement(self, node: n.Node, out: Sink) -> None:
        value = self.value(node)
        self.ok = True
        if isinstance(node, n.Step) or (value is None and isinstance(node, (n.Invoke, n.Cast))):
            return
        if isinstance(node, (n.SubExpression, n.ArrayExpression)) and value is None:
            return
        if isinstance(node, n.Paren) and value is None and not isinstance(node.body, n.Assignment):
            return
        for item in v.enumerate_output(value):
            out(item)

    def _assignment(self, node: n.Assignment, _out: Sink) -> None:
        self.assigner.assign(node)
        self.ok = True

    def _block(self, node: n.Block, out: Sink) -> None:
        self.run_block(node, out)

    def _if(self, node: n.If, out: Sink) -> None:
        for condition, body in node.clauses:
            if v.truth(self.statement_value(condition)):
                self.run_block(body, out)
                return
        if node.otherwise is not None:
            self.run_block(node.otherwise, out)

    def _loop_body(self, body: n.Block, label: str, out: Sink) -> bool:
        """Run the body once; False when the loop is to end."""
        try:
            self.run_block(body, out)
        except LoopExit as leave:
            if leave.label and leave.label != label:
                raise
            return leave.keyword == "continue"
        return True

    def _while(self, node: n.While, out: Sink) -> None:
        if node.post:
            while self._loop_body(node.body, node.label, out):
                if v.truth(self.statement_value(node.condition)) == node.until:
                    return
            return
        while v.truth(self.statement_value(node.condition)):
            if not self._loop_body(node.body, node.label, out):
                return

    def _for(self, node: n.For, out: Sink) -> None:
        if node.init is not None:
            self.execute(node.init, lambda _item: None)
        while node.condition is None or v.truth(self.statement_value(node.condition)):
            if not self._loop_body(node.body, node.label, out):
                return
            if node.step is not None:
                self.execute(node.step, lambda _item: None)

    def _foreach(self, node: n.ForEach, out: Sink) -> None:
        for item in self._foreach_items(node.items):
            self.variables.set(node.variable, item)
            if not self._loop_body(node.body, node.label, out):
                return

    def _foreach_items(self, node: n.Node) -> Iterable[Any]:
        """What to loop over; a range is counted through, however long it is."""
        if isinstance(node, n.Pipeline) and len(node.elements) == 1:
            element = node.elements[0]
            inner: n.Node | None = None
            if isinstance(element, n.CommandExpression) and not element.redirections:
                inner = element.expression
            if isinstance(inner, n.Binary) and inner.op == "..":
                first, last = v.to_int(self.value(inner.left)), v.to_int(self.value(inner.right))
                step = 1 if first <= last else -1
                return range(first, last + step, step)
        value = self.statement_value(node)
        return [] if value is None else list(v.enumerate_output(value))

    def _switch(self, node: n.Switch, out: Sink) -> None:
        value = self.statement_value(node.value)
        subjects = list(value) if isinstance(value, list) else [value]
        saved = self.scope.values.get("_")
        try:
            for subject in subjects:
                self.scope.set("_", subject)
                if not self._loop_body_of_switch(node, subject, out):
                    return
        finally:
            self.scope.set("_", saved)

    def _loop_body_of_switch(self, node: n.Switch, subject: Any, out: Sink) -> bool:
        try:
            matched = False
            for test, body in node.clauses:
                if self._clause_matches(node.flags, test, subject):
                    matched = True
                    self.run_block(body, out)
            if not matched and node.default is not None:
                self.run_block(node.default, out)
        except LoopExit as leave:
            if leave.label and leave.label != node.label:
                raise
            return leave.keyword == "continue"
        return True

    def _clause_matches(self, flags: list[str], test: n.Node, subject: Any) -> bool:
        if isinstance(test, n.ScriptBlockLiteral):
            found: list[Any] = []
            self.run_block(test.body, found.append)
            return v.truth(v.unwrap(found))
        wanted = self.value(test)
        cased = "casesensitive" in flags
        if "wildcard" in flags:
            return bool(wildcard(v.to_text(wanted), cased=cased).match(v.to_text(subject)))
        if "regex" in flags:
            return self._match(v.to_text(subject), v.to_text(wanted), cased)
        return v.equal(subject, wanted, cased=cased)

    def _try(self, node: n.Try, out: Sink) -> None:
        try:
            self._try_body(node, out)
        finally:
            if node.final is not None:
                depth, self.try_depth = self.try_depth, 0
                try:
                    self.run_block(node.final, out)
                finally:
                    self.try_depth = depth

    def _try_body(self, node: n.Try, out: Sink) -> None:
        depth = self.try_depth
        self.try_depth += 1 if node.catches else 0
        scope, source = self.scope, self.source
        try:
            self.run_block(node.body, out)
            return
        except PSError as err:
            error = err
        finally:
            self.try_depth = depth
        self.scope, self.source = scope, source
        handler = _handler_for(node, error)
        if handler is None:
            raise error
        record = self.reporter.remember(error)
        saved, handling = self.scope.values.get("_"), self.handling
        self.scope.set("_", record)
        self.handling = error
        try:
            self.run_block(handler, out)
        finally:
            self.handling = handling
            self.scope.set("_", saved)

    def _flow(self, node: n.Flow, out: Sink) -> None:
        from .control import leave

        leave(self, node, out)

    def _function(self, node: n.Function, _out: Sink) -> None:
        self.scope.functions[node.name.lower()] = self.script_block(node.block)

    # --- expressions ------------------------------------------------------------------------

    def value(self, node: n.Node) -> Any:
        """The value of an expression."""
        method = _EXPRESSIONS.get(type(node))
        if method is None:
            return v.unwrap(self.collect(node))
        try:
            return method(self, node)
        except PSError as error:
            if error.node is None:
                error.node = node
            raise

    def _literal(self, node: n.Literal) -> Any:
        return node.value

    def _expandable(self, node: n.ExpandableString) -> str:
        separator = self.scope.get("ofs")
        joiner = " " if separator is None else v.to_text(separator)
        return "".join(
            part if isinstance(part, str) else v.to_text(self.value(part), joiner)
            for part in node.parts
        )

    def _variable(self, node: n.Variable) -> Any:
        return self.variables.get(node)

    def _array_literal(self, node: n.ArrayLiteral) -> list[Any]:
        return [self.value(item) for item in node.items]

    def _array_expression(self, node: n.ArrayExpression) -> list[Any]:
        statements = node.body.statements
        if len(statements) == 1 and isinstance(statements[0], n.Pipeline):
            only = statements[0].elements[0]
            if isinstance(only, n.CommandExpression) and isinstance(
                only.expression, n.ArrayLiteral
            ):
                return list(self.value(only.expression))
        found: list[Any] = []
        self.run_block(node.body, found.append)
        return found

    def _sub_expression(self, node: n.SubExpression) -> Any:
        found: list[Any] = []
        self.run_block(node.body, found.append)
        return v.unwrap(found)

    def _paren(self, node: n.Paren) -> Any:
        return self.statement_value(node.body)

    def _hash(self, node: n.HashLiteral) -> v.Hashtable:
        made = v.Hashtable()
        for key_node, value_node in node.pairs:
            key = self.value(key_node)
            if key in made:
                raise PSError(
                    f"Duplicate keys '{v.to_text(key)}' are not allowed in hash literals.",
                    "DuplicateKeyInHashLiteral", "InvalidOperation", node=key_node,
                )  # fmt: skip
            made.set(key, self.statement_value(value_node))
        return made

    def _script_block(self, node: n.ScriptBlockLiteral) -> v.ScriptBlock:
        return self.script_block(node)

    def script_block(self, node: n.ScriptBlockLiteral) -> v.ScriptBlock:
        """The block as a value that remembers which text it came from."""
        block = v.ScriptBlock(node, self.pipelines.invoke_block, self.scope)
        block.source = self.source  # type: ignore[attr-defined]  # only the evaluator reads it
        return block

    def _type(self, node: n.TypeName) -> Any:
        return types.get(node.name)

    def _cast(self, node: n.Cast) -> Any:
        if node.type_name.lower() == "ordered" and isinstance(node.operand, n.HashLiteral):
            made = self._hash(node.operand)
            made.net_name = "System.Collections.Specialized.OrderedDictionary"
            return made
        value = self.value(node.operand)
        return types.cast(value, types.get(node.type_name))

    def _unary(self, node: n.Unary) -> Any:
        value = self.value(node.operand)
        if node.op == "-not":
            return not v.truth(value)
        if node.op == ",":
            return [value]
        if node.op in ("-split", "-csplit"):
            return ops.split_blanks(value)
        if node.op == "-join":
            return ops.join(value, "")
        if node.op == "-bnot":
            return ~v.to_int(value, *v.INT64, "Int64")
        number = v.to_number(value)
        return -number if node.op == "-" else number

    def _step(self, node: n.Step) -> Any:
        old = self.value(node.target)
        if old is not None and not isinstance(old, (int, float)):
            raise PSError(
                f"The '{node.op}' operator works only on numbers. The operand is a "
                f"'{v.type_name(old)}'.",
                "OperatorRequiresNumber",
                "InvalidOperation",
            )
        before = v.to_number(old)
        after = before + (1 if node.op == "++" else -1)
        self.assigner.store(node.target, after)
        return after if node.prefix else before

    def _binary(self, node: n.Binary) -> Any:
        op = node.op
        left = self.value(node.left)
        if op == "-and":
            return v.truth(left) and v.truth(self.value(node.right))
        if op == "-or":
            return v.truth(left) or v.truth(self.value(node.right))
        right = self.value(node.right)
        return self.binary(op, left, right)

    def binary(self, op: str, left: Any, right: Any) -> Any:
        """The operator on two values."""
        if op.endswith("match"):
            return self._match_operator(op, left, right)
        if op in ("-is", "-isnot"):
            wanted = right if isinstance(right, types.TypeRef) else types.get(v.to_text(right))
            return types.is_instance(left, wanted) == (op == "-is")
        if op == "-as":
            wanted = right if isinstance(right, types.TypeRef) else types.get(v.to_text(right))
            try:
                return types.cast(left, wanted)
            except PSError:
                return None
        return ops.BINARY[op](left, right)

    def _match_operator(self, op: str, left: Any, right: Any) -> Any:
        cased, negated = op.startswith("-c"), op.endswith("notmatch")
        pattern = v.to_text(right)
        if isinstance(left, list):
            found = regex(pattern, cased=cased)
            return [x for x in left if bool(found.search(v.to_text(x))) != negated]
        return self._match(v.to_text(left), pattern, cased) != negated

    def _match(self, text: str, pattern: str, cased: bool) -> bool:
        match = regex(pattern, cased=cased).search(text)
        if match is None:
            return False
        groups = v.Hashtable()
        for index, part in enumerate((match.group(), *match.groups())):
            if part is not None:
                groups.set(index, part)
        for name, part in match.groupdict().items():
            if part is not None:
                groups.set(name, part)
        self.scope.set("Matches", groups)
        return True

    # --- members ----------------------------------------------------------------------------

    def _name(self, name: Any) -> str:
        return name if isinstance(name, str) else v.to_text(self.value(name))

    def _member(self, node: n.Member) -> Any:
        name = self._name(node.name)
        if node.static:
            return self._static_member(node, name)
        target = self.value(node.target)
        try:
            return get_member(target, name)
        except NetError as err:
            raise PSError(
                f'Exception getting "{name}": "{err.message}"', "GetValueInvocationException",
                exception="GetValueInvocationException",
                inner=NetException(err.type_name, err.message, **err.extra),
            ) from err  # fmt: skip

    def _static_member(self, node: n.Member, name: str) -> Any:
        wanted = self._type_of_target(node.target)
        found = _static(wanted, name)
        if found is None:
            return None
        owner, attribute = found
        value = getattr(owner, attribute)
        return value() if attribute.startswith("get_") else value

    def _type_of_target(self, node: n.Node) -> types.TypeRef:
        target = self.value(node)
        if isinstance(target, types.TypeRef):
            return target
        return types.type_of(target)

    def _invoke(self, node: n.Invoke) -> Any:
        name = self._name(node.name)
        if node.static:
            wanted = self._type_of_target(node.target)
            args = [self.value(arg) for arg in node.args]
            if name.lower() == "new":
                return self.guarded(".ctor", args, lambda: types.construct(wanted, args))
            found = _static(wanted, name)
            if found is None or found[1].startswith("get_"):
                raise _no_method(wanted.FullName, name)
            return self.guarded(name, args, lambda: getattr(*found)(*args))
        target = self.value(node.target)
        args = [self.value(arg) for arg in node.args]
        if target is None:
            raise PSError(
                "You cannot call a method on a null-valued expression.", "InvokeMethodOnNull",
                "InvalidOperation",
            )  # fmt: skip
        return self.call_method(target, name, args)

    def call_method(self, target: Any, name: str, args: list[Any]) -> Any:
        """``target.name(args)``; an array without the method calls it on its elements."""
        method = find_method(target, name)
        if method is not None:
            return self.guarded(name, args, lambda: method(*args))
        if (
            isinstance(target, list)
            and target
            and all(find_method(item, name) is not None for item in target)
        ):
            found = [self.call_method(item, name, args) for item in target]
            return v.unwrap([item for item in found if item is not None])
        member = get_member(target, name)
        if isinstance(member, v.ScriptBlock):
            results: list[Any] = []
            self.pipelines.invoke_block(member, args, results.append)
            return v.unwrap(results)
        raise _no_method(v.type_name(target), name)

    def guarded(self, name: str, args: list[Any], call: Callable[[], Any]) -> Any:
        """Call into a shim; its failures become what PowerShell makes of them."""
        try:
            return call()
        except NetError as err:
            inner = NetException(err.type_name, err.message, **err.extra)
            raise PSError(
                f'Exception calling "{name}" with "{len(args)}" argument(s): "{err.message}"',
                err.type_name.rsplit(".", 1)[-1],
                exception="MethodInvocationException",
                inner=inner,
                fatal=isinstance(err, Refusal),
            ) from err
        except (TypeError, AttributeError) as err:
            raise PSError(
                f'Cannot find an overload for "{name}" and the argument count: "{len(args)}".',
                "MethodCountCouldNotFindBest",
                exception="MethodException",
            ) from err

    def _index(self, node: n.Index) -> Any:
        target, index = self.value(node.target), self.value(node.index)
        return self.item(target, index)

    def item(self, target: Any, index: Any) -> Any:
        """``target[index]``."""
        if target is None:
            raise PSError("Cannot index into a null array.", "NullArray", "InvalidOperation")
        if isinstance(index, list):
            picked = [self.item(target, one) for one in index]
            return [item for item in picked if item is not None]
        if isinstance(target, v.Hashtable):
            ordered = target.net_name.endswith("OrderedDictionary")
            if ordered and isinstance(index, int) and index not in target:
                rows = target.items()
                return rows[index][1] if -len(rows) <= index < len(rows) else None
            return target.get(index)
        if isinstance(target, (list, bytearray, str)):
            at = v.to_int(index)
            if not -len(target) <= at < len(target):
                return None
            return v.Char(target[at]) if isinstance(target, str) else target[at]
        getter = find_method(target, "get_Item") if isinstance(target, v.NetObject) else None
        if getter is not None and hasattr(target, "Item"):
            return target.Item(index)
        if v.equal(index, 0) or v.equal(index, -1):
            return target
        return None

    def parse_failure(self, err: ParseError) -> PSError:
        """A syntax error of a text that is parsed while the script runs."""
        return PSError(
            err.message, err.error_id, "ParserError", exception="ParseException", fatal=True
        )  # fmt: skip


def _handler_for(node: n.Try, error: PSError) -> n.Block | None:
    known = {name.lower() for name in error.exception_types}
    for names, body in node.catches:
        if not names:
            return body
        for name in names:
            found = types.find(name)
            if found is not None and found.FullName.lower() in known:
                return body
    return None


def _static(wanted: types.TypeRef, name: str) -> tuple[Any, str] | None:
    """The class and attribute that hold a static member."""
    from .members import member_names

    row = wanted.row
    if row is None or not row.statics:
        return None
    owner = types.load(row.statics)
    attribute = member_names(owner).get(name.lower())
    return None if attribute is None else (owner, attribute)


def _no_method(full: str, name: str) -> PSError:
    return PSError(
        f"Method invocation failed because [{full}] does not contain a method named '{name}'.",
        "MethodNotFound", "InvalidOperation", target=name, target_type="String",
    )  # fmt: skip


_STATEMENTS: dict[type, Any] = {
    n.Pipeline: Evaluator._pipeline,
    n.Assignment: Evaluator._assignment,
    n.Block: Evaluator._block,
    n.If: Evaluator._if,
    n.While: Evaluator._while,
    n.For: Evaluator._for,
    n.ForEach: Evaluator._foreach,
    n.Switch: Evaluator._switch,
    n.Try: Evaluator._try,
    n.Flow: Evaluator._flow,
    n.Function: Evaluator._function,
}
_EXPRESSIONS: dict[type, Any] = {
    n.Literal: Evaluator._literal,
    n.ExpandableString: Evaluator._expandable,
    n.Variable: Evaluator._variable,
    n.ArrayLiteral: Evaluator._array_literal,
    n.ArrayExpression: Evaluator._array_expression,
    n.SubExpression: Evaluator._sub_expression,
    n.Paren: Evaluator._paren,
    n.HashLiteral: Evaluator._hash,
    n.ScriptBlockLiteral: Evaluator._script_block,
    n.TypeName: Evaluator._type,
    n.Cast: Evaluator._cast,
    n.Unary: Evaluator._unary,
    n.Step: Evaluator._step,
    n.Binary: Evaluator._binary,
    n.Member: Evaluator._member,
    n.Invoke: Evaluator._invoke,
    n.Index: Evaluator._index,
}
__all__ = ["Evaluator", "ReturnSignal", "StopUpstream"]
