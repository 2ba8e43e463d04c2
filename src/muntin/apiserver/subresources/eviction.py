"""``eviction``: delete a pod unless a disruption budget forbids it now.

Source: kubernetes v1.34 pkg/registry/core/pod/storage/eviction.go.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import bodies, deletion, output, status, writes
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item, encode, key_of
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.verbs.delete import delete
from muntin.kit.clock import rfc3339
from muntin.kit.errors import Cause
from muntin.kit.http.messages import Response
from muntin.model.resources import POD_DISRUPTION_BUDGETS
from muntin.model.selectors import labels_of
from muntin.seams.store import RevisionConflict

Object = dict[str, Any]

RETRY_S = 10
_FREE_PHASES = ("Succeeded", "Failed", "Pending")


async def run(core: Core, request: ApiRequest) -> Response:
    """Evict the pod, or answer 429 when its budget is used up."""
    row = request.subresource
    assert row is not None
    type_ = core.schema.kind_type(row.group, row.version, row.kind)
    assert type_ is not None
    body = bodies.read_as(request, type_, row.version, row.kind, core.schema)
    await core.cache.fresh()
    item = writes.find(core, request)
    body = await core.admission.create(request, body)
    options = deletion.options_of(body.get("deleteOptions") or {}, request.query)
    if options.dry_run:
        request.query = {**request.query, "dryRun": ["All"]}
    if item.fields["status.phase"] not in _FREE_PHASES:
        await _use_budget(core, request, item)
    await delete(core, request, item, options, admit=False)
    return output.json_response(status.success(), 201)


async def _use_budget(core: Core, request: ApiRequest, pod: Item) -> None:
    while True:
        budgets = _budgets(core, pod)
        if not budgets:
            return
        if len(budgets) > 1:
            text = (
                "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                "does not support."
            )
            raise status.ApiError(500, "InternalError", text)
        (item,) = budgets
        budget = _used(item, pod, rfc3339(core.clock.now()))
        if request.dry_run:
            return
        resource = core.cache.storage_row(POD_DISRUPTION_BUDGETS)
        try:
            revision = await core.store.update(
                key_of(resource, item.namespace, item.name),
                encode(budget, resource, item.managed),
                item.revision,
            )
        except RevisionConflict:
            await core.cache.fresh()
            continue
        await core.cache.wait(revision)
        return


def _budgets(core: Core, pod: Item) -> list[Item]:
    if POD_DISRUPTION_BUDGETS.storage_name not in core.cache.by_storage:
        return []
    return [
        item
        for item in core.cache.of(POD_DISRUPTION_BUDGETS).select(pod.namespace)
        if labels_of((item.object().get("spec") or {}).get("selector")).matches(pod.labels)
    ]


def _used(item: Item, pod: Item, now: str) -> Object:
    """The budget with one disruption fewer.

    Raises:
        ApiError: 429.
    """
    budget = item.object()
    state = budget.setdefault("status", {})
    seen = state.get("observedGeneration", 0) >= budget["metadata"].get("generation", 0)
    allowed = state.get("disruptionsAllowed", 0)
    if not seen or allowed <= 0:
        text = (
            f"The disruption budget {item.name} needs {state.get('desiredHealthy', 0)} healthy "
            f"pods and has {state.get('currentHealthy', 0)} currently"
            if seen
            else f"The disruption budget {item.name} is still being processed by the server."
        )
        raise status.too_many_requests(
            "Cannot evict pod as it would violate the pod's disruption budget.",
            RETRY_S,
            [Cause("DisruptionBudget", "", text)],
        )
    state["disruptionsAllowed"] = allowed - 1
    state.setdefault("disruptedPods", {})[pod.name] = now
    return budget
