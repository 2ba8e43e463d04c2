"""Windows' words in Wine's message table."""

from __future__ import annotations

import struct
from pathlib import Path

import orjson
import pytest

from muntin.seams.oci.bundle import Limits, Process
from muntin.winruntime.base import Base, messages
from muntin.winruntime.base.messages import INSTALLED, install, replaced
from muntin.winruntime.launch import Drive, write_bundle


def entry(text: str) -> bytes:
    data = f"{text}\0".encode("utf-16-le")
    data = data.ljust((len(data) + 3) // 4 * 4, b"\0")
    return struct.pack("<HH", 4 + len(data), 1) + data


def texts(table: bytes) -> list[str]:
    """The messages of a table, as RtlFindMessage walks through it."""
    messages = []
    while table:
        length, flags = struct.unpack_from("<HH", table)
        data = table[4:length]
        text = data.decode("utf-16-le") if flags & 1 else data.decode("ascii")
        messages.append(text.split("\0")[0])
        table = table[length:]
    return messages


TABLE = b"".join(map(entry, ["File not found.\n", "Access denied.\n", "Invalid handle.\n"]))


def test_messages_are_replaced_in_their_place():
    library = replaced(TABLE + TABLE)
    assert len(library) == 2 * len(TABLE)
    assert texts(library) == ["File not found.\n", "Access is denied.\n", "Invalid handle.\n"] * 2
    assert replaced(library) == library


def test_a_longer_text_that_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="too long"):
        replaced(TABLE, {"Access denied.\n": "x" * 40})


@pytest.mark.parametrize("differs", [True, False])
def test_the_library_is_mounted_over_that_of_wine(tmp_path: Path, differs: bool):
    source, base = tmp_path / "source.dll", Base(tmp_path / "base")
    source.write_bytes(TABLE if differs else replaced(TABLE))
    base.rootfs.mkdir(parents=True)
    install(base.message_library.parent, source)
    assert base.message_library.exists() is differs
    write_bundle(
        tmp_path, base, Process(args=["x"], env={}, cwd="/", uid=0), Drive(lowers=[base.prefix]),
        hostname="a", cgroup="b", limits=Limits(), mounts=(), ids=None,
    )  # fmt: skip
    mounts = orjson.loads((tmp_path / "config.json").read_bytes())["mounts"]
    targets = [mount["destination"] for mount in mounts]
    assert (INSTALLED in targets) is differs
    if differs:
        assert targets.index("/usr") < targets.index(INSTALLED)
        assert mounts[targets.index(INSTALLED)]["source"] == str(base.message_library)
    assert targets.index("/etc") < targets.index("/etc/ssl/certs") < targets.index("/prefix")


def test_the_installed_library_has_the_message_or_windows_words():
    library = Path(INSTALLED).read_bytes()
    changed = replaced(library)
    assert len(changed) == len(library)
    for old, new in messages.WORDS.items():
        assert entry(old) not in changed
        assert new.encode() in changed or entry(new) in changed
