"""hostPath: checks of ``type``, and the two types that make what is missing.

Source: kubernetes v1.34 pkg/volume/hostpath/host_path.go checkType.
"""

from __future__ import annotations

import stat
from pathlib import Path

from muntin.kit.errors import Invalid
from muntin.kubelet.platform import Platform


def prepare_host_path(local: Path, path: str, type_: str, platform: Platform) -> None:
    """Make or check the hostPath ``path``, which this process finds at ``local``.

    Raises:
        Invalid: what is there is not of that type; upstream's words.
    """
    if type_ == "DirectoryOrCreate":
        if local.exists() and not local.is_dir():
            raise Invalid(f"hostPath type check failed: {path} is not a directory")
        local.mkdir(mode=0o755, parents=True, exist_ok=True)
    elif type_ == "FileOrCreate":
        if local.exists() and not local.is_file():
            raise Invalid(f"hostPath type check failed: {path} is not a file")
        if not local.exists():
            local.touch(0o644)
    elif type_:
        kinds = {
            "Directory": ("a directory", stat.S_ISDIR),
            "File": ("a file", stat.S_ISREG),
            "Socket": ("a socket file", stat.S_ISSOCK),
            "CharDevice": ("a character device", stat.S_ISCHR),
            "BlockDevice": ("a block device", stat.S_ISBLK),
        }
        if type_ not in kinds:
            raise Invalid(f"{type_} is an invalid volume type")
        words, is_kind = kinds[type_]
        if not local.exists() or not is_kind(local.stat().st_mode):
            raise Invalid(f"hostPath type check failed: {path} is not {words}")
    elif not platform.is_windows and not local.exists():
        local.mkdir(mode=0o755, parents=True)  # as runtimes do for a bind source
