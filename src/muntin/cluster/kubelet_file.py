"""Reads the kubelet settings of a node, ``nodes[].kubelet`` in the Cluster file.

Field names are those of KubeletConfiguration.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from muntin.cluster.config import KubeletSettings, Os
from muntin.cluster.yaml_fields import Mapping, Place
from muntin.kit.errors import Invalid
from muntin.kubelet.image_policy import OFF, ImageGcPolicy
from muntin.model import durations

_PERCENTAGES = {
    "imageGCHighThresholdPercent": "high_percent",
    "imageGCLowThresholdPercent": "low_percent",
}
_DURATIONS = {
    "imageMinimumGCAge": "minimum_age_s",
    "imageMaximumGCAge": "maximum_age_s",
}


def read(section: Mapping, os: Os) -> KubeletSettings:
    """The settings of a node. Defaults are upstream's, except for the limit of processes and for
    images, which are not removed unless a threshold or an age is set.

    Raises:
        Invalid: a value is out of range, or a field is unknown; the message names its place.
    """
    found: dict[str, Any] = {}
    if (default := _linux_only(section, "seccompDefault", os)) is not None:
        found["seccomp_default"] = default.boolean()
    if (pids := _linux_only(section, "podPidsLimit", os)) is not None:
        found["pod_pids_limit"] = limit = pids.integer()
        if limit < 1 and limit != -1:
            raise pids.wrong(f"{limit} must be 1 or more, or -1 for no limit")
    image_gc = _image_gc(section)
    section.finish()
    return KubeletSettings(image_gc=image_gc, **found)


def _linux_only(section: Mapping, key: str, os: Os) -> Place | None:
    place = section.take(key)
    if place is not None and os is not Os.LINUX:
        raise place.wrong("is for Linux nodes only; remove it")
    return place


def _image_gc(section: Mapping) -> ImageGcPolicy:
    found: dict[str, Any] = {}
    for key, attribute in _PERCENTAGES.items():
        if (place := section.take(key)) is not None:
            found[attribute] = _percentage(place)
    for key, attribute in _DURATIONS.items():
        if (place := section.take(key)) is not None:
            found[attribute] = place.checked(_duration, place.text())
    policy = replace(OFF, **found)
    if policy.low_percent >= policy.high_percent:
        raise section.wrong(
            f"imageGCLowThresholdPercent ({policy.low_percent}) must be less than "
            f"imageGCHighThresholdPercent ({policy.high_percent})"
        )
    if 0 < policy.maximum_age_s <= policy.minimum_age_s:
        raise section.wrong("imageMaximumGCAge must be 0s, or more than imageMinimumGCAge")
    return policy


def _percentage(place: Place) -> int:
    value = place.integer()
    if not 0 <= value <= 100:
        raise place.wrong(f"{value} must be between 0 and 100")
    return value


def _duration(text: str) -> float:
    try:
        seconds = durations.parse_duration(text)
    except Invalid as err:
        raise Invalid(f"{text!r} is not a duration; write it like 2m or 24h") from err
    if seconds < 0:
        raise Invalid(f"{text!r} must not be negative")
    return seconds
