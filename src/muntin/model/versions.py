"""The order of API versions: the more stable first, then the newer."""

from __future__ import annotations

import re

_version = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?").fullmatch
_STAGES = {None: 0, "beta": 1, "alpha": 2}


def rank(version: str) -> tuple[int, int, int, str]:
    """A key that sorts versions as discovery does: v2, v1, v1beta2, v1alpha1, then other names.

    Source: apimachinery pkg/version/helpers.go.
    """
    match = _version(version)
    if match is None:
        return 3, 0, 0, version
    major, stage, minor = match.groups()
    return _STAGES[stage], -int(major), -int(minor or 0), version
