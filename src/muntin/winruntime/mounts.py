"""CRI mounts of a Windows container as bind mounts below its C: drive.

Source: containerd v1.7 pkg/cri/opts/spec_windows_opts.go WithWindowsMounts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from muntin.kit.errors import Invalid, Unsupported
from muntin.model.windows import Feature, Profile, gate, is_open
from muntin.seams.oci.bundle import bind, nothing
from muntin.winruntime.windows_paths import PIPE_PREFIX, drive_path

DRIVE = "/prefix/drive_c"
_DATA = "..data"
# Wine asks the library of Linux for names: what Windows reads here stands there, too.
_HOSTS = PurePosixPath("windows/system32/drivers/etc/hosts")


def destination(container_path: str) -> PurePosixPath:
    """Where on C: a mount goes.

    Raises:
        Invalid: the drive C: itself, with containerd's words, or a path that is on no drive.
        Unsupported: another drive, or a named pipe: the emulation has C: only.
    """
    plain = container_path.replace("/", "\\")
    if plain.lower().startswith(PIPE_PREFIX):
        raise Unsupported(f"mount of the named pipe {plain!r}: pipes of the node are not emulated")
    if len(plain) >= 2 and plain[1] == ":" and plain[0].lower() != "c":
        raise Unsupported(f"mount at {plain!r}: an emulated container has the drive C: only")
    path = drive_path(plain)
    if not path.parts:
        raise Invalid(gate(Feature.MOUNT_C_DRIVE_FORBIDDEN).message)
    return path


def _is_made_of_links(source: Path) -> bool:
    """Whether it is a volume of files that the kubelet replaces at once, through this link."""
    return (source / _DATA).is_symlink()


def bind_mounts(
    mounts: Sequence[Mapping[str, Any]],
    local: Callable[[str], Path],
    fold: Callable[[PurePosixPath], PurePosixPath],
    profile: Profile,
) -> list[dict[str, Any]]:
    """OCI mounts, the outer before the inner; containerd makes absent sources as folders.

    ``local`` finds the node's paths on Linux, ``fold`` gives a path on C: the case that it has
    in the image.

    Raises:
        Invalid: a source is absent, and the runtime is docker.
    """
    found = sorted(
        ((destination(m.get("container_path", "")), m) for m in mounts),
        key=lambda pair: len(pair[0].parts),
    )
    result = []
    for path, mount in found:
        source = local(mount.get("host_path", ""))
        if not source.exists():
            if not is_open(Feature.HOSTPATH_AUTOCREATE, profile):
                told = gate(Feature.HOSTPATH_AUTOCREATE).message
                raise Invalid(told.format(path=mount.get("host_path", "")))
            source.mkdir(parents=True)
        target = f"{DRIVE}/{fold(path)}"
        if _is_made_of_links(source) and not is_open(Feature.PROJECTED_VOLUMES, profile):
            result.append(nothing(target))
            continue
        readonly = bool(mount.get("readonly"))
        result.append(bind(str(source.resolve()), target, readonly=readonly))
        if PurePosixPath(str(path).lower()) == _HOSTS:
            result.append(bind(str(source.resolve()), "/etc/hosts", readonly=readonly))
    return result
