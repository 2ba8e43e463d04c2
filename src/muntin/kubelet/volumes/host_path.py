"""hostPath: opens what a path of the node leads to, checks its type, makes what is missing.

Source: kubernetes v1.34 pkg/volume/hostpath/host_path.go checkType.
"""

from __future__ import annotations

import os
import stat

from muntin.kit.errors import Invalid
from muntin.kubelet.node_files import NodeFiles
from muntin.kubelet.platform import Platform

_KINDS = {
    "Directory": ("a directory", stat.S_ISDIR),
    "DirectoryOrCreate": ("a directory", stat.S_ISDIR),
    "File": ("a file", stat.S_ISREG),
    "FileOrCreate": ("a file", stat.S_ISREG),
    "Socket": ("a socket file", stat.S_ISSOCK),
    "CharDevice": ("a character device", stat.S_ISCHR),
    "BlockDevice": ("a block device", stat.S_ISBLK),
}


def open_host_path(files: NodeFiles, path: str, type_: str, platform: Platform) -> int:
    """A descriptor (O_PATH) of the hostPath ``path``, which is of ``type_``.

    The type is that of what the descriptor refers to, whatever the path leads to later. Links are
    followed inside the node's root. Without a type Linux nodes make a folder, as runtimes do for a
    bind source; Windows nodes leave that to the runtime.

    Raises:
        Invalid: what is there is not of that type; upstream's words.
        OSError: it cannot be opened or made; FileNotFoundError on Windows without a type.
    """
    if type_ and type_ not in _KINDS:
        raise Invalid(f"{type_} is an invalid volume type")
    words, is_kind = _KINDS.get(type_, ("", None))
    refused = Invalid(f"hostPath type check failed: {path} is not {words}")
    try:
        fd = files.open_host(path, os.O_PATH)
    except FileNotFoundError:
        if type_ == "DirectoryOrCreate" or not (type_ or platform.is_windows):
            return files.make_host_folders(path)
        if not type_:
            raise
        if type_ != "FileOrCreate":
            raise refused from None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        fd = files.open_host(path, flags, 0o644)
    if is_kind is not None and not is_kind(os.fstat(fd).st_mode):
        os.close(fd)
        raise refused
    return fd
