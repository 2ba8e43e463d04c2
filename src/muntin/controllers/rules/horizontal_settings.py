"""How autoscalers are run: what upstream's flags ``--horizontal-pod-autoscaler-*`` say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Upstream's defaults."""

    sync_period_s: float = 15.0
    downscale_window_s: float = 300.0
    tolerance: float = 0.1
    cpu_initialization_s: float = 300.0
    initial_readiness_s: float = 30.0
