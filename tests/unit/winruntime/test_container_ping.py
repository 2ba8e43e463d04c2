"""ping.exe against loopback, its texts as Windows words them."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from muntin.winruntime.inside import ping

MAIN = Path(ping.__file__).parent / "__main__.py"


def run(*args: str, timeout_s: float = 60) -> subprocess.CompletedProcess[bytes]:
    command = ["/usr/bin/python3", "-ISE", str(MAIN), "ping", *args]
    return subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)


def test_one_echo():
    done = run("-n", "1", "127.0.0.1")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert re.fullmatch(
        r"\r\nPinging 127\.0\.0\.1 with 32 bytes of data:\r\n"
        r"Reply from 127\.0\.0\.1: bytes=32 time(<1|=\d+)ms TTL=64\r\n"
        r"\r\nPing statistics for 127\.0\.0\.1:\r\n"
        r"    Packets: Sent = 1, Received = 1, Lost = 0 \(0% loss\),\r\n"
        r"Approximate round trip times in milli-seconds:\r\n"
        r"    Minimum = \d+ms, Maximum = \d+ms, Average = \d+ms\r\n",
        text,
    )


def test_a_name_is_shown_with_its_address_and_size():
    text = run("-n", "1", "-l", "1000", "-4", "localhost").stdout.decode()
    assert "Pinging localhost [127.0.0.1] with 1000 bytes of data:" in text
    assert "bytes=1000 " in text


def test_an_unknown_name():
    done = run("nosuch.invalid")
    assert done.returncode == 1
    assert done.stdout.decode().strip() == (
        "Ping request could not find host nosuch.invalid. Please check the name and try again."
    )


def test_until_stopped():
    command = ["/usr/bin/python3", "-ISE", str(MAIN), "ping", "-t", "127.0.0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(3):
            process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().decode()
        assert process.wait(30) == 0
    assert "Control-C" in rest
    assert "Ping statistics for 127.0.0.1:" in rest


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([], "Usage: ping"),
        (["-n"], "Value must be supplied for option -n."),
        (["-n", "x", "a"], "Bad value for option -n, valid range is from 1 to 4294967295."),
        (["-q", "a"], "Bad option -q."),
        (["a", "b"], "Bad parameter b."),
    ],
)
def test_a_wrong_command_line(args, text):
    with pytest.raises(ping.Problem, match=re.escape(text)):
        ping.parse(args)
