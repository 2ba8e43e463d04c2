"""Reads a KubeSchedulerConfiguration: profiles, plugins, their arguments, extenders, delays.

What has no meaning in one process on one machine (leaderElection, clientConnection, parallelism and
the like) is accepted and ignored; everything unknown is refused by name.
Source: kubernetes v1.36 pkg/scheduler/apis/config/{types.go,v1,validation}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from muntin.kit.errors import Invalid
from muntin.scheduler.config import SchedulerConfig
from muntin.scheduler.extender_config import extenders_of
from muntin.scheduler.plan_framework import Plugin
from muntin.scheduler.plan_registry import PLUGINS, Profile

Object = Mapping[str, Any]
API_VERSIONS = tuple(
    f"kubescheduler.config.k8s.io/{version}" for version in ("v1", "v1beta3", "v1beta2", "v1beta1")
)
KIND = "KubeSchedulerConfiguration"
_IGNORED = (
    "parallelism",
    "leaderElection",
    "clientConnection",
    "delayCacheUntilActive",
    "enableProfiling",
    "enableContentionProfiling",
    "healthzBindAddress",
    "metricsBindAddress",
)
_POINTS = (
    "multiPoint",
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
)
"""Extension points. What a plugin does here stands at filter, postFilter and score."""
_BY_NAME = {row.name: row for row in PLUGINS}


def read(document: Object, base: SchedulerConfig | None = None) -> SchedulerConfig:
    """``base`` (the defaults) with what ``document`` says.

    Raises:
        Invalid: a field is unknown or its value is none; the message names it.
    """
    config = base or SchedulerConfig()
    known = ("apiVersion", "kind", "percentageOfNodesToScore", "podInitialBackoffSeconds",
             "podMaxBackoffSeconds", "profiles", "extenders", *_IGNORED)  # fmt: skip
    _only(document, "", known)
    _one_of(document, "apiVersion", API_VERSIONS)
    _one_of(document, "kind", (KIND,))
    percentage = _number(document, "percentageOfNodesToScore", "", 0, 100, 0)
    initial = _number(document, "podInitialBackoffSeconds", "", 1, 10**6, config.initial_backoff_s)
    longest = _number(document, "podMaxBackoffSeconds", "", 1, 10**6, config.max_backoff_s)
    if longest < initial:
        raise Invalid("podMaxBackoffSeconds: must not be less than podInitialBackoffSeconds")
    rows = _rows(document, "profiles", "") or [{}]
    extenders = extenders_of(_rows(document, "extenders", ""))
    theirs = sorted(set().union(*(one.ignored_by_scheduler for one in extenders)))
    profiles = tuple(
        _leave_to_extenders(_profile(row, f"profiles[{at}]", percentage), theirs)
        for at, row in enumerate(rows)
    )
    names = [profile.scheduler_name for profile in profiles]
    if len(set(names)) < len(names):
        raise Invalid(f"profiles: two of them have one schedulerName: {', '.join(names)}")
    return replace(
        config,
        profiles=profiles,
        initial_backoff_s=float(initial),
        max_backoff_s=float(longest),
        extenders=extenders,
    )


def _leave_to_extenders(profile: Profile, resources: list[str]) -> Profile:
    """The profile without a look at the resources that extenders keep for themselves."""
    if not resources:
        return profile
    fit = dict(profile.args.get("NodeResourcesFit") or {})
    fit["ignoredResources"] = [*(fit.get("ignoredResources") or ()), *resources]
    return replace(profile, args={**profile.args, "NodeResourcesFit": fit})


def _profile(row: Object, at: str, percentage: int) -> Profile:
    _only(row, at, ("schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"))
    plugins = row.get("plugins") or {}
    _only(plugins, f"{at}.plugins", _POINTS)
    for point, entry in plugins.items():
        _only(entry or {}, f"{at}.plugins.{point}", ("enabled", "disabled"))
    sets = {
        point: _chosen(plugins, point, f"{at}.plugins")
        for point in ("filter", "postFilter", "score")
    }
    return Profile(
        scheduler_name=str(row.get("schedulerName") or "default-scheduler"),
        filters=tuple(plugin for plugin, _ in sets["filter"]),
        scores=tuple(sets["score"]),
        args=_arguments(_rows(row, "pluginConfig", at), f"{at}.pluginConfig"),
        percentage=_number(row, "percentageOfNodesToScore", at, 0, 100, percentage),
        preempts=any(plugin.name == "DefaultPreemption" for plugin, _ in sets["postFilter"]),
    )


def _chosen(plugins: Object, point: str, at: str) -> list[tuple[Plugin, int]]:
    """The plugins at one extension point in their order, with their weights."""
    chosen = {plugin.name: plugin.weight for plugin in PLUGINS}
    for where in ("multiPoint", point):
        entry = plugins.get(where) or {}
        for row in entry.get("disabled") or ():
            name = _plugin_name(row, f"{at}.{where}.disabled", ("*",))
            if name == "*":
                chosen.clear()
            chosen.pop(name, None)
        for row in entry.get("enabled") or ():
            name = _plugin_name(row, f"{at}.{where}.enabled")
            weight = _number(row, "weight", f"{at}.{where}.enabled", 0, 2**31 - 1, 0)
            chosen[name] = weight or chosen.get(name) or _BY_NAME[name].weight
    return [(_BY_NAME[name], weight) for name, weight in chosen.items()]


def _plugin_name(row: Object, at: str, also: Iterable[str] = ()) -> str:
    _only(row, at, ("name", "weight"))
    name = str(row.get("name"))
    if name not in _BY_NAME and name not in also:
        raise Invalid(f"{at}: {name!r} is no plugin; there are {', '.join(_BY_NAME)}")
    return name


# -- arguments -----------------------------------------------------------------------------------


def _arguments(rows: list[Object], at: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = _plugin_name({"name": row.get("name")}, at)
        _only(row, at, ("name", "args"))
        if name in found:
            raise Invalid(f"{at}: {name} is there twice; keep one of them")
        args = {k: v for k, v in (row.get("args") or {}).items() if k not in ("apiVersion", "kind")}
        _only(args, f"{at}.{name}", _ARGUMENTS.get(name, ()))
        check = _CHECKS.get(name)
        if check is not None:
            check(args, f"{at}.{name}")
        found[name] = args
    return found


_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "NodeResourcesFit": ("ignoredResources", "ignoredResourceGroups", "scoringStrategy"),
    "NodeResourcesBalancedAllocation": ("resources",),
    "NodeAffinity": ("addedAffinity",),
    "PodTopologySpread": ("defaultConstraints", "defaultingType"),
    "InterPodAffinity": ("hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"),
    "DefaultPreemption": ("minCandidateNodesPercentage", "minCandidateNodesAbsolute"),
    "VolumeBinding": ("bindTimeoutSeconds", "shape"),
}


def _check_fit(args: Object, at: str) -> None:
    strategy = args.get("scoringStrategy") or {}
    at = f"{at}.scoringStrategy"
    _only(strategy, at, ("type", "resources", "requestedToCapacityRatio"))
    kinds = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
    _one_of(strategy, "type", kinds, at)
    _check_resources(strategy.get("resources") or (), f"{at}.resources")
    if strategy.get("type") == kinds[2]:
        shape = (strategy.get("requestedToCapacityRatio") or {}).get("shape") or ()
        _check_shape(shape, f"{at}.requestedToCapacityRatio.shape")


def _check_shape(shape: Iterable[Object], at: str) -> None:
    before = -1
    for row in shape:
        utilization = _number(row, "utilization", at, 0, 100, 0)
        _number(row, "score", at, 0, 10, 0)
        if utilization <= before:
            raise Invalid(
                f"{at}: utilization must rise from point to point, {utilization} does not"
            )
        before = utilization
    if before < 0:
        raise Invalid(f"{at}: at least one point must be specified")


def _check_resources(rows: Iterable[Object], at: str) -> None:
    for row in rows:
        _only(row, at, ("name", "weight"))
        if not row.get("name"):
            raise Invalid(f"{at}: a resource without a name; add one like cpu")
        _number(row, "weight", at, 1, 100, 1)


def _check_spread(args: Object, at: str) -> None:
    _one_of(args, "defaultingType", ("System", "List"), at)
    rows = args.get("defaultConstraints") or ()
    if rows and args.get("defaultingType", "List") != "List":
        raise Invalid(f"{at}.defaultConstraints: only with defaultingType: List")
    for row in rows:
        if row.get("labelSelector") is not None:
            raise Invalid(f"{at}.defaultConstraints: must not have a labelSelector, it is deduced")
        if not row.get("topologyKey"):
            raise Invalid(f"{at}.defaultConstraints: topologyKey is missing")
        _number(row, "maxSkew", at, 1, 2**31 - 1, 0)
        kinds = ("DoNotSchedule", "ScheduleAnyway")
        _one_of(row, "whenUnsatisfiable", kinds, f"{at}.defaultConstraints")


def _check_affinity(args: Object, at: str) -> None:
    _number(args, "hardPodAffinityWeight", at, 0, 100, 1)


def _check_preemption(args: Object, at: str) -> None:
    _number(args, "minCandidateNodesPercentage", at, 0, 100, 10)
    _number(args, "minCandidateNodesAbsolute", at, 0, 2**31 - 1, 100)


_CHECKS: Mapping[str, Callable[[Object, str], None]] = {
    "NodeResourcesFit": _check_fit,
    "NodeResourcesBalancedAllocation": lambda args, at: _check_resources(
        args.get("resources") or (), f"{at}.resources"
    ),
    "PodTopologySpread": _check_spread,
    "InterPodAffinity": _check_affinity,
    "DefaultPreemption": _check_preemption,
}


# -- values --------------------------------------------------------------------------------------


def _only(row: object, at: str, known: Iterable[str]) -> None:
    if not isinstance(row, Mapping):
        raise Invalid(f"{at or KIND}: must be a mapping, not {row!r}")
    for name in row:
        if name not in known:
            where = f"{at}.{name}" if at else str(name)
            raise Invalid(f"{where}: unknown field; known: {', '.join(known)}")


def _one_of(row: Object, name: str, values: Iterable[str], at: str = "") -> None:
    found = row.get(name)
    if found is not None and found not in values:
        where = f"{at}.{name}" if at else name
        raise Invalid(f"{where}: {found!r} is unknown; use {' or '.join(values)}")


def _rows(row: Object, name: str, at: str) -> list[Object]:
    found = row.get(name)
    if found is None:
        return []
    where = f"{at}.{name}" if at else name
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise Invalid(f"{where}: must be a list of mappings")
    return found


def _number(row: Object, name: str, at: str, low: int, high: int, default: float) -> int:
    found = row.get(name)
    if found is None:
        return int(default)
    where = f"{at}.{name}" if at else name
    if isinstance(found, bool) or not isinstance(found, int) or not low <= found <= high:
        raise Invalid(f"{where}: {found!r} must be a whole number of {low} to {high}")
    return found
