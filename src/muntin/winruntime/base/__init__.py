"""The Windows base image: what every emulated container starts from.

``build_base()`` makes it once (some ten seconds) and gives a :class:`Base`; ``find_base()`` gives
the one that is there. A base is a folder of overlay layers, shared read-only by all containers:

- ``prefix/``: the Wine prefix; ``prefix/drive_c`` is C:
- ``hives/BUILD/USER/``: the registry of one Windows release and user, and the user's profile
- ``pause/``: the layer of the pause image
- ``inside/``: programs that run on the system's Python (mounted at ``/muntin/inside``)
- ``messages/``: Wine's library of error messages, with Windows' words
- ``rootfs/``: the empty root of the Linux side
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from muntin.kit.errors import NotFound
from muntin.model.windows import Profile
from muntin.model.windows_releases import BUILDS, DEFAULT_BUILD, WindowsBuild
from muntin.winruntime.base import messages
from muntin.winruntime.base.cache import CACHE, fill, inputs_digest, locked, prefix_digest
from muntin.winruntime.base.contents import MESSAGES, fill_base, fill_hives
from muntin.winruntime.base.prefix import make_prefix
from muntin.winruntime.base.users import USERS, WindowsUser

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Base:
    """A finished base image."""

    path: Path

    @property
    def rootfs(self) -> Path:
        """The root folder of containers, holding only mount points and links."""
        return self.path / "rootfs"

    @property
    def inside(self) -> Path:
        """The programs that run on Python, to be mounted read-only."""
        return self.path / "inside"

    @property
    def message_library(self) -> Path:
        """Wine's library with Windows' words for errors; absent if Wine has them itself."""
        return self.path / MESSAGES / messages.LIBRARY

    @property
    def pause_layer(self) -> Path:
        """The layer that the pause image adds."""
        return self.path / "pause"

    @property
    def prefix(self) -> Path:
        """The lowest layer."""
        return self.path / "prefix"

    def hives(self, build: int, user: WindowsUser) -> Path:
        """The layer of one release and user, made if it is the first use of that release."""
        folder = self.path / "hives" / str(build)
        if not folder.exists():
            with locked(self.path.parent):
                if not folder.exists():
                    fill(folder, lambda target: fill_hives(self.path, target, _release(build)))
        return folder / user.folder


def build_base(cache: Path = CACHE, progress: Progress = lambda _step: None) -> Base:
    """The base image for the present sources and system, built if it is not there.

    ``progress`` is called with a phrase at the start of each long step. Safe to call from several
    processes at once, and again after a build was killed.

    Raises:
        Unavailable: Wine or the compiler is missing or failed; the message says what to do.
    """
    path = cache / inputs_digest()
    if not path.exists():
        with locked(cache):
            if not path.exists():
                prefix = _prefix(cache, progress)
                fill(path, lambda target: fill_base(target, prefix, progress))
    base = Base(path)
    base.hives(DEFAULT_BUILD, USERS[0])
    return base


def _prefix(cache: Path, progress: Progress) -> Path:
    """A fresh Wine prefix, kept apart: the base changes more often than Wine does."""
    path = cache / f"prefix-{prefix_digest()}"
    if not path.exists():
        progress("creating the Wine prefix")
        fill(path, lambda target: make_prefix(target / "prefix"))
    return path / "prefix"


def find_base(cache: Path = CACHE) -> Base:
    """The base image for the present sources and system.

    Raises:
        NotFound: it has not been built.
    """
    path = cache / inputs_digest()
    if not path.exists():
        raise NotFound(f"the Windows base image {path} is not built: run `muntin up`")
    return Base(path)


def base_path(profile: Profile, cache: Path = CACHE) -> Path:
    """The folder of the base image, with the registry of ``profile``'s release made ready."""
    base = find_base(cache)
    base.hives(profile.build, USERS[0])
    return base.path


def _release(build: int) -> WindowsBuild:
    return next(row for row in BUILDS if row.build == build)
