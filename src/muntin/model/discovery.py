"""Discovery documents, made from the served rows: the legacy ones and the aggregated one.

All functions take the rows that `resources.served` gave and return JSON values.
Source: Kubernetes API reference v1.34, "Kubernetes API Discovery"; apidiscovery.k8s.io/v2.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version
from muntin.model.resources import Resource, Subresource, storage_version

Rows = Sequence[Resource]


def aggregated_versions(api: Version) -> tuple[str, ...]:
    """The versions of aggregated discovery that an API of that version answers."""
    found = ("v2",) if is_in(ApiFeature.DISCOVERY_V2, api) else ()
    if is_in(ApiFeature.DISCOVERY_V2_ALONE, api):
        return found
    return (*found, "v2beta1") if is_in(ApiFeature.AGGREGATED_DISCOVERY, api) else ()


def aggregated_content_type(version: str = "v2") -> str:
    """The Content-Type that clients need to see before they trust the aggregated document."""
    return f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"


def groups(rows: Rows) -> dict[str, list[str]]:
    """Group to its versions, preferred one first, in discovery order; the core group is empty."""
    found: dict[str, list[str]] = {}
    for row in rows:
        versions = found.setdefault(row.group, [])
        if row.version not in versions:
            versions.append(row.version)
    return found


def api_versions(server_address: str) -> dict[str, Any]:
    """``/api``: the core group's versions."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [
            {"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}
        ],
    }


def api_group_list(rows: Rows) -> dict[str, Any]:
    """``/apis``: all named groups."""
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group(name, versions) for name, versions in groups(rows).items() if name],
    }


def api_group(rows: Rows, group: str) -> dict[str, Any] | None:
    """``/apis/<group>``, or None if the group is not served."""
    versions = groups(rows).get(group)
    if not group or versions is None:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, versions)}


def _group(name: str, versions: Sequence[str]) -> dict[str, Any]:
    pairs = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": pairs, "preferredVersion": pairs[0]}


def api_resource_list(
    rows: Rows, group: str, version: str, *, with_singular: bool = True, older: bool = False
) -> dict[str, Any] | None:
    """``/api/v1`` or ``/apis/<group>/<version>``, or None if it is not served.

    Older versions of the API left singular names of built-in kinds empty (``with_singular``);
    before 1.25 they also stored some kinds in older forms (``older``), which is seen in hashes.
    """
    wanted = [row for row in rows if (row.group, row.version) == (group, version)]
    if not wanted:
        return None
    entries = [entry for row in wanted for entry in _legacy_entries(row, older=older)]
    if not with_singular and not wanted[0].is_custom:
        for entry in entries:
            entry["singularName"] = ""
    about = {"kind": "APIResourceList"}
    if group not in _WITHOUT_VERSION:
        about["apiVersion"] = "v1"
    return {
        **about,
        "groupVersion": wanted[0].api_version,
        "resources": entries if wanted[0].is_custom else sorted(entries, key=_by_name),
    }


# Groups from before lists of resources had a version of their own.
_WITHOUT_VERSION = ("", "extensions")


def _by_name(entry: dict[str, Any]) -> str:
    return str(entry["name"])


def _legacy_entries(row: Resource, *, older: bool) -> Iterable[dict[str, Any]]:
    entry: dict[str, Any] = {
        "name": row.plural,
        "singularName": row.singular,
        "namespaced": row.namespaced,
        "kind": row.kind,
        "verbs": list(row.verbs),
    }
    if row.short_names:
        entry["shortNames"] = list(row.short_names)
    if row.categories:
        entry["categories"] = list(row.categories)
    if row.is_stored and "create" in row.verbs:
        entry["storageVersionHash"] = _storage_version_hash(row, older=older)
    yield entry
    for sub in row.subresources:
        group, version, kind = _subresource_kind(row, sub)
        entry = {
            "name": f"{row.plural}/{sub.name}",
            "singularName": "",
            "namespaced": row.namespaced,
            "kind": kind,
            "verbs": list(sub.verbs),
        }
        if (group, version) != (row.group, row.version):
            entry |= {"group": group, "version": version}
        yield entry


def _subresource_kind(row: Resource, sub: Subresource) -> tuple[str, str, str]:
    if not sub.version:
        return row.group, row.version, sub.kind or row.kind
    return sub.group, sub.version, sub.kind


# In which version upstream says that it stores a kind, where that is not the newest: always, and
# before 1.25. As kube-apiserver 1.36 and 1.20 answer.
_FIRST = {("apiextensions.k8s.io", "CustomResourceDefinition"): "v1beta1"}
_OLDER = {
    **_FIRST,
    ("autoscaling", "HorizontalPodAutoscaler"): "v1",
    **dict.fromkeys(
        (
            ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
            ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
            ("apiregistration.k8s.io", "APIService"),
            ("batch", "CronJob"),
            ("certificates.k8s.io", "CertificateSigningRequest"),
            ("coordination.k8s.io", "Lease"),
            ("discovery.k8s.io", "EndpointSlice"),
            ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
            ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
            ("networking.k8s.io", "Ingress"),
            ("networking.k8s.io", "IngressClass"),
            ("node.k8s.io", "RuntimeClass"),
            ("policy", "PodDisruptionBudget"),
            ("storage.k8s.io", "CSIDriver"),
        ),
        "v1beta1",
    ),
}


def _storage_version_hash(row: Resource, *, older: bool) -> str:
    """Source: apiserver pkg/endpoints/discovery/storageversionhash.go."""
    stored = storage_version(row)
    known = _OLDER if older else _FIRST
    version = known.get((stored.group, stored.kind), stored.version)
    digest = hashlib.sha256(f"{stored.group}/{version}/{stored.kind}".encode()).digest()
    return b64encode(digest[:8]).decode("ascii")


def aggregated(rows: Rows, *, core: bool, version: str = "v2") -> dict[str, Any]:
    """The aggregated document of ``/api`` (``core``) or of ``/apis``."""
    items = [
        _aggregated_group(rows, group, versions)
        for group, versions in groups(rows).items()
        if bool(group) != core
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": items,
    }


def _aggregated_group(rows: Rows, group: str, versions: Sequence[str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"creationTimestamp": None}
    if group:
        metadata["name"] = group
    return {
        "metadata": metadata,
        "versions": [
            {
                "version": version,
                "resources": [
                    _aggregated_resource(row)
                    for row in rows
                    if (row.group, row.version) == (group, version)
                ],
                "freshness": "Current",
            }
            for version in versions
        ],
    }


def _aggregated_resource(row: Resource) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "resource": row.plural,
        "responseKind": _kind(row, (row.group, row.version, row.kind)),
        "scope": "Namespaced" if row.namespaced else "Cluster",
        "singularResource": row.singular,
        "verbs": list(row.verbs),
    }
    if row.short_names:
        entry["shortNames"] = list(row.short_names)
    if row.categories:
        entry["categories"] = list(row.categories)
    if row.subresources:
        entry["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": _kind(row, _subresource_kind(row, sub)),
                "verbs": list(sub.verbs),
            }
            for sub in row.subresources
        ]
    return entry


def _kind(row: Resource, found: tuple[str, str, str]) -> dict[str, str]:
    """The kind of answers, whose group and version are left empty where they are the row's."""
    group, version, kind = found
    if (group, version) == (row.group, row.version):
        group = version = ""
    return {"group": group, "version": version, "kind": kind}
