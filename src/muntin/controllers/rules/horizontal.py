"""HorizontalPodAutoscaler: how many replicas its target is to have, and what its status says.

``decide`` says what is wanted; whoever carries it out tells ``conclude`` how it went.
Source: kubernetes v1.36 and v1.20 pkg/controller/podautoscaler/horizontal.go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muntin.controllers.rules import horizontal_metrics as metrics
from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Note,
    Object,
    Told,
    Update,
)
from muntin.controllers.rules.horizontal_behavior import Memory, Wish, normalize, normalize_with
from muntin.controllers.rules.horizontal_metrics import Reading, source_of
from muntin.controllers.rules.horizontal_replicas import (
    Tolerances,
    World,
    by_mean,
    by_share,
    by_utilization,
    by_value,
)
from muntin.controllers.rules.horizontal_settings import Settings
from muntin.kit.errors import Invalid, MuntinError, Unavailable
from muntin.model import go_values, pods, quantity, times
from muntin.model.features import ApiFeature
from muntin.model.resources import HORIZONTAL_POD_AUTOSCALERS
from muntin.model.selectors import Selector, parse_labels

ABLE, ACTIVE, LIMITED = "AbleToScale", "ScalingActive", "ScalingLimited"
_NO_SCALE = "the HPA controller was unable to get the target's current scale: {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``scale``: the target's, or None and why not. ``readings``: one a metric, if they are
    needed. ``pods``: those that the scale selects; ``rivals``: all autoscalers that have them."""

    hpa: Object
    scale: Object | None = None
    scale_error: str = ""
    readings: Sequence[Reading] = ()
    pods: Sequence[Object] = ()
    rivals: Sequence[str] = ()
    memory: Memory = field(default_factory=Memory)
    settings: Settings = field(default_factory=Settings)
    features: Collection[ApiFeature] = frozenset(ApiFeature)


@dataclass(slots=True, kw_only=True)
class Decision:
    """``replicas`` to set if ``rescale``, because of ``reason``; notes and the status so far."""

    current: int
    replicas: int
    rescale: bool
    reason: str
    status: Object
    notes: list[Note]
    memory: Memory


@dataclass(frozen=True, slots=True)
class _Proposal:
    replicas: int
    name: str
    status: Object


class _Failed(Exception):
    """Nothing can be decided; the status and the notes say why."""


def is_off(hpa: Object, scale: Object) -> bool:
    """Whether the target has no replicas, and so is left alone."""
    return not _replicas(scale, "spec")


def needs_readings(hpa: Object, scale: Object) -> bool:
    """Whether metrics decide: the target is on, and within its range."""
    current = _replicas(scale, "spec")
    return not is_off(hpa, scale) and _least(hpa) <= current <= hpa["spec"]["maxReplicas"]


def selector_of(scale: Object) -> Selector:
    """The pods of the target.

    Raises:
        Invalid: the scale has no selector, or one that cannot be read.
    """
    text = (scale.get("status") or {}).get("selector")
    if not text:
        raise Invalid("selector is required")
    return parse_labels(text)


def _replicas(scale: Object, part: str) -> int:
    return int((scale.get(part) or {}).get("replicas") or 0)


def _least(hpa: Object) -> int:
    least = hpa["spec"].get("minReplicas")
    return 1 if least is None else int(least)


def decide(snapshot: Snapshot, now: float) -> Decision:
    """What to do."""
    hpa, scale = snapshot.hpa, snapshot.scale
    status = dict(hpa.get("status") or {})
    status["conditions"] = [dict(row) for row in status.get("conditions") or ()]
    decision = Decision(
        current=int(status.get("currentReplicas") or 0),
        replicas=int(status.get("desiredReplicas") or 0),
        rescale=False,
        reason="",
        status=status,
        notes=[],
        memory=snapshot.memory,
    )
    if scale is None:
        _warn(decision, hpa, "FailedGetScale", snapshot.scale_error)
        text = _NO_SCALE.format(snapshot.scale_error)
        _say(decision, ABLE, "False", "FailedGetScale", text, now)
        return decision
    text = "the HPA controller was able to get the target's current scale"
    _say(decision, ABLE, "True", "SucceededGetScale", text, now)
    current = decision.current = _replicas(scale, "spec")
    decision.memory = decision.memory.with_first(current, now)
    try:
        _wish(decision, snapshot, now)
    except _Failed:
        _set_numbers(decision, desired=int(status.get("desiredReplicas") or 0))
        return decision
    decision.rescale = decision.replicas != current
    _set_numbers(decision, desired=decision.replicas)
    return decision


