"""Rules on security contexts and identities."""

from __future__ import annotations

from muntin.lint.rule import Rule
from muntin.model.windows import Feature

RULES: dict[Feature, Rule] = {}
