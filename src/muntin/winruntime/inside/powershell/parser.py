"""Statements and commands. ``parse(text)`` gives the script as a block.

Every keyword of the language has a row in :data:`STATEMENTS`: a method that parses it, or None
where the construct is refused by name.
"""

from __future__ import annotations

import re

from . import nodes as n
from .commands import STATEMENT_END, CommandParser
from .expressions import variable_of
from .lexer import PARAMETER, VARIABLE, WORD

STATEMENTS: dict[str, str | None] = {
    "if": "if_statement",
    "while": "while_statement",
    "do": "do_statement",
    "for": "for_statement",
    "foreach": "foreach_statement",
    "switch": "switch_statement",
    "try": "try_statement",
    "function": "function_statement",
    "filter": "function_statement",
    "break": "flow_statement",
    "continue": "flow_statement",
    "return": "flow_statement",
    "throw": "flow_statement",
    "exit": "flow_statement",
    "trap": None,
    "data": None,
    "class": None,
    "enum": None,
    "using": None,
    "workflow": None,
    "configuration": None,
    "parallel": None,
    "sequence": None,
    "inlinescript": None,
    "dynamicparam": None,
    "define": None,
    "from": None,
    "var": None,
}


def parse(text: str) -> n.ScriptBlockLiteral:
    """The whole of ``text`` as a script block (it may begin with ``param``)."""
    parser = Parser(text)
    block = parser.block_body("", 0)
    if parser.char:
        raise parser.unexpected()
    return block


