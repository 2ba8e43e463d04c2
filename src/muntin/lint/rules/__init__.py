"""All rules, by the row of the gates table whose texts they print; one file per area."""

from __future__ import annotations

from muntin.lint.rule import Rule
from muntin.lint.rules import (
    containers,
    dns,
    identity,
    images,
    kubelet,
    networks,
    nodes,
    pods,
    proxy,
    scheduling,
    security,
    services,
    volumes,
    workloads,
)
from muntin.model.windows import Feature

AREAS = (
    pods,
    containers,
    scheduling,
    security,
    services,
    volumes,
    dns,
    workloads,
    networks,
    proxy,
    identity,
    images,
    kubelet,
    nodes,
)
RULES: dict[Feature, Rule] = {}
for _area in AREAS:
    RULES.update(_area.RULES)
