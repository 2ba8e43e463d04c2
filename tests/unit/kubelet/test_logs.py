"""Reading CRI logs back: tail, since, limits, partial lines, following, rotation."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from muntin.kit.clock import FakeClock, parse_rfc3339
from muntin.kit.errors import Invalid
from muntin.kubelet.logs import LogFile, LogOptions, last_lines, read_log, tail_offset
from muntin.kubelet.node_files import RootedFiles
from muntin.kubelet.server import log_options


def line(second: int, text: str, stream: str = "stdout", tag: str = "F") -> str:
    return f"2026-01-02T03:04:{second:02d}.123456789Z {stream} {tag} {text}\n"


def opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def read(path: Path, options: LogOptions) -> str:
    async def run() -> bytes:
        async def ended() -> bool:
            return True

        return b"".join([one async for one in read_log(opener(path), options, FakeClock(), ended)])

    return asyncio.run(run()).decode()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "0.log"
    path.write_text(
        line(1, "one")
        + line(2, "two ", "stderr", "P")
        + line(3, "and more", "stderr")
        + "not a log line\n"
        + line(4, "")
        + line(5, "five")
    )
    return path


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (LogOptions(), "one\ntwo and more\n\nfive\n"),
        (LogOptions(tail_lines=2), "\nfive\n"),
        (LogOptions(tail_lines=0), ""),
        (LogOptions(tail_lines=99), "one\ntwo and more\n\nfive\n"),
        (LogOptions(limit_bytes=5), "one\nt"),
        (LogOptions(stream="Stderr"), "two and more\n"),
        (LogOptions(tail_lines=1, timestamps=True), "2026-01-02T03:04:05.123456789Z five\n"),
        (LogOptions(since=parse_rfc3339("2026-01-02T03:04:04Z")), "\nfive\n"),
    ],
)
def test_options(log: Path, options: LogOptions, text: str) -> None:
    assert read(log, options) == text


def test_tail_of_a_long_file(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    rows = [line(0, f"{number:06d}" + "x" * 50) for number in range(5000)]
    path.write_text("".join(rows))
    with path.open("rb") as file:
        assert path.read_bytes()[tail_offset(file, 1500) :].decode() == "".join(rows[-1500:])
    assert last_lines(opener(path), lines=80, max_bytes=100)[-57:] == "004999" + "x" * 50 + "\n"


def rotate(log: Path, text: str) -> None:
    log.rename(log.with_suffix(".old"))
    log.write_text(text)


def test_following_sees_what_is_written_and_a_rotated_file(log: Path) -> None:
    async def run() -> list[bytes]:
        clock, over, found = FakeClock(), False, []

        async def ended() -> bool:
            return over

        async def reader() -> None:
            options = LogOptions(tail_lines=0, follow=True)
            async for piece in read_log(opener(log), options, clock, ended):
                found.append(piece)

        task = asyncio.create_task(reader())
        await clock.advance(0.2)
        with log.open("a") as file:
            file.write(line(6, "six"))
        await clock.advance(0.2)
        rotate(log, line(7, "seven"))
        await clock.advance(0.2)
        over = True
        await clock.advance(0.2)
        await asyncio.wait_for(task, 10)
        return found

    assert asyncio.run(run()) == [b"six\n", b"seven\n"]


def test_a_log_is_a_regular_file_inside_the_node(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (tmp_path / "secret").write_text(line(1, "of the host"))
    (root / "logs").mkdir(parents=True)
    (root / "logs/link").symlink_to(tmp_path / "secret")
    (root / "out").symlink_to(tmp_path)
    os.mkfifo(root / "logs/fifo")
    for folder, name in (("/logs", "link"), ("/logs", "fifo"), ("/out", "secret")):
        with pytest.raises((OSError, Invalid)):
            LogFile(RootedFiles(root), folder, name).open()


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(b"x" * (3 << 20) + b"\n" + line(1, "after").encode())
    assert read(path, LogOptions()) == "after\n"
    assert last_lines(opener(path), lines=80, max_bytes=2048) == "after\n"


def test_query() -> None:
    query = {"tailLines": ["5"], "follow": ["true"], "sinceSeconds": ["60"], "timestamps": ["1"]}
    found = log_options(query, 1000.0)
    assert found == LogOptions(follow=True, timestamps=True, tail_lines=5, since=940.0)
    with pytest.raises(Invalid, match="tailLines"):
        log_options({"tailLines": ["x"]}, 0)
    with pytest.raises(Invalid, match="sinceTime"):
        log_options({"sinceTime": ["yesterday"]}, 0)


@pytest.mark.parametrize(
    ("stamp", "shown"),
    [
        ("2026-01-02T03:04:05.01813415Z", "2026-01-02T03:04:05.018134150Z"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000000Z"),
        ("2026-01-02T03:04:05.5+01:00", "2026-01-02T03:04:05.500000000+01:00"),
    ],
)
def test_times_are_shown_with_all_their_digits(tmp_path: Path, stamp: str, shown: str) -> None:
    path = tmp_path / "0.log"
    path.write_text(f"{stamp} stdout F text\n")
    assert read(path, LogOptions(timestamps=True)) == f"{shown} text\n"


def test_a_line_in_parts_has_one_time(log: Path) -> None:
    lines = read(log, LogOptions(timestamps=True)).splitlines()
    assert lines[1] == "2026-01-02T03:04:02.123456789Z two and more"
