"""Volumes of a pod: kinds that work no more, and files that would lie on each other.

Source: kubernetes v1.36 pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version
from muntin.model.warnings.amounts import of_bytes

Object = Mapping[str, Any]
File = tuple[str, str]  # a path and what it comes from

_OWN = "kube-api-access-"  # the volumes that the server adds are right
_GONE: Mapping[str, tuple[str, str]] = {
    "photonPersistentDisk": ("photonPersistentDisk", "v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "v1.28, non-functional in v1.31+"),
}


def of_volumes(rows: Sequence[Object], path: str, api: Version) -> Iterator[str]:
    """All volumes of a pod; ``path`` is that of the list."""
    given = [
        (index, row) for index, row in enumerate(rows)
        if not (row.get("name") or "").startswith(_OWN)
    ]  # fmt: skip
    for index, row in given:
        yield from _of_kind(row, f"{path}[{index}]", api)
    for _, row in given:
        name = row.get("name") or ""
        for kind, shown, named in _WITH_ITEMS:
            source = row.get(kind)
            if source is not None and source.get("items"):
                what = f'{shown} "{source.get(named) or ""}"' if named else shown
                files = [(item.get("path") or "", "") for item in source["items"]]
                yield from (_overlap(name, what, text) for text in _overlaps([files]))
        if row.get("projected") is not None:
            yield from _of_projected(name, row["projected"].get("sources") or ())


_WITH_ITEMS = (
    ("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName"),
    ("downwardAPI", "DownwardAPI", ""),
)  # fmt: skip


def _of_kind(row: Object, path: str, api: Version) -> Iterator[str]:
    for kind in row:
        if kind in _GONE and row[kind] is not None:
            shown, since = _GONE[kind]
            if kind == "gitRepo" and not is_in(ApiFeature.REPOSITORIES_OFF, api):
                since, _, _ = since.partition(",")
            yield f"{path}.{shown}: deprecated in {since}"
    template = (row.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        resources = (template.get("spec") or {}).get("resources") or {}
        here = f"{path}.ephemeral.volumeClaimTemplate.spec.resources"
        for field in ("requests", "limits"):
            yield from of_bytes(resources.get(field), f"{here}.{field}", "storage")


def _of_projected(name: str, sources: Iterable[Object]) -> Iterator[str]:
    groups = []
    for source in sources:
        if not any(value is not None for value in source.values()):
            yield f'volume "{name}" (Projected) has no sources provided'
        else:
            groups.append(list(_files(source)))
    yield from (_overlap(name, "Projected", text) for text in _overlaps(groups))


def _files(source: Object) -> Iterator[File]:
    for kind, shown in (("configMap", "ConfigMap"), ("secret", "Secret")):
        part = source.get(kind)
        if part is not None:
            for item in part.get("items") or ():
                yield item.get("path") or "", f'{shown} "{part.get("name") or ""}"'
    for item in (source.get("downwardAPI") or {}).get("items") or ():
        yield item.get("path") or "", "DownwardAPI"
    token, bundle = source.get("serviceAccountToken"), source.get("clusterTrustBundle")
    if token is not None:
        yield token.get("path") or "", "ServiceAccountToken"
    if bundle is not None:
        named = bundle.get("name") or bundle.get("signerName") or ""
        yield bundle.get("path") or "", f'ClusterTrustBundle "{named}"'
    certificate = source.get("podCertificate") or {}
    for field, shown in (
        ("certificateChainPath", "chain"), ("keyPath", "key"),
        ("credentialBundlePath", "credential bundle"),
    ):  # fmt: skip
        if certificate.get(field):
            yield certificate[field], f"PodCertificate {shown}"


def _overlap(name: str, what: str, text: str) -> str:
    return f'volume "{name}" ({what}): overlapping paths: {text}'


def _overlaps(groups: Iterable[Iterable[File]]) -> Iterator[str]:
    known: list[File] = []
    for group in groups:
        for path, source in group:
            path = path.rstrip("/")
            if path:
                for other, from_where in known:
                    if f"{other}/".startswith(f"{path}/") or f"{path}/".startswith(f"{other}/"):
                        yield f"{_file(path, source)} with {_file(other, from_where)}"
                known.append((path, source))


def _file(path: str, source: str) -> str:
    return f'"{path}" ({source})' if source else f'"{path}"'
