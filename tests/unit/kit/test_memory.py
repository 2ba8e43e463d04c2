"""Large blocks go back to the kernel when they are freed, whatever is put behind them."""

from __future__ import annotations

import subprocess
import sys

# Frees a block of 8 MiB, after which glibc by itself keeps the next such blocks in the heap; then
# pins each one's place with a small one.
PROGRAM = """
import sys
from muntin.kit import memory

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

if sys.argv[1] == "apart":
    memory.keep_large_apart()
large = bytes(8 << 20)
del large
before = resident()
kept = []
for _ in range(4):
    large = b"x" * (6 << 20)
    kept.append(b"y" * 100_000)
    del large
if sys.argv[1] == "given back":
    memory.give_back()
print(resident() - before)
"""


def growth(how: str) -> int:
    command = [sys.executable, "-c", PROGRAM, how]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def test_large_blocks_do_not_stay_in_the_heap() -> None:
    assert growth("as it is") > 5 << 20
    assert growth("apart") < 2 << 20


def test_free_pages_between_others_are_given_back() -> None:
    assert growth("given back") < 2 << 20
