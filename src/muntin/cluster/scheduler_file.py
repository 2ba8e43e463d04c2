"""Reads the Cluster file's ``scheduler``, a KubeSchedulerConfiguration."""

from __future__ import annotations

from typing import Any

from muntin.cluster.yaml_fields import Place
from muntin.kit.errors import Invalid
from muntin.scheduler import configuration


def read(place: Place) -> dict[str, Any]:
    """The document, found to be right; the scheduler's process reads it again.

    Raises:
        Invalid: a field of it is unknown or wrong; the message names its place.
    """
    document: dict[str, Any] = place.mapping().plain()
    try:
        configuration.read(document)
    except Invalid as err:
        raise place.wrong(err.message) from err
    return document
