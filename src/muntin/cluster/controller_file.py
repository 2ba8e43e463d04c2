"""Reads the Cluster file's ``controllerManager``: how autoscalers are run.

Field names are those of kube-controller-manager's configuration and flags.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from muntin.cluster.yaml_fields import Mapping, Place
from muntin.controllers.rules.horizontal_settings import Settings
from muntin.kit.errors import Invalid
from muntin.model import durations

_DURATIONS = {
    "horizontalPodAutoscalerSyncPeriod": "sync_period_s",
    "horizontalPodAutoscalerDownscaleStabilization": "downscale_window_s",
    "horizontalPodAutoscalerCPUInitializationPeriod": "cpu_initialization_s",
    "horizontalPodAutoscalerInitialReadinessDelay": "initial_readiness_s",
}
_TOLERANCE = "horizontalPodAutoscalerTolerance"


def read(section: Mapping) -> Settings:
    """The settings; what is left out is as upstream's default.

    Raises:
        Invalid: a value is none, or a field is unknown; the message names its place.
    """
    found: dict[str, Any] = {}
    for key, attribute in _DURATIONS.items():
        if (place := section.take(key)) is not None:
            found[attribute] = _duration(place)
    if (place := section.take(_TOLERANCE)) is not None:
        found["tolerance"] = place.checked(_tolerance, place.text())
    section.finish()
    period_s = found.get("sync_period_s")
    if period_s is not None and period_s <= 0:
        raise section.wrong("horizontalPodAutoscalerSyncPeriod must be more than nothing, like 15s")
    return replace(Settings(), **found)


def _duration(place: Place) -> float:
    def parsed(text: str) -> float:
        try:
            seconds = durations.parse_duration(text)
        except Invalid as err:
            raise Invalid(f"{text!r} is no duration; write it like 15s or 5m") from err
        if seconds < 0:
            raise Invalid(f"{text!r} is negative; write it like 15s or 5m")
        return seconds

    return place.checked(parsed, place.text())


def _tolerance(text: str) -> float:
    try:
        found = float(text)
    except ValueError as err:
        raise Invalid(f"{text!r} is no number; write it like 0.1") from err
    if not 0 <= found < float("inf"):
        raise Invalid(f"{text!r} must be 0 or more, like 0.1")
    return found
