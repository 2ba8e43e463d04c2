"""Which events are written, and how: similar ones combined, equal ones counted, floods cut.

`Correlator` is for events of the core group, `Series` for those of events.k8s.io, which only the
scheduler writes. Both decide; their caller writes. Source: client-go v1.36
tools/record/events_cache.go, tools/events/event_broadcaster.go.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Object = dict[str, Any]
Key = tuple[Hashable, ...]
_T = TypeVar("_T")

BURST = 25
REFILL_S = 300.0
"""A source may tell of an object 25 times at once, and once more every five minutes."""
ALIKE = 10
ALIKE_S = 600.0
"""From this many messages of one reason on, less than ten minutes apart, they are combined."""
COMBINED = "(combined from similar events): "
REMEMBERED = 4096
FINISH_S = 360.0
"""A series that rests for so long has ended, and its last count is written."""
REFRESH_S = 1800.0


class _Recent(OrderedDict[Key, _T], Generic[_T]):
    """The values used last."""

    def recall(self, key: Key, make: Callable[[], _T]) -> _T:
        if key in self:
            self.move_to_end(key)
            return self[key]
        return make()

    def keep(self, key: Key, value: _T) -> None:
        self[key] = value
        self.move_to_end(key)
        while len(self) > REMEMBERED:
            self.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Correlated:
    """``event`` as it is to be created; ``patch``: what to change where it is there already."""

    event: Object
    patch: Object | None
    key: Key


@dataclass(frozen=True, slots=True)
class _Written:
    name: str
    first: str
    count: int


class Correlator:
    """What one source has told. ``at`` is the time of a clock that never runs back."""

    def __init__(self) -> None:
        self._alike: _Recent[tuple[dict[str, None], float]] = _Recent()
        self._written: _Recent[_Written] = _Recent()
        self._tokens: _Recent[tuple[float, float]] = _Recent()

    def correlate(self, event: Object, at: float) -> Correlated | None:
        """How to write ``event``; None where too much was told of its object."""
        event, key = self._combine(event, at)
        found = self._count(event, key)
        return found if self._passes(event, at) else None

    def written(self, key: Key, event: Object) -> None:
        """The event of a correlation was written, perhaps by another name."""
        name, first = event["metadata"]["name"], event["firstTimestamp"]
        self._written.keep(key, _Written(name, first, event["count"]))

    def _combine(self, event: Object, at: float) -> tuple[Object, Key]:
        about = _about(event, "apiVersion")
        alike: Key = (*about, event["type"], event["reason"])
        fresh: tuple[dict[str, None], float] = ({}, at)
        messages, last = self._alike.recall(alike, lambda: fresh)
        if at - last > ALIKE_S:
            messages = {}
        messages[event["message"]] = None
        self._alike.keep(alike, (messages, at))
        if len(messages) < ALIKE:
            field = event["involvedObject"].get("fieldPath", "")
            return event, (*alike, field, event["message"])
        del messages[next(iter(messages))]
        combined = {
            **event,
            "message": COMBINED + event["message"],
            "reportingComponent": "",
            "reportingInstance": "",
        }
        return combined, alike

    def _count(self, event: Object, key: Key) -> Correlated:
        """Counted, whether it is written or not."""
        known = self._written.recall(key, lambda: _Written("", "", 0))
        patch = None
        if known.count:
            event = {
                **event,
                "metadata": {**event["metadata"], "name": known.name},
                "firstTimestamp": known.first,
                "count": known.count + 1,
            }
            patch = {name: event[name] for name in ("count", "lastTimestamp", "message")}
        self.written(key, event)
        return Correlated(event, patch, key)

    def _passes(self, event: Object, at: float) -> bool:
        key: Key = (*_about(event, "apiVersion"), event["type"])
        tokens, since = self._tokens.recall(key, lambda: (float(BURST), at))
        tokens = min(float(BURST), tokens + (at - since) / REFILL_S)
        passes = tokens >= 1
        self._tokens.keep(key, (tokens - 1 if passes else tokens, at))
        return passes


class Series:
    """Events of events.k8s.io: the second of its kind begins a series, the others are its count."""

    def __init__(self) -> None:
        self._known: _Recent[tuple[Object | None, float]] = _Recent()

    def observe(self, event: Object, now: float) -> Object | None:
        """What to write: the event, the one that becomes a series, or nothing."""
        key = _kind_of(event)
        known, _ = self._known.recall(key, lambda: (None, now))
        if known is None:
            self._known.keep(key, (event, now))
            return event
        count = known["series"]["count"] if "series" in known else 1
        series = {"count": count + 1, "lastObservedTime": event["eventTime"]}
        self._known.keep(key, ({**known, "series": series}, now))
        return {**known, "series": series} if count == 1 else None

    def finish(self, now: float) -> list[Object]:
        """Forget what has not happened for a while; the series among it, with their counts."""
        ended = [key for key, (_, last) in self._known.items() if now - last > FINISH_S]
        events = [self._known.pop(key)[0] for key in ended]
        return [event for event in events if event is not None and "series" in event]

    def open(self) -> list[Object]:
        """All series there are, to be written again so that they do not expire."""
        return [event for event, _ in self._known.values() if event and "series" in event]


def _about(event: Object, *more: str) -> Key:
    about = event["involvedObject"]
    names = ("kind", "namespace", "name", "uid", *more)
    return tuple(about.get(name, "") for name in names)


def _kind_of(event: Object) -> Key:
    """What makes two events the same but for their notes; the object's version is part of it."""
    regarding = tuple(sorted(event["regarding"].items()))
    related = tuple(sorted(event.get("related", {}).items()))
    return (event["type"], event["action"], event["reason"], regarding, related)
