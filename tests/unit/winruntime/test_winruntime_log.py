"""The CRI log's lines. Source: kubernetes "CRI: Log management"; containerd's limit of 16 KiB."""

import contextlib
import os
import select
import socket
import time
from pathlib import Path

import pytest

from muntin.kit.errors import Invalid
from muntin.winruntime.shim.attach import MAX_INPUT_BYTES, Attached
from muntin.winruntime.shim.frames import STDIN, FrameReader, frame, line
from muntin.winruntime.shim.log import MAX_LINE_BYTES, CriLog, timestamp


def lines(path: Path) -> list[str]:
    return [line.split(" ", 1)[1] for line in path.read_text().splitlines()]


def test_lines_lose_their_cr_and_wait_for_their_end(tmp_path: Path) -> None:
    log = CriLog(str(tmp_path), "d/0.log", 1 << 20)
    log.write("stdout", b"one\r\ntw")
    log.write("stderr", b"oops\n")
    log.write("stdout", b"o\r\nrest")
    log.close()
    assert lines(tmp_path / "d/0.log") == [
        "stdout F one", "stderr F oops", "stdout F two", "stdout P rest",
    ]  # fmt: skip


def test_long_lines_are_cut(tmp_path: Path) -> None:
    log = CriLog(str(tmp_path), "0.log", 1 << 20)
    log.write("stdout", b"x" * (MAX_LINE_BYTES + 5) + b"\n")
    log.close()
    tags = [(line.split()[1], len(line.split()[2])) for line in lines(tmp_path / "0.log")]
    assert tags == [("P", MAX_LINE_BYTES), ("F", 5)]


def test_a_flood_does_not_fill_the_disk(tmp_path: Path) -> None:
    log = CriLog(str(tmp_path), "0.log", 1000)
    for _ in range(100):
        log.write("stdout", b"0123456789\n")
    log.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2000


def test_a_renamed_log_is_left_alone_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    log = CriLog(str(tmp_path), path.name, 1 << 20)
    log.write("stdout", b"before\n")
    path.rename(tmp_path / "old")
    log.reopen()
    log.write("stdout", b"after\n")
    log.close()
    assert (lines(tmp_path / "old"), lines(path)) == (["stdout F before"], ["stdout F after"])


def test_links_do_not_lead_the_log_elsewhere(tmp_path: Path) -> None:
    """A pod with the folder as hostPath plants links before the log is opened, and later."""
    root = tmp_path / "root"
    (tmp_path / "host").mkdir()
    (root / "d").mkdir(parents=True)
    (root / "d/0.log").symlink_to(tmp_path / "host/planted")
    (root / "e").symlink_to(tmp_path / "host")
    for path in ("d/0.log", "e/0.log"):
        with pytest.raises((OSError, Invalid)):
            CriLog(str(root), path, 1 << 20)
    log = CriLog(str(root), "f/0.log", 1 << 20)
    (root / "f/0.log").rename(root / "f/old")
    (root / "f/0.log").symlink_to(tmp_path / "host/planted")
    log.reopen()
    log.write("stdout", b"goes on\n")
    log.close()
    assert lines(root / "f/old") == ["stdout F goes on"]
    assert list((tmp_path / "host").iterdir()) == []


def test_timestamps_have_nanoseconds() -> None:
    assert timestamp(1_700_000_000_000_000_007) == b"2023-11-14T22:13:20.000000007Z"


def test_frames_are_cut_from_any_pieces() -> None:
    data = frame(1, b"ab") + frame(0, b"")
    reader = FrameReader()
    assert [f for i in range(len(data)) for f in reader.feed(data[i : i + 1])] == [
        (1, b"ab"),
        (0, b""),
    ]


def test_a_flood_of_short_lines_takes_time_by_its_length(tmp_path: Path) -> None:
    log = CriLog(str(tmp_path), "0.log", 1 << 30)
    before = time.process_time()
    log.write("stdout", b"\n" * 400_000)
    assert time.process_time() - before < 3.0  # with a copy for each line: a minute
    log.close()
    assert len(lines(tmp_path / "0.log")) == 400_000


def test_output_without_a_newline_is_held_to_the_length_of_a_line(tmp_path: Path) -> None:
    log = CriLog(str(tmp_path), "0.log", 1 << 20)
    for _ in range(1000):
        log.write("stdout", b"x" * 65536)
        log.write("stderr", b"y" * 65536)
        assert sum(map(len, log._pending.values())) <= 2 * MAX_LINE_BYTES
    log.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2 << 20


def test_users_are_not_read_while_a_program_does_not_read(tmp_path: Path) -> None:
    attached = Attached(str(tmp_path / "s"), CriLog("", "", 0))
    theirs, ours = os.pipe()
    os.set_blocking(ours, False)
    attached.take_input(ours, once=False)
    with socket.socket(socket.AF_UNIX) as user:
        user.connect(str(tmp_path / "s"))
        user.setblocking(False)
        user.send(line({"op": "attach"}))
        sent = 0
        for _ in range(500):
            with contextlib.suppress(BlockingIOError):
                sent += user.send(frame(STDIN, b"k" * 65536))
            readable, writable, _ = select.select(attached.readers(), attached.writers(), [], 0)
            attached.serve(readable, writable)
        assert len(attached.readers()) == 1  # the listener
        assert len(attached._pending_input) < 2 * MAX_INPUT_BYTES
        assert sent < 4 * MAX_INPUT_BYTES
        while attached._pending_input:
            os.read(theirs, 1 << 20)
            attached.serve([], attached.writers())
        assert len(attached.readers()) == 2
    attached.close()
    os.close(theirs)
    os.close(ours)
