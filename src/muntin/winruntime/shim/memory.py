"""Excludes the memory that Wine uses at startup from a container's limit and usage.

A Windows program needs Wine's server and services, which stand for parts of Windows that do not
count towards a container's limit. They run before the program starts: the memory that they use then
is added to the limit and subtracted from the reported usage.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

WINE_FILE = "wine_bytes"
"""In the container's folder: what Wine took, in decimal."""
WINE_START_BYTES = 256 << 20
"""Added to a memory limit while Wine starts; later replaced by the memory that Wine uses."""


def settle(folder: str, limit: int, files: Mapping[str, str]) -> None:
    """Measure what the control group uses now, write it down, and set the limit (0 is none).

    It never counts more than Wine may take: an image can replace programs of ours on its C:, which
    then use memory before they say that Wine is up.
    """
    used = min(working_set(files), WINE_START_BYTES)
    temporary = f"{folder}/.{WINE_FILE}"
    with suppress(OSError):  # on a full disk the numbers are wrong, but the program runs
        _write(temporary, used)
        os.rename(temporary, f"{folder}/{WINE_FILE}")  # noqa: PTH104 - pathlib costs memory
    if limit:
        with suppress(OSError):  # it may have ended
            _write(files["limit"], limit + used)


def read_wine_bytes(folder: str) -> int:
    """What :func:`settle` wrote down; 0 for a container that was started without Wine."""
    try:
        return int(_read(f"{folder}/{WINE_FILE}"))
    except (OSError, ValueError):
        return 0


def working_set(files: Mapping[str, str]) -> int:
    """Bytes in use without what can be freed at once; 0 if the group is gone."""
    try:
        used = int(_read(files["usage"]))
        stat = dict(line.split(" ", 1) for line in _read(files["stat"]).splitlines())
        return max(0, used - int(stat.get(files["inactive"], 0)))
    except (OSError, ValueError):
        return 0


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:  # noqa: PTH123 - as above
        return file.read()


def _write(path: str, number: int) -> None:
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123 - as above
        file.write(str(number))
