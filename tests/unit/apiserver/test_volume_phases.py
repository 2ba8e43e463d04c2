"""When a volume came into its phase: as the server's clock says, unless its client does."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.apiserver import strategy
from muntin.model.resources import RESOURCES

VOLUMES = next(row for row in RESOURCES if row.plural == "persistentvolumes")
BEFORE, NOW, OWN = "2020-01-01T00:00:00Z", "2001-09-09T01:46:40Z", "2021-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        ({"phase": "Pending"}, BEFORE),
        ({"phase": "Pending", "lastPhaseTransitionTime": OWN}, OWN),
        ({"phase": "Bound"}, NOW),
        ({"phase": "Bound", "lastPhaseTransitionTime": BEFORE}, NOW),
        ({"phase": "Bound", "lastPhaseTransitionTime": OWN}, OWN),
    ],
)
def test_the_time_of_a_phase(sent: dict[str, Any], wanted: str) -> None:
    old = {"status": {"phase": "Pending", "lastPhaseTransitionTime": BEFORE}}
    new = {"status": sent}
    strategy.date_phase(VOLUMES, new, old, 1e9)
    assert new["status"] == {"phase": sent["phase"], "lastPhaseTransitionTime": wanted}
