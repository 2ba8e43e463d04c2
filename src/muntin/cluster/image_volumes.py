"""Image volumes for containerd before 2.1, whose CRI does not support them.

The image is mounted read-only below the node's run folder, once for all its containers, and the
containerd is given a path. Source: containerd v2.1 internal/cri/server/container_image_mount.go.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from muntin.cluster import ctr
from muntin.kit import mounts
from muntin.kit.errors import Invalid, Unavailable
from muntin.kit.safe_paths import bind_mount, open_inside
from muntin.seams.cri import Message

_WHOLE = "whole"


class ImageVolumes:
    """The images that are mounted below ``folder``, of the containerd at ``socket``."""

    def __init__(self, socket: Path, folder: Path) -> None:
        self._socket = socket
        self._folder = folder
        self._lock = asyncio.Lock()

    async def with_paths(self, request: Mapping[str, Any]) -> Message:
        """A CreateContainer request whose image mounts are replaced by mounts of paths.

        Raises:
            Invalid: the image has no such folder.
            Unavailable: the image cannot be mounted.
        """
        config = request["config"]
        rows = [
            await self._with_path(row) if row.get("image") else row
            for row in config.get("mounts") or ()
        ]
        return {**request, "config": {**config, "mounts": rows}}

    async def forget(self, image: str) -> None:
        """Unmount an image that is to be removed.

        Raises:
            Unavailable: containerd keeps its snapshot.
        """
        async with self._lock:
            own = self._own(image)
            for row in reversed(mounts.below([own])):
                mounts.detach(row.target)
            if own.is_dir():
                await self._ctr("unmount", "--rm", str(own / _WHOLE))
                await asyncio.to_thread(mounts.remove_tree, own)

    async def _with_path(self, row: Mapping[str, Any]) -> Message:
        image, below = row["image"]["image"], row.get("image_sub_path", "")
        path = await self._mounted(image, below)
        left = {key: row[key] for key in row if key not in ("image", "image_sub_path")}
        return {**left, "host_path": str(path), "readonly": True}

    async def _mounted(self, image: str, below: str) -> Path:
        own = self._own(image)
        whole = own / _WHOLE
        async with self._lock:
            there = {row.target for row in mounts.below([own])}
            if str(whole) not in there:
                # Programs of an image may be set-uid root: other users must not reach them.
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._folder.chmod(0o700)
                whole.mkdir(parents=True, exist_ok=True)
                await self._ctr("mount", image, str(whole))
            if not below:
                return whole
            part = own / hashlib.sha256(below.encode()).hexdigest()
            if str(part) not in there:
                _mount_part(image, whole, below, part)
            return part

    def _own(self, image: str) -> Path:
        return self._folder / hashlib.sha256(image.encode()).hexdigest()

    async def _ctr(self, *words: str) -> None:
        try:
            await ctr.images(self._socket, *words)
        except Unavailable as err:
            raise Unavailable(f"image volume: ctr images {' '.join(words)}: {err}") from err


def _mount_part(image: str, whole: Path, below: str, part: Path) -> None:
    """Mount the folder ``below`` of an image, whose links may lead anywhere, at ``part``."""
    try:
        source = open_inside(whole, below, os.O_PATH | os.O_DIRECTORY)
    except OSError as err:
        if err.errno in (errno.ENOENT, errno.ENOTDIR, errno.EXDEV, errno.ELOOP):
            raise Invalid(f"image volume {image}: no folder {below!r} in the image") from err
        raise Unavailable(f"image volume {image}: {err.strerror or err}") from err
    try:
        part.mkdir(exist_ok=True)
        target = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            bind_mount(source, target, read_only=True)
        finally:
            os.close(target)
    finally:
        os.close(source)
