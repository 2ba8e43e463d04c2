"""PodDisruptionBudgets: which pods one guards, and what its status says of it.

Source: kubernetes v1.34 component-helpers/apps/poddisruptionbudget/helpers.go,
pkg/apis/policy/v1beta1/conversion.go (what an empty selector means).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model import pods
from muntin.model.selectors import labels_of

Object = dict[str, Any]

ALLOWED = "DisruptionAllowed"
SYNC_FAILED = "SyncFailed"
_OLD = "policy/v1beta1"


def selects(budget: Mapping[str, Any], labels: Mapping[str, str] | None) -> bool:
    """Whether the budget guards pods with these labels.

    An empty selector guards all pods of the namespace; of the old version's budgets, none.
    """
    selector = (budget.get("spec") or {}).get("selector")
    if not selector and budget.get("apiVersion") == _OLD:
        return False
    try:
        return labels_of(selector).matches(labels or {})
    except Invalid:
        return False


def set_allowed_condition(status: Object, now: str) -> None:
    """Make the condition of ``status`` say what its ``disruptionsAllowed`` says."""
    some = status.get("disruptionsAllowed", 0) > 0
    row = {
        "type": ALLOWED,
        "status": "True" if some else "False",
        "reason": "SufficientPods" if some else "InsufficientPods",
        "message": "",
        "observedGeneration": status.get("observedGeneration", 0),
    }
    conditions = [dict(found) for found in status.get("conditions") or ()]
    pods.set_condition(conditions, row, now)
    status["conditions"] = conditions


TOO_MANY_DISRUPTED = 2000
"""Evictions that were let through and not seen by the controller yet, at most."""
CANNOT = "Cannot evict pod as it would violate the pod's disruption budget."


class Refusal(Exception):
    """An eviction that the budget does not allow now; ``retry_s`` 0 says nothing of when.

    ``forbidden`` says that trying again is of no use.
    """

    def __init__(self, why: str, *, retry_s: int = 0, forbidden: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.retry_s = retry_s
        self.forbidden = forbidden


def is_free(pod: Mapping[str, Any]) -> bool:
    """Whether evicting the pod disrupts nothing: it does not run (any longer), or goes already."""
    return pods.is_terminal(pod) or pods.phase(pod) == "Pending" or pods.is_deleting(pod)


def spares(budget: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Whether the pod may go without being charged: it is not ready, and the rest is enough."""
    if pods.is_ready(pod):
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def processing(name: str) -> Refusal:
    """The budget is not known well enough to be used."""
    text = f"The disruption budget {name} is still being processed by the server."
    return Refusal(text, retry_s=10)


def charge(budget: Object, pod: str, now: str) -> None:
    """Take one disruption, that of the pod of that name, from the budget's status.

    Raises:
        Refusal: there is none left.
    """
    name, status = budget["metadata"]["name"], budget.setdefault("status", {})
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise processing(name)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise Refusal("pdb disruptions allowed is negative", forbidden=True)
    if len(status.get("disruptedPods") or ()) > TOO_MANY_DISRUPTED:
        text = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise Refusal(text, forbidden=True)
    if not allowed:
        raise Refusal(_used_up(name, status))
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        set_allowed_condition(status, now)
    status["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod: now}


def _used_up(name: str, status: Object) -> str:
    row = pods.condition({"status": status}, ALLOWED)
    if row is not None and row.get("status") == "False" and row.get("reason") == SYNC_FAILED:
        return (
            f"The disruption budget {name} does not allow evicting pods currently because it "
            f"failed sync: {row.get('message', '')}"
        )
    return (
        f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods and "
        f"has {status.get('currentHealthy', 0)} currently"
    )
