"""Functions and script blocks as pipeline stages: parameters, ``$args``, begin/process/end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import nodes as n
from . import types
from . import values as v
from .binding import Arg
from .errors import LoopExit, PSError, ReturnSignal
from .scope import Scope
from .stages import NO_INPUT, Stage
from .textformat import regex

if TYPE_CHECKING:
    from .evaluator import Evaluator, Sink


class FunctionStage(Stage):
    """A function, script file or script block being called."""

    def __init__(
        self,
        evaluator: Evaluator,
        node: n.Node,
        name: str,
        block: v.ScriptBlock,
        args: list[Arg],
        sink: Sink,
        has_input: bool,
        *,
        dotted: bool = False,
    ) -> None:
        """``dotted`` runs it in the caller's scope."""
        super().__init__(evaluator, node, sink, has_input)
        self.name = name
        self.block = block
        self.args = args
        self.dotted = dotted
        self.variables: dict[str, Any] = {}
        self.input: list[Any] = []
        self.scope: Scope | None = None
        self.ended = False

    def begin(self) -> None:
        """Bind the arguments and run the begin block."""
        own = getattr(self.block, "source", self.ev.source)
        self.scope = self.ev.scope if self.dotted else self.ev.pipelines.child_scope()
        if not self.dotted:
            self.closers.append(self._leave)
            self.scope.script = bool(own.file) and own.file != self.ev.source.file
        self.bind(self.scope)
        for name, value in self.variables.items():
            self.scope.set(name, value)
        if self.block.node.begin is not None:
            self._run(self.block.node.begin)

    def _leave(self) -> None:
        self.ev.depth -= 1

    def process(self, item: Any) -> None:
        """Run the process block, or keep the input for ``$input``."""
        if item is not NO_INPUT:
            self.input.append(item)
        if self.block.node.process is None or self.ended:
            return
        assert self.scope is not None  # begin ran
        if item is not NO_INPUT:
            self.scope.set("_", item)
            self._bind_pipeline(item)
        self._run(self.block.node.process)

    def end(self) -> None:
        """Run the body (the end block)."""
        assert self.scope is not None  # begin ran
        if not self.ended:
            self.scope.set("input", v.ArrayList(self.input))
            self._run(self.block.node.body)
        self.close()

    def _run(self, body: n.Block) -> None:
        ev = self.ev
        scope, source = ev.scope, ev.source
        assert self.scope is not None  # begin ran
        ev.scope, ev.source = self.scope, getattr(self.block, "source", source)
        try:
            ev.run_block(body, self.sink)
        except ReturnSignal:
            self.ended = body is not self.block.node.process
        except LoopExit:
            if ev.depth == 0:
                return
            raise
        finally:
            ev.scope, ev.source = scope, source

    # --- parameters -------------------------------------------------------------------------

    def bind(self, scope: Scope) -> None:
        """Arguments to the declared parameters; the rest is ``$args``."""
        params: list[n.Parameter] = self.block.node.params or []
        given: dict[str, Any] = {}
        loose: list[Any] = []
        pending = list(self.args)
        while pending:
            arg = pending.pop(0)
            param = self._named(params, arg.name) if arg.name is not None else None
            if arg.name is None:
                loose.append(arg.value)
            elif param is None:
                self._unknown(arg, loose, bool(params))
            elif param.type_name.lower() in (
                "switch",
                "system.management.automation.switchparameter",
            ):
                given[param.name] = v.truth(arg.value) if arg.has_value else True
            else:
                if not arg.has_value:
                    if not pending or pending[0].name is not None:
                        raise self._binding_error(
                            f"Missing an argument for parameter '{param.name}'. Specify a "
                            "parameter of type 'System.Object' and try again.",
                            "MissingArgument",
                        )
                    arg = pending.pop(0)
                given[param.name] = arg.value
        self._positions(params, given, loose)
        self._store(scope, params, given)
        if not self.dotted or loose:
            scope.set("args", loose)
        bound = v.Hashtable()
        for name, value in given.items():
            bound.set(name, value)
        scope.set("PSBoundParameters", bound)

    def _named(self, params: list[n.Parameter], name: str) -> n.Parameter | None:
        lower = name.lower()
        for param in params:
            if param.name.lower() == lower or lower in param.aliases:
                return param
        starts = [param for param in params if param.name.lower().startswith(lower)]
        if len(starts) > 1:
            listing = " ".join(f"-{param.name}" for param in starts)
            raise self._binding_error(
                f"Parameter cannot be processed because the parameter name '{name}' is ambiguous. "
                f"Possible matches include: {listing}.",
                "AmbiguousParameter",
            )
        return starts[0] if starts else None

    def _unknown(self, arg: Arg, loose: list[Any], declared: bool) -> None:
        if arg.name is not None and arg.name.lower() in ("erroraction", "ea", "verbose", "debug"):
            return
        if declared and any(p.mandatory or p.pipeline for p in self.block.node.params):
            raise self._binding_error(
                f"A parameter cannot be found that matches parameter name '{arg.name}'.",
                "NamedParameterNotFound",
            )
        loose.append(arg.text or f"-{arg.name}")
        if arg.has_value:
            loose.append(arg.value)

    def _positions(
        self, params: list[n.Parameter], given: dict[str, Any], loose: list[Any]
    ) -> None:
        free = [
            param
            for param in params
            if param.name not in given and param.type_name.lower() != "switch"
        ]
        if any(param.position is not None for param in params):
            placed = [param for param in free if param.position is not None]
            free = sorted(placed, key=lambda param: param.position or 0)
        for param in free:
            if not loose:
                return
            given[param.name] = loose.pop(0)

    def _store(self, scope: Scope, params: list[n.Parameter], given: dict[str, Any]) -> None:
        missing = [
            param.name
            for param in params
            if param.mandatory
            and param.name not in given
            and not (param.pipeline and self.has_input)
        ]
        if missing:
            raise self._binding_error(
                "Cannot process command because of one or more missing mandatory parameters: "
                f"{' '.join(missing)}.",
                "MissingMandatoryParameter",
            )
        outer, self.ev.scope = self.ev.scope, scope
        try:
            for param in params:
                self._store_one(scope, param, given)
        finally:
            self.ev.scope = outer

    def _store_one(self, scope: Scope, param: n.Parameter, given: dict[str, Any]) -> None:
        if param.name in given:
            value = self._converted(param, given[param.name])
            self._validate(param, value)
        elif param.default is not None:
            value = self.ev.value(param.default)
            value = self._converted(param, value)
        else:
            value = _empty_of(param.type_name)
        scope.set(param.name, value)
        if param.type_name:
            scope.types[param.name.lower()] = types.get(param.type_name)

    def _converted(self, param: n.Parameter, value: Any) -> Any:
        if not param.type_name:
            return value
        wanted = types.get(param.type_name)
        try:
            return types.cast(value, wanted)
        except PSError as err:
            raise PSError(
                f"Cannot process argument transformation on parameter '{param.name}'. "
                f"{err.message}",
                f"ParameterArgumentTransformationError,{self.name}", "InvalidData",
                activity=self.name, exception="ParameterBindingArgumentTransformationException",
                node=self.node,
            ) from err  # fmt: skip

    def _bind_pipeline(self, item: Any) -> None:
        assert self.scope is not None  # begin ran
        for param in self.block.node.params or []:
            if param.pipeline:
                self.scope.set(param.name, self._converted(param, item))

    def _validate(self, param: n.Parameter, value: Any) -> None:
        for kind, nodes in param.validate:
            limits = [self.ev.value(node) for node in nodes]
            if not _valid(self.ev, kind, limits, value):
                raise PSError(
                    f"Cannot validate argument on parameter '{param.name}'. "
                    f"{_why(kind, limits, value)}",
                    f"ParameterArgumentValidationError,{self.name}", "InvalidData",
                    activity=self.name, exception="ParameterBindingValidationException",
                    node=self.node,
                )  # fmt: skip

    def _binding_error(self, message: str, error_id: str) -> PSError:
        return PSError(
            message, f"{error_id},{self.name}", "InvalidArgument", activity=self.name,
            exception="ParameterBindingException", node=self.node,
        )  # fmt: skip


