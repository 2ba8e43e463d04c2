"""What one way of authentication answers, and the form that all ways by bearer token have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from muntin.apiserver.request import User


@dataclass(frozen=True, slots=True)
class Verified:
    """A good token: who it is, and which of the audiences asked for it is meant for."""

    user: User
    audiences: tuple[str, ...] = ()


class Refused(Exception):
    """A token of the kind at hand that is not good; the text says why, without the token."""


class TokenAuthenticator(Protocol):
    """One kind of bearer token."""

    async def verify(self, token: str, audiences: tuple[str, ...]) -> Verified | None:
        """Who shows ``token``, meant for any of ``audiences``; None if it is of another kind.

        Raises:
            Refused: it is of this kind and not good.
        """
