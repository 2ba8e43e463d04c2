"""Reads the Cluster file's ``leaderElection``, in the words of kube-scheduler's configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from muntin.cluster.yaml_fields import Mapping
from muntin.kit.errors import Invalid
from muntin.model import durations
from muntin.model.elections import ElectionConfig

_DURATIONS = {
    "leaseDuration": "lease_duration_s",
    "renewDeadline": "renew_deadline_s",
    "retryPeriod": "retry_period_s",
}


def read(section: Mapping) -> tuple[bool | None, ElectionConfig]:
    """Whether leaders are elected, None where nothing is said, and by which periods.

    Raises:
        Invalid: a value is none, or a field is unknown; the message names its place.
    """
    elect = section.take("leaderElect")
    found: dict[str, Any] = {}
    for key, attribute in _DURATIONS.items():
        if (place := section.take(key)) is not None:
            found[attribute] = place.checked(_duration, place.text())
    section.finish()
    config = replace(ElectionConfig(), **found)
    try:
        config.check()
    except Invalid as err:
        raise section.wrong(err.message) from err
    return None if elect is None else elect.boolean(), config


def _duration(text: str) -> float:
    try:
        return durations.parse_duration(text)
    except Invalid as err:
        raise Invalid(f"{text!r} is no duration; write it like 15s") from err
