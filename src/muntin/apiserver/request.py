"""One API request, resolved: who asks for which verb on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from muntin.kit.http.messages import Request, Response
from muntin.model.resources import Resource, Subresource

if TYPE_CHECKING:
    from muntin.apiserver.aggregation.remote import Remote
    from muntin.model.custom.definition import Definition, Version


SHORT_QUERY = 128


def is_true(values: Sequence[str] | None) -> bool:
    """A query parameter as a boolean: all but false, 0 and none at all is true, empty text too.

    Source: apimachinery pkg/runtime/conversion.go Convert_Slice_string_To_bool.
    """
    return bool(values and values[0] != "0" and values[0].lower() != "false")


@dataclass(frozen=True, slots=True)
class User:
    """Who is asking, as authentication found out."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


def user_info(user: User) -> dict[str, Any]:
    """A user as reviews and audit events show it."""
    found: dict[str, Any] = {"username": user.name}
    if user.uid:
        found["uid"] = user.uid
    if user.groups:
        found["groups"] = list(user.groups)
    if user.extra:
        found["extra"] = {key: list(values) for key, values in user.extra.items()}
    return found


ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


@dataclass(slots=True)
class ApiRequest:
    """``resource`` is None for a path that is no resource's, such as ``/version``.

    ``namespace`` is "" for cluster-scoped resources and for all namespaces. ``rest`` is what
    follows the subresource in the path of a proxy request. ``annotations`` are what authorization
    and admission have to say in the audit log (``authorization.k8s.io/decision``);
    ``managed_fields`` is what the body has as such, None if it has none; ``impersonator`` is who
    really asks, where ``user`` is somebody they may act as, and ``constraint`` the verb that bounds
    it; ``waited_s`` is how long it waited in a queue and for webhooks; ``remote`` is the other
    server that answers; ``definition`` is that of a custom resource; ``refusal`` is the answer to
    whoever may ask for what is not served.
    """

    http: Request
    user: User
    verb: str
    path: str
    query: Mapping[str, list[str]]
    resource: Resource | None = None
    namespace: str = ""
    name: str = ""
    subresource: Subresource | None = None
    rest: str = ""
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    managed_fields: Any = None
    impersonator: User | None = None
    constraint: str = ""
    audit_id: str = ""
    waited_s: float = 0.0
    remote: Remote | None = None
    definition: Definition | None = None
    refusal: Response | None = None

    @property
    def custom(self) -> Version | None:
        """The version of a custom definition that the request is for; None for built-in kinds."""
        if self.definition is None or self.resource is None:
            return None
        return self.definition.version(self.resource)

    def param(self, name: str) -> str:
        """The first value of a query parameter, or empty text."""
        values = self.query.get(name)
        return values[0] if values else ""

    def flag(self, name: str) -> bool:
        """A boolean query parameter."""
        return is_true(self.query.get(name))

    @property
    def target(self) -> Resource:
        """The resource, where there is certain to be one."""
        assert self.resource is not None
        return self.resource

    @property
    def dry_run(self) -> bool:
        """Whether nothing may be stored."""
        return "All" in self.query.get("dryRun", ())


def parse_query(text: str) -> Mapping[str, list[str]]:
    """The parameters of a query, in order, decoded; not to be changed."""
    if not text:
        return {}
    return _known_query(text) if len(text) <= SHORT_QUERY else _query(text)


def _query(text: str) -> Mapping[str, list[str]]:
    return parse_qs(text, keep_blank_values=True)


_known_query = lru_cache(1024)(_query)  # programs ask the same again


def decode_path(path: str) -> str:
    """The path without percent-encoding."""
    return unquote(path) if "%" in path else path
