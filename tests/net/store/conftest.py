"""A disk that is small enough to be filled."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

SIZE = "1m"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "muntin-test-disk", str(tmp_path)],
        check=True,
    )
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


@pytest.fixture
def use_up() -> Callable[[Path], Path]:
    """Takes all the room of a folder's disk, to the last byte; gives the file that takes it."""

    def take(folder: Path) -> Path:
        ballast = folder / "ballast"
        with ballast.open("ab", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)):
                pass
        return ballast

    return take