def _wish(decision: Decision, snapshot: Snapshot, now: float) -> None:
    hpa, current = snapshot.hpa, decision.current
    assert snapshot.scale is not None
    least, most = _least(hpa), hpa["spec"]["maxReplicas"]
    if is_off(hpa, snapshot.scale):
        decision.replicas = 0
        text = "scaling is disabled since the replica count of the target is zero"
        _say(decision, ACTIVE, "False", "ScalingDisabled", text, now)
        _measured(decision, [])
    elif current > most or current < least:
        side, limit = ("above", "Max") if current > most else ("below", "Min")
        decision.replicas = most if current > most else least
        decision.reason = f"Current number of replicas {side} Spec.{limit}Replicas"
        _measured(decision, [])
    else:
        desired, name = _by_metrics(decision, snapshot, now)
        if desired > current:
            decision.reason = f"{name} above target"
        elif desired < current:
            decision.reason = "All metrics below target"
        wish = Wish(current=current, desired=desired, least=least, most=most)
        behavior, window_s = hpa["spec"].get("behavior"), snapshot.settings.downscale_window_s
        if behavior is None:
            found = normalize(wish, decision.memory, now, window_s)
        else:
            both = ApiFeature.AUTOSCALERS_OF_TODAY in snapshot.features
            found = normalize_with(behavior, wish, decision.memory, now, window_s, both_ways=both)
        decision.replicas, decision.memory = found.replicas, found.memory
        _say(decision, ABLE, "True", *found.able, now)
        _say(decision, LIMITED, str(found.limited), *found.why, now)


def _measured(decision: Decision, rows: list[Object] | None) -> None:
    if rows:
        decision.status["currentMetrics"] = rows
    else:
        decision.status.pop("currentMetrics", None)


def _set_numbers(decision: Decision, *, desired: int) -> None:
    decision.status.pop("observedGeneration", None)
    decision.status.update(currentReplicas=decision.current, desiredReplicas=desired)


def _by_metrics(decision: Decision, snapshot: Snapshot, now: float) -> tuple[int, str]:
    """The highest of what the metrics ask for; down only if every one of them is known.

    1.20 went down by those that are.
    """
    hpa = snapshot.hpa
    _check_selector(decision, snapshot, now)
    specs: Sequence[Mapping[str, Any]] = hpa["spec"].get("metrics") or ()
    world = _world(snapshot, now)
    best, statuses, failures = _Proposal(0, "", {}), list[Object](), list[tuple[str, str, str]]()
    for spec, reading in zip(specs, snapshot.readings, strict=True):
        kind = _KINDS[spec["type"]]
        source = source_of(spec)
        try:
            found = kind.propose(world, source, reading)
        except MuntinError as err:
            _warn(decision, hpa, kind.failure, err.message)
            whole = err.message
            if world.is_of_today:
                whole = f"failed to get {kind.title(source)}: {whole}"
            failures.append((kind.failure, err.message, whole))
            statuses.append({"type": ""})
            continue
        statuses.append({"type": spec["type"], **found.status})
        if not best.replicas or found.replicas > best.replicas:
            best = found
    less = ApiFeature.AUTOSCALERS_CAREFUL in snapshot.features and best.replicas < decision.current
    fails = bool(failures) and (len(failures) == len(specs) or less)
    if world.is_of_today or not fails:
        _measured(decision, statuses)
    if fails:
        reason, message, first = failures[0]
        text = f"the HPA was unable to compute the replica count: {message}"
        _say(decision, ACTIVE, "False", reason, text, now)
        count = f"{len(failures)} invalid out of {len(specs)}"
        text = f"invalid metrics ({count}), first error is: {first}"
        _warn(decision, hpa, "FailedComputeMetricsReplicas", text)
        raise _Failed
    text = f"the HPA was able to successfully calculate a replica count from {best.name}"
    _say(decision, ACTIVE, "True", "ValidMetricFound", text, now)
    return best.replicas, best.name


def _check_selector(decision: Decision, snapshot: Snapshot, now: float) -> None:
    """The pods must be known, and no other autoscaler's."""
    hpa = snapshot.hpa
    assert snapshot.scale is not None
    text = (snapshot.scale.get("status") or {}).get("selector")
    reason = told = "InvalidSelector"
    if not text:
        reason, problem = "SelectorRequired", "selector is required"
        message = "the HPA target's scale is missing a selector"
    else:
        try:
            parse_labels(text)
        except Invalid as err:
            inside = "corresponding internal selector object"
            problem = message = f"couldn't convert selector into a {inside}: {err.message}"
        else:
            if len(snapshot.rivals) < 2:
                return
            reason = told = "AmbiguousSelector"
            rivals = " ".join(snapshot.rivals)
            problem = f"pods by selector {text} are controlled by multiple HPAs: [{rivals}]"
            message = problem
    _warn(decision, hpa, reason, problem)
    _say(decision, ACTIVE, "False", told, message, now)
    _warn(decision, hpa, "FailedComputeMetricsReplicas", problem)
    if ApiFeature.AUTOSCALERS_OF_TODAY in snapshot.features:
        _measured(decision, [])
    raise _Failed


