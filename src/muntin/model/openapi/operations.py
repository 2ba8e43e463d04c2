"""Every operation of the served API, in a form that both versions of OpenAPI are written from.

Source: kubernetes v1.34 api/openapi-spec; apiserver pkg/endpoints/installer.go, and
apiextensions-apiserver pkg/controller/openapi/builder for custom resources.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from muntin.model import deleted
from muntin.model.features import ApiFeature, is_in
from muntin.model.openapi import parameters
from muntin.model.resources import Resource, Subresource
from muntin.model.resources.lifecycle import version_of
from muntin.model.schema import Schema

Kinds = Mapping[tuple[str, str, str], str]

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
VERSION_INFO = "io.k8s.apimachinery.pkg.version.Info"
TEXT = ""  # the type of an answer that is no object
ANY = ("*/*",)
JSON = ("application/json",)
OBJECTS = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
CUSTOM_OBJECTS = OBJECTS[:2]
_STREAMED = tuple(f"{kind};stream=watch" for kind in ("application/json", OBJECTS[2]))
PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
CUSTOM_PATCHES = (PATCHES[0], PATCHES[1], PATCHES[3])

_CREATED, _ACCEPTED = (200, 201), (200, 201, 202)
_REPLACE = {"update": "replace", "patch": "patch", "get": "read", "create": "create"}
_ACTIONS = {"update": ("put", "put"), "patch": ("patch", "patch"), "get": ("get", "get"),
            "create": ("post", "post")}  # fmt: skip
_PROXY_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path.

    ``identifier`` is unique in a document; ``kind`` is group, version and kind, None of a document;
    ``body`` and ``answer`` are names of types, ``body`` empty for none; ``takes`` and ``gives``
    are media types.
    """

    path: str
    method: str
    identifier: str
    tag: str
    action: str = ""
    kind: tuple[str, str, str] | None = None
    query: tuple[str, ...] = ()
    body: str = ""
    body_required: bool = True
    takes: tuple[str, ...] = ANY
    gives: tuple[str, ...] = OBJECTS
    answer: str = TEXT
    codes: tuple[int, ...] = (200,)


def _words(group: str) -> str:
    """``rbac.authorization.k8s.io`` as identifiers have it: ``RbacAuthorization``."""
    parts = (group or "core").removesuffix(".k8s.io").replace("-", ".").split(".")
    return "".join(_capital(part) for part in parts)


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def _tag(group: str, version: str = "") -> str:
    words = _words(group)
    name = words[:1].lower() + words[1:]
    return f"{name}_{version}" if version else name


