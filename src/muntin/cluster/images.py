"""The images that a cluster starts with: made on this machine once, then found in the cache."""

from __future__ import annotations

from muntin.cluster.config import ClusterConfig, Os
from muntin.cluster.linux_containerd import IMAGE_CACHE
from muntin.cluster.preflight import Need, check_packages
from muntin.cluster.progress import Progress, step
from muntin.kit.errors import NotFound

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
            prepare_windows(progress)
            from muntin.winruntime.base import base_path

            for profile in profiles:
                base_path(profile)


def prepare_windows(progress: Progress) -> str:
    """Make the Windows base image if it is not there; the path of its folder."""
    from muntin.winruntime.base import build_base, find_base

    try:
        return str(find_base().path)
    except NotFound:
        check_packages([COMPILER])
        return str(build_base(progress=progress.note).path)
