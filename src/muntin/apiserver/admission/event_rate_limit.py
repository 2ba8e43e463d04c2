"""Too many events are refused, in all or of one namespace, user or source.

Off unless enabled. Source: kubernetes v1.34 plugin/pkg/admission/eventratelimit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.admission_config import EventRateLimit as Limit
from muntin.kit.clock import Clock


class _Bucket:
    """Tokens that come back at ``limit.qps`` a second."""

    __slots__ = ("at", "tokens")

    def __init__(self, limit: Limit, now: float) -> None:
        self.tokens, self.at = float(limit.burst), now

    def take(self, limit: Limit, now: float) -> bool:
        self.tokens = min(limit.burst, self.tokens + (now - self.at) * limit.qps)
        self.at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class _Limiter:
    """One configured limit with the buckets of those it has seen last."""

    def __init__(self, limit: Limit, clock: Clock) -> None:
        self._limit = limit
        self._clock = clock
        self._key = _KEYS[limit.type]
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def takes(self, attributes: Attributes) -> bool:
        key, now = self._key(attributes), self._clock.monotonic()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(self._limit, now)
            if len(self._buckets) > self._limit.cache_size:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return bucket.take(self._limit, now)


class EventRateLimit(Silent):
    """Creations and updates of events; dry runs are free."""

    def __init__(self, limits: Sequence[Limit], clock: Clock) -> None:
        self._limiters = [_Limiter(limit, clock) for limit in limits]

    def validate(self, attributes: Attributes) -> None:
        if not attributes.is_for("events", "CREATE", "UPDATE") or attributes.request.dry_run:
            return
        verdicts = [limiter.takes(attributes) for limiter in self._limiters]
        if not all(verdicts):
            raise status.too_many_requests("limit reached on type Event", 1)


def _source_and_object(attributes: Attributes) -> str:
    event: Object = attributes.obj
    source, about = event.get("source") or {}, event.get("involvedObject") or {}
    parts = [source.get("component"), source.get("host")]
    parts += [about.get(key) for key in ("kind", "namespace", "name", "uid", "apiVersion")]
    return "/".join(str(part or "") for part in parts)


_KEYS: dict[str, Callable[[Attributes], str]] = {
    "Server": lambda attributes: "",
    "Namespace": lambda attributes: attributes.namespace,
    "User": lambda attributes: attributes.user.name,
    "SourceAndObject": _source_and_object,
}
