"""Environments: the variables and functions that expressions may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from muntin.kit.cel import messages
from muntin.kit.cel.errors import CompileError, Issue, compile_error
from muntin.kit.cel.functions import Function, merged
from muntin.kit.cel.growth import MOST as MOST_GROWTH
from muntin.kit.cel.growth import nature
from muntin.kit.cel.optionals import Rewritten, rewrite
from muntin.kit.cel.program import Activation, Program
from muntin.kit.cel.shapes import Shape

MOST_CHARACTERS = 32 * 1024


class Environment:
    """Compiles expressions over ``variables`` and ``functions``.

    ``opaque`` names the types that functions pass among themselves (`messages.opaque`),
    ``optional`` the functions whose lists are read as optional values. Besides these there are
    the standard functions and macros, ``cel.bind`` and optional values.
    """

    def __init__(
        self,
        variables: Mapping[str, Shape],
        functions: Sequence[Function] = (),
        opaque: Sequence[str] = (),
        optional: Sequence[str] = (),
    ) -> None:
        self._optional_calls = tuple(optional)
        self.variables = dict(variables)
        self._optional = tuple(k for k, v in self.variables.items() if v.kind == "optional")
        self._wrap = "".join(f"cel.bind({name}, {box(name)}.?value, " for name in self._optional)
        known = tuple(functions)
        shapes = self._shapes()
        erased = tuple(sorted((name, shape.erased) for name, shape in shapes.items()))
        self._run = _run_environment(erased, known, frozenset(opaque))
        self._syntax = _Syntax(self._run)
        pool = messages.new_pool()
        for name in opaque:
            messages.declare_opaque(pool, name)
        messages.declare_shapes(pool, shapes.values())
        declared = {name: shape.signature for name, shape in shapes.items()}
        self._check = _new(pool, declared, _declarations(known, callable_=False))

    def compile(self, expression: str) -> Program:
        """The program of ``expression``.

        Raises:
            CompileError: it is not CEL, or its names or types are not right.
        """
        if len(expression) > MOST_CHARACTERS:
            text = f"expression code point size exceeds limit: {MOST_CHARACTERS}"
            raise CompileError("", (Issue(1, 1, text),))
        rewritten = rewrite(expression, self._optional_calls)
        text, shift = rewritten.text, 0
        if self._optional:
            _compiled(self._syntax, text, expression, rewritten)
            text = f"{self._wrap}({text}\n{')' * len(self._optional)})"
            shift = len(self._wrap) + 1
        result = _compiled(self._check, text, expression, rewritten, shift).return_type().name()
        found = _compiled(self._run, text, expression, rewritten, shift)
        known = nature(found.serialize())
        if known.growth > MOST_GROWTH:
            text = f"expression exceeds budget: it makes values {known.growth} times larger"
            raise CompileError(expression, (Issue(1, 1, text),))
        return Program(expression, found, _type_name(result), self._boxed, known)

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


def _new(pool: Any, variables: Mapping[str, str], declarations: Sequence[Any]) -> Any:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional

    return cel.NewEnv(
        pool,
        variables={name: as_type(signature) for name, signature in variables.items()},
        extensions=[ext_bindings.ExtBindings(), ext_optional.ExtOptional()],
        functions=list(declarations),
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


@lru_cache(maxsize=64)
def _run_environment(
    variables: tuple[tuple[str, str], ...],
    functions: tuple[Function, ...],
    opaque: frozenset[str],
) -> Any:
    """What programs run in; all environments whose variables look alike to it share one."""
    declarations = _declarations(merged(functions, opaque), callable_=True)
    return _new(messages.shared_pool(), dict(variables), declarations)


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
