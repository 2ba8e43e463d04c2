"""Fill the folders of the base image: the steps of a build, in order."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from muntin.kit.errors import Unavailable
from muntin.model.windows_releases import WindowsBuild
from muntin.winruntime.base import identity, messages
from muntin.winruntime.base.prefix import HIVES
from muntin.winruntime.base.programs import compile_programs
from muntin.winruntime.base.registry import Hive
from muntin.winruntime.base.users import USERS, WindowsUser
from muntin.winruntime.inside import PROGRAMS as INSIDE_PROGRAMS
from muntin.winruntime.inside.install import install

SYSTEM32 = "drive_c/windows/system32"
OWN_FOLDER = "drive_c/windows/muntin"
"""Where our own programs stand inside containers."""
MESSAGES = "messages"
"""In the base image: Wine's library with Windows' words, if Wine has others."""

_POWERSHELL_FOLDER = f"{SYSTEM32}/WindowsPowerShell/v1.0"
_ROOT_FOLDERS = ("usr", "etc", "proc", "dev", "sys", "tmp", "prefix", "muntin/inside")
_ROOT_LINKS = ("lib", "lib64", "bin", "sbin")
_PROFILE_FOLDERS = (
    "AppData/Local/Temp", "AppData/LocalLow", "AppData/Roaming", "Desktop", "Documents",
)  # fmt: skip


def fill_base(target: Path, prefix: Path, progress: Callable[[str], None]) -> None:
    """Everything but the hives, into the empty folder ``target``, over a copy of ``prefix``."""
    progress("compiling programs")
    compile_programs(target / "programs")
    progress("installing programs")
    shutil.copytree(prefix, target / "prefix", symlinks=True)
    _take_hives(target / "prefix", target / "hives" / "template")
    _install_programs(target / "programs", target / "prefix")
    _make_pause(target)
    _make_rootfs(target / "rootfs")
    try:
        messages.install(target / MESSAGES)
        install(target / "inside")
    except (OSError, subprocess.CalledProcessError) as err:
        raise Unavailable(f"cannot install programs and messages: {err}") from err


def fill_hives(base: Path, target: Path, release: WindowsBuild) -> None:
    """The registry of ``release`` for each user, into the empty folder ``target``."""
    texts = {name: _read(base / "hives" / "template" / name) for name in HIVES}
    system = Hive(texts["system.reg"])
    identity.set_release(system, release)
    texts["system.reg"] = system.text()
    for user in USERS:
        _fill_user(target / user.folder, texts, user)


def _fill_user(folder: Path, texts: dict[str, str], user: WindowsUser) -> None:
    folder.mkdir(parents=True)
    for name, text in texts.items():
        hive = Hive(text)
        identity.set_user(hive, user)
        if name == "user.reg":
            identity.prefer(hive, INSIDE_PROGRAMS)
        path = folder / name
        path.write_text(hive.text(), encoding="utf-8", errors="surrogateescape")
        os.chown(path, user.uid, user.uid)
    profile = folder / "drive_c/users" / user.folder
    for name in _PROFILE_FOLDERS:
        (profile / name).mkdir(parents=True, exist_ok=True)
    for root, _, _ in os.walk(profile):
        os.chown(root, user.uid, user.uid)


def _take_hives(prefix: Path, template: Path) -> None:
    """Move the registry out of the prefix, trimmed."""
    template.mkdir(parents=True)
    for name in HIVES:
        hive = Hive(_read(prefix / name))
        if name == "system.reg":
            identity.trim(hive)
        (template / name).write_text(hive.text(), encoding="utf-8", errors="surrogateescape")
        (prefix / name).unlink()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def _install_programs(programs: Path, prefix: Path) -> None:
    own = prefix / OWN_FOLDER
    own.mkdir()
    for name in ("wcinit.exe", "wcctl.exe", "wclinger.exe"):
        shutil.copyfile(programs / name, own / name)
    shutil.copyfile(programs / "bcryptprimitives.dll", prefix / SYSTEM32 / "bcryptprimitives.dll")
    launcher = programs / "unixrun.exe"
    for name in INSIDE_PROGRAMS:
        folder = _POWERSHELL_FOLDER if name == "powershell" else SYSTEM32
        (prefix / folder).mkdir(parents=True, exist_ok=True)
        _replace(launcher, prefix / folder / f"{name}.exe")


def _replace(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)  # a link into /usr must not be written through
    shutil.copyfile(source, target)


def _make_pause(target: Path) -> None:
    drive = target / "pause/drive_c"
    drive.mkdir(parents=True)
    shutil.copyfile(target / "programs/pause.exe", drive / "pause.exe")


def _make_rootfs(rootfs: Path) -> None:
    for name in _ROOT_FOLDERS:
        (rootfs / name).mkdir(parents=True)
    for name in _ROOT_LINKS:
        (rootfs / name).symlink_to(f"usr/{name}")
    (rootfs / "tmp").chmod(0o1777)  # runc gives a tmpfs the mode of the folder below it
