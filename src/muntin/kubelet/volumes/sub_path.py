"""subPath: opens a part of a volume, inside it whatever its containers rename and link meanwhile.

Source: kubernetes v1.34 pkg/kubelet/kubelet_pods.go makeMounts and
pkg/volume/util/subpath/subpath_linux.go: the rules and words, not the mechanism.
"""

from __future__ import annotations

import logging
import ntpath
import os
import stat
from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.kit.log import fields
from muntin.kit.safe_paths import open_beneath, open_inside
from muntin.kubelet.expand import expand
from muntin.kubelet.node_files import closing

log = logging.getLogger(__name__)


def wanted_sub_path(
    mount: Mapping[str, Any], environment: Mapping[str, str], *, is_windows: bool
) -> str:
    """The subPath of a volumeMount with ``/`` between its parts, "" for the whole volume. Pure.

    Raises:
        Invalid: it is absolute, has ``..``, or names a variable without a value.
    """
    text = mount.get("subPath") or ""
    if mount.get("subPathExpr"):
        missing: set[str] = set()
        text = expand(mount["subPathExpr"], _Required(environment, missing))
        if missing:
            raise Invalid(f"missing value for {', '.join(sorted(missing))}")
    plain = text.replace("\\", "/") if is_windows else text
    if plain.startswith("/") or (is_windows and ntpath.splitdrive(text)[0]):
        raise Invalid(f"error SubPath `{text}` must not be an absolute path")
    if ".." in plain.split("/"):
        raise Invalid(f"unable to provision SubPath `{text}`: must not contain '..'")
    return "/".join(part for part in plain.split("/") if part not in ("", "."))


class _Required(dict[str, str]):
    """Values of variables; those that are asked for and absent or empty are noted."""

    def __init__(self, values: Mapping[str, str], missing: set[str]) -> None:
        super().__init__(values)
        self._missing = missing

    def get(self, key: str, default: Any = None) -> Any:
        if not super().get(key):
            self._missing.add(key)
        return super().get(key, default)


def open_sub_path(volume: int, path: str, *, create: bool, mount: str, container: str) -> int:
    """A descriptor (O_PATH) of ``path`` in the folder ``volume``; a missing folder is made.

    ``mount`` and ``container`` are names for the message, which says nothing of the node's files.

    Raises:
        Invalid: it leads out of the volume, or is absent and may not be made.
    """
    try:
        try:
            return open_inside(volume, path, os.O_PATH)
        except FileNotFoundError:
            if not create:
                raise Invalid(f"subPath {path!r} does not exist in the volume") from None
            _make(volume, path.split("/"))
            return open_inside(volume, path, os.O_PATH)
    except OSError as err:
        log.warning("subPath not opened", **fields(sub_path=path, container=container, error=err))
        text = f'failed to prepare subPath for volumeMount "{mount}" of container "{container}"'
        raise Invalid(text) from err


def _make(volume: int, parts: list[str]) -> None:
    """Make the missing folders, each with the volume's own mode."""
    mode = stat.S_IMODE(os.fstat(volume).st_mode)
    for depth, name in enumerate(parts):
        with closing(open_inside(volume, "/".join(parts[:depth]) or ".", os.O_PATH)) as parent:
            try:
                os.mkdir(name, mode, dir_fd=parent)
            except FileExistsError:
                continue
            with closing(open_beneath(parent, name, os.O_RDONLY | os.O_DIRECTORY)) as made:
                os.fchmod(made, mode)  # whatever the umask is
