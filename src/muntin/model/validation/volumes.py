"""Validation of a pod's volumes.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateVolumes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.model import names
from muntin.model.validation.amounts import amount
from muntin.model.validation.containers import local_path, no_back_steps
from muntin.model.validation.findings import Findings, Object

_HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate",
    "Socket",
)  # fmt: skip
_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_MIN_TOKEN_SECONDS, _MAX_TOKEN_SECONDS = 10 * 60, 2**32


def volumes(spec: Object, path: str, found: Findings) -> dict[str, Any]:
    """All volumes of a pod spec; gives them by name for the mounts."""
    result: dict[str, Any] = {}
    for index, row in enumerate(spec.get("volumes") or ()):
        here, name = f"{path}[{index}]", row.get("name")
        if not name:
            found.required(f"{here}.name")
        else:
            found.each_invalid(f"{here}.name", name, names.dns1123_label(name))
            if name in result:
                found.duplicate(f"{here}.name", name)
            result[name] = row
        _source(row, here, found)
    return result


def _source(row: Object, path: str, found: Findings) -> None:
    kinds = [kind for kind, value in row.items() if kind != "name" and value is not None]
    if not kinds:
        found.required(path, "must specify a volume type")
    for extra in kinds[1:]:
        found.forbidden(f"{path}.{extra}", "may not specify more than 1 volume type")
    if kinds:
        check = _SOURCES.get(kinds[0])
        if check is not None:
            check(row[kinds[0]], f"{path}.{kinds[0]}", found)


def _host_path(source: Object, path: str, found: Findings) -> None:
    if not source.get("path"):
        found.required(f"{path}.path")
        return
    no_back_steps(source["path"], f"{path}.path", found)
    kind = source.get("type", "")
    if kind not in _HOST_PATH_TYPES:
        found.not_supported(f"{path}.type", kind, _HOST_PATH_TYPES)


def _empty_dir(source: Object, path: str, found: Findings) -> None:
    if source.get("sizeLimit"):
        amount(source["sizeLimit"], f"{path}.sizeLimit", found)


def _mode(value: int | None, path: str, found: Findings) -> None:
    if value is not None and not 0 <= value <= 0o777:
        found.invalid(path, value, _MODE)


def _items(source: Object, path: str, found: Findings) -> None:
    """Which keys become which files."""
    for index, item in enumerate(source.get("items") or ()):
        here = f"{path}.items[{index}]"
        if not item.get("key"):
            found.required(f"{here}.key")
        if not item.get("path"):
            found.required(f"{here}.path")
        else:
            local_path(item["path"], f"{here}.path", found)
        _mode(item.get("mode"), f"{here}.mode", found)


def _config_map(source: Object, path: str, found: Findings) -> None:
    if not source.get("name"):
        found.required(f"{path}.name")
    _mode(source.get("defaultMode"), f"{path}.defaultMode", found)
    _items(source, path, found)


def _secret(source: Object, path: str, found: Findings) -> None:
    if not source.get("secretName"):
        found.required(f"{path}.secretName")
    _mode(source.get("defaultMode"), f"{path}.defaultMode", found)
    _items(source, path, found)


def _downward_api(source: Object, path: str, found: Findings) -> None:
    _mode(source.get("defaultMode"), f"{path}.defaultMode", found)
    for index, item in enumerate(source.get("items") or ()):
        here = f"{path}.items[{index}]"
        if not item.get("path"):
            found.required(f"{here}.path")
        else:
            local_path(item["path"], f"{here}.path", found)
        if item.get("fieldRef") is None and item.get("resourceFieldRef") is None:
            found.required(here, "one of fieldRef and resourceFieldRef is required")


def _projected(source: Object, path: str, found: Findings) -> None:
    _mode(source.get("defaultMode"), f"{path}.defaultMode", found)
    for index, item in enumerate(source.get("sources") or ()):
        here = f"{path}.sources[{index}]"
        kinds = [kind for kind, value in item.items() if value is not None]
        for extra in kinds[1:]:
            found.forbidden(f"{here}.{extra}", "may not specify more than 1 volume type")
        for kind in kinds[:1]:
            if kind == "serviceAccountToken":
                _token(item[kind], f"{here}.{kind}", found)
            elif kind == "downwardAPI":
                _downward_api(item[kind], f"{here}.{kind}", found)
            elif kind in ("configMap", "secret"):
                if not item[kind].get("name"):
                    found.required(f"{here}.{kind}.name")
                _items(item[kind], f"{here}.{kind}", found)


def _token(source: Object, path: str, found: Findings) -> None:
    seconds = source.get("expirationSeconds", _MIN_TOKEN_SECONDS)
    if seconds < _MIN_TOKEN_SECONDS:
        found.invalid(
            f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"
        )
    elif seconds > _MAX_TOKEN_SECONDS:
        found.invalid(
            f"{path}.expirationSeconds",
            seconds,
            "may not specify a duration larger than 2^32 seconds",
        )
    if not source.get("path"):
        found.required(f"{path}.path")
    else:
        local_path(source["path"], f"{path}.path", found)


def _claim(source: Object, path: str, found: Findings) -> None:
    if not source.get("claimName"):
        found.required(f"{path}.claimName")


def _nfs(source: Object, path: str, found: Findings) -> None:
    for field in ("server", "path"):
        if not source.get(field):
            found.required(f"{path}.{field}")
    if source.get("path") and not source["path"].startswith("/"):
        found.invalid(f"{path}.path", source["path"], "must be an absolute path")


def _csi(source: Object, path: str, found: Findings) -> None:
    if not source.get("driver"):
        found.required(f"{path}.driver")


_SOURCES: Mapping[str, Callable[[Any, str, Findings], None]] = {
    "hostPath": _host_path,
    "emptyDir": _empty_dir,
    "configMap": _config_map,
    "secret": _secret,
    "downwardAPI": _downward_api,
    "projected": _projected,
    "persistentVolumeClaim": _claim,
    "nfs": _nfs,
    "csi": _csi,
}