def _world(snapshot: Snapshot, now: float) -> World:
    assert snapshot.scale is not None
    settings = snapshot.settings
    down = up = settings.tolerance
    behavior = snapshot.hpa["spec"].get("behavior") or {}
    if ApiFeature.OWN_TOLERANCES in snapshot.features:
        down = _tolerance(behavior.get("scaleDown"), down)
        up = _tolerance(behavior.get("scaleUp"), up)
    return World(
        namespace=snapshot.hpa["metadata"]["namespace"],
        pods=snapshot.pods,
        spec_replicas=_replicas(snapshot.scale, "spec"),
        status_replicas=_replicas(snapshot.scale, "status"),
        tolerances=Tolerances(down, up),
        now=now,
        cpu_initialization_s=settings.cpu_initialization_s,
        initial_readiness_s=settings.initial_readiness_s,
        is_of_today=ApiFeature.AUTOSCALERS_OF_TODAY in snapshot.features,
    )


def _tolerance(rules: Mapping[str, Any] | None, default: float) -> float:
    given = (rules or {}).get("tolerance")
    return default if given is None else quantity.of(given).nano / 1e9


def conclude(
    decision: Decision, snapshot: Snapshot, error: str | None, now: float
) -> tuple[list[Action], Memory]:
    """Events and the new status; ``error``: why the target's scale was not set."""
    hpa, memory = snapshot.hpa, decision.memory
    actions: list[Action] = [*decision.notes]
    size, why = f"New size: {decision.replicas}", f"reason: {decision.reason}"
    if decision.rescale and error is not None:
        text = f"{size}; {why}; error: {error}"
        actions.append(Note(about=hpa, type=WARNING, reason="FailedRescale", message=text))
        text = f"the HPA controller was unable to update the target scale: {error}"
        _say(decision, ABLE, "False", "FailedUpdateScale", text, now)
        before = (hpa.get("status") or {}).get("desiredReplicas") or 0
        _set_numbers(decision, desired=int(before))
    elif decision.rescale:
        text = f"the HPA controller was able to update the target scale to {decision.replicas}"
        _say(decision, ABLE, "True", "SucceededRescale", text, now)
        text = f"{size}; {why}"
        actions.append(Note(about=hpa, type=NORMAL, reason="SuccessfulRescale", message=text))
        decision.status["lastScaleTime"] = times.text_of(now)
        behavior = hpa["spec"].get("behavior")
        if behavior is not None:
            memory = memory.scaled(behavior, decision.current, decision.replicas, now)
    if decision.status != (hpa.get("status") or {}):
        obj = {**hpa, "status": decision.status}
        told = Told(
            about=hpa,
            reason="",
            message="",
            failure_reason="FailedUpdateStatus",
            failure_message="{error}",
        )
        resource = HORIZONTAL_POD_AUTOSCALERS
        actions.append(Update(resource=resource, obj=obj, subresource="status", told=told))
    return [*actions, Again(snapshot.settings.sync_period_s)], memory


def _say(decision: Decision, kind: str, status: str, reason: str, message: str, now: float) -> None:
    row = {"type": kind, "status": status, "reason": reason, "message": message}
    pods.set_condition(decision.status["conditions"], row, times.text_of(now))


