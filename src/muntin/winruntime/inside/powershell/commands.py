"""Pipelines and commands: words, parameters, redirections, and the assignment before them."""

from __future__ import annotations

import re
from typing import Any

from . import nodes as n
from .expressions import ExpressionParser
from .lexer import (
    DOUBLE_QUOTES,
    NUMBER,
    PARAMETER,
    SINGLE_QUOTES,
    TOKEN_END,
    VARIABLE,
    number_value,
)

ASSIGNMENT = re.compile(r"[-+*/%]?=")
REDIRECTION = re.compile(r"(?P<stream>[1-6*]?)(?P<op>>>|>)(?P<merge>&[12])?")
STATEMENT_END = ";\r\n})"


class CommandParser(ExpressionParser):
    """What stands between statements and expressions."""

    def after_statement(self) -> Any:
        """The error for what stands where a statement should have ended."""
        for token in ("&&", "||"):
            if self.looking(token):
                return self.error(
                    f"The token '{token}' is not a valid statement separator in this version.",
                    "InvalidEndOfLine", self.pos, self.pos + 2,
                )  # fmt: skip
        if self.char == "&":
            return self.error(
                "The ampersand (&) character is not allowed. The & operator is reserved for "
                'future use; wrap an ampersand in double quotation marks ("&") to pass it as '
                "part of a string.",
                "AmpersandNotAllowed",
                self.pos,
            )
        if self.char == "<":
            return self.error(
                "The '<' operator is reserved for future use.", "RedirectionNotSupported", self.pos
            )
        return self.unexpected()

    def refused(self, what: str, length: int) -> Any:
        """The error for a construct that this subset does not have."""
        return self.error(
            f"The {what} is not supported by this subset of PowerShell.",
            "NotSupportedBySubset", self.pos, self.pos + length,
        )  # fmt: skip

    def pipeline_statement(self) -> n.Node:
        """An assignment or a pipeline."""
        start = self.pos
        if not self.starts_expression():
            return self.pipeline()
        if self.starts_number_word():
            return self.pipeline()
        target = self.expression()
        self.skip()
        match = ASSIGNMENT.match(self.text, self.pos)
        if match is None:
            return self.pipeline_from(target, start)
        if not _assignable(target):
            raise self.error(
                "The assignment expression is not valid. The input to an assignment operator "
                "must be an object that is able to accept assignments, such as a variable or a "
                "property.",
                "InvalidLeftHandSide",
                target.start,
                target.end,
            )
        self.pos = match.end()
        self.skip(lines=True)
        if not self.char or self.char in ";})|":
            raise self.error(
                f"You must provide a value expression following the '{match.group()}' operator.",
                "ExpectedValueExpression",
                self.pos,
            )
        value = self.statement()
        assert value is not None  # a statement was required above
        return self.at(n.Assignment(target, match.group(), value), start)

    def starts_number_word(self) -> bool:
        """Whether a word such as ``7z.exe`` stands here, which begins like a number."""
        number = NUMBER.match(self.text, self.pos)
        return self.char.isdigit() and number is None

    def pipeline(self) -> n.Node:
        """A pipeline that begins here."""
        start = self.pos
        first = None
        if self.starts_expression() and not self.starts_number_word():
            first = self.expression()
        return self.pipeline_from(first, start)

    def pipeline_from(self, first: n.Node | None, start: int) -> n.Node:
        """The rest of a pipeline whose first element may be parsed already."""
        if first is not None:
            redirections = self.redirections()
            element = self.at(n.CommandExpression(first, redirections), start)
            elements: list[n.Node] = [element]
        else:
            elements = [self.command()]
        while True:
            self.skip()
            if self.looking("||") or self.char != "|":
                break
            self.pos += 1
            bar = self.pos - 1
            self.skip(lines=True)
            if not self.char or self.char in "|;})":
                raise self.error("An empty pipe element is not allowed.", "EmptyPipeElement", bar)
            if self.starts_expression() and self.char not in "+-":
                raise self.error(
                    "Expressions are only allowed as the first element of a pipeline.",
                    "ExpressionsMustBeFirstInPipeline", self.pos,
                    self.pos + len(self.token_here()),
                )  # fmt: skip
            elements.append(self.command())
        return self.at(n.Pipeline(elements), start)

    def command(self) -> n.Node:
        """A command with its arguments."""
        start = self.pos
        how = ""
        if self.char == "&" and not self.looking("&&"):
            how = "&"
            self.pos += 1
        elif self.char == "." and self.text[self.pos + 1 : self.pos + 2] in (
            " ",
            "{",
            "$",
            '"',
            "'",
        ):
            how = "."
            self.pos += 1
        self.skip()
        if how and self.starts_expression() and not self.starts_number_word():
            name = self.postfix(self.primary(), self.pos)
        else:
            if not self.char or self.char in TOKEN_END or (how and self.char in STATEMENT_END):
                raise self.after_statement()
            name = self.generic_token()
        args, redirections = self.command_arguments()
        return self.at(n.Command(how, name, args, redirections), start)

    def command_arguments(self) -> tuple[list[n.Node], list[n.Redirection]]:
        """Arguments and redirections up to the end of the command."""
        args: list[n.Node] = []
        redirections: list[n.Redirection] = []
        literal = False
        end = self.pos
        while True:
            self.skip()
            char = self.char
            if not char or char in ";|\r\n)}":
                break
            found = self.redirection()
            if found is not None:
                redirections.append(found)
            elif self.looking("--%"):
                raise self.refused("stop-parsing token --%", 3)
            elif char in "&<" or char == ",":
                raise self.after_statement()
            elif (
                not literal
                and self.looking("--")
                and self.text[self.pos + 2 : self.pos + 3] in ("", " ")
            ):
                literal = True
                args.append(self.at(n.CommandParameter("-", None, "--"), self.pos))
                self.pos += 2
            elif not literal and PARAMETER.match(self.text, self.pos):
                args.append(self.command_parameter())
            else:
                args.append(self.argument())
            end = self.pos
        self.pos = end
        return args, redirections

    def command_parameter(self) -> n.Node:
        """``-Name`` or ``-Name:value``."""
        start = self.pos
        match = PARAMETER.match(self.text, self.pos)
        assert match is not None  # the caller looked
        self.pos = match.end()
        value = None
        if match.group(2):
            self.skip()
            if self.char and self.char not in ";|)}\r\n":
                value = self.argument()
        elif self.char and self.char not in TOKEN_END:
            # such as -Xmx1g.5 or -a=b: a word for a native program
            self.pos = start
            token = self.generic_token()
            text = token.value if isinstance(token, n.Literal) else self.text[start : self.pos]
            return self.at(n.CommandParameter(match.group(1), None, text), start)
        return self.at(
            n.CommandParameter(match.group(1), value, self.text[start : self.pos]), start
        )

    def argument(self) -> n.Node:
        """One argument, or several joined by commas."""
        start = self.pos
        items = [self.argument_value()]
        while True:
            mark = self.pos
            self.skip()
            if self.char != ",":
                self.pos = mark
                break
            self.pos += 1
            self.skip(lines=True)
            if not self.char or self.char in ";|)}":
                raise self.error(
                    "Missing argument in parameter list.", "MissingArgument", self.pos - 1
                )
            items.append(self.argument_value())
        return items[0] if len(items) == 1 else self.at(n.ArrayLiteral(items), start)

    def argument_value(self) -> n.Node:
        """One argument without commas: an expression's primary or a word."""
        start, char = self.pos, self.char
        if char == "@" and self.text[self.pos + 1 : self.pos + 2] not in ("", " "):
            return self.postfix(self.primary(), start)
        if self.starts_value(char):
            node = self.postfix(self.primary(), start)
            if not self.char or self.char in TOKEN_END or char in "({":
                return node
            self.pos = start
        number = NUMBER.match(self.text, self.pos + (char == "-"))
        if number is not None and (
            number.end() == len(self.text) or self.text[number.end()] in TOKEN_END
        ):
            self.pos = number.end()
            value = number_value(number)
            text = self.text[start : self.pos]
            return self.at(n.Literal(-value if char == "-" else value, text), start)
        if not char or char in TOKEN_END:
            raise self.unexpected()
        return self.generic_token()

    def starts_value(self, char: str) -> bool:
        """Whether ``char`` here begins an expression even among arguments."""
        if char == "$":
            return self.looking("$(") or VARIABLE.match(self.text, self.pos) is not None
        return bool(char) and (char in "({" or char in SINGLE_QUOTES or char in DOUBLE_QUOTES)

    def redirections(self) -> list[n.Redirection]:
        """Redirections after an expression."""
        found: list[n.Redirection] = []
        while True:
            mark = self.pos
            self.skip()
            one = self.redirection()
            if one is None:
                self.pos = mark
                return found
            found.append(one)

    def redirection(self) -> n.Redirection | None:
        """``>file``, ``2>&1`` and their like, if here."""
        start = self.pos
        match = REDIRECTION.match(self.text, self.pos)
        if match is None:
            return None
        self.pos = match.end()
        stream = match.group("stream") or "1"
        if match.group("merge"):
            if match.group("merge") == "&2" or stream not in ("2", "*"):
                self.pos = start
                raise self.refused(f"redirection {match.group()}", len(match.group()))
            return self.at(n.Redirection(stream, False, None), start)
        self.skip()
        if not self.char or self.char in ";|)}\r\n":
            raise self.error(
                "Missing file specification after redirection operator.",
                "MissingFileSpecification",
                match.end(),
            )
        target = self.argument_value()
        return self.at(n.Redirection(stream, match.group("op") == ">>", target), start)


def _assignable(node: n.Node) -> bool:
    """Whether ``node`` can stand left of an assignment."""
    if isinstance(node, n.ArrayLiteral):
        return all(_assignable(item) for item in node.items)
    if isinstance(node, n.Cast):
        return isinstance(node.operand, n.Variable)
    return isinstance(node, (n.Variable, n.Member, n.Index))
