"""The accounts of Windows containers and the Linux users that stand for them.

Source: Microsoft's "Run as" documentation for Windows containers: ContainerAdministrator,
ContainerUser and the service accounts of NT AUTHORITY; other names do not exist in an image.
"""

from __future__ import annotations

from dataclasses import dataclass

from muntin.kit.errors import NotFound


@dataclass(frozen=True, slots=True)
class WindowsUser:
    """``name`` is what Windows programs see, ``uid`` who the process is on Linux."""

    name: str
    uid: int
    domains: tuple[str, ...] = ("user manager", ".", "")

    @property
    def folder(self) -> str:
        """The last part of USERPROFILE."""
        return self.name


_SERVICE = ("nt authority", "")

USERS = (
    WindowsUser("ContainerAdministrator", 0),
    WindowsUser("ContainerUser", 1000),
    WindowsUser("SYSTEM", 0, _SERVICE),
    WindowsUser("NETWORK SERVICE", 1001, _SERVICE),
    WindowsUser("LOCAL SERVICE", 1002, _SERVICE),
)


def user_named(name: str) -> WindowsUser:
    """The account ``[DOMAIN\\]USER``, matched without regard to case.

    Raises:
        NotFound: no such account; the message is that of HCS.
    """
    domain, _, user = name.rpartition("\\")
    for known in USERS:
        if user.lower() == known.name.lower() and domain.lower() in known.domains:
            return known
    raise NotFound("The user name or password is incorrect.")
