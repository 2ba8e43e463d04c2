"""The files of configMap, secret, downwardAPI and projected volumes. Pure.

Source: kubernetes v1.34 pkg/volume/configmap/configmap.go MakePayload, secret/secret.go,
downwardapi/downwardapi.go, projected/projected.go.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.kit.errors import Invalid, NotFound

Object = Mapping[str, Any]

DEFAULT_MODE = 0o644


@dataclass(frozen=True, slots=True)
class File:
    data: bytes
    mode: int = DEFAULT_MODE


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Where content comes from.

    ``find(kind, name)`` gives a ConfigMap or Secret, or None; ``token`` the text of a projected
    token source; ``field`` and ``resource`` are the downward API bound to the pod.
    """

    find: Callable[[str, str], Object | None]
    token: Callable[[Mapping[str, Any]], str]
    field: Callable[[str], str]
    resource: Callable[[Mapping[str, Any]], str]


def references(volume: Object) -> Iterator[tuple[str, str]]:
    """(kind, name) of every object that ``volume`` shows."""
    if volume.get("configMap"):
        yield "ConfigMap", volume["configMap"]["name"]
    if volume.get("secret"):
        yield "Secret", volume["secret"]["secretName"]
    for source in (volume.get("projected") or {}).get("sources") or ():
        for key, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
            if source.get(key):
                yield kind, source[key]["name"]


def token_sources(volume: Object) -> list[Mapping[str, Any]]:
    """The serviceAccountToken sources of a projected volume."""
    sources = (volume.get("projected") or {}).get("sources") or ()
    return [one["serviceAccountToken"] for one in sources if one.get("serviceAccountToken")]


def has_content(volume: Object) -> bool:
    """Whether the volume is one of files that the API describes."""
    return any(volume.get(key) for key in ("configMap", "secret", "downwardAPI", "projected"))


def volume_files(volume: Object, inputs: Inputs) -> dict[str, File]:
    """The files of ``volume`` by relative path, with forward slashes.

    Raises:
        NotFound: an object that is not optional is absent.
        Invalid: it lacks a key that is asked for.
    """
    if volume.get("configMap"):
        source = volume["configMap"]
        return _object_files("ConfigMap", source["name"], source, inputs, _mode(source))
    if volume.get("secret"):
        source = volume["secret"]
        return _object_files("Secret", source["secretName"], source, inputs, _mode(source))
    if volume.get("downwardAPI"):
        source = volume["downwardAPI"]
        return _downward_files(source, inputs, _mode(source))
    return _projected_files(volume["projected"], inputs)


def _mode(source: Object) -> int:
    mode = source.get("defaultMode")
    return DEFAULT_MODE if mode is None else int(mode)


def _projected_files(projected: Object, inputs: Inputs) -> dict[str, File]:
    files: dict[str, File] = {}
    mode = _mode(projected)
    for source in projected.get("sources") or ():
        for key, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
            if source.get(key):
                name = source[key]["name"]
                files.update(_object_files(kind, name, source[key], inputs, mode))
        if source.get("downwardAPI"):
            files.update(_downward_files(source["downwardAPI"], inputs, mode))
        if source.get("serviceAccountToken"):
            row = source["serviceAccountToken"]
            # Readable by its owner alone; a pod's fsGroup widens it.
            files[row["path"]] = File(inputs.token(row).encode(), mode & 0o644)
    return files


def _object_files(
    kind: str, name: str, source: Object, inputs: Inputs, mode: int
) -> dict[str, File]:
    obj = inputs.find(kind, name)
    optional = bool(source.get("optional"))
    if obj is None:
        if optional:
            return {}
        raise NotFound(f'{kind.lower()} "{name}" not found')
    data = {key: _bytes(value) for key, value in (obj.get("data") or {}).items()}
    binary = obj.get("binaryData") or {}
    data.update({key: base64.b64decode(value) for key, value in binary.items()})
    items = source.get("items")
    if not items:
        return {key: File(value, mode) for key, value in data.items()}
    files = {}
    for item in items:
        if item["key"] not in data:
            if optional:
                continue
            raise Invalid(
                f"{'configmap' if kind == 'ConfigMap' else 'secret'} references "
                f"non-existent {kind.lower()} key: {item['key']}"
            )
        own = item.get("mode")
        files[item["path"]] = File(data[item["key"]], mode if own is None else int(own))
    return files


def _downward_files(source: Object, inputs: Inputs, mode: int) -> dict[str, File]:
    files = {}
    for item in source.get("items") or ():
        if item.get("fieldRef"):
            text = inputs.field(item["fieldRef"]["fieldPath"])
        else:
            text = inputs.resource(item["resourceFieldRef"])
        own = item.get("mode")
        files[item["path"]] = File(text.encode(), mode if own is None else int(own))
    return files


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()