class Parser(CommandParser):
    """Recursive descent over statements; commands and expressions come from the base classes."""

    # --- blocks -----------------------------------------------------------------------------

    def block_body(self, close: str, opened: int) -> n.ScriptBlockLiteral:
        """The inside of a script block: param, begin/process/end, or statements."""
        start = self.pos
        params = self.param_block()
        named: dict[str, n.Block] = {}
        self.separators()
        while (word := self.word()) in ("begin", "process", "end", "dynamicparam"):
            if word == "dynamicparam":
                raise self.refused("dynamicparam block", len(word))
            self.pos += len(word)
            named[word] = self.braces(word)
            self.separators()
        if named:
            body = named.get("end", n.Block([]))
            self.closing(close, opened)
        else:
            body = self.statements_until(close, opened)
        text = self.text[start : self.pos - len(close)]
        block = n.ScriptBlockLiteral(
            params, named.get("begin"), named.get("process"), body, text
        )  # fmt: skip
        return self.at(block, start)

    def closing(self, close: str, opened: int) -> None:
        """Require ``close`` (or the end of the text)."""
        self.skip(lines=True)
        if not close:
            return
        if self.take(close):
            return
        if self.char:
            raise self.unexpected()
        if close == "}":
            raise self.error(
                "Missing closing '}' in statement block or type definition.",
                "MissingEndCurlyBrace",
                opened,
            )
        raise self.error(
            "Missing closing ')' in subexpression.", "MissingEndParenthesisInSubexpression", opened
        )

    def separators(self) -> None:
        """Pass over line ends and semicolons."""
        self.skip(lines=True)
        while self.take(";"):
            self.skip(lines=True)

    def statements_until(self, close: str, opened: int) -> n.Block:
        """Statements up to ``close``, which is passed over; '' means the end of the text."""
        start = self.pos
        statements: list[n.Node] = []
        while True:
            self.separators()
            if not self.char or self.char in "})":
                break
            node = self.statement()
            if node is not None:
                statements.append(node)
            self.skip()
            if self.char and self.char not in STATEMENT_END:
                raise self.after_statement()
        block = self.at(n.Block(statements), start)
        if close:
            self.closing(close, opened)
        return block

    def script_block(self) -> n.ScriptBlockLiteral:
        """``{ ... }``."""
        opened = self.pos
        self.pos += 1
        return self.at(self.block_body("}", opened), opened)

    def braces(
        self, after: str, message: str = "", error_id: str = "MissingStatementBlock"
    ) -> n.Block:
        """``{ statements }`` after the keyword ``after``."""
        self.skip(lines=True)
        opened = self.pos
        if not self.take("{"):
            raise self.error(
                message or f"Missing statement block after '{after}'.", error_id, self.pos
            )
        return self.nested(True, lambda: self.statements_until("}", opened))

    # --- statements -------------------------------------------------------------------------

    def statement(self) -> n.Node | None:
        """The statement here."""
        start = self.pos
        label = ""
        if self.char == ":" and (match := WORD.match(self.text, self.pos + 1)):
            label = match.group().lower()
            self.pos = match.end()
            self.skip(lines=True)
        word = self.word()
        if word in STATEMENTS and self.keyword_ends(word):
            method = STATEMENTS[word]
            if method is None:
                raise self.refused(f"'{word}' statement", len(word))
            self.pos += len(word)
            node: n.Node = getattr(self, method)(word, label)
            return self.at(node, start)
        return self.pipeline_statement()

    def keyword_ends(self, word: str) -> bool:
        """Whether the keyword stands alone (``if(``, not ``if-this`` or ``data.exe``)."""
        after = self.text[self.pos + len(word) : self.pos + len(word) + 1]
        if after in (".", "\\", "/", ":", "="):
            return False
        if STATEMENTS[word] is not None:
            return True
        # words that are commands as well: only where the construct's own shape follows
        shapes = {
            "trap": r"\s*(\[[^\]]*\]\s*)?\{",
            "data": r"\s*(\w+\s*)?\{",
            "using": r"\s+(namespace|module|assembly)\b",
            "class": r"\s+\w+[^|;\n]*\{",
            "enum": r"\s+\w+\s*(:\s*\w+\s*)?\{",
        }
        shape = shapes.get(word, r"\s*([\w-]+\s*)?\{")
        return bool(re.compile(word + shape, re.I).match(self.text, self.pos))

    def condition(self, word: str) -> n.Node:
        """``( pipeline )`` after a keyword."""
        self.skip(lines=True)
        name = word.capitalize()
        if not self.take("("):
            raise self.error(
                f"Missing '(' after '{word}' in {word} statement.",
                f"MissingOpenParenthesisIn{name}Statement",
                self.pos,
            )
        self.skip(lines=True)
        if self.char == ")":
            raise self.error(
                f"Missing condition in {word} statement after '{word} ('.",
                f"{name}StatementMissingCondition",
                self.pos,
            )
        node = self.nested(True, self.statement)
        self.skip(lines=True)
        if node is None or not self.take(")"):
            raise self.error(
                f"Missing closing ')' after expression in '{word}' statement.",
                "MissingEndParenthesisAfterStatement",
                self.pos,
            )
        return node

    def if_statement(self, _word: str, _label: str) -> n.Node:
        """``if () {} elseif () {} else {}``."""
        message = "Missing statement block after if ( condition )."
        clauses = [(self.condition("if"), self.braces("if", message))]
        otherwise = None
        while True:
            mark = self.pos
            self.skip(lines=True)
            if self.take_word("elseif"):
                clauses.append((self.condition("elseif"), self.braces("elseif", message)))
            elif self.take_word("else"):
                otherwise = self.braces("else", "Missing statement block after 'else' keyword.")
                return n.If(clauses, otherwise)
            else:
                self.pos = mark
                return n.If(clauses, otherwise)

    def while_statement(self, word: str, label: str) -> n.Node:
        """``while () {}``."""
        condition = self.condition(word)
        return n.While(label, condition, self.braces(word), False, False)

    def do_statement(self, word: str, label: str) -> n.Node:
        """``do {} while ()`` or ``until ()``."""
        body = self.braces(word)
        self.skip(lines=True)
        keyword = self.word()
        if keyword not in ("while", "until"):
            raise self.error(
                "Missing while or until keyword in do loop.", "MissingWhileOrUntilInDoWhile",
                self.pos,
            )  # fmt: skip
        self.pos += len(keyword)
        return n.While(label, self.condition(keyword), body, True, keyword == "until")

    def for_statement(self, word: str, label: str) -> n.Node:
        """``for (init; condition; step) {}``."""
        self.skip(lines=True)
        if not self.take("("):
            raise self.error(
                "Missing opening '(' after keyword 'for'.", "MissingOpenParenthesisAfterKeyword",
                self.pos,
            )  # fmt: skip
        parts: list[n.Node | None] = []
        for index in range(3):
            self.skip(lines=True)
            here = self.char not in ";)" if self.char else False
            parts.append(self.nested(True, self.statement) if here else None)
            self.skip(lines=True)
            if index < 2 and not self.take(";"):
                break
        parts += [None] * (3 - len(parts))
        if not self.take(")"):
            raise self.error(
                "Missing closing ')' after expression in 'for' statement.",
                "MissingEndParenthesisAfterStatement",
                self.pos,
            )
        return n.For(label, parts[0], parts[1], parts[2], self.braces(word))

    def foreach_statement(self, word: str, label: str) -> n.Node:
        """``foreach ($name in pipeline) {}``."""
        self.skip(lines=True)
        if self.char == "-":
            raise self.refused("foreach -parallel statement", 1)
        if not self.take("("):
            raise self.error(
                "Missing opening '(' after keyword 'foreach'.",
                "MissingOpenParenthesisAfterKeyword",
                self.pos,
            )
        self.skip(lines=True)
        match = VARIABLE.match(self.text, self.pos)
        if match is None:
            raise self.error(
                "Missing variable name after foreach.", "MissingVariableNameAfterForeach", self.pos
            )
        start, self.pos = self.pos, match.end()
        variable = self.at(variable_of(match), start)
        self.skip(lines=True)
        if not self.take_word("in"):
            raise self.error(
                "Missing 'in' after variable in foreach loop.", "MissingInInForeach", self.pos
            )
        self.skip(lines=True)
        items = self.nested(True, self.statement) if self.char not in ("", ")") else None
        if items is None:
            raise self.error(
                "Missing expression after 'in' in foreach loop.", "MissingForeachExpression",
                self.pos,
            )  # fmt: skip
        self.skip(lines=True)
        if not self.take(")"):
            raise self.error(
                "Missing closing ')' after expression in foreach loop.",
                "MissingEndParenthesisAfterForeach",
                self.pos,
            )
        message = "Missing statement body in foreach loop."
        return n.ForEach(
            label, variable, items, self.braces(word, message, "MissingForeachStatement")
        )

    def switch_statement(self, word: str, label: str) -> n.Node:
        """``switch [-regex|-wildcard|-exact|-casesensitive|-file] () {}``."""
        flags: list[str] = []
        while True:
            self.skip(lines=True)
            match = PARAMETER.match(self.text, self.pos)
            if match is None:
                break
            full = [
                name
                for name in ("regex", "wildcard", "exact", "casesensitive", "file", "parallel")
                if name.startswith(match.group(1).lower())
            ]
            if not full:
                raise self.unexpected()
            if full[0] in ("file", "parallel"):
                raise self.refused(f"switch -{full[0]} statement", len(match.group()))
            flags.append(full[0])
            self.pos = match.end()
        value = self.condition(word)
        self.skip(lines=True)
        opened = self.pos
        if not self.take("{"):
            raise self.error(
                "Missing opening '{' in switch statement.", "MissingCurlyBraceInSwitchStatement",
                self.pos,
            )  # fmt: skip
        clauses: list[tuple[n.Node, n.Block]] = []
        default = None
        while True:
            self.separators()
            if self.take("}"):
                return n.Switch(label, flags, value, clauses, default)
            if not self.char:
                self.closing("}", opened)
            if self.word() == "default":
                self.pos += len("default")
                default = self.braces("default")
                continue
            test = self.unary() if self.starts_expression() else self.argument_value()
            message = "Missing statement block in switch statement clause."
            clauses.append(
                (test, self.braces("", message, "MissingSwitchStatementClause"))
            )  # fmt: skip

    def try_statement(self, word: str, _label: str) -> n.Node:
        """``try {} catch [T], [U] {} finally {}``."""
        body = self.braces(word)
        catches: list[tuple[list[str], n.Block]] = []
        final = None
        while True:
            mark = self.pos
            self.skip(lines=True)
            if final is None and self.take_word("catch"):
                types: list[str] = []
                self.skip(lines=True)
                while self.char == "[":
                    types.append(self.type_name())
                    self.skip(lines=True)
                    self.take(",")
                    self.skip(lines=True)
                catches.append((types, self.braces("catch")))
            elif final is None and self.take_word("finally"):
                final = self.braces("finally")
            else:
                self.pos = mark
                break
        if not catches and final is None:
            raise self.error(
                "The Try statement is missing its Catch or Finally block.",
                "MissingCatchOrFinally",
                self.pos - 1,
            )
        return n.Try(body, catches, final)

    def flow_statement(self, word: str, _label: str) -> n.Node:
        """``break continue return throw exit`` and what follows on the line."""
        self.skip()
        if not self.char or self.char in STATEMENT_END or self.char == "|":
            return n.Flow(word, None)
        if word in ("break", "continue"):
            match = WORD.match(self.text, self.pos)
            if match:
                self.pos = match.end()
                return n.Flow(word, n.Literal(match.group().lower(), match.group()))
        return n.Flow(word, self.pipeline_statement())

    def function_statement(self, word: str, _label: str) -> n.Node:
        """``function name [(params)] { body }``."""
        self.skip(lines=True)
        match = re.compile(r"(?:(?:global|script|local|private):)?([^\s(){};|&\"'$]+)", re.I).match(
            self.text, self.pos
        )
        if match is None:
            raise self.error(
                f"Missing name after {word} keyword.", "MissingNameAfterKeyword", self.pos
            )
        self.pos = match.end()
        self.skip(lines=True)
        params = self.parameters() if self.char == "(" else None
        self.skip(lines=True)
        if self.char != "{":
            raise self.error(
                "Missing function body in function declaration.", "MissingFunctionBody", self.pos
            )
        block = self.nested(True, self.script_block)
        if params is not None:
            block.params = params
        if word == "filter" and block.process is None:
            block.process, block.body = block.body, n.Block([])
        return n.Function(match.group(1), block)

    # --- parameters -------------------------------------------------------------------------

    def param_block(self) -> list[n.Parameter] | None:
        """``[CmdletBinding()] param (...)`` at the start of a block, if there."""
        mark = self.pos
        self.separators()
        while self.char == "[" and re.compile(
            r"\[\s*(cmdletbinding|outputtype|alias|diagnostics\.)", re.I
        ).match(self.text, self.pos):
            self.type_name()
            self.skip(lines=True)
        if not self.take_word("param"):
            self.pos = mark
            return None
        self.skip(lines=True)
        if self.char != "(":
            raise self.unexpected()
        return self.parameters()

    def parameters(self) -> list[n.Parameter]:
        """``([type]$name = default, ...)``."""
        opened = self.pos
        self.pos += 1
        found: list[n.Parameter] = []
        while True:
            self.skip(lines=True)
            if self.take(")"):
                return found
            if found and not self.take(","):
                break
            self.skip(lines=True)
            found.append(self.parameter())
        raise self.error(
            "Missing ')' in function parameter list.",
            "MissingEndParenthesisInFunctionParameterList",
            self.pos if self.char else opened,
        )  # fmt: skip

    def parameter(self) -> n.Parameter:
        """One parameter with its attributes, type and default."""
        start = self.pos
        node = n.Parameter("", "", None, False, None, False, [], [])
        while self.char == "[":
            self.attribute_or_type(node)
            self.skip(lines=True)
        match = VARIABLE.match(self.text, self.pos)
        if match is None:
            raise self.unexpected()
        self.pos = match.end()
        node.name = variable_of(match).name
        mark = self.pos
        self.skip(lines=True)
        if self.take("="):
            self.skip(lines=True)
            node.default = self.nested(False, self.expression)
        else:
            self.pos = mark
        return self.at(node, start)

    def attribute_or_type(self, node: n.Parameter) -> None:
        """``[type]`` or ``[Attribute(...)]`` before a parameter's name."""
        match = re.compile(r"\[\s*([\w.]+)\s*\(").match(self.text, self.pos)
        if match is None:
            node.type_name = self.type_name()
            return
        attribute = match.group(1).lower().removesuffix("attribute").rsplit(".", 1)[-1]
        at, self.pos = self.pos, match.end() - 1
        settings = self.attribute_arguments()
        self.skip(lines=True)
        if not self.take("]"):
            raise self.unexpected()
        if attribute == "parameter":
            self.apply_settings(node, settings)
        elif attribute == "alias":
            node.aliases = [
                str(value.value).lower() for _, value in settings if isinstance(value, n.Literal)
            ]
        elif attribute.startswith("validate"):
            known = ("set", "range", "notnullorempty", "notnull", "pattern", "length", "script")
            if attribute[8:] not in known:
                self.pos = at
                raise self.refused(f"[{match.group(1)}()] attribute", len(match.group()))
            node.validate.append((attribute[8:], [v for _, v in settings if v is not None]))
        elif attribute not in ("allownull", "allowemptystring", "allowemptycollection"):
            self.pos = at
            raise self.refused(f"[{match.group(1)}()] attribute", len(match.group()))

    def attribute_arguments(self) -> list[tuple[str, n.Node | None]]:
        """``(Name = value, value, Name)`` as pairs; a name without value has None."""
        self.pos += 1
        found: list[tuple[str, n.Node | None]] = []
        while True:
            self.skip(lines=True)
            if self.take(")"):
                return found
            self.take(",")
            self.skip(lines=True)
            match = WORD.match(self.text, self.pos)
            if match:
                self.pos = match.end()
                self.skip(lines=True)
                value = None
                if self.take("="):
                    self.skip(lines=True)
                    value = self.nested(False, self.expression)
                found.append((match.group().lower(), value))
            elif self.starts_expression():
                found.append(("", self.nested(False, self.expression)))
            else:
                raise self.unexpected()

    def apply_settings(self, node: n.Parameter, settings: list[tuple[str, n.Node | None]]) -> None:
        """What ``[Parameter(...)]`` says about ``node``."""
        for name, value in settings:
            false = isinstance(value, n.Variable) and value.name.lower() == "false"
            if name == "mandatory":
                node.mandatory = not false
            elif name == "position" and isinstance(value, n.Literal):
                node.position = int(value.value)
            elif name.startswith("valuefrompipeline"):
                node.pipeline = not false
