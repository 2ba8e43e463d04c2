"""From single results to verdicts, by the thresholds of a probe. Pure.

Source: kubernetes v1.34 pkg/kubelet/prober/worker.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One run: whether it passed and what it said.

    ``not_listening`` marks a refused connection: the port is not open yet. ``warned``: it passed,
    with a warning event. ``errored``: the probe could not run; there is an event, and the result
    counts neither as success nor as failure.
    """

    passed: bool
    output: str = ""
    not_listening: bool = False
    warned: bool = False
    errored: bool = False

    @property
    def event(self) -> tuple[str, str] | None:
        """Reason and message of the warning event, after the kind of the probe; None: no event.

        Source: kubernetes v1.34 pkg/kubelet/prober/prober.go.
        """
        if self.errored:
            return "Unhealthy", f"probe errored and resulted in unknown state: {self.output}"
        if not self.passed:
            return "Unhealthy", f"probe failed: {self.output}"
        return ("ProbeWarning", f"probe warning: {self.output}") if self.warned else None


class Verdict:
    """``value`` is None until a threshold is reached for the first time, then the last one."""

    def __init__(self, probe: Mapping[str, Any]) -> None:
        self._success = int(probe.get("successThreshold") or 1)
        self._failure = int(probe.get("failureThreshold") or 3)
        self._last: bool | None = None
        self._run = 0
        self.value: bool | None = None

    def add(self, passed: bool) -> bool:
        """Count one result; True when ``value`` changed."""
        if passed == self._last:
            self._run += 1
        else:
            self._last, self._run = passed, 1
        needed = self._success if passed else self._failure
        if self._run < needed or self.value == passed:
            return False
        self.value = passed
        return True
