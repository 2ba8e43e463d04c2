"""How long a node waits until a DaemonSet's failed pod there is replaced, more each time.

Source: kubernetes v1.36 pkg/controller/daemon/daemon_controller.go (failedPodsBackoff),
client-go util/flowcontrol/backoff.go.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST_S = 1.0
LONGEST_S = 900.0


@dataclass(frozen=True, slots=True)
class Wait:
    """The last replacement was at ``since``; the next is ``delay_s`` later at the earliest."""

    since: float
    delay_s: float

    def left_s(self, now: float) -> float:
        """How much of it is left."""
        return max(self.since + self.delay_s - now, 0.0)


def after(wait: Wait | None, now: float) -> Wait:
    """The wait after a replacement at ``now``, twice the last one; forgotten after a while."""
    if wait is None or now - wait.since > 2 * LONGEST_S:
        return Wait(now, FIRST_S)
    return Wait(now, min(wait.delay_s * 2, LONGEST_S))
