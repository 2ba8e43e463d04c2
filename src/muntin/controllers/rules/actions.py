"""What a rule may ask for. Actions are carried out in order; the first that fails ends the round.

A round is always followed by another look at the world, so an action is a step and not a promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from muntin.model.resources import Resource

Object = dict[str, Any]

NORMAL, WARNING = "Normal", "Warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The event about ``about`` once an action is done, or has failed.

    ``{name}`` stands for the name of the object that was written, ``{error}`` for why not. Without
    a ``reason`` success goes unsaid; with ``taken_unsaid`` so does that a name is taken. ``also``
    is told as well.
    """

    about: Object
    reason: str
    message: str
    failure_reason: str = ""
    failure_message: str = ""
    taken_unsaid: bool = False
    also: Told | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Create ``obj``."""

    resource: Resource
    obj: Object
    told: Told | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Replace ``obj``, whose resourceVersion is that of the snapshot."""

    resource: Resource
    obj: Object
    subresource: str = ""
    told: Told | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Change one object by ``patch``: a merge patch, or a strategic one."""

    resource: Resource
    name: str
    patch: Object
    namespace: str | None = None
    subresource: str = ""
    strategic: bool = False
    told: Told | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Delete ``obj``, if it is still the one of the snapshot (by its uid)."""

    resource: Resource
    obj: Object
    propagation_policy: str = ""
    grace_period_s: int | None = None
    told: Told | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An event about ``about``."""

    about: Object
    type: str
    reason: str
    message: str


Single: TypeAlias = Create | Update | Patch | Delete | Note


@dataclass(frozen=True, slots=True)
class InOrder:
    """What one of a batch takes, one after the other, ending with the first that fails."""

    actions: tuple[Single, ...]


@dataclass(frozen=True, slots=True)
class InBatches:
    """The same action on many objects: 1, 2, 4, 8... at once, ending with the first bad batch.

    So a namespace without quota costs one refused request and not five hundred. Where a bad batch
    is ``fatal``, nothing that follows is done, either.
    """

    actions: tuple[Create | Delete | Patch | InOrder, ...]
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Again:
    """Look at this key again after ``delay_s`` seconds, whatever happens before."""

    delay_s: float


Action: TypeAlias = Create | Update | Patch | Delete | InBatches | Note | Again


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the last round for a key failed: the reason and message of its event."""

    reason: str
    message: str
