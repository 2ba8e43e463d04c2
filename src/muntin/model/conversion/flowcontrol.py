"""Priority levels: the shares have had two names, and a zero that meant "the default".

Source: kubernetes v1.31 pkg/apis/flowcontrol/v1beta{1,2,3}/conversion.go.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

KEEP_ZERO = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
_ASSURED, _NOMINAL = "assuredConcurrencyShares", "nominalConcurrencyShares"


def from_assured(level: Object) -> Object:
    """A level of the first betas in the stable form."""
    return _renamed(level, _ASSURED, _NOMINAL)


def to_assured(level: Object) -> Object:
    """A level in the form of the first betas."""
    return _renamed(level, _NOMINAL, _ASSURED)


def _renamed(level: Object, old: str, new: str) -> Object:
    limited = (level.get("spec") or {}).get("limited")
    if not limited or old not in limited:
        return level
    changed = {new if key == old else key: value for key, value in limited.items()}
    return {**level, "spec": {**level["spec"], "limited": changed}}


def from_beta3(level: Object) -> Object:
    """A level of the last beta in the stable form; its annotation says that zero is meant."""
    metadata = level.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if KEEP_ZERO not in annotations:
        return level
    rest = {key: text for key, text in annotations.items() if key != KEEP_ZERO}
    kept = {key: value for key, value in metadata.items() if key != "annotations"}
    result = {**level, "metadata": {**kept, "annotations": rest} if rest else kept}
    limited = (level.get("spec") or {}).get("limited")
    if limited is not None and not limited.get(_NOMINAL):
        result["spec"] = {**level["spec"], "limited": {**limited, _NOMINAL: 0}}
    return result


def to_beta3(level: Object) -> Object:
    """A level in the form of the last beta."""
    limited = (level.get("spec") or {}).get("limited") or {}
    if limited.get(_NOMINAL) != 0:
        return level
    metadata = level.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), KEEP_ZERO: ""}
    return {**level, "metadata": {**metadata, "annotations": annotations}}
