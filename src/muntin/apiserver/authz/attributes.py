"""What an authorizer is asked about."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.apiserver.request import User


@dataclass(frozen=True, slots=True)
class Attributes:
    """Either a resource or, with ``resource`` empty, a ``path``.

    ``namespace`` is empty for cluster-scoped resources and for all namespaces.
    """

    user: User
    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def combined(self) -> str:
        """``pods`` or ``pods/log``, as RBAC rules name it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


@dataclass(frozen=True, slots=True)
class Decision:
    """``reason`` says which binding allowed it, or why nobody did."""

    allowed: bool
    reason: str = ""
