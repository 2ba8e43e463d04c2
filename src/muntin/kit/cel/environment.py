"""Environments: the variables and functions that expressions may use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from muntin.kit.cel import messages
from muntin.kit.cel.cost import Costs, estimate
from muntin.kit.cel.dialect import NEWEST, Dialect
from muntin.kit.cel.errors import CompileError, Issue, compile_error
from muntin.kit.cel.functions import MAP_ENTRIES, STRING, Function, merged
from muntin.kit.cel.growth import MOST as MOST_GROWTH
from muntin.kit.cel.growth import nature
from muntin.kit.cel.literals import Found, mistakes, operands
from muntin.kit.cel.program import Activation, Program
from muntin.kit.cel.rewriting import SORTED, Rewritten, rewrite, without_texts
from muntin.kit.cel.shapes import Shape
from muntin.kit.cel.syntax import positions, read, without_lists

MOST_CHARACTERS = 32 * 1024


class Environment:
    """Compiles expressions over ``variables`` and ``functions``.

    ``opaque`` names the types that functions pass among themselves (`messages.opaque`),
    ``optional`` the functions whose lists are read as optional values. Besides these there are
    the standard functions and macros, those of comprehensions with two variables, and optional
    values. ``mixes`` lets lists and maps that are spelt out hold values of several types;
    ``dialect`` says what of all this expressions may not use.
    """

    def __init__(
        self,
        variables: Mapping[str, Shape],
        functions: Sequence[Function] = (),
        opaque: Sequence[str] = (),
        optional: Sequence[str] = (),
        *,
        mixes: bool = False,
        dialect: Dialect = NEWEST,
    ) -> None:
        self._mixes = mixes
        self._dialect = dialect
        self._optional_calls = tuple(optional)
        self.variables = dict(variables)
        self._optional = tuple(k for k, v in self.variables.items() if v.kind == "optional")
        self._wrap = "".join(f"cel.bind({name}, {box(name)}.?value, " for name in self._optional)
        known = (*functions, MAP_ENTRIES)
        shapes = self._shapes()
        erased = tuple(sorted((name, shape.erased) for name, shape in shapes.items()))
        binds = bool(self._optional)
        self._run = _run_environment(erased, known, frozenset(opaque), binds=binds)
        self._syntax = _Syntax(self._run)
        pool = messages.new_pool()
        for name in opaque:
            messages.declare_opaque(pool, name)
        messages.declare_shapes(pool, shapes.values())
        declared = {name: shape.signature for name, shape in shapes.items()}
        spoken = tuple(f for f in known if f not in dialect.without)
        self._sorts = any(function.name == SORTED for function in spoken)
        declarations = _declarations(spoken, callable_=False)
        self._check = _new(pool, declared, declarations, binds=binds, dialect=dialect)

    def compile(self, expression: str) -> Program:
        """The program of ``expression``.

        Raises:
            CompileError: it is not CEL, or its names or types are not right.
        """
        if len(expression) > MOST_CHARACTERS:
            text = f"expression code point size exceeds limit: {MOST_CHARACTERS}"
            raise CompileError("", (Issue(1, 1, text),))
        _refuse_quoted_names(expression)
        if not self._dialect.optionals:
            _refuse_optionals(expression)
        try:
            return self._compile(expression, expression)
        except CompileError as err:
            if (renamed := _with_strings(expression, err)) == expression:
                raise
        return self._compile(renamed, expression)

    def _compile(self, expression: str, source: str) -> Program:
        rewritten = self._rewritten(expression)
        text, shift = rewritten.text, 0
        if self._optional:
            _compiled(self._syntax, text, expression, rewritten)
            text = f"{self._wrap}({text}\n{')' * len(self._optional)})"
            shift = len(self._wrap) + 1
        try:
            checked = _compiled(self._check, text, expression, rewritten, shift)
        except CompileError as err:
            if text != source:
                raise
            raise CompileError(source, tuple(self._plainer(source, err.issues))) from err
        serialized = checked.serialize()
        checks = self._dialect.literals
        found_here = list(mistakes(read(serialized), mixes=self._mixes, checks=checks))
        _refuse(found_here, positions(serialized), text, expression, rewritten, shift)
        result = checked.return_type().name()
        found = _compiled(self._run, text, expression, rewritten, shift)
        known = nature(found.serialize())
        if known.growth > MOST_GROWTH:
            text = f"expression exceeds budget: it makes values {known.growth} times larger"
            raise CompileError(expression, (Issue(1, 1, text),))
        return Program(source, found, _type_name(result), self._boxed, known)

    def _rewritten(self, expression: str) -> Rewritten:
        calls = self._optional_calls
        return rewrite(expression, calls, pairs=self._dialect.pairs, sorts=self._sorts)

    def _plainer(self, source: str, issues: Sequence[Issue]) -> Iterator[Issue]:
        """``issues`` with those about ``&&`` and ``||`` told of the side that is no bool."""
        for issue in issues:
            found = _LOGICAL.match(issue.text)
            if found is None:
                yield issue
                continue
            serialized = self._syntax.compile(source).serialize()
            places, lines = positions(serialized), source.split("\n")
            at = sum(len(line) + 1 for line in lines[: issue.line - 1]) + issue.column - 1
            sides = operands(read(serialized), found[1], at, places)
            for side, kind in zip(sides, found[2].split(", "), strict=False):
                if kind != "bool":
                    line, column = _place(source, places.get(side.id, at))
                    yield Issue(line, column, f"expected type 'bool' but found '{kind}'")

    def most_cost(self, expression: str, root: Shape, costs: Costs) -> int:
        """What an evaluation of ``expression``, which compiles, costs at most; ``root`` is the
        shape of its variables, ``costs`` says what its own functions cost."""
        try:
            self._compile(expression, expression)
        except CompileError as err:
            expression = _with_strings(expression, err)
        text = self._rewritten(expression).text
        if self._optional:
            text = f"{self._wrap}({text}\n{')' * len(self._optional)})"
        tree = read(self._check.compile(text).serialize())
        for _ in self._optional:
            if tree.loop is not None:
                tree = tree.loop.result
        return estimate(without_lists(tree, self._optional_calls), root, costs)

    def activation(self, variables: Mapping[str, Any]) -> Activation:
        """``variables`` made ready for several programs of this environment."""
        return Activation(self._run.Activation(self._boxed(variables)), variables)

    def _boxed(self, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """With optional variables in boxes: a missing one in an empty box."""
        if not self._optional:
            return variables
        found = dict(variables)
        for name in self._optional:
            found[box(name)] = {"value": found.pop(name)} if name in found else {}
        return found

    def _shapes(self) -> dict[str, Shape]:
        """The variables as they are passed, boxes for the optional ones."""
        found = {}
        for name, shape in self.variables.items():
            if shape.kind == "optional":
                inner = shape.element or Shape("dyn")
                found[box(name)] = Shape("object", box(name), fields={"value": inner})
            else:
                found[name] = shape
        return found


class _Syntax:
    """Compiles for the sake of syntax errors, whose words a wrapped expression would change."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment

    def compile(self, text: str) -> Any:
        return self._environment.compile(text, disable_check=True)


