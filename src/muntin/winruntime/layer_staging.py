"""Stages the layers of an image while it is pulled or loaded: all of them are kept, or none.

Each pull has its own folder beside the layers, so concurrent pulls of a layer do not conflict. The
folder's name contains the process id: folders of killed processes are removed at the next start.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from muntin.kit import numbers
from muntin.kit.errors import Unavailable
from muntin.kit.log import fields
from muntin.kit.trees import remove_tree
from muntin.seams.oci import layers
from muntin.winruntime import processes
from muntin.winruntime.image_store import DRIVE, ImageStore

log = logging.getLogger(__name__)
_PREFIX = ".staging-"


class Staging:
    """Layers by chain id, in ``folder`` until :meth:`keep`."""

    def __init__(self, store: ImageStore, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._own: dict[str, Path] = {}

    @property
    def download(self) -> Path:
        """Where the next layer's archive goes."""
        return self._folder / "archive"

    async def unpack(self, chain: str, below: Sequence[str], diff_id: str) -> int:
        """Unpack ``download`` over the layers ``below`` (lowest first); returns its size in bytes.

        Raises:
            Invalid, Unavailable: as :func:`layers.unpack`.
        """
        target = self._folder / chain
        lowers = [self._place(lower) / DRIVE for lower in reversed(below)]
        work = asyncio.ensure_future(
            asyncio.to_thread(
                layers.unpack,
                self.download,
                target / DRIVE,
                lowers,
                self._store.base_drive,
                diff_id=diff_id,
            )
        )
        try:
            size = await asyncio.shield(work)
        except asyncio.CancelledError:
            with suppress(Exception):
                await work  # its thread cannot be stopped, and writes below the folder
            raise
        self.download.unlink()
        self._own[chain] = target
        return size

    def keep(self, chains: Sequence[str]) -> None:
        """Make the layers those of the store; they must be whole.

        Raises:
            Unavailable: another image was removed meanwhile, and a layer with it.
        """
        for chain, folder in self._own.items():
            if not self._store.has_layer(chain):
                folder.rename(self._store.layer_folder(chain))
        for chain in chains:
            if not self._store.has_layer(chain):
                raise Unavailable(
                    f"layer {chain} was removed while its image was pulled: try again"
                )

    def _place(self, chain: str) -> Path:
        return self._own.get(chain) or self._store.layer_folder(chain)


@asynccontextmanager
async def staging(store: ImageStore) -> AsyncIterator[Staging]:
    """A place for the layers of one image; what was not kept is removed at the end."""
    own = f"{_PREFIX}{os.getpid()}-{processes.started(os.getpid())}-{secrets.token_hex(4)}"
    folder = store.root / own
    folder.mkdir(mode=0o700)
    try:
        yield Staging(store, folder)
    finally:
        await asyncio.to_thread(_remove, folder)


def sweep(root: Path) -> None:
    """Remove what pulls of ended processes left below ``root``."""
    for folder in root.glob(f"{_PREFIX}*"):
        pid, start, *_ = [*folder.name.removeprefix(_PREFIX).split("-"), "", ""]
        if not processes.is_alive(numbers.int_or_none(pid) or 0, start):
            _remove(folder)


def _remove(folder: Path) -> None:
    try:
        remove_tree(folder.parent, folder.name)
    except OSError as err:
        log.warning("folder not removed", **fields(folder=folder, error=str(err)))
