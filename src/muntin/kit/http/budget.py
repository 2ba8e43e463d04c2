"""A limit on the request bytes that a server buffers at once, per user and in total."""

from __future__ import annotations

from collections import Counter

STRANGER = ""
"""The user for bytes received before the sender is authenticated."""


class Budget:
    """The bytes buffered now. Callers give back what they took."""

    def __init__(self, in_all: int, per_user: int) -> None:
        self._in_all = in_all
        self._per_user = per_user
        self._of_user: Counter[str] = Counter()
        self.held = 0
        self.most_held = 0
        """The maximum of ``held``; callers may reset it."""

    def take(self, user: str | None, size: int) -> bool:
        """Reserve ``size`` bytes for ``user`` (None: for no user); False if that is too much."""
        if self.held + size > self._in_all:
            return False
        if user is not None:
            if self._of_user[user] + size > self._per_user:
                return False
            self._of_user[user] += size
        self.held += size
        self.most_held = max(self.most_held, self.held)
        return True

    def give_back(self, user: str | None, size: int) -> None:
        """Release ``size`` bytes."""
        self.held -= size
        if user is not None:
            self._of_user[user] -= size
            if not self._of_user[user]:
                del self._of_user[user]
