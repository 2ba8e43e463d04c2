"""What the loop asks of a data plane; ``nft.py`` and ``hns.py`` are the two there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from muntin.kit.errors import Unavailable
from muntin.proxy.plan import Frontend, FrontendKey


@dataclass(frozen=True, slots=True)
class Change:
    """One front end: ``old`` is what the data plane was last told, None where nothing."""

    key: FrontendKey
    old: Frontend | None
    new: Frontend | None


class StartOver(Unavailable):
    """The data plane lost everything; it must be told of all front ends anew."""


class Dataplane(Protocol):
    """Carries front ends out on one node."""

    def limits(self, frontend: Frontend) -> Sequence[str]:
        """What ``frontend`` asks for and this node cannot do: carried out without it."""

    async def start(self) -> None:
        """Begin with no front end at all; waits for what it stands on."""

    async def apply(self, changes: Sequence[Change]) -> Mapping[FrontendKey, str]:
        """Carry ``changes`` out; what could not be done, with the reason, is tried again.

        Raises:
            StartOver: nothing of what was told before holds any more.
        """
