"""The Common Expression Language: compile with types, evaluate within bounds.

An :class:`Environment` says which variables and functions there are; ``environment.compile(text)``
gives a :class:`Program`, ``program.evaluate(variables)`` its value as plain Python. Google's C++
implementation (``cel-expr-python``) does the work. It is loaded when the first environment is
made: some milliseconds and MiB that a process without expressions does not pay.

It parses expressions nested up to 32 deep and stops an evaluation after 10,000 steps of
comprehensions in all; what would look at too long texts in them is refused before it starts.
Source: CEL language definition, cel-spec doc/langdef.md.
"""

from __future__ import annotations

from muntin.kit.cel.dialect import Dialect
from muntin.kit.cel.environment import Environment
from muntin.kit.cel.errors import CompileError, EvaluationError, Issue
from muntin.kit.cel.functions import Function
from muntin.kit.cel.program import Program
from muntin.kit.cel.shapes import Shape

__all__ = [
    "CompileError",
    "Dialect",
    "Environment",
    "EvaluationError",
    "Function",
    "Issue",
    "Program",
    "Shape",
]
