"""Expressions: a precedence table for binary operators, and primaries by their first character."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import nodes as n
from .lexer import (
    DOUBLE_QUOTES,
    NUMBER,
    SINGLE_QUOTES,
    TOKEN_END,
    VARIABLE,
    WORD,
    Scanner,
    number_value,
)

_N = TypeVar("_N", bound=n.Node)
_T = TypeVar("_T")

# loosest first; within a level from left to right
LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"-and", "-or", "-xor"}),
    frozenset({"-band", "-bor", "-bxor"}),
    frozenset(
        prefix + name
        for prefix in ("-", "-c")
        for name in [
            "eq",
            "ne",
            "gt",
            "ge",
            "lt",
            "le",
            "like",
            "notlike",
            "match",
            "notmatch",
            "contains",
            "notcontains",
            "in",
            "notin",
            "replace",
            "split",
            "join",
            "is",
            "isnot",
            "as",
        ]
    )
    | {"-shl", "-shr"},
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
    frozenset({"-f"}),
    frozenset({".."}),
)
OPERATORS = frozenset().union(*LEVELS)
UNARY_WORDS = frozenset({"-not", "-bnot", "-split", "-join", "-csplit", "-isplit"})


class ExpressionParser(Scanner):
    """Expressions, strings and variables. ``parser.Parser`` supplies what they embed."""

    commas = True

    def statements_until(self, close: str, opened: int) -> n.Block:
        """Statements up to ``close`` (given by parser.Parser)."""
        raise NotImplementedError

    def pipeline(self) -> n.Node:
        """One pipeline (given by parser.Parser)."""
        raise NotImplementedError

    def script_block(self) -> n.ScriptBlockLiteral:
        """``{ ... }`` here (given by parser.Parser)."""
        raise NotImplementedError

    def statement(self) -> n.Node | None:
        """One statement (given by parser.Parser)."""
        raise NotImplementedError

    def at(self, node: _N, start: int) -> _N:
        """``node``, marked as reaching from ``start`` to here."""
        node.start, node.end = start, self.pos
        return node

    # --- operators --------------------------------------------------------------------------

    def expression(self, level: int = 0) -> n.Node:
        """An expression of at least the given level of precedence."""
        if level == len(LEVELS):
            return self.comma_list()
        start = self.pos
        left = self.expression(level + 1)
        while True:
            mark = self.pos
            self.skip()
            op, length = self.operator_here()
            if op not in LEVELS[level]:
                self.pos = mark
                return left
            op_start = self.pos
            self.pos += length
            self.skip(lines=True)
            if not self.starts_expression():
                raise self.error(
                    f"You must provide a value expression following the "
                    f"'{self.text[op_start : op_start + length]}' operator.",
                    "ExpectedValueExpression",
                    op_start + length,
                )
            right = self.expression(level + 1)
            left = self.at(n.Binary(op, left, right), start)

    def operator_here(self) -> tuple[str, int]:
        """The binary operator here (lower case, without ``i``) and its length in the text."""
        char = self.char
        if char == "-":
            match = WORD.match(self.text, self.pos + 1)
            if match:
                word = "-" + match.group().lower()
                if word not in OPERATORS and word.startswith("-i") and "-" + word[2:] in OPERATORS:
                    return "-" + word[2:], len(word)
                return (word, len(word)) if word in OPERATORS else ("", 0)
            return ("", 0) if self.looking("--") or self.looking("-=") else ("-", 1)
        if char in "+*/%" and char:
            twice = self.looking("++")
            return ("", 0) if twice or self.text[self.pos + 1 : self.pos + 2] == "=" else (char, 1)
        return ("..", 2) if self.looking("..") else ("", 0)

    def comma_list(self) -> n.Node:
        """``a, b, c`` or a single operand."""
        start = self.pos
        first = self.unary()
        items = [first]
        while self.commas:
            mark = self.pos
            self.skip()
            if self.char != ",":
                self.pos = mark
                break
            comma = self.pos
            self.pos += 1
            self.skip(lines=True)
            if not self.starts_expression():
                raise self.error(
                    "Missing expression after ','.", "MissingExpressionAfterToken", comma + 1
                )
            items.append(self.unary())
        return first if len(items) == 1 else self.at(n.ArrayLiteral(items), start)

    def starts_expression(self) -> bool:
        """Whether an expression can begin here."""
        char = self.char
        if not char:
            return False
        if char in "$([{!,@" or char in SINGLE_QUOTES or char in DOUBLE_QUOTES:
            return True
        if char == "-" and self.dash_word() in UNARY_WORDS:
            return True
        if char in "+-":
            rest = self.text[self.pos + 1 : self.pos + 2]
            return bool(rest) and (rest in "$(.+-[ '\"" or rest.isdigit())
        return NUMBER.match(self.text, self.pos) is not None

    def dash_word(self) -> str:
        """``-word`` here, lower case."""
        match = WORD.match(self.text, self.pos + 1)
        return "-" + match.group().lower() if match else ""

    def unary(self) -> n.Node:
        """An operand with what stands before it."""
        start = self.pos
        for op in ("++", "--"):
            if self.take(op):
                self.skip()
                return self.at(n.Step(op, self.unary(), True), start)
        if self.char == "," or self.char == "!":
            op = self.char
            self.pos += 1
            self.skip()
            return self.at(n.Unary("-not" if op == "!" else ",", self.operand_of(op)), start)
        if self.char == "-" and self.dash_word() in UNARY_WORDS:
            op = self.dash_word()
            self.pos += len(op)
            self.skip()
            return self.at(n.Unary(op.replace("-isplit", "-split"), self.operand_of(op)), start)
        if self.char in "+-" and self.char:
            op = self.char
            self.pos += 1
            number = NUMBER.match(self.text, self.pos)
            if number is None or op == "+":
                self.skip()
                return self.at(n.Unary(op, self.operand_of(op)), start)
            self.pos = number.end()
            text = self.text[start : self.pos]
            return self.postfix(self.at(n.Literal(-number_value(number), text), start), start)
        return self.cast_or_postfix()

    def operand_of(self, op: str) -> n.Node:
        """The operand that a prefix operator needs."""
        if not self.starts_expression():
            raise self.error(
                f"Missing expression after unary operator '{op}'.",
                "MissingExpressionAfterOperator",
                self.pos,
            )
        return self.unary()

    def cast_or_postfix(self) -> n.Node:
        """``[T]operand``, ``[T]::member``, ``[T]`` or a primary with its members."""
        start = self.pos
        if self.char != "[":
            return self.postfix(self.primary(), start)
        name = self.type_name()
        node = self.at(n.TypeName(name), start)
        if self.looking("::"):
            return self.postfix(node, start)
        mark = self.pos
        self.skip()
        plain = self.char != "-" or self.dash_word() not in UNARY_WORDS
        if plain and self.char and self.char not in ",.)" and self.starts_expression():
            return self.at(n.Cast(name, self.unary()), start)
        self.pos = mark
        return self.postfix(node, start)

    def type_name(self) -> str:
        """The name between ``[`` and its ``]``, blanks removed."""
        start = self.pos
        depth = 0
        while self.char:
            depth += {"[": 1, "]": -1}.get(self.char, 0)
            self.pos += 1
            if depth == 0:
                return "".join(self.text[start + 1 : self.pos - 1].split())
            if self.char in "\n;{|":
                break
        raise self.error(
            "Missing ] at end of attribute or type literal.", "EndSquareBracketExpectedAtEndOfType",
            self.pos,
        )  # fmt: skip

    # --- members ----------------------------------------------------------------------------

    def postfix(self, node: n.Node, start: int) -> n.Node:
        """``node`` with the members, calls, indexes and steps that follow it directly."""
        while True:
            if self.looking("::") or (
                self.char == "." and not self.looking("..") and self.member_follows()
            ):
                node = self.member(node, start)
            elif self.char == "[":
                node = self.index(node, start)
            elif self.looking("++") or self.looking("--"):
                op = self.text[self.pos : self.pos + 2]
                self.pos += 2
                return self.at(n.Step(op, node, False), start)
            else:
                return node

    def member_follows(self) -> bool:
        """Whether the dot here has something that can be a member after it."""
        after = self.text[self.pos + 1 : self.pos + 2]
        return bool(after) and (after.isalnum() or after in "_$('\"")

    def member(self, target: n.Node, start: int) -> n.Node:
        """``.name``, ``::name`` or a call of it."""
        static = self.looking("::")
        self.pos += 2 if static else 1
        match = WORD.match(self.text, self.pos)
        name: Any
        if self.char == "$":
            name = self.variable()
        elif self.char == "(" or (self.char in SINGLE_QUOTES + DOUBLE_QUOTES and self.char):
            name = self.primary()
        elif match or self.char.isdigit():
            end = self.pos
            while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
                end += 1
            name = self.text[self.pos : end]
            self.pos = end
        else:
            raise self.error(
                "Missing property name after reference operator.", "MissingPropertyName", self.pos
            )
        if self.char != "(":
            return self.at(n.Member(target, name, static), start)
        return self.at(n.Invoke(target, name, self.arguments(), static), start)

    def arguments(self) -> list[n.Node]:
        """The arguments between the parentheses here."""
        opened = self.pos
        self.pos += 1
        args: list[n.Node] = []
        self.skip(lines=True)
        while not self.take(")"):
            if args and not self.take(","):
                break
            self.skip(lines=True)
            if not self.starts_expression():
                raise (
                    self.error(
                        "Missing expression after ','.", "MissingExpressionAfterToken", self.pos
                    )
                    if args
                    else self.unexpected()
                )
            args.append(self.nested(False, self.expression))
            self.skip(lines=True)
        else:
            return args
        raise self.error(
            "Missing ')' in method call.", "MissingEndParenthesisInMethodCall", self.pos or opened
        )

    def nested(self, commas: bool, parse: Callable[[], _T]) -> _T:
        """``parse()`` with commas making arrays, or (between arguments of a call) not."""
        saved, self.commas = self.commas, commas
        try:
            return parse()
        finally:
            self.commas = saved

    def index(self, target: n.Node, start: int) -> n.Node:
        """``[index]`` after ``target``."""
        opened = self.pos
        self.pos += 1
        self.skip(lines=True)
        if not self.starts_expression():
            raise self.error(
                "Array index expression is missing or not valid.", "MissingArrayIndexExpression",
                opened,
            )  # fmt: skip
        index = self.nested(True, self.expression)
        self.skip(lines=True)
        if not self.take("]"):
            raise self.error(
                "Missing ']' after array index expression.", "MissingEndSquareBracket", self.pos
            )
        return self.at(n.Index(target, index), start)

    # --- primaries --------------------------------------------------------------------------

    def primary(self) -> n.Node:
        """One operand without prefix or postfix."""
        start, char = self.pos, self.char
        if char == "$":
            return self.sub_expression() if self.looking("$(") else self.variable()
        if char == "(":
            return self.nested(True, self.paren)
        if char == "@":
            return self.nested(True, self.at_sign)
        if char == "{":
            return self.nested(True, self.script_block)
        if char and char in SINGLE_QUOTES:
            value = self.single_quoted()
            return self.at(n.Literal(value, value), start)
        if char and char in DOUBLE_QUOTES:
            return self.double_quoted()
        number = NUMBER.match(self.text, self.pos)
        if number is None:
            raise self.unexpected()
        self.pos = number.end()
        return self.at(n.Literal(number_value(number), number.group()), start)

    def paren(self) -> n.Node:
        """``( pipeline )``."""
        start = self.pos
        self.pos += 1
        self.skip(lines=True)
        if self.char == ")":
            raise self.error(
                "An expression was expected after '('.", "ExpectedExpression", self.pos
            )
        inner = self.statement()
        self.skip(lines=True)
        if inner is None or not self.take(")"):
            raise self.error(
                "Missing closing ')' in expression.", "MissingEndParenthesisInExpression",
                self.pos,
            )  # fmt: skip
        return self.at(n.Paren(inner), start)

    def sub_expression(self) -> n.Node:
        """``$( statements )``."""
        start = self.pos
        self.pos += 2
        body = self.nested(True, lambda: self.statements_until(")", start))
        return self.at(n.SubExpression(body), start)

    def at_sign(self) -> n.Node:
        """``@( )``, ``@{ }``, a here-string or ``@name``."""
        start = self.pos
        follows = self.text[self.pos + 1 : self.pos + 2]
        if follows == "(":
            self.pos += 2
            return self.at(n.ArrayExpression(self.statements_until(")", start)), start)
        if follows == "{":
            return self.hash_literal()
        if follows and follows in SINGLE_QUOTES + DOUBLE_QUOTES:
            return self.here_string(follows in DOUBLE_QUOTES)
        match = WORD.match(self.text, self.pos + 1)
        if match is None:
            raise self.error("Unrecognized token in source text.", "UnrecognizedToken", start)
        self.pos = match.end()
        return self.at(n.Splat(match.group().lower()), start)

    def hash_literal(self) -> n.Node:
        """``@{ key = value; ... }``."""
        start = self.pos
        self.pos += 2
        pairs: list[tuple[n.Node, n.Node]] = []
        while True:
            while True:
                self.skip(lines=True)
                if not self.take(";"):
                    break
            if self.take("}"):
                return self.at(n.HashLiteral(pairs), start)
            if not self.char:
                raise self.error("The hash literal was incomplete.", "IncompleteHashLiteral", start)
            key = self.hash_key()
            self.skip(lines=True)
            if not self.take("="):
                raise self.error(
                    "Missing '=' operator after key in hash literal.",
                    "MissingEqualsInHashLiteral",
                    self.pos,
                )
            self.skip(lines=True)
            value = self.statement()
            if value is None:
                raise self.error(
                    "Missing statement after '=' in hash literal.",
                    "MissingStatementInHashLiteral",
                    self.pos,
                )
            pairs.append((key, value))
            self.skip()
            if self.char not in "\r\n;}":
                raise self.unexpected()

    def hash_key(self) -> n.Node:
        """The key of a pair: a bare word or an expression."""
        start = self.pos
        match = WORD.match(self.text, self.pos)
        if match is None:
            return self.unary()
        self.pos = match.end()
        return self.at(n.Literal(match.group(), match.group()), start)

    def variable(self) -> n.Node:
        """``$name`` and its forms."""
        start = self.pos
        match = VARIABLE.match(self.text, self.pos)
        if match is None:
            raise self.error(
                "Variable reference is not valid. '$' was not followed by a valid variable name "
                "character. Consider using ${} to delimit the name.",
                "InvalidVariableReference",
                start,
            )
        self.pos = match.end()
        return self.at(variable_of(match), start)

    # --- strings ----------------------------------------------------------------------------

    def single_quoted(self) -> str:
        """The text of ``'...'``; two quotes stand for one."""
        start = self.pos
        self.pos += 1
        parts: list[str] = []
        while self.char:
            char = self.char
            self.pos += 1
            if char in SINGLE_QUOTES:
                if not self.char or self.char not in SINGLE_QUOTES:
                    return "".join(parts)
                self.pos += 1
            parts.append(char)
        raise self.error(
            "The string is missing the terminator: '.", "TerminatorExpectedAtEndOfString",
            start, self.pos,
        )  # fmt: skip

    def double_quoted(self) -> n.Node:
        """``"..."`` with what is to be expanded in it."""
        start = self.pos
        self.pos += 1
        parts: list[Any] = []
        while self.char:
            char = self.char
            if char in DOUBLE_QUOTES:
                self.pos += 1
                if not self.char or self.char not in DOUBLE_QUOTES:
                    return self.at(_string_node(parts), start)
                self.pos += 1
                parts.append(char)
            else:
                self.expandable(parts)
        raise self.error(
            "The string is missing the terminator: \".", "TerminatorExpectedAtEndOfString",
            start, self.pos,
        )  # fmt: skip

    def expandable(self, parts: list[Any]) -> None:
        """Add the character, variable or subexpression here to ``parts``."""
        char = self.char
        if char == "`":
            parts.append(self.escape())
        elif char == "$" and self.looking("$("):
            parts.append(self.sub_expression())
        elif char == "$" and VARIABLE.match(self.text, self.pos):
            parts.append(self.variable())
        else:
            parts.append(char)
            self.pos += 1

    def here_string(self, expand: bool) -> n.Node:
        """``@"`` line ... line ``"@``."""
        start = self.pos
        quote = self.text[self.pos + 1]
        self.pos += 2
        while self.char and self.char in " \t\r":
            self.pos += 1
        if self.char != "\n":
            raise self.error(
                "No characters are allowed after a here-string header but before the end of "
                "the line.",
                "UnexpectedCharactersAfterHereStringHeader",
                self.pos,
            )
        close = self.text.find(f"\n{quote}@", self.pos)
        if close < 0:
            raise self.error(
                f"The string is missing the terminator: {quote}@.",
                "TerminatorExpectedAtEndOfString",
                start,
                len(self.text),
            )
        self.pos += 1
        end = max(self.pos, close - (self.text[close - 1] == "\r"))
        if not expand:
            value = self.text[self.pos : end]
            self.pos = close + 3
            return self.at(n.Literal(value, value), start)
        parts: list[Any] = []
        while self.pos < end:
            self.expandable(parts)
        self.pos = close + 3
        return self.at(_string_node(parts), start)

    def generic_token(self) -> n.Node:
        """A word among a command's arguments: quotes, escapes and variables inside it count."""
        start = self.pos
        parts: list[Any] = []
        while self.char and self.char not in TOKEN_END:
            if self.char in SINGLE_QUOTES:
                parts.append(self.single_quoted())
            elif self.char in DOUBLE_QUOTES:
                parts.append(self.double_quoted())
            else:
                self.expandable(parts)
        return self.at(_string_node(parts), start)


def variable_of(match: Any) -> n.Variable:
    """The node of a matched variable."""
    if match.group("braced"):
        inside = match.group("braced")[1:-1]
        scope, colon, name = inside.partition(":")
        return n.Variable(scope.lower(), name) if colon else n.Variable("", inside)
    return n.Variable(
        (match.group("scope") or "").lower(), match.group("name") or match.group("odd")
    )


def _string_node(parts: list[Any]) -> n.Node:
    """A literal where nothing is to be expanded, otherwise the parts with texts joined."""
    joined: list[Any] = []
    for part in parts:
        if isinstance(part, n.Literal) and isinstance(part.value, str):
            part = part.value
        if isinstance(part, n.ExpandableString):
            joined.extend(part.parts)
        elif isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    if all(isinstance(part, str) for part in joined):
        text = "".join(joined)
        return n.Literal(text, text)
    return n.ExpandableString(joined)
