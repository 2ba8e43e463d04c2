"""The images that a cluster starts with: made on this machine once, then found in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.cluster.config import ClusterConfig, Os
from muntin.cluster.linux_containerd import IMAGE_CACHE
from muntin.cluster.paths import WINDOWS_BASE_CACHE
from muntin.cluster.preflight import Need, check_packages
from muntin.cluster.progress import Progress, step
from muntin.kit.errors import NotFound

if TYPE_CHECKING:
    from muntin.winruntime.base import Base

COMPILER = Need("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64-win32")


def prepare(config: ClusterConfig, progress: Progress) -> None:
    """Make what the nodes of ``config`` start with, as far as the cache does not have it.

    Raises:
        Unsupported: the compiler for the Windows programs is missing.
        Unavailable: the build failed.
    """
    if any(node.os is Os.LINUX for node in config.nodes):
        from muntin.cluster.images_linux import write_archives

        with step(progress, "Linux images"):
            write_archives(IMAGE_CACHE)
    profiles = [node.profile for node in config.nodes if node.profile is not None]
    if profiles:
        with step(progress, "Windows base image"):
            base = prepare_windows(progress)
            from muntin.winruntime.base.users import USERS

            for build in {profile.build for profile in profiles}:
                base.hives(build, USERS[0])


def prepare_windows(progress: Progress) -> Base:
    """The Windows base image, made if it is not there."""
    from muntin.winruntime.base import build_base, find_base

    try:
        return find_base(WINDOWS_BASE_CACHE)
    except NotFound:
        check_packages([COMPILER])
        return build_base(WINDOWS_BASE_CACHE, progress=progress.note)
