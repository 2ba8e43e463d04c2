"""A prompt: one statement or block at a time, ended by ``exit`` or the end of input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ExitSignal, ParseError, PSError
from .parser import parse
from .reporting import Source, parse_error_text

if TYPE_CHECKING:
    from .command import Session

INCOMPLETE = frozenset(
    {
        "MissingEndCurlyBrace",
        "MissingEndParenthesisInExpression",
        "MissingEndParenthesisInSubexpression",
        "IncompleteHashLiteral",
        "TerminatorExpectedAtEndOfString",
    }
)


def converse(session: Session) -> int:
    """Read, run, print, until there is no more; the exit code."""
    text = ""
    while True:
        session.host.write(">> " if text else f"PS {session.host.location}> ")
        try:
            line = session.host.read_line()
        except KeyboardInterrupt:
            text = ""
            session.host.write("\r\n")
            continue
        if line is None:
            return 0
        text += line + "\n"
        try:
            parse(text)
        except ParseError as err:
            if err.error_id in INCOMPLETE and line.strip():
                continue
            session.host.write_error(parse_error_text(err, Source(text, "")))
            text = ""
            continue
        code = _run_one(session, text)
        text = ""
        if code is not None:
            return code


def _run_one(session: Session, text: str) -> int | None:
    """Run one input; its exit code if it was ``exit``."""
    evaluator = session.evaluator
    evaluator.source = Source(text, "")
    block = evaluator.pipelines.block_of(text, "")
    try:
        evaluator.pipelines.invoke_block(block, [], evaluator.show, same_scope=True)
    except ExitSignal as leave:
        return leave.code
    except PSError as error:
        evaluator.reporter.locate(error, block.node)
        evaluator.reporter.show(evaluator.reporter.remember(error))
    except KeyboardInterrupt:
        session.host.write("\r\n")
    finally:
        session.console.flush()
    return None
