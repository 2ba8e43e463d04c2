"""CRI mounts of a Windows container as bind mounts below its C: drive.

Source: containerd v1.7 pkg/cri/opts/spec_windows_opts.go WithWindowsMounts.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from muntin.kit.errors import Invalid, Unavailable, Unsupported
from muntin.kit.mounts import detach, mount_overlay
from muntin.kit.safe_paths import bind_mount, make_folders, open_in_root, open_inside
from muntin.model.windows import Feature, Profile, gate, is_open
from muntin.seams.oci.bundle import bind, nothing
from muntin.winruntime.windows_paths import PIPE_PREFIX, HostDrive, drive_path

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


def bind_mounts(
    mounts: Sequence[Mapping[str, Any]],
    drive: HostDrive,
    fold: Callable[[PurePosixPath], PurePosixPath],
    profile: Profile,
    place: Path,
    layers: Callable[[str], Sequence[Path]],
) -> list[dict[str, Any]]:
    """OCI mounts, the outer before the inner; containerd makes absent sources as folders.

    A source is opened inside ``drive`` once, and mounted below ``place``, a folder that no
    container reaches: so the OCI runtime gets what was looked at here. ``detach_mounts`` undoes
    that. ``fold`` gives a path on C: the case that it has in the image, ``layers`` the folders that
    an image's C: is made of, the highest first.

    Raises:
        Invalid: a source is absent, and the runtime is docker; or an image has no such folder.
        NotFound: there is no such image.
        Unavailable: a source cannot be opened or mounted.
    """
    wanted = sorted(
        ((destination(m.get("container_path", "")), m) for m in mounts),
        key=lambda pair: len(pair[0].parts),
    )
    result = []
    for number, (path, mount) in enumerate(wanted):
        target = f"{DRIVE}/{fold(path)}"
        shown: Path | None
        if mount.get("image"):
            shown = _show_image(mount, layers, place / str(number))
        else:
            shown = _shown(mount.get("host_path", ""), drive, profile, place / str(number))
        if shown is None:
            result.append(nothing(target))
            continue
        readonly = bool(mount.get("readonly"))
        result.append(bind(str(shown), target, readonly=readonly))
        if PurePosixPath(str(path).lower()) == _HOSTS:
            result.append(bind(str(shown), "/etc/hosts", readonly=readonly))
    return result


def detach_mounts(place: Path) -> None:
    """Unmount what ``bind_mounts`` mounted below ``place``; a started container has its own."""
    if not place.is_dir():
        return
    for target in place.iterdir():
        detach(str(target))


def _show_image(
    mount: Mapping[str, Any], layers: Callable[[str], Sequence[Path]], place: Path
) -> Path:
    """Mount C: of an image, or a folder of it, at or beside ``place``; returns where.

    Source: containerd v2.1 internal/cri/server/container_image_mount.go.
    """
    image, below = mount["image"]["image"], mount.get("image_sub_path", "")
    nothing_in = [place.with_name(f"{place.name}.empty{number}") for number in (0, 1)]
    lowers = [folder for folder in layers(image) if folder.is_dir()]
    try:
        for folder in (place, *nothing_in):
            folder.mkdir(parents=True)
        mount_overlay(place, [*lowers, *nothing_in])
        if not below:
            return place
        source = open_inside(place, below, os.O_PATH | os.O_DIRECTORY)
        try:
            inner = place.with_name(f"{place.name}.part")
            _mount(source, inner)
        finally:
            os.close(source)
    except OSError as err:
        if err.errno in (errno.ENOENT, errno.ENOTDIR, errno.EXDEV):
            raise Invalid(f"image volume {image}: no folder {below!r} in the image") from err
        raise Unavailable(f"image volume {image}: {err.strerror or err}") from err
    return inner


def _shown(path: str, drive: HostDrive, profile: Profile, place: Path) -> Path | None:
    """``place`` with ``path`` of the node mounted there; None if containers see nothing of it."""
    try:
        source = _open_source(drive, path, profile)
        try:
            if _is_made_of_links(source) and not is_open(Feature.PROJECTED_VOLUMES, profile):
                return None
            _mount(source, place)
        finally:
            os.close(source)
    except OSError as err:
        raise Unavailable(f"mount of {path!r}: {err.strerror or err}") from err
    return place


def _open_source(drive: HostDrive, path: str, profile: Profile) -> int:
    """A descriptor of the file or folder ``path`` of the node."""
    below = drive.relative(path)
    try:
        return open_in_root(drive.root, below, os.O_PATH)
    except FileNotFoundError:
        if not is_open(Feature.HOSTPATH_AUTOCREATE, profile):
            raise Invalid(gate(Feature.HOSTPATH_AUTOCREATE).message.format(path=path)) from None
        return make_folders(drive.root, below)


def _is_made_of_links(source: int) -> bool:
    """Whether it is a volume of files that the kubelet replaces at once, through this link."""
    try:
        os.readlink(_DATA, dir_fd=source)
    except OSError:
        return False
    return True


def _mount(source: int, place: Path) -> None:
    place.parent.mkdir(exist_ok=True)
    if stat.S_ISDIR(os.fstat(source).st_mode):
        place.mkdir()
    else:
        place.touch()
    target = os.open(place, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        bind_mount(source, target)
    finally:
        os.close(target)
