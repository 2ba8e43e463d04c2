"""What other servers answer for, put into this server's discovery and OpenAPI documents. Pure.

``remotes`` is `Registry.remote`. A group that other servers answer for stands after all local
ones, by its priority; a version whose server does not answer is told as stale.
Source: kube-aggregator v1.34 pkg/apiserver/{handler_apis,handler_discovery}.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.apiserver.aggregation.remote import Object, Remote
from muntin.model.versions import rank

Remotes = Mapping[tuple[str, str], Object]


def _by_group(remotes: Remotes) -> dict[str, list[Remote]]:
    """The servers of each group, in discovery's order of groups and versions."""
    found: dict[str, list[Remote]] = {}
    for row in remotes.values():
        found.setdefault(row["remote"].group, []).append(row["remote"])
    for servers in found.values():
        servers.sort(key=lambda one: (-one.spec.get("versionPriority", 0),
                                      rank(one.version)))  # fmt: skip
    order = sorted(found, key=lambda name: (-max(_priority(one) for one in found[name]), name))
    return {name: found[name] for name in order if name}


def _priority(remote: Remote) -> int:
    return int(remote.spec.get("groupPriorityMinimum", 0))


def _pairs(group: str, servers: Iterable[Remote]) -> list[Object]:
    return [{"groupVersion": f"{group}/{one.version}", "version": one.version} for one in servers]


def group_list(document: Object, remotes: Remotes) -> Object:
    """``/apis`` with their groups."""
    groups = {row["name"]: dict(row) for row in document["groups"]}
    for name, servers in _by_group(remotes).items():
        pairs = _pairs(name, servers)
        if name in groups:
            known = {row["version"] for row in groups[name]["versions"]}
            more = [row for row in pairs if row["version"] not in known]
            groups[name]["versions"] = [*groups[name]["versions"], *more]
        else:
            groups[name] = {"name": name, "versions": pairs, "preferredVersion": pairs[0]}
    return {**document, "groups": list(groups.values())}


def group(document: Object | None, name: str, remotes: Remotes) -> Object | None:
    """``/apis/<group>``; None if nobody answers for it."""
    listed = {"groups": [document] if document is not None else []}
    for row in group_list(listed, remotes)["groups"]:
        if row["name"] == name:
            return {"kind": "APIGroup", "apiVersion": "v1", **row}
    return None


def aggregated(document: Object, remotes: Remotes) -> Object:
    """The aggregated document of ``/apis`` with their groups."""
    items = {row["metadata"].get("name", ""): row for row in document["items"]}
    for name, servers in _by_group(remotes).items():
        versions = [
            {
                "version": one.version,
                "resources": list(_entries(one)),
                "freshness": "Current" if one.available else "Stale",
            }
            for one in servers
        ]
        known = items.get(name)
        if known is None:
            metadata = {"creationTimestamp": None, "name": name}
            items[name] = {"metadata": metadata, "versions": versions}
        else:
            taken = {row["version"] for row in versions}
            local = [row for row in known["versions"] if row["version"] not in taken]
            items[name] = {**known, "versions": [*local, *versions]}
    return {**document, "items": list(items.values())}


def _entries(remote: Remote) -> Iterable[Object]:
    """The resources of a legacy document in the aggregated form."""
    subresources: dict[str, list[Object]] = {}
    for row in remote.resources:
        parent, _, sub = row["name"].partition("/")
        if sub:
            subresources.setdefault(parent, []).append(
                {"subresource": sub, **_kind(remote, row), "verbs": row.get("verbs") or []}
            )
    for row in remote.resources:
        if "/" in row["name"]:
            continue
        entry: dict[str, Any] = {
            "resource": row["name"],
            **_kind(remote, row),
            "scope": "Namespaced" if row.get("namespaced") else "Cluster",
            "singularResource": row.get("singularName") or row.get("kind", "").lower(),
            "verbs": row.get("verbs") or [],
        }
        for field in ("shortNames", "categories"):
            if row.get(field):
                entry[field] = row[field]
        if row["name"] in subresources:
            entry["subresources"] = subresources[row["name"]]
        yield entry


def _kind(remote: Remote, row: Object) -> Object:
    return {
        "responseKind": {
            "group": row.get("group") or remote.group,
            "version": row.get("version") or remote.version,
            "kind": row.get("kind", ""),
        }
    }


def swagger(document: Object, remotes: Remotes) -> Object:
    """``/openapi/v2`` with their paths and types; a type that is known here stays as it is."""
    merged = {**document, "paths": dict(document["paths"]),
              "definitions": dict(document["definitions"])}  # fmt: skip
    for row in remotes.values():
        for part, entries in row["remote"].swagger.items():
            merged[part] = {**entries, **merged[part]}
    return merged


def openapi_index(document: Object, remotes: Remotes) -> Object:
    """``/openapi/v3`` with where their documents are."""
    more = {
        name: entry for row in remotes.values() for name, entry in row["remote"].openapi.items()
    }
    return {**document, "paths": {**document["paths"], **more}}
