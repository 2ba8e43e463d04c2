"""Scales of the beta groups: a selector as a map, and as text for what a map cannot say.

Source: k8s.io/api extensions/v1beta1/types.go ScaleStatus; kubernetes v1.15
pkg/apis/{apps,extensions}/v1beta1/conversion.go.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def older_of(scale: Object, api_version: str, selector: Object | None) -> Object:
    """A Scale of ``autoscaling/v1`` in the form of a beta group's ``api_version``.

    ``selector`` is that of the workload.
    """
    status = dict(scale.get("status") or {})
    text = status.pop("selector", "")
    selector = selector or {}
    labels = selector.get("matchLabels") or {}
    if labels and not selector.get("matchExpressions"):
        status["selector"] = dict(labels)
    if text:
        status["targetSelector"] = text
    return {**scale, "apiVersion": api_version, "status": status}