class _Row:
    """Operations of one row of the table of resources."""

    def __init__(self, schema: Schema, kinds: Kinds, row: Resource) -> None:
        self._schema, self._kinds, self._row = schema, kinds, row
        self._stem = f"{_words(row.group)}{_capital(row.version)}"
        self._scope = "Namespaced" if row.namespaced else ""
        namespace = "{namespace}" if row.namespaced else ""
        self._collection = row.path(namespace=namespace)
        self._item = f"{self._collection}/{{name}}"
        self._base = Operation(
            path=self._collection,
            method="get",
            identifier="",
            tag=_tag(row.group, row.version),
            kind=(row.group, row.version, row.kind),
            takes=CUSTOM_OBJECTS if row.is_custom else ANY,
            gives=CUSTOM_OBJECTS if row.is_custom else OBJECTS,
        )

    def _type(self, kind: str) -> str:
        return self._kinds.get((self._row.group, self._row.version, kind), TEXT)

    def _deletion(self, names: tuple[str, ...]) -> tuple[str, ...]:
        has = parameters.BREAK_GLASS in self._schema.type(f"{META}DeleteOptions").fields
        return tuple(sorted((*names, parameters.BREAK_GLASS))) if has else names

    def _writing(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Without the option of judging fields, where it is the client that judges them."""
        has = is_in(ApiFeature.FIELD_VALIDATION, version_of(self._schema.version))
        return names if has else tuple(name for name in names if name != "fieldValidation")

    def all(self) -> Iterator[Operation]:
        """All of them."""
        yield from self._of_collection()
        if self._row.is_stored:
            yield from self._of_item()
        for sub in self._row.subresources:
            yield from self._of_subresource(sub)
        if "watch" in self._row.verbs and not self._row.is_custom:
            yield from self._watches()

    def _listing(self, path: str, identifier: str) -> Operation:
        streamed = () if self._row.is_custom else _STREAMED
        return replace(
            self._base, path=path, action="list", identifier=identifier, query=parameters.LIST,
            answer=self._type(self._row.list_kind), gives=(*self._base.gives, *streamed),
            takes=ANY,
        )  # fmt: skip

    def _of_collection(self) -> Iterator[Operation]:
        row, stem, scope = self._row, self._stem, self._scope
        if "list" in row.verbs:
            yield self._listing(self._collection, f"list{stem}{scope}{row.kind}")
            if row.namespaced:
                yield self._listing(row.path(), f"list{stem}{row.kind}ForAllNamespaces")
        if "create" in row.verbs:
            body = self._type(row.kind)
            yield replace(
                self._base, method="post", action="post", body=body,
                query=self._writing(parameters.WRITE),
                identifier=f"create{stem}{scope}{row.kind}", answer=body, codes=_ACCEPTED,
            )  # fmt: skip
        if "deletecollection" in row.verbs:
            yield replace(
                self._base, method="delete", action="deletecollection",
                identifier=f"delete{stem}Collection{scope}{row.kind}",
                query=self._deletion(parameters.DELETE_COLLECTION),
                body=f"{META}DeleteOptions", body_required=False, answer=f"{META}Status",
                takes=ANY,
            )  # fmt: skip

    def _of_item(self) -> Iterator[Operation]:
        row = self._row
        type_ = self._type(row.kind)
        for verb in ("get", "update", "patch"):
            if verb in row.verbs:
                yield self._on_object(self._item, verb, row.kind, type_)
        if "delete" in row.verbs:
            shown = deleted.is_shown(row, version_of(self._schema.version))
            yield replace(
                self._base, path=self._item, method="delete", action="delete",
                identifier=f"delete{self._stem}{self._scope}{row.kind}",
                query=self._deletion(parameters.DELETE), body=f"{META}DeleteOptions",
                body_required=False, answer=type_ if shown else f"{META}Status",
                codes=(200, 202), takes=ANY,
            )  # fmt: skip

    def _on_object(self, path: str, verb: str, noun: str, type_: str) -> Operation:
        """Reading or writing one object, or a subresource that is like one."""
        method, action = _ACTIONS[verb]
        found = replace(
            self._base, path=path, method=method, action=action, answer=type_,
            identifier=f"{_REPLACE[verb]}{self._stem}{self._scope}{noun}",
        )  # fmt: skip
        if verb == "get":
            return replace(found, query=parameters.PRETTY, takes=ANY)
        if verb == "patch":
            takes = CUSTOM_PATCHES if self._row.is_custom else PATCHES
            patch = f"{META}Patch"
            query = self._writing(parameters.PATCH)
            return replace(found, query=query, body=patch, takes=takes, codes=_CREATED)
        codes = _ACCEPTED if verb == "create" else _CREATED
        query = self._writing(parameters.WRITE)
        return replace(found, query=query, body=type_, codes=codes)

    def _of_subresource(self, sub: Subresource) -> Iterator[Operation]:
        row = self._row
        path = f"{self._item}/{sub.name}"
        kind = (sub.group, sub.version, sub.kind) if sub.version else self._base.kind
        assert kind is not None
        noun = f"{row.kind}{sub.name.title()}"
        if sub.name in parameters.CONNECT:
            yield from self._connections(sub, path, noun, kind)
            return
        if sub.name == "log":
            yield self._log(path, noun)
            return
        type_ = self._kinds.get(kind, TEXT)
        for verb in ("create", "get", "update", "patch"):
            if verb in sub.verbs:
                yield replace(self._on_object(path, verb, noun, type_), kind=kind)

    def _log(self, path: str, noun: str) -> Operation:
        query: tuple[str, ...] = parameters.LOG
        if is_in(ApiFeature.LOG_STREAMS, version_of(self._schema.version)):
            query = tuple(sorted((*query, parameters.LOG_STREAM)))
        found = self._on_object(path, "get", noun, TEXT)
        return replace(found, query=query, gives=("text/plain", *OBJECTS))

    def _connections(
        self, sub: Subresource, path: str, noun: str, kind: tuple[str, str, str]
    ) -> Iterator[Operation]:
        proxied = sub.name == "proxy"
        for place, suffix in ((path, ""), (f"{path}/{{path}}", "WithPath"))[: 2 if proxied else 1]:
            for method in _PROXY_METHODS if proxied else ("get", "post"):
                yield replace(
                    self._base, path=place, method=method, action="connect", kind=kind,
                    identifier=f"connect{self._stem}{method.title()}{self._scope}{noun}{suffix}",
                    query=parameters.CONNECT[sub.name], takes=ANY, gives=ANY,
                )  # fmt: skip

    def _watches(self) -> Iterator[Operation]:
        row, root = self._row, self._row.root
        event = f"{META}WatchEvent"
        places = [(self._collection, "watchlist", f"{self._scope}{row.kind}List")]
        if row.namespaced:
            places.append((row.path(), "watchlist", f"{row.kind}ListForAllNamespaces"))
        if row.is_stored:
            places.append((self._item, "watch", f"{self._scope}{row.kind}"))
        for path, action, name in places:
            watched = f"{root}/watch{path.removeprefix(root)}"
            listing = self._listing(watched, f"watch{self._stem}{name}")
            yield replace(listing, action=action, answer=event)


def of_rows(schema: Schema, kinds: Kinds, rows: Iterable[Resource]) -> Iterator[Operation]:
    """The operations on ``rows``; ``kinds`` are the names of types."""
    for row in rows:
        yield from _Row(schema, kinds, row).all()


def of_documents(rows: Iterable[Resource]) -> Iterator[Operation]:
    """What is served besides resources: discovery, the version, the keys of tokens."""
    group_versions = dict.fromkeys((row.group, row.version, row.root) for row in rows)
    yield _document("/api/", "getCoreAPIVersions", "core", f"{META}APIVersions")
    yield _document("/apis/", "getAPIVersions", "apis", f"{META}APIGroupList")
    for group in dict.fromkeys(group for group, _, _ in group_versions if group):
        yield _document(
            f"/apis/{group}/", f"get{_words(group)}APIGroup", _tag(group), f"{META}APIGroup"
        )
    for group, version, root in group_versions:
        name = f"get{_words(group)}{_capital(version)}APIResources"
        yield _document(f"{root}/", name, _tag(group, version), f"{META}APIResourceList")
    build = _document("/version/", "getCodeVersion", "version", VERSION_INFO)
    yield replace(build, takes=JSON, gives=JSON)
    keys = _document("/openid/v1/jwks/", "getServiceAccountIssuerOpenIDKeyset", "openid", TEXT)
    yield replace(keys, takes=(), gives=("application/jwk-set+json",))
    found = _document(
        "/.well-known/openid-configuration/", "getServiceAccountIssuerOpenIDConfiguration",
        "WellKnown", TEXT,
    )  # fmt: skip
    yield replace(found, takes=(), gives=JSON)


def _document(path: str, identifier: str, tag: str, answer: str) -> Operation:
    return Operation(
        path=path, method="get", identifier=identifier, tag=tag, takes=OBJECTS, answer=answer
    )
