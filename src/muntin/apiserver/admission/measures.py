"""What is counted of admission, under upstream's names.

Source: apiserver v1.36 pkg/admission/metrics/metrics.go,
pkg/admission/plugin/policy/validating/metrics/metrics.go.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager

from muntin.kit.metrics import Counter, Families, Histogram

ADMIT, VALIDATE, VALIDATING = "admit", "validate", "validating"  # the last is that of webhooks
STEP_S = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
WEBHOOK_S = (*STEP_S, 10.0, 25.0)
POLICY_S = (0.0000005, 0.001, 0.01, 0.1, 1.0)
LARGEST_CODE = 600
_ADMISSION, _POLICY = "apiserver_admission_", "apiserver_validating_admission_policy_"
_OF_POLICY = ("policy", "policy_binding", "error_type", "enforcement_action")


class AdmissionMetrics:
    """The counters of one server's admission."""

    def __init__(self, families: Families) -> None:
        new, step = families.add, ("type", "operation")
        self.steps = new(Histogram(
            f"{_ADMISSION}step_admission_duration_seconds",
            "Admission sub-step latency, broken out for each operation and step type.",
            (*step, "rejected"), STEP_S))  # fmt: skip
        self._plugins = new(Histogram(
            f"{_ADMISSION}controller_admission_duration_seconds",
            "Admission controller latency, by name, and broken out for each operation and type.",
            ("name", *step, "rejected"), STEP_S))  # fmt: skip
        self._webhooks = new(Histogram(
            f"{_ADMISSION}webhook_admission_duration_seconds",
            "Admission webhook latency, by name, and broken out for each operation and type.",
            ("name", *step, "rejected"), WEBHOOK_S))  # fmt: skip
        self._calls = new(Counter(
            f"{_ADMISSION}webhook_request_total",
            "Admission webhook requests, by name, type, operation and HTTP status.",
            ("name", *step, "code", "rejected")))  # fmt: skip
        self._rejections = new(Counter(
            f"{_ADMISSION}webhook_rejection_count",
            "Admission webhook rejections, by name, type, operation and kind of error.",
            ("name", *step, "error_type", "rejection_code")))  # fmt: skip
        self._failed_open = new(Counter(
            f"{_ADMISSION}webhook_fail_open_count",
            "Admission webhooks that failed and were not waited for, by name and type.",
            ("name", "type")))  # fmt: skip
        self._checks = new(Counter(
            f"{_POLICY}check_total",
            "Validation admission policy checks, by policy, binding and enforcement action.",
            _OF_POLICY))  # fmt: skip
        self._decisions = new(Histogram(
            f"{_POLICY}check_duration_seconds",
            "Latency of individual validation expressions, by policy, binding and action.",
            _OF_POLICY, POLICY_S))  # fmt: skip

    def plugin(self, name: str, kind: str) -> PluginTimes:
        """The times of one step of one plugin."""
        return PluginTimes(self._plugins, name, kind)

    def webhook(
        self, name: str, kind: str, operation: str, seconds: float, code: int, error: str = ""
    ) -> None:
        """Count one call; ``error`` says why the operation was rejected, if it was."""
        shown, rejected = str(min(code, LARGEST_CODE)), _text(bool(error))
        if error:
            self._rejections.add((name, kind, operation, error, shown))
        self._calls.add((name, kind, operation, shown, rejected))
        self._webhooks.observe((name, kind, operation, rejected), seconds)

    def failed_open(self, name: str, kind: str) -> None:
        """Count a webhook that failed, which its operation did not."""
        self._failed_open.add((name, kind))

    def policy(self, policy: str, binding: str, error: str, action: str, seconds: float) -> None:
        """Count one decision of a policy that is not that all is well."""
        labels = (policy, binding, error, action)
        self._checks.add(labels)
        self._decisions.observe(labels, seconds)


class PluginTimes:
    """How long one step of one plugin took."""

    __slots__ = ("_histogram", "_kind", "_name", "_rows")

    def __init__(self, histogram: Histogram, name: str, kind: str) -> None:
        self._histogram = histogram
        self._name = name
        self._kind = kind
        self._rows: dict[str, list[float]] = {}  # of what it let pass, by operation

    @contextmanager
    def measured(self, operation: str) -> Iterator[None]:
        """Count what is done inside."""
        began = time.perf_counter()
        try:
            yield
        except BaseException:
            self.rejected(operation, time.perf_counter() - began)
            raise
        self.passed(operation, time.perf_counter() - began)

    def passed(self, operation: str, seconds: float) -> None:
        """Count an operation that went on."""
        row = self._rows.get(operation)
        if row is None:
            labels = (self._name, self._kind, operation, _text(False))
            row = self._rows[operation] = self._histogram.row(labels)
        row[0 if seconds <= STEP_S[0] else bisect_left(STEP_S, seconds)] += 1.0
        row[-1] += seconds

    def rejected(self, operation: str, seconds: float) -> None:
        """Count an operation that it refused."""
        self._histogram.observe((self._name, self._kind, operation, _text(True)), seconds)


def _text(value: bool) -> str:
    return "true" if value else "false"
