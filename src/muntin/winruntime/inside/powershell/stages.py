"""What the elements of a pipeline have in common, and the stages of cmdlets and programs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import nodes as n
from . import values as v
from .binding import Arg, bind, qualified
from .errors import NetError, NetException, ParseError, PSError, Refusal, StopUpstream

if TYPE_CHECKING:
    from .cmdlets.table import Cmdlet
    from .evaluator import Evaluator, Sink

NO_INPUT: Any = object()
"""What a pipeline's first element is given once."""


class Stage:
    """One element: ``begin``, then ``process`` for each input (or NO_INPUT once), then ``end``."""

    def __init__(self, evaluator: Evaluator, node: n.Node, sink: Sink, has_input: bool) -> None:
        """Writes to ``sink``."""
        self.ev = evaluator
        self.node = node
        self.sink = sink
        self.has_input = has_input
        self.closers: list[Callable[[], None]] = []

    def begin(self) -> None:
        """Before any input."""

    def process(self, item: Any) -> None:
        """One input."""

    def end(self) -> None:
        """After all input."""

    def close(self) -> None:
        """However it ended."""
        while self.closers:
            self.closers.pop()()


class Call:
    """What a cmdlet's code sees: its parameters, a way to write and to complain."""

    def __init__(self, stage: CmdletStage, params: dict[str, Any]) -> None:
        """``params`` by lower-case name."""
        self.ev = stage.ev
        self.host = stage.ev.host
        self.stage = stage
        self.params = params
        self.name = stage.row.name
        self.state: dict[str, Any] = {}
        self.write: Sink = stage.sink

    def get(self, name: str, default: Any = None) -> Any:
        """A parameter's value."""
        return self.params.get(name.lower(), default)

    def has(self, name: str) -> bool:
        """Whether a parameter was given."""
        return name.lower() in self.params

    def error(
        self,
        message: str,
        error_id: str,
        category: str = "NotSpecified",
        target: Any = "",
        *,
        exception: str = "RuntimeException",
    ) -> None:
        """A non-terminating error: the cmdlet goes on, unless ErrorAction says stop."""
        error = self.failure(message, error_id, category, target, exception=exception)
        self.stage.complain(error)

    def failure(
        self,
        message: str,
        error_id: str,
        category: str = "NotSpecified",
        target: Any = "",
        *,
        exception: str = "RuntimeException",
    ) -> PSError:
        """A terminating error, to be raised."""
        text = v.to_text(target)
        return PSError(
            message, qualified(error_id, self.name), category, text,
            target_type=v.short_name(v.type_name(target)) if text else "",
            activity=self.name, exception=exception, target_object=target if text else None,
        )  # fmt: skip

    def stop(self) -> None:
        """No more input is wanted."""
        raise StopUpstream(self.stage)

    def run(self, block: v.ScriptBlock, item: Any) -> list[Any]:
        """What ``block`` writes with ``$_`` as ``item``, run where the caller stands."""
        found: list[Any] = []
        self.run_to(block, item, found.append)
        return found

    def run_to(self, block: v.ScriptBlock, item: Any, sink: Sink) -> None:
        """Like :meth:`run`, writing to ``sink``."""
        scope = self.ev.scope
        missing = object()
        saved = scope.values.get("_", missing)
        scope.set("_", item)
        try:
            self.ev.pipelines.invoke_block(block, [], sink, same_scope=True)
        finally:
            if saved is missing:
                scope.values.pop("_", None)
            else:
                scope.values["_"] = saved


