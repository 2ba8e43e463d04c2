"""Rules on Services and what stands behind them."""

from __future__ import annotations

from muntin.lint.rule import Rule, equals, on_services
from muntin.model.windows import Feature

RULES: dict[Feature, Rule] = {
    Feature.SVC_SESSION_AFFINITY: on_services(where=equals("ClientIP")),
}
