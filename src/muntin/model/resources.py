"""The one table of API resources: what the schema documents do not say.

Plural, scope, verbs, short names, categories and subresources per kind; discovery, routing, RBAC
attributes and clients all read it. Source: Kubernetes API reference v1.34, `kubectl api-resources`.
"""

from __future__ import annotations

from dataclasses import dataclass

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Subresource:
    """One subresource: ``name`` as in the path, the kind it speaks and the verbs it takes."""

    name: str
    verbs: tuple[str, ...]
    kind: str = ""
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Resource:
    """One served resource. ``group`` is empty for the core group."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()

    @property
    def singular(self) -> str:
        """The lower-case kind, as discovery gives it."""
        return self.kind.lower()

    @property
    def api_version(self) -> str:
        """``v1`` or ``group/version``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """``/api/v1`` or ``/apis/group/version``."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