def _empty_of(type_name: str) -> Any:
    """What a typed parameter is when it was not given."""
    lower = type_name.lower().removeprefix("system.")
    if lower in ("int", "int32", "long", "int64", "double", "float", "byte"):
        return 0
    if lower in ("bool", "boolean", "switch"):
        return False
    return "" if lower == "string" else None


def _valid(ev: Evaluator, kind: str, limits: list[Any], value: Any) -> bool:
    if kind == "set":
        return any(v.equal(one, value) for one in limits)
    if kind == "range":
        return v.compare(value, limits[0]) >= 0 and v.compare(value, limits[1]) <= 0
    if kind == "pattern":
        return regex(v.to_text(limits[0])).search(v.to_text(value)) is not None
    if kind == "length":
        return v.to_int(limits[0]) <= len(v.to_text(value)) <= v.to_int(limits[1])
    if kind == "script":
        found: list[Any] = []
        ev.pipelines.invoke_block(limits[0], [], found.append, variables={"_": value})
        return v.truth(v.unwrap(found))
    return value is not None and (kind == "notnull" or v.to_text(value) != "" or value is False)


def _why(kind: str, limits: list[Any], value: Any) -> str:
    text = v.to_text(value)
    if kind == "set":
        options = ",".join(v.to_text(one) for one in limits)
        return (
            f'The argument "{text}" does not belong to the set "{options}" specified by the '
            "ValidateSet attribute. Supply an argument that is in the set and then try the "
            "command again."
        )
    if kind == "range":
        low, high = v.to_text(limits[0]), v.to_text(limits[1])
        return (
            f"The {text} argument is outside the allowed range of {low} to {high}. Supply an "
            "argument within it and then try the command again."
        )
    if kind.startswith("notnull"):
        return (
            "The argument is null or empty. Provide an argument that is not null or empty, and "
            "then try the command again."
        )
    return f'The argument "{text}" does not pass the Validate{kind.capitalize()} check.'
