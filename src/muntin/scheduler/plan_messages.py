"""What is said of a pod that fits nowhere, worded as upstream's FitError.

Source: kubernetes v1.34 pkg/scheduler/framework/types.go (FitError.Error),
framework/preemption/preemption.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from muntin.scheduler.plan_filters import Unfit

NO_NODES = "no nodes available to schedule pods"
_NOT_HELPFUL = "Preemption is not helpful for scheduling"
_NO_VICTIMS = "No preemption victims found for incoming pod"


def fit_error(
    unfit: Mapping[str, Unfit], *, preempts: bool = True, preemption: str | None = ""
) -> str:
    """The sentence about all nodes: how many are out for which reason, and on preemption.

    ``preemption`` comes before what is said of preemption; None leaves that out.
    """
    if not unfit:
        return NO_NODES
    head = f"0/{len(unfit)} nodes are available:"
    reasons = Counter(reason for row in unfit.values() for reason in row.reasons)
    text = f"{head} {_histogram(reasons)}."
    if preemption is None:
        return text
    text = f"{text} {preemption}".rstrip()
    if not preempts:
        return f"{text} preemption: not eligible due to preemptionPolicy=Never."
    help_text = Counter(_NOT_HELPFUL if row.final else _NO_VICTIMS for row in unfit.values())
    return f"{text} preemption: {head} {_histogram(help_text)}."


def _histogram(counts: Counter[str]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