def box(name: str) -> str:
    """The variable in which an optional one is passed."""
    return f"{name}__box"


# Comparisons are declared anew, with those of numbers of different types.
_PAIRS = "extensions: [{name: two-var-comprehensions}]"
_SETTINGS = """
stdlib: {exclude_functions: [{name: _<_}, {name: _<=_}, {name: _>_}, {name: _>=_}]}
"""
_COMPARISONS = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}
_NUMBERS = {"int": "int64", "uint": "uint64", "double": "double"}
_COMPARED = {"bool": "bool", "bytes": "bytes", "string": "string",
             "google.protobuf.Duration": "duration",
             "google.protobuf.Timestamp": "timestamp"}  # fmt: skip


def _new(
    pool: Any, variables: Mapping[str, str], declarations: Sequence[Any], *, binds: bool,
    dialect: Dialect = NEWEST,
) -> Any:  # fmt: skip
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_optional

    extensions: list[Any] = []
    if dialect.optionals or binds:
        extensions.append(ext_optional.ExtOptional())
    if binds:
        from cel_expr_python.ext import ext_bindings  # megabytes, for the few that need it

        extensions.append(ext_bindings.ExtBindings())
    return cel.NewEnv(
        pool,
        cel.NewEnvConfigFromYaml(f"{_PAIRS if dialect.pairs else ''}{_SETTINGS}"),
        variables={name: as_type(signature) for name, signature in variables.items()},
        extensions=extensions,
        functions=[*_comparisons(mixed=dialect.numbers), *declarations],
    )


@cache
def _comparisons(*, mixed: bool) -> tuple[Any, ...]:
    from cel_expr_python import cel

    pairs = [(one, one, name) for one, name in {**_NUMBERS, **_COMPARED}.items()]
    for one, name in _NUMBERS.items() if mixed else ():
        pairs += [(one, other, f"{name}_{_NUMBERS[other]}") for other in _NUMBERS if other != one]
    return tuple(
        cel.FunctionDecl(
            operator,
            [
                cel.Overload(
                    f"{word}_{name}",
                    return_type=as_type("bool"),
                    parameters=[as_type(one), as_type(other)],
                    is_member=False,
                )
                for one, other, name in pairs
            ],
        )
        for operator, word in _COMPARISONS.items()
    )


