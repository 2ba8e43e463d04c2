"""``target op value``: variables (typed ones convert), members, elements, several at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import nodes as n
from . import types
from . import values as v
from .errors import NetError, NetException, PSError
from .members import find_method, set_member

if TYPE_CHECKING:
    from .evaluator import Evaluator


class Assigner:
    """Carries out assignments for one evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        """For ``evaluator``."""
        self.ev = evaluator

    def assign(self, node: n.Assignment) -> Any:
        """The whole statement; gives the value assigned."""
        new = self.ev.statement_value(node.value)
        if node.op != "=":
            new = self.ev.binary(node.op[0], self.ev.value(node.target), new)
        return self.store(node.target, new)

    def store(self, target: n.Node, value: Any) -> Any:
        """Put ``value`` where ``target`` says; gives what was stored."""
        if isinstance(target, n.Variable):
            return self.ev.variables.set(target, value)
        if isinstance(target, n.Cast) and isinstance(target.operand, n.Variable):
            variable = target.operand
            wanted = types.get(target.type_name)
            value = types.cast(value, wanted)
            self.ev.scope.named(variable.scope).types.pop(variable.name.lower(), None)
            self.ev.variables.set(variable, value)
            if variable.scope != "env":
                self.ev.scope.named(variable.scope).types[variable.name.lower()] = wanted
            return value
        if isinstance(target, n.ArrayLiteral):
            self._several(target, value)
            return value
        if isinstance(target, n.Member):
            self._member(target, value)
            return value
        if isinstance(target, n.Index):
            self._element(target, value)
            return value
        if isinstance(target, n.Paren):
            return value
        raise PSError(
            "The assignment expression is not valid.", "InvalidLeftHandSide", "InvalidOperation"
        )

    def _several(self, target: n.ArrayLiteral, value: Any) -> None:
        items = v.listed(value)
        last = len(target.items) - 1
        for index, one in enumerate(target.items):
            if index < last:
                self.store(one, items[index] if index < len(items) else None)
            else:
                self.store(one, v.unwrap(items[last:]))

    def _member(self, target: n.Member, value: Any) -> None:
        name = (
            target.name if isinstance(target.name, str) else v.to_text(self.ev.value(target.name))
        )
        if target.static:
            self._static(target, name, value)
            return
        owner = self.ev.value(target.target)
        try:
            set_member(owner, name, value)
        except NetError as err:
            raise PSError(
                f'Exception setting "{name}": "{err.message}"', "ExceptionWhenSetting",
                exception="SetValueInvocationException",
                inner=NetException(err.type_name, err.message, **err.extra),
            ) from err  # fmt: skip

    def _static(self, target: n.Member, name: str, value: Any) -> None:
        wanted = self.ev.value(target.target)
        row = wanted.row if isinstance(wanted, types.TypeRef) else None
        setter = (
            getattr(types.load(row.statics), f"set_{name}", None) if row and row.statics else None
        )
        if setter is None:
            raise PSError(
                f"The property '{name}' cannot be found on this object. Verify that the property "
                "exists and can be set.",
                "PropertyAssignmentException",
                "InvalidOperation",
            )
        setter(value)

    def _element(self, target: n.Index, value: Any) -> None:
        owner, index = self.ev.value(target.target), self.ev.value(target.index)
        if owner is None:
            raise PSError("Cannot index into a null array.", "NullArray", "InvalidOperation")
        if isinstance(owner, v.Hashtable):
            owner.set(index, value)
        elif isinstance(owner, (list, bytearray)):
            at = v.to_int(index)
            if not -len(owner) <= at < len(owner):
                raise PSError(
                    "Index was outside the bounds of the array.",
                    "System.IndexOutOfRangeException",
                    "OperationStopped",
                    exception="System.IndexOutOfRangeException",
                )
            owner[at] = types.cast_byte(value) if isinstance(owner, bytearray) else value
        elif (setter := find_method(owner, "set_Item")) is not None:
            setter(index, value)
        else:
            raise PSError(
                f"Unable to index into an object of type {v.type_name(owner)}.", "CannotIndex",
                "InvalidOperation",
            )  # fmt: skip
