"""ResourceQuota: what a quota allows and what is used of it, as its status has it.

Source: kubernetes v1.34 pkg/controller/resourcequota/resource_quota_controller.go
(syncResourceQuota).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from muntin.controllers.rules.actions import Action, Again, Object, Update
from muntin.model import quota
from muntin.model.quota import amounts
from muntin.model.resources import RESOURCE_QUOTAS

RESYNC_S = 300.0
"""A full count now and then: a request that failed after it was charged stays charged till then."""
SETTLE_S = 1.0
"""A count below what is charged is believed when nobody has charged anything for this long: what
was charged for may not be there yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A quota, the objects of its namespace by resource (``plural`` or ``plural.group``), and for
    how many seconds the quota has been as it is."""

    quota: Object
    objects: Mapping[str, Sequence[Object]]
    unchanged_s: float


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """The status to write, if it changed."""
    found = snapshot.quota
    hard = quota.hard_of(found)
    used = quota.used(found, snapshot.objects, now)
    status = found.get("status") or {}
    charged = amounts.parse(status.get("used"))
    if amounts.parse(status.get("hard")) == hard and charged == used:
        return [Again(RESYNC_S)]
    is_less = any(name in charged and used[name].nano < charged[name].nano for name in used)
    if is_less and snapshot.unchanged_s < SETTLE_S:
        return [Again(SETTLE_S - snapshot.unchanged_s)]
    new = {"hard": amounts.texts(hard), "used": amounts.texts(used)}
    obj = {**found, "status": {**status, **new}}
    return [Update(resource=RESOURCE_QUOTAS, obj=obj, subresource="status"), Again(RESYNC_S)]
