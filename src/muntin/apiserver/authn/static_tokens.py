"""Tokens from a file: ``token,user,uid,"group1,group2"`` in each line.

Source: apiserver v1.34 pkg/authentication/token/tokenfile/tokenfile.go.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping

from muntin.apiserver.authn.verified import Verified
from muntin.apiserver.request import User
from muntin.kit import errors


class StaticTokens:
    """The users of a token file; it is read once, as upstream's."""

    def __init__(self, text: str) -> None:
        self._users = parse(text)

    async def verify(self, token: str, audiences: tuple[str, ...]) -> Verified | None:
        """The user of that line; such a token is for every audience that is the server's."""
        user = self._users.get(_digest(token))
        return None if user is None else Verified(user, audiences)


def parse(text: str) -> Mapping[bytes, User]:
    """Users by the digest of their token: a lookup's time then says nothing about the token.

    Raises:
        Invalid: a line has fewer than three columns or no user.
    """
    users: dict[bytes, User] = {}
    for number, row in enumerate(csv.reader(io.StringIO(text)), 1):
        if not row or not row[0].strip():
            continue
        if len(row) < 3 or not row[1].strip():
            raise errors.Invalid(
                f"token file, line {number}: must have the columns token, user and uid, then "
                "groups if there are any"
            )
        groups = tuple(part.strip() for part in (row[3] if len(row) > 3 else "").split(",") if part)
        user = User(row[1].strip(), (*groups, "system:authenticated"), row[2].strip())
        users[_digest(row[0].strip())] = user
    return users


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
