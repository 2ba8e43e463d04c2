"""Rules on what pods and containers say of themselves: namespaces, DNS, life cycle, resources."""

from __future__ import annotations

from muntin.lint.rule import Rule
from muntin.model.windows import Feature

RULES: dict[Feature, Rule] = {}
