"""``muntin up`` with everything cached, with an empty cache, and ``muntin down``."""

from __future__ import annotations

import tempfile

import page
from clusters import Step, down, up
from measure import Samples, seconds, table

WARM_RUNS = 7
TARGET_S = 3.0


def measure() -> None:
    down()
    cold, cold_steps = _cold()
    warm, downs, steps = Samples(), Samples(), list[list[Step]]()
    for _ in range(WARM_RUNS):
        with warm.timed():
            steps.append(up())
        with downs.timed():
            down()
    rows = [
        ("`up`, caches filled", str(WARM_RUNS), seconds(warm.median), seconds(warm.worst)),
        ("`up`, caches empty", "1", seconds(cold), seconds(cold)),
        ("`down`", str(WARM_RUNS), seconds(downs.median), seconds(downs.worst)),
    ]
    page.write("up", table(("command", "runs", "median", "worst"), rows))
    page.write("up steps", _steps(steps, cold_steps))


def _cold() -> tuple[float, list[Step]]:
    samples = Samples()
    with tempfile.TemporaryDirectory(prefix="muntin-bench-cache-") as cache:
        try:
            with samples.timed():
                steps = up(MUNTIN_CACHE_DIR=cache)
        finally:
            down()
    return samples.worst, steps


def _steps(runs: list[list[Step]], cold: list[Step]) -> str:
    """One row a step. What no step covers is the start of Python and the end of the output."""
    rows = []
    for index, step in enumerate(runs[0]):
        samples = Samples([run[index].seconds for run in runs])
        first = next((seconds(row.seconds) for row in cold if row.text == step.text), "")
        rows.append((step.text, seconds(samples.median), seconds(samples.worst), first))
    return table(("step", "median", "worst", "caches empty"), rows)
