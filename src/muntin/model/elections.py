"""How often a leader says that it lives. Source: client-go v1.34 tools/leaderelection."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.kit.errors import Invalid

JITTER = 1.2  # candidates wait up to so many retry periods more, so that they do not meet


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionConfig:
    """Upstream's defaults. Who cannot renew for ``renew_deadline_s`` stops, before others may take
    over after ``lease_duration_s``."""

    lease_duration_s: float = 15.0
    renew_deadline_s: float = 10.0
    retry_period_s: float = 2.0

    def check(self) -> None:
        """Raise Invalid unless one leader ends before the next one begins."""
        if self.retry_period_s <= 0 or self.lease_duration_s < 1:
            raise Invalid("retryPeriod must be more than 0, leaseDuration at least 1s")
        if not self.lease_duration_s > self.renew_deadline_s > JITTER * self.retry_period_s:
            raise Invalid(
                "leaseDuration must be longer than renewDeadline, and that longer than "
                f"{JITTER} times retryPeriod"
            )
