"""The functions that Kubernetes adds to CEL, one file per library.

Source: kubernetes v1.34 staging/src/k8s.io/apiserver/pkg/cel/library; cel-go ext (strings, sets).
"""

from __future__ import annotations

from collections.abc import Mapping

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
from muntin.model.features import ApiFeature

__all__ = ["FUNCTIONS", "LATER", "OPAQUE", "OPTIONAL", "jsonpatch"]

# Those that came later than the first ones.
LATER: Mapping[ApiFeature, tuple[Function, ...]] = {
    ApiFeature.CEL_AUTHORIZER: authorizer.FUNCTIONS,
    ApiFeature.CEL_QUANTITIES: quantities.FUNCTIONS,
    ApiFeature.CEL_FORMATTED_STRINGS: strings.FORMATTING,
    ApiFeature.CEL_SETS: sets.FUNCTIONS,
    ApiFeature.CEL_ADDRESSES: addresses.FUNCTIONS,
    ApiFeature.CEL_NAMED_FORMATS: formats.FUNCTIONS,
    ApiFeature.CEL_AUTHORIZER_SELECTORS: authorizer.SELECTORS,
    ApiFeature.CEL_SEMVER: semver.FUNCTIONS,
    ApiFeature.CEL_LISTS: lists.OF_CEL_GO,
}

FUNCTIONS: tuple[Function, ...] = (
    *strings.FUNCTIONS,
    *lists.FUNCTIONS,
    *regex.FUNCTIONS,
    *urls.FUNCTIONS,
    *(function for functions in LATER.values() for function in functions),
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
