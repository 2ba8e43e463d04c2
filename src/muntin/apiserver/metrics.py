"""Counters in the Prometheus text form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0)
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What the server counts; gauges are asked for when they are read."""

    def __init__(self) -> None:
        self._requests: dict[Labels, int] = defaultdict(int)
        self._durations: dict[Labels, list[float]] = {}
        self._gauges: list[tuple[str, str, Callable[[], list[tuple[Labels, float]]]]] = []

    def request(self, verb: str, resource: str, code: int, seconds: float) -> None:
        """Count one answered request."""
        self._requests[(("verb", verb), ("resource", resource), ("code", str(code)))] += 1
        key = (("verb", verb), ("resource", resource))
        row = self._durations.get(key)
        if row is None:
            row = self._durations[key] = [0.0] * (len(_BUCKETS) + 2)
        for index, bound in enumerate(_BUCKETS):
            if seconds <= bound:
                row[index] += 1
        row[-2] += 1
        row[-1] += seconds

    def gauge(self, name: str, text: str, read: Callable[[], list[tuple[Labels, float]]]) -> None:
        """Add a gauge whose values ``read`` gives."""
        self._gauges.append((name, text, read))

    def text(self) -> str:
        """All metrics."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "# HELP apiserver_request_total Requests by verb, resource and HTTP status code."
        yield "# TYPE apiserver_request_total counter"
        for labels, count in sorted(self._requests.items()):
            yield f"apiserver_request_total{_labels(labels)} {count}"
        name = "apiserver_request_duration_seconds"
        yield f"# HELP {name} Time to the end of an answer; watches are not counted."
        yield f"# TYPE {name} histogram"
        for labels, row in sorted(self._durations.items()):
            for bound, seen in zip((*map(str, _BUCKETS), "+Inf"), row[:-1], strict=True):
                yield f"{name}_bucket{_labels((*labels, ('le', bound)))} {seen:.0f}"
            yield f"{name}_sum{_labels(labels)} {row[-1]:.6f}"
            yield f"{name}_count{_labels(labels)} {row[-2]:.0f}"
        for gauge, text, read in self._gauges:
            yield f"# HELP {gauge} {text}"
            yield f"# TYPE {gauge} gauge"
            for labels, value in read():
                yield f"{gauge}{_labels(labels)} {value:g}"


def _labels(labels: Labels) -> str:
    inner = ",".join(f'{key}="{value}"' for key, value in labels)
    return f"{{{inner}}}" if inner else ""