def _warn(decision: Decision, hpa: Object, reason: str, message: str) -> None:
    decision.notes.append(Note(about=hpa, type=WARNING, reason=reason, message=message))


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a type of metric is reckoned with, and what its failures are called."""

    failure: str
    title: Callable[[Mapping[str, Any]], str]
    propose: Callable[[World, Mapping[str, Any], Reading], _Proposal]


def _of_resource(world: World, source: Mapping[str, Any], reading: Reading) -> _Proposal:
    name, container, target = source["name"], source.get("container", ""), source["target"]
    what = f"unable to get metrics for resource {name}"
    row: Object = {"name": name, **({"container": container} if container else {})}
    field_name = "containerResource" if container else "resource"
    binary = name == "memory" and world.is_of_today
    if target.get("averageValue") is not None:
        try:
            found = metrics.pods_of(reading, what)
            wanted = quantity.milli(target["averageValue"])
            replicas, mean = by_mean(world, found, wanted, name)
        except Unavailable as err:
            measure = "usage" if world.is_of_today else "utilization"
            raise Unavailable(f"failed to get {name} {measure}: {err.message}") from err
        row["current"] = {"averageValue": metrics.quantity_of(mean, binary=binary)}
        return _Proposal(replicas, f"{name} resource", {field_name: row})
    percent = target.get("averageUtilization")
    if percent is None:
        text = "neither an average utilization target nor an average value (usage) target was set"
        raise Unavailable(f"invalid resource metric source: {text}")
    try:
        found = metrics.pods_of(reading, what)
        replicas, used, mean = by_utilization(world, found, name, percent, container)
    except Unavailable as err:
        raise Unavailable(f"failed to get {name} utilization: {err.message}") from err
    average = metrics.quantity_of(mean, binary=binary)
    row["current"] = {"averageUtilization": used, "averageValue": average}
    inner = " container" if container and world.is_of_today else ""
    title = f"{name}{inner} resource utilization"
    return _Proposal(replicas, f"{title} (percentage of request)", {field_name: row})


def _of_pods(world: World, source: Mapping[str, Any], reading: Reading) -> _Proposal:
    name = source["metric"]["name"]
    found = metrics.pods_of(reading, f"unable to get metric {name}")
    target = quantity.milli(source["target"]["averageValue"])
    replicas, mean = by_mean(world, found, target)
    current = {"averageValue": metrics.quantity_of(mean)}
    row = {"metric": source["metric"], "current": current}
    return _Proposal(replicas, f"pods metric {name}", {"pods": row})


def _of_object(world: World, source: Mapping[str, Any], reading: Reading) -> _Proposal:
    metric, target, described = source["metric"], source["target"], source["describedObject"]
    name = metric["name"]
    row: Object = {"metric": metric, "describedObject": described}
    # The order is upstream's: what failed stands where the name of the object is awaited.
    failed = f"unable to get metric {name}: {described['kind']} on {world.namespace} "
    failed += f"{described['name']}/"
    aim = {"Value": "value", "AverageValue": "averageValue"}.get(target["type"], "")
    if target.get(aim) is None:
        text = "neither a value target nor an average value target was set"
        raise Unavailable(f"invalid object metric source: {text}")
    value = _value(reading, failed)
    replicas, row["current"] = _aimed(world, value, target, aim)
    title = f"{described['kind']} metric {name}" if aim == "value" else _external_name(metric)
    return _Proposal(replicas, title, {"object": row})


def _of_external(world: World, source: Mapping[str, Any], reading: Reading) -> _Proposal:
    metric, target = source["metric"], source["target"]
    row: Object = {"metric": metric}
    aims = [aim for aim in ("averageValue", "value") if target.get(aim) is not None]
    if not aims:
        text = "neither a value target nor an average value target was set"
        raise Unavailable(f"invalid external metric source: {text}")
    value = _sum(world, metric, reading)
    replicas, row["current"] = _aimed(world, value, target, aims[0])
    return _Proposal(replicas, _external_name(metric), {"external": row})


def _aimed(world: World, value: int, target: Mapping[str, Any], aim: str) -> tuple[int, Object]:
    """The replicas for one value, as it is or shared by all, and what the status shows of it."""
    wanted = quantity.milli(target[aim])
    if aim == "value":
        return by_value(world, value, wanted), {aim: metrics.quantity_of(value)}
    replicas, share = by_share(world, value, wanted)
    return replicas, {aim: metrics.quantity_of(share)}


def _object_title(source: Mapping[str, Any]) -> str:
    if source["target"]["type"] == "Value":
        return "object metric value"
    return f"object metric value: failed to get {source['metric']['name']} object metric"


def _external_title(source: Mapping[str, Any]) -> str:
    name = source["metric"]["name"]
    average = source["target"].get("averageValue") is not None
    inner = f"{name} external metric" if average else f"external metric {name}"
    return f"{name} external metric value: failed to get {inner}"


def _external_name(metric: Mapping[str, Any]) -> str:
    """Upstream calls both so: metrics of objects by share, too."""
    selector = go_values.label_selector(metric.get("selector"))
    return f"external metric {metric['name']}({selector})"


def _value(reading: Reading, what: str) -> int:
    if reading.error:
        raise Unavailable(f"{what}{reading.error}")
    return reading.values[0]


def _sum(world: World, metric: Mapping[str, Any], reading: Reading) -> int:
    if reading.error:
        selector = go_values.label_selector(metric.get("selector"))
        whole = f"{world.namespace}/{metric['name']}/{selector}"
        raise Unavailable(f"unable to get external metric {whole}: {reading.error}")
    return sum(reading.values)


_KINDS: Mapping[str, _Kind] = {
    "Resource": _Kind(
        "FailedGetResourceMetric",
        lambda source: f"{source['name']} resource metric value",
        _of_resource,
    ),
    "ContainerResource": _Kind(
        "FailedGetContainerResourceMetric",
        lambda source: f"{source['container']} container metric value",
        _of_resource,
    ),
    "Pods": _Kind("FailedGetPodsMetric", lambda source: "pods metric value", _of_pods),
    "Object": _Kind("FailedGetObjectMetric", _object_title, _of_object),
    "External": _Kind(
        "FailedGetExternalMetric",
        _external_title,
        _of_external,
    ),
}
