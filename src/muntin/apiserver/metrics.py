"""What the server counts, under upstream's names.

A request's label values are made once per kind of request; counting one is a few additions.
Source: apiserver v1.34 pkg/endpoints/metrics/metrics.go.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from muntin.apiserver.access_metrics import AccessMetrics
from muntin.kit import metrics
from muntin.kit.metrics import Collected, Counter, Families, Gauge, Histogram

if TYPE_CHECKING:
    from muntin.apiserver.request import ApiRequest

DURATION_S = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30,
    45, 60,
)  # fmt: skip
SLI_S = DURATION_S[2:]
SIZE_BYTES = tuple(1000.0 * 10**power for power in range(7))
EVENT_BYTES = tuple(1024.0 * 2**power for power in range(8))
ETCD_S = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30,
    45, 60,
)  # fmt: skip
MOST_BY_ROW = 10_000
CONNECT = frozenset({"exec", "attach", "portforward", "proxy"})
LONG_RUNNING = frozenset({"exec", "attach", "portforward", "proxy", "log"})
READS = frozenset({"get", "list", "watch", "head", "options"})

_WHAT = ("group", "version", "resource", "subresource", "scope", "component")
_VERBS = {
    "get": "GET", "list": "LIST", "watch": "WATCH", "create": "POST", "update": "PUT",
    "patch": "PATCH", "delete": "DELETE", "deletecollection": "DELETECOLLECTION", "post": "POST",
    "put": "PUT", "head": "GET",
}  # fmt: skip


class _Series:
    """The counters of one kind of request."""

    __slots__ = ("codes", "durations", "key", "sizes", "sooner", "what")

    def __init__(self, what: tuple[str, ...], dry_run: str) -> None:
        self.what = what
        self.key = (what[0], dry_run, *what[1:])
        self.codes: dict[int, int] = {}
        self.durations = [0.0] * (len(DURATION_S) + 2)
        self.sooner: list[float] | None = None  # what `durations` lacks of a service's own times
        self.sizes = [0.0] * (len(SIZE_BYTES) + 2)


class Metrics:
    """The metrics of one server; other parts add families of their own to ``families``."""

    def __init__(self) -> None:
        self.families = Families()
        self._series: dict[object, _Series] = {}
        self._by_row: dict[object, _Series] = {}
        self.in_flight = [0, 0]  # reading, mutating requests
        new = self.families.add
        new(Collected("apiserver_current_inflight_requests",
                      "Requests being served, per kind of request.", ("request_kind",),
                      self._current))  # fmt: skip
        self.long_running = new(Gauge("apiserver_longrunning_requests",
                                      "All active long-running apiserver requests.",
                                      ("verb", *_WHAT)))  # fmt: skip
        self.terminations = new(Counter("apiserver_request_terminations_total",
                                        "Requests which apiserver terminated in self-defense.",
                                        ("verb", *_WHAT, "code")))  # fmt: skip
        self.watch_events = new(Counter("apiserver_watch_events_total",
                                        "Number of events sent in watch clients.",
                                        ("group", "version", "resource")))  # fmt: skip
        self.watch_sizes = new(Histogram("apiserver_watch_events_sizes",
                                         "Watch event size distribution in bytes.",
                                         ("group", "version", "resource"),
                                         EVENT_BYTES))  # fmt: skip
        self.deprecated = new(
            Gauge("apiserver_requested_deprecated_apis", "Deprecated APIs that were requested.",
                  ("group", "version", "resource", "subresource", "removed_release")))  # fmt: skip
        self.store_requests = new(
            Histogram("etcd_request_duration_seconds", "Latency of the store's operations.",
                      ("operation", "type"), ETCD_S))  # fmt: skip
        self.unexpected = new(
            Counter("muntin_apiserver_unexpected_errors_total",
                    "Requests answered with 500 because of an unexpected exception: each is a bug "
                    "in the server, and the log has its stack.", ("verb",)))  # fmt: skip
        self.access = AccessMetrics(self.families)
        self.audit_events = new(
            Counter(
                "apiserver_audit_event_total",
                "Counter of audit events generated and sent to the audit backend.",
            )
        )
        new(_Requests(self._series))
        new(_Rows("apiserver_request_duration_seconds",
                  "Response latency in seconds, watches not counted.", DURATION_S,
                  lambda: [(s.key, s.durations) for s in self._series.values()],
                  ("verb", "dry_run", *_WHAT)))  # fmt: skip
        new(_Rows("apiserver_request_sli_duration_seconds",
                  "Response latency in seconds, without that of webhooks and waiting in a queue.",
                  SLI_S, lambda: [(s.what, _own_times(s)) for s in self._series.values()],
                  ("verb", *_WHAT)))  # fmt: skip
        new(_Rows("apiserver_response_sizes", "Response size in bytes.", SIZE_BYTES,
                  lambda: [(s.what, s.sizes) for s in self._series.values() if any(s.sizes)],
                  ("verb", *_WHAT)))  # fmt: skip
        metrics.process(self.families)

    def request(self, found: ApiRequest | None, code: int, seconds: float, size: int = -1) -> None:
        """Count one answered request; ``size`` is -1 when its body is streamed."""
        if found is None:
            series = self._of(None, "other", "", "", False)
        else:
            sub = found.subresource.name if found.subresource is not None else ""
            series = self._of(found.resource, found.verb, sub, _scope(found), found.dry_run)
        codes = series.codes
        codes[code] = codes.get(code, 0) + 1
        if series.what[0] != "WATCH":
            row = series.durations
            row[bisect_left(DURATION_S, seconds)] += 1.0
            row[-1] += seconds
            if found is not None and found.waited_s:
                _count_sooner(series, seconds, min(found.waited_s, seconds))
        if size >= 0:
            row = series.sizes
            row[bisect_left(SIZE_BYTES, size)] += 1.0
            row[-1] += size

    def labels(self, found: ApiRequest) -> tuple[str, ...]:
        """Verb, group, version, resource, subresource, scope and component of a request."""
        sub = found.subresource.name if found.subresource is not None else ""
        return self._of(found.resource, found.verb, sub, _scope(found), False).what

    def _of(
        self, resource: object, verb: str, subresource: str, scope: str, dry_run: bool
    ) -> _Series:
        key = (id(resource), verb, subresource, scope, dry_run)
        series = self._by_row.get(key)
        if series is None or series.what[1:4] != _names(resource):
            shown = "CONNECT" if subresource in CONNECT else _VERBS.get(verb, "other")
            what = (shown, *_names(resource), subresource, scope, "apiserver")
            fresh = _Series(what, "All" if dry_run else "")
            series = self._series.setdefault((what, dry_run), fresh)
            if len(self._by_row) >= MOST_BY_ROW:  # rows of custom kinds come and go
                self._by_row.clear()
            self._by_row[key] = series
        return series

    def _current(self) -> metrics.Samples:
        return [(("mutating",), self.in_flight[1]), (("readOnly",), self.in_flight[0])]

    def text(self) -> str:
        """All metrics."""
        return self.families.text(metrics.PROCESS)


def _count_sooner(series: _Series, seconds: float, waited_s: float) -> None:
    if series.sooner is None:
        series.sooner = [0.0] * len(series.durations)
    row = series.sooner
    row[bisect_left(DURATION_S, seconds)] -= 1.0
    row[bisect_left(DURATION_S, seconds - waited_s)] += 1.0
    row[-1] -= waited_s


def _own_times(series: _Series) -> list[float]:
    """The row of what the server itself took: its first bucket is the first three of others."""
    row = series.durations
    if series.sooner is not None:
        row = [one + other for one, other in zip(row, series.sooner, strict=True)]
    skipped = len(DURATION_S) - len(SLI_S)
    return [sum(row[: skipped + 1]), *row[skipped + 1 :]]


def _names(resource: object) -> tuple[str, str, str]:
    if resource is None:
        return ("", "", "")
    return (resource.group, resource.version, resource.plural)  # type: ignore[attr-defined]


def _scope(found: ApiRequest) -> str:
    if found.resource is None:
        return ""
    if found.name:
        return "resource"
    return "namespace" if found.namespace else "cluster"


class _Requests:
    name = "apiserver_request_total"

    def __init__(self, series: dict[object, _Series]) -> None:
        self._series = series

    def lines(self) -> Iterator[str]:
        counted = Counter(
            self.name,
            "Counter of apiserver requests broken out for each verb, dry run value, group, "
            "version, resource, scope, component, and HTTP response code.",
            ("verb", "dry_run", *_WHAT, "code"),
        )
        for series in self._series.values():
            for code, number in series.codes.items():
                counted.add((*series.key, str(code)), number)
        return counted.lines()


class _Rows:
    """A histogram whose rows lie elsewhere."""

    def __init__(
        self,
        name: str,
        text: str,
        bounds: tuple[float, ...],
        rows: Callable[[], list[tuple[tuple[str, ...], list[float]]]],
        labels: tuple[str, ...],
    ) -> None:
        self.name, self._text, self._bounds, self._labels = name, text, bounds, labels
        self._rows = rows

    def lines(self) -> Iterator[str]:
        shown = Histogram(self.name, self._text, self._labels, self._bounds)
        for key, row in self._rows():
            total = shown.row(key)
            for at, number in enumerate(row):
                total[at] += number
        return shown.lines()
