"""What flow control counts, under upstream's names.

Source: apiserver v1.34 pkg/util/flowcontrol/metrics/metrics.go.
"""

from __future__ import annotations

from collections.abc import Callable

from muntin.apiserver.flowcontrol.levels import Pool
from muntin.kit.metrics import Collected, Counter, Families, Gauge, Histogram, Samples

_FLOW = ("priority_level", "flow_schema")
_SECONDS = (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30)
_LENGTHS = (0, 10, 25, 50, 100, 250, 500, 1000)
_PREFIX = "apiserver_flowcontrol_"


class FlowMetrics:
    """The counters of one server; labels are level and schema."""

    def __init__(self, families: Families, pool: Pool) -> None:
        add = families.add
        self._dispatched = add(Counter(f"{_PREFIX}dispatched_requests_total",
                                       "Number of requests executed.", _FLOW))  # fmt: skip
        self._rejected = add(Counter(f"{_PREFIX}rejected_requests_total",
                                     "Number of requests rejected.",
                                     (*_FLOW, "reason")))  # fmt: skip
        self._executing = add(Gauge(f"{_PREFIX}current_executing_requests",
                                    "Number of requests being executed.", _FLOW))  # fmt: skip
        self._inqueue = add(Gauge(f"{_PREFIX}current_inqueue_requests",
                                  "Number of requests waiting in queues.", _FLOW))  # fmt: skip
        self._inqueue_seats = add(Gauge(f"{_PREFIX}current_inqueue_seats",
                                        "Number of seats waiting in queues.", _FLOW))  # fmt: skip
        self._lengths = add(Histogram(f"{_PREFIX}request_queue_length_after_enqueue",
                                      "Length of a queue as seen by each request put into it.",
                                      _FLOW, _LENGTHS))  # fmt: skip
        self._waits = add(Histogram(f"{_PREFIX}request_wait_duration_seconds",
                                    "Time a request spent waiting in its queue.",
                                    (*_FLOW, "execute"), _SECONDS))  # fmt: skip
        self._durations = add(Histogram(f"{_PREFIX}request_execution_seconds",
                                        "Duration of request execution.", _FLOW,
                                        _SECONDS))  # fmt: skip
        for name, text, attribute in (
            ("nominal_limit_seats", "Nominal number of seats of each level.", "nominal"),
            ("lower_limit_seats", "Lower bound on the seats of each level.", "least"),
            ("upper_limit_seats", "Upper bound on the seats of each level.", "most"),
            ("current_limit_seats", "Seats that each level can take now.", "most"),
            ("current_executing_seats", "Seats taken by executing requests.", "in_use"),
        ):
            add(Collected(_PREFIX + name, text, _FLOW[:1], _seats(pool, attribute)))

    def started(self, level: str, schema: str, seats: int) -> None:
        """A request runs."""
        key = (level, schema)
        values = self._dispatched.values
        values[key] = values.get(key, 0.0) + 1.0
        values = self._executing.values
        values[key] = values.get(key, 0.0) + 1.0

    def finished(self, level: str, schema: str, seconds: float) -> None:
        """It has been answered."""
        self._executing.values[level, schema] -= 1.0
        self._durations.observe((level, schema), seconds)

    def queued(self, level: str, schema: str, seats: int, length: int) -> None:
        """A request entered a queue that is ``length`` long now, or left it (-1)."""
        self._inqueue.add((level, schema), 1 if length > 0 else -1)
        self._inqueue_seats.add((level, schema), seats)
        if length > 0:
            self._lengths.observe((level, schema), length)

    def waited(self, level: str, schema: str, seconds: float, *, executed: bool) -> None:
        """A request waited that long."""
        self._waits.observe((level, schema, str(executed).lower()), seconds)

    def rejected(self, level: str, schema: str, reason: str) -> None:
        """A request was turned away."""
        self._rejected.add((level, schema, reason))


def _seats(pool: Pool, attribute: str) -> Callable[[], Samples]:
    def read() -> Samples:
        levels = pool.levels.values()
        return [((level.name,), float(getattr(level, attribute))) for level in levels]

    return read
