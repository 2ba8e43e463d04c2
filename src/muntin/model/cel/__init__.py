"""CEL as Kubernetes speaks it: its function libraries, escaped names and typed values.

``environment(variables)`` gives an environment with all libraries, or those of one API version;
``compile(expression, env)`` a program, ``program.evaluate(variables)`` its value; both raise
`CompileError` and `EvaluationError` of ``muntin.kit.cel`` with cel-go's words. `escape` says how
a property's name is written in an expression, `values.convert` makes a JSON value what the
expression's types say it is. Nothing of the compiler is loaded before the first environment is
made.
Source: kubernetes v1.34 staging/src/k8s.io/apiserver/pkg/cel, Kubernetes documentation: Common
Expression Language in Kubernetes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from muntin.kit.cel import CompileError, Dialect, Environment, EvaluationError, Program, Shape
from muntin.model.cel.names import escape
from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version

__all__ = [
    "CompileError",
    "Environment",
    "EvaluationError",
    "Program",
    "Shape",
    "compile",
    "environment",
    "escape",
    "most_cost",
]


def environment(
    variables: Mapping[str, Shape], *, mutates: bool = False, api: Version = ()
) -> Environment:
    """An environment of ``variables`` with the libraries of Kubernetes; ``mutates`` adds that of
    expressions that make patches. New expressions may use what the ``api`` knows that they are
    written for; those that were accepted, whatever there is (no ``api``).

    Making one costs about a millisecond: keep it for all expressions over the same variables.
    """
    from muntin.model.cel.library import FUNCTIONS, OPAQUE, OPTIONAL, jsonpatch

    functions = (*FUNCTIONS, *jsonpatch.FUNCTIONS) if mutates else FUNCTIONS
    dialect = _dialect(api) if api else Dialect()
    return Environment(variables, functions, OPAQUE, OPTIONAL, mixes=mutates, dialect=dialect)


@cache
def _dialect(api: Version) -> Dialect:
    from muntin.model.cel.library import LATER

    later = (functions for feature, functions in LATER.items() if not is_in(feature, api))
    return Dialect(
        without=frozenset(function for functions in later for function in functions),
        optionals=is_in(ApiFeature.CEL_OPTIONALS, api),
        pairs=is_in(ApiFeature.CEL_PAIRS, api),
        numbers=is_in(ApiFeature.CEL_MIXED_NUMBERS, api),
        literals=is_in(ApiFeature.CEL_LITERALS_CHECKED, api),
    )


def most_cost(expression: str, env: Environment, root: Shape) -> int:
    """What an evaluation of ``expression``, which compiles, costs at most in cel-go's units;
    ``root`` is the shape of its variables."""
    from muntin.model.cel.costs import of_call

    return env.most_cost(expression, root, of_call)


def compile(expression: str, env: Environment) -> Program:
    """The program of ``expression``; ``program.result`` is the type of its value.

    Raises:
        CompileError: its message lists every issue with line, column and the line itself.
    """
    return env.compile(expression)
