"""Compiled expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit.cel.errors import EvaluationError, evaluation_error
from muntin.kit.cel.extent import Extent, extent, is_too_much
from muntin.kit.cel.growth import Nature


class Activation:
    """Variables made ready for several programs; ``native`` is the implementation's own."""

    __slots__ = ("_extent", "_values", "native")

    def __init__(self, native: Any, values: Mapping[str, Any]) -> None:
        self.native = native
        self._values = values
        self._extent: Extent | None = None

    @property
    def extent(self) -> Extent:
        """The extent of all variables, found when it is first asked for."""
        if self._extent is None:
            self._extent = extent(self._values)
        return self._extent


def _extent(variables: Mapping[str, Any] | Activation) -> Extent:
    return variables.extent if isinstance(variables, Activation) else extent(variables)


class Program:
    """One expression, ready for any number of evaluations.

    ``result`` is the type of its value as far as the compiler knows: ``bool``, ``list(string)``,
    ``dyn``.
    """

    __slots__ = ("_boxed", "_compiled", "_nature", "result", "source")

    def __init__(
        self,
        source: str,
        compiled: Any,
        result: str,
        boxed: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        nature: Nature,
    ) -> None:
        self.source = source
        self.result = result
        self._compiled = compiled
        self._boxed = boxed
        self._nature = nature

    def evaluate(self, variables: Any) -> Any:
        """The value for ``variables``, a mapping or an `Environment.activation`.

        Raises:
            EvaluationError: there is none: a key is missing, types do not fit, a function
                refused, or it took too many steps.
        """
        if self._nature.depth and is_too_much(self._nature, _extent(variables)):
            raise EvaluationError("operation cancelled: actual cost limit exceeded")
        try:
            if isinstance(variables, Activation):
                found = self._compiled.eval(variables.native)
            else:
                found = self._compiled.eval(data=self._boxed(variables))
            value = found.plain_value()
        except RuntimeError as err:
            raise evaluation_error(str(err)) from err
        except TypeError as err:
            raise EvaluationError(f"the value of {self.source!r} is of no plain type") from err
        if found.type().name() == "ERROR":
            raise evaluation_error(str(value))
        return value
