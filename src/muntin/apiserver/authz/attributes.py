"""What an authorizer is asked about, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.apiserver.request import User


@dataclass(frozen=True, slots=True)
class Attributes:
    """Either a resource or, with ``resource`` empty, a ``path``.

    ``namespace`` is empty for cluster-scoped resources and for all namespaces. The selectors are
    those of a list, watch or deletecollection, as the query has them.
    """

    user: User
    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    version: str = ""
    field_selector: str = ""
    label_selector: str = ""

    @property
    def combined(self) -> str:
        """``pods`` or ``pods/log``, as RBAC rules name it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    def cannot(self) -> str:
        """The sentence that refuses it, in upstream's words, without a reason."""
        user = f'User "{self.user.name}" cannot {self.verb}'
        if not self.resource:
            return f'{user} path "{self.path}"'
        where = f'in the namespace "{self.namespace}"' if self.namespace else "at the cluster scope"
        return f'{user} resource "{self.combined}" in API group "{self.group}" {where}'


@dataclass(frozen=True, slots=True)
class Decision:
    """``reason`` says which binding allowed it, or why nobody did.

    ``denied`` ends the matter; without it a decision that does not allow is no opinion, and the
    next authorizer is asked.
    """

    allowed: bool
    reason: str = ""
    denied: bool = False

    @property
    def result(self) -> str:
        """As metrics name it."""
        if self.allowed:
            return "allowed"
        return "denied" if self.denied else "no-opinion"


ALLOWED = Decision(True)
NO_OPINION = Decision(False)
