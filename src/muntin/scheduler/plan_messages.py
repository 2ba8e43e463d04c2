"""What is said of a pod that fits nowhere, worded as upstream's FitError.

Source: kubernetes v1.34 pkg/scheduler/framework/types.go (FitError.Error),
framework/preemption/preemption.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from muntin.model.windows_releases import SchedulerWords
from muntin.scheduler.plan_framework import Unfit

NO_NODES = "no nodes available to schedule pods"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."


def fit_error(
    unfit: Mapping[str, Unfit],
    total: int,
    nowhere: Unfit | None,
    preemption: str | None,
    words: SchedulerWords,
) -> str:
    """The sentence about all ``total`` nodes: how many are out for which reason, and more.

    ``nowhere`` is what kept the pod off all nodes before they were looked at; ``preemption`` what
    is said of making room, None for nothing.
    """
    head = f"0/{total} nodes are available:"
    if nowhere is not None:
        count = f"{total} " if words.nowhere_counted else ""
        text = f"{head} {', '.join(f'{count}{reason}' for reason in nowhere.reasons)}."
        if words.nowhere_end:
            return f"{text} {words.nowhere_end}"
    else:
        text = f"{head} {_histogram(Counter(r for row in unfit.values() for r in row.reasons))}."
    if preemption is None or words.preemption is None:
        return text
    return f"{text} {words.preemption}preemption: {preemption}"


def no_candidates(reasons: Mapping[str, tuple[str, ...]], total: int) -> str:
    """That no node can be made to fit; ``reasons`` of those that were tried."""
    counts = Counter(reason for row in reasons.values() for reason in row)
    if total > len(reasons):
        counts[NOT_HELPFUL] += total - len(reasons)
    return f"0/{total} nodes are available: {_histogram(counts)}."


def _histogram(counts: Counter[str]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
