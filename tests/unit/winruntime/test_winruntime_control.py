"""The control socket of a container's program, which the container may misuse as it likes."""

from __future__ import annotations

import array
import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.winruntime import child
from muntin.winruntime.shim.control import MAX_MESSAGES, Control, sealed


@pytest.fixture
def control() -> Iterator[Control]:
    made = Control()
    made.theirs.setblocking(False)
    yield made
    made.close()


def test_a_program_reports_its_start_and_its_status(control: Control) -> None:
    assert control.take_started() is None
    control.theirs.send(b"started 2\n")
    assert control.take_started() == 2
    control.go_on()
    assert control.theirs.recv(10) == b"+"
    control.theirs.send(b"failed 2\n")
    control.theirs.send(b"4294967295\n")
    assert control.status() == "4294967295"


@pytest.mark.parametrize(
    "message",
    [b"failed x", b"\xff\xfe", b"-1", b"12345678901", b"started 1", b"1" * 100_000, b"\0"],
)
def test_what_is_no_status_is_none(control: Control, message: bytes) -> None:
    control.theirs.send(message)
    assert control.status() == ""


def test_a_flood_is_read_to_a_bound_and_without_waiting(control: Control) -> None:
    for _ in range(MAX_MESSAGES - 1):
        control.theirs.send(b"noise")
        assert control.take_started() is None
    control.theirs.send(b"noise")
    with pytest.raises(EOFError):
        control.take_started()
    control.theirs.send(b"0\n")
    assert control.status() == ""


def test_nobody_at_the_other_end_is_no_error(control: Control) -> None:
    control.theirs.close()
    control.go_on()
    with pytest.raises(EOFError):
        control.take_started()
    assert control.status() == ""


def test_descriptors_that_a_container_sends_are_dropped(control: Control) -> None:
    before = len(os.listdir("/proc/self/fd"))
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
    control.theirs.sendmsg([b"7"], [rights])
    assert control.status() == "7"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_start_file_cannot_be_changed_by_who_inherits_it() -> None:
    fd = sealed(b"words\0")
    assert os.read(fd, 100) == b"words\0"
    with pytest.raises(PermissionError):
        os.pwrite(fd, b"x", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(fd, 1 << 30)
    os.close(fd)


def test_a_child_has_the_given_descriptors_at_their_numbers() -> None:
    script = "import os; os.write(3, os.read(0, 9)); os.write(4, b'four'); os._exit(7)"
    three, four = os.pipe2(os.O_CLOEXEC), os.pipe2(os.O_CLOEXEC)
    given = sealed(b"zero")

    async def run() -> int:
        files = [given, four[1], four[1], three[1], four[1]]
        return await child.start([sys.executable, "-ISE", "-c", script], files).wait()

    assert asyncio.run(run()) == 7
    os.close(three[1])
    os.close(four[1])
    assert (os.read(three[0], 9), os.read(three[0], 9)) == (b"zero", b"")  # nothing is left open
    assert os.read(four[0], 9) == b"four"
    for fd in (given, three[0], four[0]):
        os.close(fd)


def test_a_killed_child_has_a_negative_code() -> None:
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)

    async def run() -> int:
        process = child.start(["/bin/sleep", "60"], [null] * 3, new_session=True)
        process.kill()
        code = await process.wait()
        process.kill()  # gone is fine
        return code

    assert asyncio.run(run()) == -9
    os.close(null)


MESSAGES = st.lists(
    st.sampled_from([b"0", b"failed 5\n", b"started 0\n", b"\xb2", b"failed ", b"4294967295\n"])
    | st.binary(min_size=1, max_size=80),
    max_size=30,
)


@settings(max_examples=100, deadline=None)
@given(MESSAGES)
def test_any_messages_give_a_status_or_none(messages: list[bytes]) -> None:
    control = Control()
    try:
        for message in messages:
            control.theirs.send(message)
        with contextlib.suppress(EOFError):
            assert control.take_started() in (None, 0)
        status = control.status()
        assert status == "" or int(status.removeprefix("failed ")) >= 0
    finally:
        control.close()