class CmdletStage(Stage):
    """A cmdlet of this subset."""

    def __init__(
        self,
        evaluator: Evaluator,
        node: n.Node,
        row: Cmdlet,
        args: list[Arg],
        sink: Sink,
        has_input: bool,
    ) -> None:
        """Binds the arguments."""
        super().__init__(evaluator, node, sink, has_input)
        self.row = row
        try:
            params = bind(row.name, row.params, args, has_input=has_input)
        except PSError as error:
            error.node = error.node or node
            raise
        self.code = import_module(f"{__package__}.cmdlets.{row.module}")
        self.function = getattr(self.code, row.function)
        self.call = Call(self, params)
        self.items: list[Any] = []
        if params.get("outvariable"):
            self._tee(params["outvariable"])

    def _tee(self, name: str) -> None:
        kept = v.ArrayList()
        self.ev.scope.set(name, kept)
        sink = self.sink

        def both(item: Any) -> None:
            kept.append(item)
            sink(item)

        self.call.write = both

    def process(self, item: Any) -> None:
        """Keep, or handle at once."""
        if self.row.style == "all":
            if item is not NO_INPUT:
                self.items.append(item)
            return
        self._guarded(
            lambda: self.function(
                self.call, None if item is NO_INPUT else item, item is not NO_INPUT
            )
        )

    def end(self) -> None:
        """Handle what was kept; or give a streaming cmdlet its last word."""
        if self.row.style == "all":
            self._guarded(lambda: self.function(self.call, self.items, self.has_input))
            return
        last = getattr(self.code, f"{self.row.function}_end", None)
        if last is not None:
            self._guarded(lambda: last(self.call))

    def begin(self) -> None:
        """A streaming cmdlet's first word, where it has one."""
        first = getattr(self.code, f"{self.row.function}_begin", None)
        if first is not None:
            self._guarded(lambda: first(self.call))

    def _guarded(self, run: Callable[[], None]) -> None:
        """Errors name the cmdlet and this command's place."""
        try:
            run()
        except NetError as err:
            raise self._preferred(self._thrown(err)) from err
        except OSError as err:
            if not isinstance(err.filename, str):
                raise  # not about a file
            from .cmdlets.files import io_error

            path = self.call.host.windows_path(err.filename)
            raise self._preferred(self._thrown(io_error(err, path))) from err
        except ParseError as err:
            raise self.ev.parse_failure(err) from err
        except PSError as error:
            if error.node is None:
                error.node = self.node
            raise self._preferred(error) from error

    def _thrown(self, err: NetError) -> PSError:
        short = err.type_name.rsplit(".", 1)[-1]
        return PSError(
            err.message, qualified(short, self.row.name), activity=self.row.name,
            exception=err.type_name, node=self.node,
            inner=NetException(err.type_name, err.message, **err.extra),
            fatal=isinstance(err, Refusal),
        )  # fmt: skip

    def _preferred(self, error: PSError) -> BaseException:
        """A terminating error of this cmdlet itself, where ErrorAction silences it."""
        action = v.to_text(self.call.get("erroraction", "")).lower()
        if error.activity == self.row.name and not error.fatal:
            if action == "stop":
                error.fatal = True
            elif action in ("silentlycontinue", "ignore"):
                error.reported = True
        return error

    def complain(self, error: PSError) -> None:
        """Report a non-terminating error as ErrorAction (or the preference) says."""
        error.node = error.node or self.node
        self.ev.reporter.locate(error, self.node)
        preference = self.ev.scope.get("erroractionpreference")
        action = v.to_text(self.call.get("erroraction", preference)).lower()
        self.ev.failed = True
        if action == "stop":
            error.fatal = True
            raise error
        name = self.call.get("errorvariable")
        record = None if action == "ignore" else self.ev.reporter.remember(error)
        if name:
            self.ev.scope.set(str(name).lstrip("+"), v.ArrayList([record]))
        if action not in ("silentlycontinue", "ignore", "0") and record is not None:
            self.ev.reporter.show(record)


class ProgramStage(Stage):
    """A native program."""

    def __init__(
        self,
        evaluator: Evaluator,
        node: n.Node,
        path: str,
        args: list[str],
        sink: Sink,
        has_input: bool,
    ) -> None:
        """``path`` is a full Windows path."""
        super().__init__(evaluator, node, sink, has_input)
        self.path = path
        self.args = args
        self.input: list[str] = []
        self.merge = any(
            r.target is None for r in getattr(node, "redirections", ())
        )  # fmt: skip

    def process(self, item: Any) -> None:
        """Keep the input as lines."""
        if item is not NO_INPUT:
            self.input.append(v.to_text(item))

    def end(self) -> None:
        """Run it; lines of its output are objects, unless the console is where they go."""
        data = "".join(f"{line}\r\n" for line in self.input).encode() if self.has_input else None
        direct = self.sink is self.ev.show and not self.merge
        if direct:
            flush = getattr(self.ev.show, "__self__", None)
            if flush is not None and hasattr(flush, "flush"):
                flush.flush()
        code, output = self.ev.host.run(
            self.path, self.args, stdin=data, capture=not direct, merge=self.merge
        )
        self.ev.variables.exit_code = code
        self.ev.failed = self.ev.failed or code != 0
        text = output.decode("utf-8", "replace")
        lines = text.replace("\r\n", "\n").split("\n")
        if lines and not lines[-1]:
            lines.pop()
        for line in lines:
            self.sink(line)
