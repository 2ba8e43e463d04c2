"""Match conditions: all must be true for a webhook or a policy to have a say.

Source: apiserver v1.34 pkg/admission/plugin/webhook/matchconditions/matcher.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model.admission.variables import environment
from muntin.model.cel import CompileError, EvaluationError, Program, compile


class Undecided(Invalid):
    """Conditions that gave no answer."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The compiled conditions of one webhook or policy; ``broken`` are texts of what is not CEL."""

    programs: tuple[tuple[str, Program], ...] = ()
    broken: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], *, params: bool = False) -> Conditions:
        """Compile ``matchConditions``."""
        programs, broken = [], []
        env = environment(params=params)
        for row in rows:
            try:
                programs.append((str(row.get("name", "")), compile(row["expression"], env)))
            except CompileError as err:
                broken.append(f"compilation error: compilation failed: {err.message}")
        return cls(tuple(programs), tuple(broken))

    def hold(self, activation: Any) -> bool:
        """Whether all are true; one that is false decides, whatever the others are.

        Raises:
            Undecided: none is false, and some have no value.
        """
        failures = list(self.broken)
        for name, program in self.programs:
            try:
                if program.evaluate(activation) is not True:
                    return False
            except EvaluationError as err:
                failures.append(f"matchCondition {name!r}: expression '{program.source}' resulted "
                                f"in error: {err.message}")  # fmt: skip
        if failures:
            raise Undecided("; ".join(failures))
        return True
