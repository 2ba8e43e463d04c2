"""Pipelines: each element is a stage that is pushed its input and writes to the next one.

A command's name is looked up as PowerShell does: alias, function, cmdlet, then a program or
script on the PATH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import nodes as n
from . import values as v
from .binding import Arg
from .errors import NetError, PSError, ReturnSignal, StopUpstream
from .functions import FunctionStage
from .parser import parse
from .reporting import Source
from .scope import Scope
from .stages import NO_INPUT, CmdletStage, ProgramStage, Stage

if TYPE_CHECKING:
    from .evaluator import Evaluator, Sink

MAX_DEPTH = 100


class Pipelines:
    """Builds and runs the stages of one evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        """Errors go to the host until a redirection says otherwise."""
        self.ev = evaluator
        self.error_sink: Sink = self._to_host

    def _to_host(self, record: Any) -> None:
        console = getattr(self.ev.show, "__self__", None)
        if console is not None:
            console.flush()
        self.ev.host.write_error(record.text)

    def run(self, node: n.Pipeline, out: Sink) -> None:
        """Run a whole pipeline, its output to ``out``."""
        stages: list[Stage] = []
        sink = out
        for index in range(len(node.elements) - 1, 0, -1):
            stage = self.stage(node.elements[index], sink, True)
            stages.insert(0, stage)
            sink = self._feeding(stage)
        first = node.elements[0]
        head = None
        if isinstance(first, n.Command):
            head = self.stage(first, sink, False)
            stages.insert(0, head)
        try:
            for stage in stages:
                stage.begin()
            if head is not None:
                head.process(NO_INPUT)
            else:
                assert isinstance(first, n.CommandExpression)  # nothing else comes first
                self._expression(first, sink)
            for stage in stages:
                stage.end()
        except StopUpstream as stop:
            self._finish_after_stop(stages, stop)
        finally:
            for stage in stages:
                stage.close()

    def _finish_after_stop(self, stages: list[Stage], stop: StopUpstream) -> None:
        """End the stages from the one that has seen enough."""
        if stop.owner not in stages:
            raise stop
        rest = stages[stages.index(stop.owner) :]
        for index, stage in enumerate(rest):
            try:
                stage.end()
            except StopUpstream as again:
                self._finish_after_stop(rest[index + 1 :], again)
                return

    def _feeding(self, stage: Stage) -> Sink:
        return stage.process

    def _expression(self, node: n.CommandExpression, sink: Sink) -> None:
        target, close = self._redirected(node.redirections, sink)
        try:
            value = self.ev.value(node.expression)
            if value is None and isinstance(node.expression, (n.Invoke, n.Paren, n.SubExpression)):
                return
            for item in v.enumerate_output(value):
                target(item)
        finally:
            close()

    # --- stages -----------------------------------------------------------------------------

    def stage(self, node: n.Node, sink: Sink, has_input: bool) -> Stage:
        """The stage of one command."""
        assert isinstance(node, n.Command)  # the parser makes nothing else here
        target, close = self._redirected(node.redirections, sink)
        try:
            stage = self._stage_of(node, target, has_input)
        except BaseException:
            close()
            raise
        stage.closers.append(close)
        return stage

    def _stage_of(self, node: n.Command, sink: Sink, has_input: bool) -> Stage:
        name_value = self.ev.value(node.name)
        if isinstance(name_value, v.ScriptBlock):
            return FunctionStage(
                self.ev, node, "", name_value, self.arguments(node), sink, has_input,
                dotted=node.how == ".",
            )  # fmt: skip
        name = v.to_text(name_value)
        found = self.resolve(name, node)
        if isinstance(found, v.ScriptBlock):
            return FunctionStage(
                self.ev, node, name, found, self.arguments(node), sink, has_input,
                dotted=node.how == "." and name.lower().endswith(".ps1"),
            )  # fmt: skip
        if isinstance(found, str):
            return ProgramStage(self.ev, node, found, self.program_arguments(node), sink, has_input)
        return CmdletStage(self.ev, node, found, self.arguments(node), sink, has_input)

    def resolve(self, name: str, node: n.Node | None = None) -> Any:
        """A function's script block, a cmdlet's row, or the path of a program.

        Raises:
            PSError: CommandNotFoundException, or the refusal of a known cmdlet.
        """
        from .cmdlets import table

        plain = (
            name.rsplit("\\", 1)[-1] if name.lower().startswith("microsoft.powershell.") else name
        )
        for _ in range(10):
            other = self.ev.scope.alias(plain) or table.ALIASES.get(plain.lower())
            if other is None:
                break
            plain = other
        function = self.ev.scope.function(plain)
        if function is not None:
            return function
        row = table.CMDLETS.get(plain.lower())
        if row is not None:
            return row
        refused = table.REFUSED.get(plain.lower())
        if refused is not None:
            raise PSError(
                f"The cmdlet '{refused}' is not supported by this subset of PowerShell.",
                "NotSupportedBySubset", "NotImplemented", refused, target_type="String",
                activity=name, fatal=True, node=node, exception="System.NotSupportedException",
            )  # fmt: skip
        if plain.lower().endswith(".ps1") or "\\" in plain or "/" in plain:
            script = self._script(plain)
            if script is not None:
                return script
        program = self.ev.host.find_program(plain)
        if program is not None:
            return program
        raise PSError(
            f"The term '{name}' is not recognized as the name of a cmdlet, function, script file, "
            "or operable program. Check the spelling of the name, or if a path was included, "
            "verify that the path is correct and try again.",
            "CommandNotFoundException", "ObjectNotFound", name, target_type="String",
            activity=name, exception="CommandNotFoundException",
            node=node.name if isinstance(node, n.Command) else node,
        )  # fmt: skip

    def _script(self, name: str) -> v.ScriptBlock | None:
        """The script file called ``name`` as a block, or None."""
        import os

        for candidate in (name, f"{name}.ps1"):
            if not candidate.lower().endswith(".ps1"):
                continue
            try:
                path = self.ev.host.absolute(candidate)
            except NetError:
                return None
            unix = self.ev.host.unix_path(path)
            if os.path.isfile(unix):
                with open(unix, encoding="utf-8-sig", errors="replace", newline="") as file:
                    return self.block_of(file.read(), path)
        return None

    def block_of(self, text: str, file: str) -> v.ScriptBlock:
        """A text as a script block.

        Raises:
            ParseError: it is no script.
        """
        node = parse(text)
        block = v.ScriptBlock(node, self.invoke_block, self.ev.scope)
        block.source = Source(text, file)  # type: ignore[attr-defined]  # read by invoke_block
        return block

    # --- arguments --------------------------------------------------------------------------

    def arguments(self, node: n.Command) -> list[Arg]:
        """The arguments, evaluated; splats taken apart."""
        found: list[Arg] = []
        for arg in node.args:
            if isinstance(arg, n.CommandParameter):
                if arg.name == "-":
                    continue
                value = None if arg.value is None else self.ev.value(arg.value)
                found.append(Arg(arg.name, value, arg.value is not None, arg.text))
            elif isinstance(arg, n.Splat):
                found.extend(self._splat(arg))
            else:
                found.append(Arg(None, self.ev.value(arg), True, ""))
        return found

    def _splat(self, arg: n.Splat) -> list[Arg]:
        value = self.ev.scope.get(arg.name)
        if isinstance(value, v.Hashtable):
            return [Arg(v.to_text(key), item, True, "") for key, item in value.items()]
        return [Arg(None, item, True, "") for item in v.listed(value)]

    def program_arguments(self, node: n.Command) -> list[str]:
        """The arguments as a native program gets them."""
        found: list[str] = []
        for arg in node.args:
            if isinstance(arg, n.CommandParameter):
                if arg.value is None:
                    found.append(arg.text)
                else:
                    found.append(f"-{arg.name}:{v.to_text(self.ev.value(arg.value))}")
            elif isinstance(arg, n.Splat):
                found.extend(v.to_text(one.value) for one in self._splat(arg))
            elif isinstance(arg, n.Literal):
                found.append(arg.text)
            elif isinstance(arg, n.ArrayLiteral):
                found.append(",".join(v.to_text(self.ev.value(item)) for item in arg.items))
            else:
                value = self.ev.value(arg)
                found.extend(
                    v.to_text(item) for item in v.enumerate_output(value) if item is not None
                )
        return found

    # --- redirection ------------------------------------------------------------------------

    def _redirected(self, redirections: list[n.Redirection], sink: Sink) -> tuple[Sink, Any]:
        """The sink that the redirections make of ``sink``, and what closes them."""
        if not redirections:
            return sink, lambda: None
        from .redirection import redirect

        return redirect(self.ev, redirections, sink)

    # --- script blocks ----------------------------------------------------------------------

    def invoke_block(
        self,
        block: v.ScriptBlock,
        args: list[Any],
        sink: Sink,
        *,
        same_scope: bool = False,
        variables: dict[str, Any] | None = None,
    ) -> None:
        """Run a block to its end; ``same_scope`` runs it where the caller stands."""
        arguments = [Arg(None, arg, True, "") for arg in args]
        if same_scope:
            self._run_here(block, sink)
            return
        stage = FunctionStage(self.ev, block.node, "", block, arguments, sink, False)
        stage.variables.update(variables or {})
        stage.begin()
        stage.process(NO_INPUT)
        stage.end()

    def _run_here(self, block: v.ScriptBlock, sink: Sink) -> None:
        source, self.ev.source = self.ev.source, getattr(block, "source", self.ev.source)
        try:
            body = block.node
            for part in (body.begin, body.process, body.body):
                if part is not None:
                    self.ev.run_block(part, sink)
        except ReturnSignal:
            pass
        finally:
            self.ev.source = source

    def child_scope(self) -> Scope:
        """A new scope below the current one.

        Raises:
            PSError: calls are nested too deeply.
        """
        self.ev.depth += 1
        if self.ev.depth > MAX_DEPTH:
            self.ev.depth -= 1
            raise PSError(
                "The script failed due to call depth overflow.", "CallDepthOverflow",
                "InvalidOperation", exception="ScriptCallDepthException", fatal=True,
            )  # fmt: skip
        return Scope(self.ev.scope)
