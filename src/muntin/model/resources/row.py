"""What one row of the table of resources says, and how rows of a group version are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
READ_VERBS = ("get", "list")
UPDATE_VERBS = ("get", "patch", "update")


@dataclass(frozen=True, slots=True)
class Subresource:
    """One subresource: ``name`` as in the path, the kind it speaks and the verbs it takes.

    ``kind`` empty means the parent's own kind; so do ``group`` and ``version``.
    """

    name: str
    verbs: tuple[str, ...]
    kind: str = ""
    group: str = ""
    version: str = ""

    @property
    def api_version(self) -> str:
        """``v1`` or ``group/version`` of its own kind; empty if that is the parent's."""
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass(frozen=True, slots=True)
class Resource:
    """One served resource. ``group`` is empty for the core group.

    ``storage`` names the resource (``plural`` or ``group/plural``) whose objects this one also
    shows, as ``events.k8s.io`` does with core events; empty when it stores its own.
    ``own_singular`` and ``own_list_kind`` are names that a custom definition gives.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    storage: str = ""
    own_singular: str = ""
    own_list_kind: str = ""

    @property
    def singular(self) -> str:
        """The lower-case kind, as discovery gives it, unless a definition names another."""
        return self.own_singular or self.kind.lower()

    @property
    def api_version(self) -> str:
        """``v1`` or ``group/version``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """``/api/v1`` or ``/apis/group/version``."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def group_resource(self) -> str:
        """``pods`` or ``deployments.apps``: how messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def storage_name(self) -> str:
        """The key under which its objects are stored: the same for all versions of a resource."""
        return self.storage or (f"{self.group}/{self.plural}" if self.group else self.plural)

    @property
    def list_kind(self) -> str:
        """``PodList`` and its like."""
        return self.own_list_kind or f"{self.kind}List"

    @property
    def is_custom(self) -> bool:
        """Whether a definition made it, and not this table."""
        return bool(self.own_list_kind)

    @property
    def is_stored(self) -> bool:
        """Whether objects of it can be read back (reviews and bindings cannot)."""
        return "get" in self.verbs

    def subresource(self, name: str) -> Subresource | None:
        """Its subresource of that name."""
        return next((sub for sub in self.subresources if sub.name == name), None)

    def path(self, name: str = "", namespace: str | None = None, subresource: str = "") -> str:
        """The URL path of the collection, of one object, or of its subresource."""
        parts = [self.root]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name:
            parts.append(name)
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


STATUS = Subresource("status", UPDATE_VERBS)
SCALE = Subresource("scale", UPDATE_VERBS, "Scale", "autoscaling", "v1")

Row = Callable[..., Resource]


def builders(group: str, version: str) -> tuple[Row, Row]:
    """Builders of namespaced and of cluster-scoped rows of one group version."""

    def build(namespaced: bool) -> Row:
        def row(
            kind: str,
            plural: str,
            short: str = "",
            *subresources: Subresource,
            verbs: tuple[str, ...] = ALL_VERBS,
            categories: str = "",
            storage: str = "",
        ) -> Resource:
            return Resource(
                group=group,
                version=version,
                kind=kind,
                plural=plural,
                namespaced=namespaced,
                short_names=tuple(short.split()),
                categories=tuple(categories.split()),
                verbs=verbs,
                subresources=subresources,
                storage=storage,
            )

        return row

    return build(True), build(False)
