"""What an API server serves, as rows of :class:`muntin.model.resources.Resource`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import orjson

from muntin.kit import errors
from muntin.model.resources import Resource, by_kind
from muntin.seams.kube import Response

AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json"
)


class RawClient(Protocol):
    """One method of ``seams.kube.client.Client``: a GET of any path."""

    async def raw(self, path: str, *, accept: str = "application/json") -> Response:
        """The whole answer; raises what a Status of 400 or more stands for."""


async def preferred_resources(client: RawClient) -> list[Resource]:
    """Every served resource once, in the version its group prefers; subresources left out.

    A group that shows another's objects (events.k8s.io, extensions) is left out beside the other.
    Aggregated discovery is asked for; the documents per group version serve older servers.
    """
    found: list[Resource] = []
    for path in ("/api", "/apis"):
        answer = _document(path, (await client.raw(path, accept=AGGREGATED)).body)
        if answer.get("kind") == "APIGroupDiscoveryList":
            found += _of_aggregated(answer)
        else:
            found += await _of_documents(client, path, answer)
    return list(_once(found))


def _once(rows: list[Resource]) -> Iterator[Resource]:
    served = {(row.group, row.plural) for row in rows}
    for row in rows:
        known = by_kind(row.api_version, row.kind)
        if known is not None and known.storage:
            group, _, plural = known.storage.rpartition("/")
            if (group, plural) in served:
                continue
        yield row


def _of_aggregated(answer: dict[str, Any]) -> Iterator[Resource]:
    for group in _objects(answer.get("items")):
        name = (group.get("metadata") or {}).get("name", "")
        seen: set[str] = set()
        for version in _objects(group.get("versions")):
            for row in _objects(version.get("resources")):
                resource = _resource(
                    name,
                    version.get("version"),
                    (row.get("responseKind") or {}).get("kind", ""),
                    row.get("resource"),
                    row.get("scope") == "Namespaced",
                    row.get("verbs"),
                )
                if resource is not None and resource.plural not in seen:
                    seen.add(resource.plural)
                    yield resource


async def _of_documents(client: RawClient, path: str, answer: dict[str, Any]) -> list[Resource]:
    if path == "/api":
        groups = [("", list(answer.get("versions") or ()))]
    else:
        groups = [
            (
                str(group.get("name")),
                [row.get("version") for row in _objects(group.get("versions"))],
            )
            for group in _objects(answer.get("groups"))
        ]
    found: list[Resource] = []
    for group, versions in groups:
        seen: set[str] = set()
        for version in versions:
            root = f"{path}/{group}/{version}" if group else f"{path}/{version}"
            document = _document(root, (await client.raw(root)).body)
            for row in _objects(document.get("resources")):
                resource = _resource(
                    group,
                    version,
                    row.get("kind"),
                    row.get("name"),
                    bool(row.get("namespaced")),
                    row.get("verbs"),
                )
                if resource is None or "/" in resource.plural or resource.plural in seen:
                    continue
                seen.add(resource.plural)
                found.append(resource)
    return found


def _document(path: str, body: bytes) -> dict[str, Any]:
    """The JSON object of a discovery document.

    Raises:
        Internal: it is none.
    """
    try:
        document = orjson.loads(body)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise errors.Internal(f"GET {path}: not a discovery document: {body[:100]!r}")
    return document


def _objects(rows: Any) -> list[dict[str, Any]]:
    """The objects of a list that an aggregated API server may have filled with anything."""
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _resource(
    group: Any, version: Any, kind: Any, plural: Any, namespaced: bool, verbs: Any
) -> Resource | None:
    """The row; None where a part is missing or of another type."""
    texts = (group, version, kind, plural)
    if not all(isinstance(text, str) for text in texts) or not (version and plural):
        return None
    known = tuple(verb for verb in verbs if isinstance(verb, str)) if verbs else ()
    return Resource(group, version, kind, plural, namespaced, verbs=known)
