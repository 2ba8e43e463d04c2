"""Compiled expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit.cel.errors import EvaluationError, evaluation_error


class Program:
    """One expression, ready for any number of evaluations.

    ``result`` is the type of its value as far as the compiler knows: ``bool``, ``list(string)``,
    ``dyn``.
    """

    __slots__ = ("_activation", "_boxed", "_compiled", "result", "source")

    def __init__(
        self,
        source: str,
        compiled: Any,
        result: str,
        boxed: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        activation: Callable[[Mapping[str, Any]], Any],
    ) -> None:
        self.source = source
        self.result = result
        self._compiled = compiled
        self._boxed = boxed
        self._activation = activation

    def evaluate(self, variables: Any) -> Any:
        """The value for ``variables``, a mapping or an `Environment.activation`.

        Raises:
            EvaluationError: there is none: a key is missing, types do not fit, a function
                refused, or it took too many steps.
        """
        try:
            if isinstance(variables, Mapping):
                found = self._compiled.eval(data=self._boxed(variables))
            else:
                found = self._compiled.eval(variables)
            value = found.plain_value()
        except RuntimeError as err:
            raise evaluation_error(str(err)) from err
        except TypeError as err:
            raise EvaluationError(f"the value of {self.source!r} is of no plain type") from err
        if found.type().name() == "ERROR":
            raise evaluation_error(str(value))
        return value
