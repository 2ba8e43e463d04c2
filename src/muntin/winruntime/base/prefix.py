"""A small Wine prefix: made by wineboot, then every copied system file replaced by a link.

The links point into /usr, which containers see read-only at the same path, so that all
containers share one copy of each DLL in memory and the prefix takes megabytes, not 700 of them.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

from muntin.kit.errors import Unavailable
from muntin.winruntime.base.identity import BUILD_USER

WINE = "/usr/lib/wine/wine64"
WINESERVER = "/usr/lib/wine/wineserver64"
SYSTEM_DLLS = "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows"
_SYSTEM_FOLDERS = (SYSTEM_DLLS, "/usr/share/wine")
_SMALLEST_LINKED_BYTES = 2048
_WINEBOOT_LIMIT_S = 180
HIVES = ("system.reg", "user.reg", "userdef.reg")


def make_prefix(prefix: Path) -> None:
    """Let Wine fill ``prefix`` (absent before), and shrink it.

    Raises:
        Unavailable: Wine is not installed, or did not finish.
    """
    prefix.mkdir(parents=True)
    scratch = prefix.with_name("scratch")  # wineserver's socket
    scratch.mkdir()
    environment = {
        "TMPDIR": str(scratch),
        "PATH": "/usr/bin:/bin",
        "HOME": str(prefix),
        "USER": BUILD_USER,
        "LANG": "C.UTF-8",
        "WINEPREFIX": str(prefix),
        "WINEARCH": "win64",
        "WINESERVER": WINESERVER,
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",  # else it asks whether to fetch Mono and Gecko
    }
    _run([WINE, "wineboot", "-i"], environment)
    _run([WINESERVER, "-k"], environment)  # writes the registry, then ends
    _run([WINESERVER, "-w"], environment)
    _link_system_files(prefix / "drive_c")
    _remove_leftovers(prefix)
    shutil.rmtree(scratch)


def _run(command: list[str], environment: dict[str, str]) -> None:
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(
            command, env=environment, stdin=quiet, stdout=quiet, stderr=quiet,
            timeout=_WINEBOOT_LIMIT_S,
        )  # fmt: skip
    except FileNotFoundError as err:
        raise Unavailable(f"{command[0]} is not installed: apt-get install wine64") from err
    except subprocess.TimeoutExpired as err:
        raise Unavailable(f"{' '.join(command)} did not end in {_WINEBOOT_LIMIT_S} s") from err
    if done.returncode and "-k" not in command:  # nothing left to stop is fine
        raise Unavailable(f"{' '.join(command)} failed with exit code {done.returncode}")


def _link_system_files(drive: Path) -> None:
    originals: dict[int, list[Path]] = defaultdict(list)
    for folder in _SYSTEM_FOLDERS:
        for path in _files(Path(folder)):
            originals[path.stat().st_size].append(path)
    for path in _files(drive):
        size = path.stat().st_size
        if size < _SMALLEST_LINKED_BYTES:
            continue
        same = (o for o in originals.get(size, ()) if filecmp.cmp(path, o, shallow=False))
        if original := next(same, None):
            path.unlink()
            path.symlink_to(original)


def _files(folder: Path) -> list[Path]:
    return [
        path
        for root, _, names in os.walk(folder)
        for name in names
        if not (path := Path(root, name)).is_symlink()
    ]


def _remove_leftovers(prefix: Path) -> None:
    """What wineboot leaves for a desktop: other drives, serial ports, the maker's profile."""
    for device in (prefix / "dosdevices").iterdir():
        if device.name != "c:":
            device.unlink()
    (prefix / "wineserver").unlink(missing_ok=True)
    (prefix / ".update-timestamp").write_text("disable\n")
    shutil.rmtree(prefix / "drive_c/users" / BUILD_USER)
