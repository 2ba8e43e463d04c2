"""The functions that Kubernetes adds to CEL, one file per library.

Source: kubernetes v1.34 staging/src/k8s.io/apiserver/pkg/cel/library; cel-go ext (strings, sets).
"""

from __future__ import annotations

from muntin.kit.cel import Function
from muntin.model.cel.library import (
    addresses,
    authorizer,
    formats,
    jsonpatch,
    lists,
    quantities,
    regex,
    semver,
    sets,
    strings,
    urls,
)

__all__ = ["FUNCTIONS", "OPAQUE", "OPTIONAL", "jsonpatch"]

FUNCTIONS: tuple[Function, ...] = (
    *strings.FUNCTIONS,
    *lists.FUNCTIONS,
    *regex.FUNCTIONS,
    *urls.FUNCTIONS,
    *addresses.FUNCTIONS,
    *quantities.FUNCTIONS,
    *semver.FUNCTIONS,
    *formats.FUNCTIONS,
    *sets.FUNCTIONS,
    *authorizer.FUNCTIONS,
)

OPTIONAL: tuple[str, ...] = formats.OPTIONAL

OPAQUE: tuple[str, ...] = (
    urls.URL,
    addresses.IP,
    addresses.CIDR,
    quantities.QUANTITY,
    semver.SEMVER,
    formats.FORMAT,
    *authorizer.TYPES,
)
