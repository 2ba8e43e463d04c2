"""What an API server serves, as rows of :class:`muntin.model.resources.Resource`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import orjson

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
        answer = orjson.loads((await client.raw(path, accept=AGGREGATED)).body)
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
    for group in answer.get("items") or ():
        seen: set[str] = set()
        for version in group.get("versions") or ():
            for row in version.get("resources") or ():
                if row["resource"] in seen:
                    continue
                seen.add(row["resource"])
                yield Resource(
                    (group.get("metadata") or {}).get("name", ""),
                    version["version"],
                    (row.get("responseKind") or {}).get("kind", ""),
                    row["resource"],
                    row.get("scope") == "Namespaced",
                    verbs=tuple(row.get("verbs") or ()),
                )


async def _of_documents(client: RawClient, path: str, answer: dict[str, Any]) -> list[Resource]:
    if path == "/api":
        groups = [("", list(answer.get("versions") or ()))]
    else:
        groups = [
            (group["name"], [version["version"] for version in group.get("versions") or ()])
            for group in answer.get("groups") or ()
        ]
    found: list[Resource] = []
    for group, versions in groups:
        seen: set[str] = set()
        for version in versions:
            root = f"{path}/{group}/{version}" if group else f"{path}/{version}"
            document = orjson.loads((await client.raw(root)).body)
            for row in document.get("resources") or ():
                if "/" in row["name"] or row["name"] in seen:
                    continue
                seen.add(row["name"])
                found.append(
                    Resource(
                        group,
                        version,
                        row["kind"],
                        row["name"],
                        bool(row.get("namespaced")),
                        verbs=tuple(row.get("verbs") or ()),
                    )
                )
    return found
