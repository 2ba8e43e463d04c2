"""Rules on volumes, mounts and paths."""

from __future__ import annotations

from muntin.lint.rule import Rule, equals, on_pods
from muntin.model.windows import Feature

RULES: dict[Feature, Rule] = {
    Feature.EMPTY_DIR_MEMORY: on_pods(where=equals("Memory")),
}
