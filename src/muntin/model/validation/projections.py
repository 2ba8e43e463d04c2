"""Validation of projected volumes: several sources in one directory.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validateProjectionSources).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_selector
from muntin.model.validation.paths import local_unreserved_path
from muntin.model.validation.signers import bundle_name, signer_name
from muntin.model.validation.volume_files import downward_api, key_to_path, mode

_MIN_TOKEN_S, _MAX_TOKEN_S = 10 * 60, 2**32
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_CONFLICT = "conflicting duplicate paths"


def projected(volume: Object, path: str, found: Findings) -> None:
    """A projected volume: no two of its files have one path."""
    mode(volume.get("defaultMode"), f"{path}.defaultMode", found)
    taken: set[str] = set()
    for index, row in enumerate(volume.get("sources") or ()):
        here = f"{path}.sources[{index}]"
        given = [kind for kind in _SOURCES if row.get(kind) is not None]
        for kind in given:
            _SOURCES[kind](row[kind], f"{here}.{kind}", path, taken, found)
        if len(given) > 1:
            found.forbidden(here, "may not specify more than 1 volume type per source")


def _take(where: str, shown: str, volume: str, taken: set[str], found: Findings) -> None:
    if where in taken:
        found.invalid(volume, shown, _CONFLICT)
    taken.add(where)


def _keys(source: Object, path: str, volume: str, taken: set[str], found: Findings) -> None:
    name = source.get("name")
    if not name:
        found.required(f"{path}.name")
    for index, item in enumerate(source.get("items") or ()):
        key_to_path(item, f"{path}.items[{index}]", found)
        if item.get("path"):
            _take(item["path"], name or "", volume, taken, found)


def _fields(source: Object, path: str, volume: str, taken: set[str], found: Findings) -> None:
    for item in source.get("items") or ():
        downward_api(item, path, found)
        if item.get("path"):
            _take(item["path"], item["path"], volume, taken, found)


def _token(source: Object, path: str, volume: str, taken: set[str], found: Findings) -> None:
    seconds = source.get("expirationSeconds", _MIN_TOKEN_S)
    where = f"{path}.expirationSeconds"
    if seconds < _MIN_TOKEN_S:
        found.invalid(where, seconds, "may not specify a duration less than 10 minutes")
    if seconds > _MAX_TOKEN_S:
        found.invalid(where, seconds, "may not specify a duration larger than 2^32 seconds")
    if not source.get("path"):
        found.required(f"{volume}.path")
    else:
        local_unreserved_path(source["path"], f"{volume}.path", found)


def _trust_bundle(source: Object, path: str, volume: str, taken: set[str], found: Findings) -> None:
    name, signer = source.get("name"), source.get("signerName")
    if name is not None and signer is not None:
        found.invalid(path, source, "only one of name and signerName may be used")
    elif name is not None:
        if not name:
            found.required(f"{path}.name", "must be a valid object name")
        for problem in bundle_name(name):
            found.invalid(f"{path}.name", name, f"not a valid clustertrustbundlename: {problem}")
        if source.get("labelSelector") is not None:
            found.invalid(
                f"{path}.labelSelector",
                source["labelSelector"],
                "labelSelector must be unset if name is specified",
            )
    elif signer is not None:
        if not signer:
            found.required(f"{path}.signerName", "must be a valid signer name")
        signer_name(signer, f"{path}.signerName", found)
        label_selector(source.get("labelSelector"), f"{path}.labelSelector", found)
    else:
        found.required(path, "either name or signerName must be specified")
    _file(source.get("path") or "", f"{path}.path", volume, taken, found)


def _file(where: str, path: str, volume: str, taken: set[str], found: Findings) -> None:
    if not where:
        found.required(path)
    local_unreserved_path(where, path, found)
    _take(where, where, volume, taken, found)


def _certificate(source: Object, path: str, volume: str, taken: set[str], found: Findings) -> None:
    signer_name(source.get("signerName") or "", f"{path}.signerName", found)
    kind = source.get("keyType") or ""
    if kind not in _KEY_TYPES:
        found.not_supported(f"{path}.keyType", kind, _KEY_TYPES)
    fields = ("credentialBundlePath", "keyPath", "certificateChainPath")
    given = [field for field in fields if source.get(field)]
    if not given:
        found.required(
            path,
            "specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
        )
    for field in given:
        _file(source[field], f"{path}.{field}", volume, taken, found)


_Source = Callable[[Any, str, str, set[str], Findings], None]
_SOURCES: dict[str, _Source] = {
    "secret": _keys,
    "configMap": _keys,
    "downwardAPI": _fields,
    "serviceAccountToken": _token,
    "clusterTrustBundle": _trust_bundle,
    "podCertificate": _certificate,
}
