"""Which images to remove when the disk is full: the least recently used ones. Pure.

Source: kubernetes v1.34 pkg/kubelet/images/image_gc_manager.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageGcPolicy:
    """Percentages of the disk: above ``high_percent`` images are removed down to ``low_percent``.

    One that was first seen less than ``minimum_age_s`` ago stays. One that was not used for
    ``maximum_age_s`` goes even if there is room, if that is not 0.
    """

    high_percent: int = 85
    low_percent: int = 80
    minimum_age_s: float = 120.0
    maximum_age_s: float = 0.0

    @property
    def is_off(self) -> bool:
        return self.high_percent == 100 and not self.maximum_age_s


OFF = ImageGcPolicy(high_percent=100)


@dataclass(slots=True, kw_only=True)
class ImageRecord:
    """What is known of an image; times are seconds of the kubelet's clock, 0 for never."""

    id: str
    size: int
    first_seen: float
    last_used: float = 0.0
    is_pinned: bool = False


def bytes_to_free(capacity: int, available: int, policy: ImageGcPolicy) -> int:
    """How many bytes of images have to go; 0 below the high threshold."""
    available = min(available, capacity)
    if capacity <= 0 or 100 - available * 100 // capacity < policy.high_percent:
        return 0
    return max(0, capacity * (100 - policy.low_percent) // 100 - available)


def unused_too_long(
    records: Iterable[ImageRecord], now: float, started_at: float, policy: ImageGcPolicy
) -> list[ImageRecord]:
    """Images that nothing has used for ``maximum_age_s``; none before a kubelet has run so long."""
    limit_s = policy.maximum_age_s
    if not limit_s or now - started_at <= limit_s:
        return []
    return [row for row in removable(records, now, policy) if now - row.last_used > limit_s]


def removable(
    records: Iterable[ImageRecord], now: float, policy: ImageGcPolicy
) -> list[ImageRecord]:
    """What may be removed, in this order. Images in use have ``last_used == now``."""
    free = [
        one
        for one in records
        if not one.is_pinned
        and one.last_used < now
        and now - one.first_seen >= policy.minimum_age_s
    ]
    return sorted(free, key=lambda one: (one.last_used, one.first_seen))
