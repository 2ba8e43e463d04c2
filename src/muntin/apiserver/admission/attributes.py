"""What an admission plugin gets to see of an operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from muntin.apiserver.request import ApiRequest, User
from muntin.model.resources import Resource

Object = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Attributes:
    """``operation`` is CREATE, UPDATE, DELETE or CONNECT; ``old`` is None for a creation, ``obj``
    empty for a deletion. ``obj`` is the one that mutating plugins change. It is of the resource's
    kind or, where the subresource speaks a kind of its own (Scale, Binding, PodExecOptions), of
    that one. ``resource`` is the row that objects are stored by, ``request.resource`` the one
    that was asked for. ``managed`` and ``old_managed`` are the JSON of the objects' managed
    fields, which only webhooks see; they may change the former."""

    request: ApiRequest
    user: User
    operation: str
    resource: Resource
    subresource: str
    namespace: str
    name: str
    obj: Object
    old: Object | None
    managed: bytes = b""
    old_managed: bytes = b""

    @classmethod
    def of(
        cls, request: ApiRequest, operation: str, resource: Resource, obj: Object,
        old: Object | None,
    ) -> Attributes:  # fmt: skip
        """The attributes of ``request``."""
        return cls(
            request=request,
            user=request.user,
            operation=operation,
            resource=resource,
            subresource=request.subresource.name if request.subresource else "",
            namespace=request.namespace,
            name=request.name or (obj.get("metadata") or {}).get("name", ""),
            obj=obj,
            old=old,
        )

    def is_for(self, plural: str, *operations: str, subresource: str = "") -> bool:
        """Whether it is one of ``operations`` on a core resource (or on its subresource)."""
        return (
            self.resource.plural == plural
            and not self.resource.group
            and self.operation in operations
            and self.subresource == subresource
        )


class Silent:
    """A plugin that does nothing in the step it does not define.

    ``resources`` are those whose operations it looks at (``pods``, ``daemonsets.apps``), and None
    stands for all. Of others it is not asked.
    """

    resources: ClassVar[frozenset[str] | None] = None

    def mutate(self, attributes: Attributes) -> None:
        """Nothing to change."""

    def validate(self, attributes: Attributes) -> None:
        """Nothing to refuse."""
