"""``eviction``: delete a pod unless a disruption budget forbids it now.

Source: kubernetes v1.34 pkg/registry/core/pod/storage/eviction.go.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from muntin.apiserver import bodies, deletion, output, status, writes
from muntin.apiserver.core import Core
from muntin.apiserver.delete_options import Options, options_of
from muntin.apiserver.items import Item, encode, key_of
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.verbs.delete import delete
from muntin.kit import errors
from muntin.kit.clock import rfc3339
from muntin.kit.errors import Cause
from muntin.kit.http.messages import Response
from muntin.model import budgets, pods
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources import POD_DISRUPTION_BUDGETS
from muntin.model.resources.lifecycle import version_of
from muntin.seams.store import RevisionConflict

Object = dict[str, Any]

_MARK = {
    "type": "DisruptionTarget",
    "lastProbeTime": None,
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


async def run(core: Core, request: ApiRequest) -> Response:
    """Evict the pod, or answer 429 when its budget is used up.

    Raises:
        ApiError: 406, the client accepts nothing but a Table.
    """
    output.negotiate(request, has_table=False)
    options = await _options(core, request)
    for _ in range(writes.RETRIES):
        item = writes.find(core, request)
        deletion.check(request.target, item, options)
        pod = item.object()
        name = ""
        wanted = options
        if budgets.is_free(pod):
            if pods.phase(pod) == "Pending" and not pods.is_deleting(pod):
                wanted = _exactly(options, item)  # it may become ready meanwhile
        else:
            name, is_spared = await _use_budget(core, request, item, pod)
            if is_spared:
                wanted = _exactly(options, item)
        try:
            await _evict(core, request, item, wanted)
        except status.ApiError as err:
            if err.code != 409 or wanted is options:
                raise
            if name:
                raise _refused(budgets.processing(name), name) from err
            await core.cache.fresh()
            continue
        return output.json_response({**status.success(), "code": 201}, 201)
    raise status.conflict(request.target, request.name)


async def _options(core: Core, request: ApiRequest) -> Options:
    """How the eviction in the body wants its pod deleted.

    Raises:
        ApiError: 400 when it is for another pod, or of two minds on being a dry run.
    """
    row = request.subresource
    assert row is not None
    type_ = core.schema.kind_type(row.group, row.version, row.kind)
    assert type_ is not None
    body = bodies.read_as(request, type_, row.version, row.kind, core.schema)
    named = (body.get("metadata") or {}).get("name") or request.name
    if named != request.name:
        raise status.bad_request("name in URL does not match name in Eviction object")
    await core.cache.fresh()
    writes.find(core, request)
    body = await core.admission.create(request, body)
    asked = body.get("deleteOptions") or {}
    dry, also = asked.get("dryRun") or [], request.query.get("dryRun") or []
    if dry and also and dry != also:
        shown = [f"[{' '.join(side)}]" for side in (also, dry)]
        raise status.bad_request(
            f"Non-matching dry-run options in request and content: {shown[0]} and {shown[1]}"
        )
    options = options_of({**asked, "dryRun": dry or also}, {})
    if options.dry_run:
        request.query = {**request.query, "dryRun": ["All"]}
    return options


def _exactly(options: Options, item: Item) -> Options:
    """The options for the pod as it was looked at, unless the client names a version itself."""
    if options.resource_version:
        return options
    return replace(options, resource_version=str(item.revision))


async def _evict(core: Core, request: ApiRequest, item: Item, options: Options) -> None:
    """Mark the pod as disrupted, where the API does so, and delete it."""
    version = version_of(core.schema.version)
    if is_in(ApiFeature.DISRUPTION_CONDITIONS, version) and not request.dry_run:
        deletion.check(request.target, item, options)
        pod = item.object()
        state = pod.setdefault("status", {})
        conditions = [dict(row) for row in state.get("conditions") or ()]
        pods.set_condition(conditions, dict(_MARK), rfc3339(core.clock.now()))
        state["conditions"] = conditions
        try:
            await writes.put(core, request, core.cache.storage_row(request.target), item, pod)
        except (RevisionConflict, errors.NotFound) as err:
            raise status.conflict(request.target, request.name) from err
        item = writes.find(core, request)
        if options.resource_version:
            options = replace(options, resource_version=str(item.revision))
    await delete(core, request, item, options, admit=False)


async def _use_budget(core: Core, request: ApiRequest, item: Item, pod: Object) -> tuple[str, bool]:
    """Charge the pod to its budget: the budget's name, and whether it let the pod go for free.

    Raises:
        ApiError: 429 or 403, the budget does not allow it; 500, there are several.
    """
    for _ in range(writes.RETRIES):
        found = _budgets(core, item)
        if not found:
            return "", False
        if len(found) > 1:
            text = (
                "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                "does not support."
            )
            raise status.ApiError(500, "InternalError", text)
        (budget,) = found
        obj = budget.object()
        if budgets.spares(obj, pod):
            return budget.name, True
        try:
            budgets.charge(obj, item.name, rfc3339(core.clock.now()))
        except budgets.Refusal as err:
            raise _refused(err, budget.name) from err
        if request.dry_run or await _write(core, budget, obj):
            return budget.name, False
        await core.cache.fresh()
    text = f'couldn\'t update PodDisruptionBudget "{budget.name}" due to conflicts'
    raise status.ApiError(504, "Timeout", text, details={"retryAfterSeconds": 10})


async def _write(core: Core, budget: Item, obj: Object) -> bool:
    """Store the charged budget; False if it is no longer as it was."""
    resource = core.cache.storage_row(POD_DISRUPTION_BUDGETS)
    key = key_of(resource, budget.namespace, budget.name)
    value = encode(obj, resource, budget.managed)
    try:
        revision = await core.store.update(key, value, budget.revision)
    except (RevisionConflict, errors.NotFound):
        return False
    await core.cache.wait(revision)
    return True


def _budgets(core: Core, pod: Item) -> list[Item]:
    if POD_DISRUPTION_BUDGETS.storage_name not in core.cache.by_storage:
        return []
    found = core.cache.of(POD_DISRUPTION_BUDGETS)
    return [
        item
        for item in (found.select(pod.namespace) if found.items else ())
        if budgets.selects(item.object(), pod.labels)
    ]


def _refused(refusal: budgets.Refusal, name: str) -> status.ApiError:
    if refusal.forbidden:
        return status.forbidden(POD_DISRUPTION_BUDGETS, name, refusal.why)
    causes = [Cause("DisruptionBudget", "", refusal.why)]
    return status.too_many_requests(budgets.CANNOT, refusal.retry_s, causes)
