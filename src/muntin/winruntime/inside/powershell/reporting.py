"""Error records: where an error happened, how it is shown, and ``$Error``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import values as v
from .errors import NetError, NetException, ParseError, PSError, Refusal
from .lexer import position_of

if TYPE_CHECKING:
    from .evaluator import Evaluator

LINE_LIMIT = 69
"""Longest line that a position shows whole; longer ones are cut around the error."""


class Source:
    """The text that nodes' offsets refer to, and the file it came from ('' for -Command)."""

    def __init__(self, text: str, file: str) -> None:
        """``file`` is a Windows path or ''."""
        self.text = text
        self.file = file

    @property
    def folder(self) -> str:
        """The folder of the file."""
        return self.file.rpartition("\\")[0]


class Position:
    """A piece of a source, as ``InvocationInfo`` tells it."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        """Offsets into the source's text."""
        self.source = source
        self.line, self.column = position_of(source.text, start)
        begin = source.text.rfind("\n", 0, start) + 1
        stop = source.text.find("\n", start)
        stop = len(source.text) if stop < 0 else stop
        self.text = source.text[begin:stop].rstrip("\r").rstrip()
        self.length = max(1, min(end, begin + max(len(self.text), self.column)) - start)

    def message(self) -> str:
        """``At line:1 char:5`` with the line and the place underlined."""
        where = f"{self.source.file}:{self.line}" if self.source.file else f"line:{self.line}"
        line, marks = self._cut()
        return f"At {where} char:{self.column}\r\n+ {line}\r\n+ {marks}"

    def _cut(self) -> tuple[str, str]:
        line = self.text.replace("\t", " ")
        before, length = self.column - 1, self.length
        if len(line) <= LINE_LIMIT:
            return line, " " * before + "~" * length
        room = LINE_LIMIT - 10
        begin = max(0, min(before - 10, len(line) - room))
        end = min(len(line), begin + room)
        prefix = "... " if begin else ""
        suffix = " ..." if end < len(line) else ""
        shown = line[begin:end]
        marks = " " * (len(prefix) + before - begin) + "~" * max(1, min(length, end - before))
        return prefix + shown + suffix, marks


class Reporter:
    """Makes, keeps and shows the error records of one evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        """For ``evaluator``."""
        self.ev = evaluator

    def from_other(self, err: NetError | RecursionError) -> PSError:
        """A shim's failure, or too deep a recursion, as an error record."""
        if isinstance(err, NetError):
            short = err.type_name.rsplit(".", 1)[-1]
            error = PSError(
                err.message, short, exception=err.type_name,
                inner=NetException(err.type_name, err.message, **err.extra),
                fatal=isinstance(err, Refusal),
            )  # fmt: skip
            error.exception = NetException(err.type_name, err.message, **err.extra)
            return error
        return PSError(
            "The script failed due to call depth overflow.", "CallDepthOverflow",
            "InvalidOperation", fatal=True, exception="ScriptCallDepthException",
        )  # fmt: skip

    def locate(self, error: PSError, node: Any) -> None:
        """Give the error the place of the innermost node that failed."""
        if error.position is None:
            where = error.node if error.node is not None else node
            error.position = Position(self.ev.source, where.start, where.end)

    def remember(self, error: PSError) -> v.ErrorRecord:
        """Put the error into ``$Error`` (once) and give its record."""
        known: Any = getattr(error, "record", None)
        if known is not None:
            return known  # type: ignore[no-any-return]  # stored below
        invocation = v.PSObject("System.Management.Automation.InvocationInfo")
        position = error.position
        if position is not None:
            invocation.properties.update(
                ScriptLineNumber=position.line,
                OffsetInLine=position.column,
                Line=position.text,
                ScriptName=position.source.file,
                PositionMessage=position.message(),
                MyCommand=error.activity,
            )
        record = v.ErrorRecord(error, text_of(error), invocation)
        record.ScriptStackTrace = f"at <ScriptBlock>, {_where(position)}" if position else ""
        error.record = record  # type: ignore[attr-defined]  # one record for each error
        self.ev.variables.errors.insert(0, record)
        return record

    def report(self, error: PSError) -> None:
        """Show the error, unless the preference says not to."""
        record = self.remember(error)
        preference = v.to_text(self.ev.scope.get("erroractionpreference")).lower()
        if preference not in ("silentlycontinue", "ignore", "0") or error.fatal:
            self.show(record)

    def show(self, record: v.ErrorRecord) -> None:
        """Write the record to the error stream."""
        if record.error.reported:
            return
        record.error.reported = True
        self.ev.pipelines.error_sink(record)


def text_of(error: PSError) -> str:
    """The record as the console shows it."""
    head = f"{error.activity} : {error.message}" if error.activity else error.message
    lines = [head]
    if error.position is not None:
        lines.append(error.position.message())
    subject = f"({error.target}:{error.target_type})"
    activity = error.activity if error.error_id != "CommandNotFoundException" else ""
    kind = error.exception.net_name.rsplit(".", 1)[-1]
    lines.append(f"    + CategoryInfo          : {error.category}: {subject} [{activity}], {kind}")
    lines.append(f"    + FullyQualifiedErrorId : {error.error_id}")
    return "\r\n".join(lines) + "\r\n \r\n"


def parse_error_text(err: ParseError, source: Source) -> str:
    """A syntax error as the console shows it."""
    position = Position(source, err.start, err.end)
    return (
        f"{position.message()}\r\n{err.message}\r\n"
        "    + CategoryInfo          : ParserError: (:) [], ParentContainsErrorRecordException\r\n"
        f"    + FullyQualifiedErrorId : {err.error_id}\r\n \r\n"
    )


def _where(position: Position) -> str:
    return f"{position.source.file or '<No file>'}: line {position.line}"
