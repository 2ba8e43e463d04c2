"""The memory that Wine uses at startup does not count towards a container's limit and usage."""

from __future__ import annotations

from pathlib import Path

import pytest

from muntin.winruntime.cgroups import CgroupReader
from muntin.winruntime.shim.memory import WINE_START_BYTES, read_wine_bytes, settle
from muntin.winruntime.stats import without_wine

V1 = {
    "memory.usage_in_bytes": "50000",
    "memory.stat": "cache 1\ninactive_file 9\ntotal_inactive_file 8000\n",
    "memory.limit_in_bytes": "1",
}
V2 = {"memory.current": "50000", "memory.stat": "inactive_file 8000\n", "memory.max": "max"}


@pytest.mark.parametrize(("group", "files"), [("memory/m/c", V1), ("m/c", V2)])
def test_wine_s_memory_is_measured_and_added_to_the_limit(
    group: str, files: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / group).mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / group / name).write_text(text)
    cgroups = CgroupReader(tmp_path)
    limit = tmp_path / group / list(files)[2]
    settle(str(tmp_path), 1000, cgroups.memory_files("/m/c"))
    assert read_wine_bytes(str(tmp_path)) == 42000
    assert limit.read_text() == "43000"
    settle(str(tmp_path), 0, cgroups.memory_files("/m/c"))
    assert limit.read_text() == "43000"
    cgroups.set_memory_limit("/m/c", 7)
    assert limit.read_text() == "7"


def test_an_image_that_uses_memory_as_wine_gets_no_more_than_wine(tmp_path: Path) -> None:
    folder = tmp_path / "m/c"
    folder.mkdir(parents=True)
    for name, text in {**V2, "memory.current": str(8 << 30)}.items():
        (folder / name).write_text(text)
    settle(str(tmp_path), 1000, CgroupReader(tmp_path).memory_files("/m/c"))
    assert read_wine_bytes(str(tmp_path)) == WINE_START_BYTES
    assert (folder / "memory.max").read_text() == str(1000 + WINE_START_BYTES)


def test_a_container_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    cgroups = CgroupReader(tmp_path)
    settle(str(tmp_path), 1000, cgroups.memory_files("/gone"))
    cgroups.set_memory_limit("/gone", 7)
    assert read_wine_bytes(str(tmp_path)) == 0
    assert read_wine_bytes(str(tmp_path / "absent")) == 0
    assert not (tmp_path / "gone").exists()


def test_usage_is_what_wine_did_not_take() -> None:
    assert without_wine(50 << 20, 40 << 20) == 10 << 20
    assert without_wine(30 << 20, 40 << 20) == 4096
