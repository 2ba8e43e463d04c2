"""How autoscalers are run, as the Cluster file says it."""

from __future__ import annotations

import re

import pytest

from muntin.cluster import config_store
from muntin.cluster.settings import resolve
from muntin.cluster.settings_file import decode
from muntin.controllers.rules.horizontal_settings import Settings
from muntin.kit.errors import Invalid

HEAD = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\n"
NAME = "horizontalPodAutoscaler"


def settings(text):
    return resolve(decode(HEAD + text, "f")).autoscaling


def test_the_defaults_are_upstreams():
    found = settings("")
    assert found == Settings()
    assert (found.sync_period_s, found.downscale_window_s, found.tolerance) == (15, 300, 0.1)


def test_every_field_is_read_and_kept():
    text = (
        f"controllerManager:\n  {NAME}SyncPeriod: 2s\n  {NAME}DownscaleStabilization: 1m30s\n"
        f"  {NAME}CPUInitializationPeriod: 0s\n  {NAME}InitialReadinessDelay: 500ms\n"
        f"  {NAME}Tolerance: 0.2\n"
    )
    wanted = Settings(
        sync_period_s=2,
        downscale_window_s=90,
        cpu_initialization_s=0,
        initial_readiness_s=0.5,
        tolerance=0.2,
    )
    assert settings(text) == wanted
    config = resolve(decode(HEAD + text, "f"))
    assert config_store.decode(config_store.encode(config)) == config


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{NAME}SyncPeriod: soon", "'soon' is no duration; write it like 15s or 5m"),
        (f"{NAME}SyncPeriod: 0s", "must be more than nothing, like 15s"),
        (f"{NAME}InitialReadinessDelay: -1s", "'-1s' is negative"),
        (f"{NAME}Tolerance: much", "'much' is no number; write it like 0.1"),
        (f"{NAME}Tolerance: -1", "'-1' must be 0 or more"),
        (f"{NAME}Period: 1s", f"did you mean {NAME}SyncPeriod?"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(line, message):
    with pytest.raises(Invalid, match=f"f:[34]:.*controllerManager.*{re.escape(message)}"):
        settings(f"controllerManager:\n  {line}\n")
