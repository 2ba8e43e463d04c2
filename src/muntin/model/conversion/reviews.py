"""Access reviews: the beta version calls the groups of the subject ``group``.

Source: k8s.io/api authorization/{v1,v1beta1}/types.go.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def newer_of(review: Object) -> Object:
    """A review in the form of authorization.k8s.io/v1."""
    return _renamed(review, "group", "groups")


def older_of(review: Object) -> Object:
    """A review in the form of authorization.k8s.io/v1beta1."""
    return _renamed(review, "groups", "group")


def _renamed(review: Object, old: str, new: str) -> Object:
    spec = review.get("spec") or {}
    if old not in spec:
        return review
    return {**review, "spec": {new if key == old else key: spec[key] for key in spec}}
