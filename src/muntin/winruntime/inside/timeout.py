"""timeout.exe: wait a number of seconds."""

from __future__ import annotations

import sys
import time

LONGEST_S = 99999


def main(argv: list[str]) -> int:
    """``timeout [/t] SECONDS [/nobreak]``; -1 waits for a key, of which there are none."""
    words = [word for word in argv if word.lower() not in ("/t", "-t", "/nobreak", "-nobreak")]
    if len(words) != 1 or not words[0].lstrip("-").isdigit():
        print("ERROR: Invalid syntax. Default option is not allowed more than '1' time(s).",
              file=sys.stderr)  # fmt: skip
        return 1
    seconds = int(words[0])
    if not -1 <= seconds <= LONGEST_S:
        print(
            "ERROR: Invalid value for timeout (/T) specified. Valid range is -1 to 99999.",
            file=sys.stderr,
        )
        return 1
    nobreak = any(word.lower() in ("/nobreak", "-nobreak") for word in argv)
    if not nobreak and not sys.stdin.isatty():
        print(
            "ERROR: Input redirection is not supported, exiting the process immediately.",
            file=sys.stderr,
        )
        return 1
    try:
        time.sleep(LONGEST_S if seconds < 0 else seconds)
    except KeyboardInterrupt:
        return 1
    return 0