def as_type(signature: str) -> Any:
    """The compiler's type of a signature."""
    from cel_expr_python import cel

    simple = {"bool": "BOOL", "bytes": "BYTES", "double": "DOUBLE", "dyn": "DYN", "int": "INT",
              "null": "NULL", "string": "STRING", "uint": "UINT"}  # fmt: skip
    if signature in simple:
        return getattr(cel.Type, simple[signature])
    head, _, inner = signature.partition("(")
    inner = inner[:-1]
    if head == "list":
        return cel.Type.List(as_type(inner))
    if head == "map":
        key, _, value = inner.partition(",")
        return cel.Type.Map(as_type(key), as_type(value))
    return cel.Type(signature)


def _compiled(
    environment: Any, text: str, source: str, rewritten: Rewritten, shift: int = 0
) -> Any:
    try:
        return environment.compile(text)
    except RuntimeError as err:
        raise compile_error(source, str(err), rewritten, shift) from err


_LOGICAL = re.compile(r"^found no matching overload for '(_&&_|_\|\|_)' applied to '\((.*)\)'$")


def _place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset; both count from one."""
    before = text[:offset]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _with_strings(expression: str, error: CompileError) -> str:
    """``expression`` with the calls of ``string`` renamed that fit no overload of the language."""
    lines = expression.split("\n")
    for issue in error.issues:
        if issue.text.startswith("found no matching overload for 'string'"):
            line, end = lines[issue.line - 1], issue.column - 1
            if line[:end].endswith("string"):
                lines[issue.line - 1] = line[: end - len(STRING)] + STRING + line[end:]
    return "\n".join(lines)


def _refuse_quoted_names(expression: str) -> None:
    if "`" not in expression:
        return
    for number, line in enumerate(without_texts(expression).split("\n"), start=1):
        if (at := line.find("`")) >= 0:
            raise CompileError(expression, (Issue(number, at + 1, "unsupported syntax: '`'"),))


_OPTIONAL = re.compile(r"\.\?|(?<=[\w)\]}])\s*(\[\?)")


def _refuse_optionals(expression: str) -> None:
    """Raise where fields and elements are chosen that may be missing."""
    issues = []
    for found in _OPTIONAL.finditer(without_texts(expression)):
        sign = found[1] or found[0]
        place = _place(expression, found.end() - len(sign))
        issues.append(Issue(*place, f"unsupported syntax '{sign}'"))
    if issues:
        raise CompileError(expression, tuple(issues))


def _refuse(
    found: Sequence[Found], places: Mapping[int, int], text: str, source: str,
    rewritten: Rewritten, shift: int,
) -> None:  # fmt: skip
    """Raise what is wrong with the texts, lists and maps that are spelt out."""
    issues = []
    for expr, words in found:
        line, column = _place(text, places.get(expr.id, 0))
        if line == 1 and shift:
            column = max(column - shift, 1)
        issues.append(Issue(line, rewritten.original(line, column), words))
    if issues:
        raise CompileError(source, tuple(issues))


@lru_cache(maxsize=64)
def _run_environment(
    variables: tuple[tuple[str, str], ...],
    functions: tuple[Function, ...],
    opaque: frozenset[str],
    *,
    binds: bool,
) -> Any:
    """What programs run in; all environments whose variables look alike to it share one."""
    declarations = _declarations(merged(functions, opaque), callable_=True)
    return _new(messages.shared_pool(), dict(variables), declarations, binds=binds)


@lru_cache(maxsize=16)
def _declarations(functions: tuple[Function, ...], *, callable_: bool) -> list[Any]:
    from cel_expr_python import cel

    by_name: dict[str, list[Any]] = {}
    for function in functions:
        overload = cel.Overload(
            f"{function.name}({', '.join(function.parameters)}){'.' if function.member else ''}",
            return_type=as_type(function.returns),
            parameters=[as_type(signature) for signature in function.parameters],
            is_member=function.member,
            **({"impl": function.impl} if callable_ else {}),
        )
        by_name.setdefault(function.name, []).append(overload)
    return [cel.FunctionDecl(name, overloads) for name, overloads in by_name.items()]


def _type_name(name: str) -> str:
    """A result type in the words of the language: ``list(int)``, ``map(string, dyn)``."""
    return (
        name.lower().replace("<", "(").replace(">", ")") if name.isupper() or "<" in name else name
    )
