"""Rules on where pods go: selectors, taints, classes, images and the builds they are made for."""

from __future__ import annotations

from muntin.lint.rule import Rule
from muntin.model.windows import Feature

RULES: dict[Feature, Rule] = {}
