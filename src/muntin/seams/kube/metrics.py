"""What clients and work queues of this process count, under client-go's names.

Source: client-go v0.34 tools/metrics, component-base metrics/prometheus/{restclient,workqueue}.
"""

from __future__ import annotations

from muntin.kit.metrics import PROCESS, Counter, Gauge, Histogram

_QUEUE = ("name",)
_SECONDS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)

REQUESTS = PROCESS.add(
    Counter(
        "rest_client_requests_total",
        "Number of HTTP requests, partitioned by status code and method.",
        ("code", "method"),
    )
)
ADDS = PROCESS.add(
    Counter("workqueue_adds_total", "Total number of adds handled by workqueue.", _QUEUE)
)
RETRIES = PROCESS.add(
    Counter("workqueue_retries_total", "Total number of retries handled by workqueue.", _QUEUE)
)
DEPTH = PROCESS.add(Gauge("workqueue_depth", "Current depth of workqueue.", _QUEUE))
WORK = PROCESS.add(
    Histogram(
        "workqueue_work_duration_seconds",
        "How long in seconds processing an item from workqueue takes.",
        _QUEUE,
        _SECONDS,
    )
)
