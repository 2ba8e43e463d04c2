"""Mounts with shifted owners, staged for runc in a mount namespace that goes when it has started.

``folder/stage.json`` says what to mount (``user_namespace.isolate`` writes it): volumes by their
``source``, and an overlay by its options. An absent file means nothing is staged.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from muntin.winruntime.shim import kernel

PLAN, FOLDER = "stage.json", "stage"
_LOWER = "lowerdir="


@contextmanager
def staged(folder: str) -> Iterator[None]:
    """Run the block, which starts runc, where the mounts of ``folder`` are in place.

    Raises:
        OSError: one of them cannot be made.
    """
    try:
        with open(f"{folder}/{PLAN}", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs memory
            plan = json.load(file)
    except FileNotFoundError:
        yield
        return
    with (
        kernel.user_namespace(plan["first"], plan["size"]) as user_namespace,
        kernel.mount_namespace(),
    ):
        stage = f"{folder}/{FOLDER}"
        kernel.mount("tmpfs", stage, "tmpfs", "mode=755,size=1m")
        for mount in plan["mounts"]:
            if "overlay" in mount:
                _overlay(mount["target"], mount["overlay"], user_namespace)
            else:
                _volume(mount["source"], mount["target"], user_namespace)
        yield


def _overlay(target: str, options: list[str], user_namespace: int) -> None:
    """The layers' owners are shifted, the writable layer's are on disk as they are.

    Layers are named from the stage, which is the working folder meanwhile: all options together
    must fit into a page of memory (mount(2)), and images have many layers.
    """
    lowers: list[str] = []
    others = [option for option in options if not option.startswith(_LOWER)]
    for option in options:
        if option.startswith(_LOWER):
            lowers = option.removeprefix(_LOWER).split(":")
    stage, _, name = target.rpartition("/")
    for number, lower in enumerate(lowers):
        layer = f"{name}.{number}"
        os.mkdir(f"{stage}/{layer}")  # noqa: PTH102 - as above
        kernel.attach(kernel.mapped_tree(lower, user_namespace), f"{stage}/{layer}")
        lowers[number] = layer
    os.mkdir(target)  # noqa: PTH102 - as above
    os.chdir(stage)
    kernel.mount("overlay", target, "overlay", ",".join([_LOWER + ":".join(lowers), *others]))


def _volume(source: str, target: str, user_namespace: int) -> None:
    """A file system that cannot shift owners (NFS, overlay, proc) is mounted without."""
    if os.path.isdir(source):  # noqa: PTH112 - as above
        os.mkdir(target)  # noqa: PTH102 - as above
    else:
        os.close(os.open(target, os.O_CREAT | os.O_CLOEXEC | os.O_WRONLY, 0o600))
    try:
        tree = kernel.mapped_tree(source, user_namespace)
    except OSError as err:
        if err.errno not in (errno.EINVAL, errno.EPERM):
            raise
        tree = kernel.tree(source)
    kernel.attach(tree, target)
