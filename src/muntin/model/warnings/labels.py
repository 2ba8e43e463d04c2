"""Labels of nodes that nobody should choose by any more.

Source: kubernetes v1.36 pkg/api/node/util.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model import names

Object = Mapping[str, Any]

_BETA = "beta.kubernetes.io"
DEPRECATED: Mapping[str, str] = {
    f"{_BETA}/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    f"{_BETA}/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    f"failure-domain.{_BETA}/region":
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    f"failure-domain.{_BETA}/zone":
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    f"{_BETA}/instance-type":
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods":
        "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}  # fmt: skip


def of_term(term: Object, path: str, *, values: bool = False) -> Iterator[str]:
    """The expressions of a term; ``values``: what they compare with may be no label at all."""
    for index, row in enumerate(term.get("matchExpressions") or ()):
        key, here = row.get("key") or "", f"{path}.matchExpressions[{index}]"
        if key in DEPRECATED:
            yield f"{here}.key: {key} is {DEPRECATED[key]}"
        for number, value in enumerate((row.get("values") or ()) if values else ()):
            for problem in names.label_value(value):
                yield f"{here}.values[{number}]: {value} is invalid, {problem}"
