"""``break continue return throw exit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from . import nodes as n
from . import values as v
from .errors import ExitSignal, LoopExit, NetException, PSError, ReturnSignal

if TYPE_CHECKING:
    from .evaluator import Evaluator, Sink


def leave(ev: Evaluator, node: n.Flow, out: Sink) -> NoReturn:
    """Do what the keyword says; always ends in a signal."""
    if node.keyword in ("break", "continue"):
        label = "" if node.value is None else v.to_text(ev.value(node.value)).lower()
        raise LoopExit(node.keyword, label)
    if node.keyword == "return":
        if node.value is not None:
            ev.execute(node.value, out)
        raise ReturnSignal
    if node.keyword == "exit":
        value = None if node.value is None else ev.statement_value(node.value)
        raise ExitSignal(_exit_code(value))
    raise _thrown(ev, node)


def _exit_code(value: Any) -> int:
    try:
        return v.to_int(value)
    except PSError:
        return 0


def _thrown(ev: Evaluator, node: n.Flow) -> PSError:
    value = None if node.value is None else ev.statement_value(node.value)
    if value is None and ev.handling is not None:
        ev.handling.fatal = True
        ev.handling.reported = False
        return ev.handling
    if isinstance(value, v.ErrorRecord):
        value.error.fatal = True
        return value.error
    if isinstance(value, NetException):
        error = PSError(
            value.Message, value.Message, "OperationStopped", exception=value.net_name, fatal=True
        )
        error.exception = value
    else:
        text = "ScriptHalted" if value is None else v.to_text(value)
        error = PSError(
            text, text, "OperationStopped", "" if value is None else text,
            target_type="" if value is None else v.short_name(v.type_name(value)), fatal=True,
            target_object=value,
        )  # fmt: skip
    error.node = node
    error.thrown = True
    return error
