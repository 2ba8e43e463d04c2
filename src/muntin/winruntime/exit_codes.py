"""How a container ended, as CRI says it. Pure.

Source: reference texts of HCS; winnt.h for the numbers of Windows errors.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muntin.kit import numbers
from muntin.model.gates import Profile
from muntin.model.windows import Feature, is_open

_SIGKILL = 9
EXIT_TERMINATED = 1
"""What a process ends with that HCS terminates (TerminateProcess, exit code 1)."""
EXIT_OOM = 137
EXIT_LOST = 255
WAIT_TO_KILL_S = 5.0
"""WaitToKillServiceTimeout, as images have it."""

WINDOWS_ERRORS = {
    2: "The system cannot find the file specified.",
    3: "The system cannot find the path specified.",
    5: "Access is denied.",
    193: "%1 is not a valid Win32 application.",
    206: "The filename or extension is too long.",
    216: "This version of %1 is not compatible with the version of Windows you're running.",
    267: "The directory name is invalid.",
}

_CONNECT_ERRORS = {
    errno.ECONNREFUSED: (
        "No connection could be made because the target machine actively refused it."
    ),
    errno.ENETUNREACH: "A socket operation was attempted to an unreachable network.",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """``exit_code`` is a signed 32-bit number, as CRI has it."""

    exit_code: int
    reason: str
    message: str = ""


def time_to_end(asked_s: float, profile: Profile) -> float:
    """How long a container that is stopped is waited for: with docker Windows ends it itself."""
    if is_open(Feature.TERMINATION_GRACE, profile):
        return asked_s
    return min(asked_s, WAIT_TO_KILL_S)


def signed(code: int) -> int:
    """A DWORD as int32: 0xC0000005 becomes -1073741819."""
    code &= 0xFFFFFFFF
    return code - (1 << 32) if code >= 1 << 31 else code


def unsigned(code: int) -> int:
    """A DWORD as streams tell it: -1 becomes 4294967295, which kubectl has no exit code for."""
    return code & 0xFFFFFFFF


def connect_error(number: int | None) -> str:
    """How Go on Windows words a failed ``connect``, by the errno of this machine."""
    text = _CONNECT_ERRORS.get(number or 0) or os.strerror(number or 0)
    return f"connectex: {text}"


def windows_error(number: int) -> str:
    """The text of a Windows error number."""
    return WINDOWS_ERRORS.get(number, f"Windows error {number}.")


def ending(result: Mapping[str, Any], profile: Profile) -> Ending:
    """What the shim's ``exit.json`` means.

    Windows never kills for memory: an allocation fails instead. The emulation can only kill, and
    says so; the reason is OOMKilled only where the gate OOM_KILL is open.
    """
    if result.get("oom_kills"):
        reason = "OOMKilled" if is_open(Feature.OOM_KILL, profile) else "Error"
        return Ending(
            EXIT_OOM,
            reason,
            "the emulation ended the container at its memory limit; "
            "on Windows the program's allocation would have failed",
        )
    tells_signals = is_open(Feature.API_EXIT_CODES, profile)
    code = _code(str(result.get("status", "")), int(result.get("wait_status", 0)), tells_signals)
    return Ending(code, "Completed" if code == 0 else "Error")


def _code(status: str, wait_status: int, tells_signals: bool) -> int:
    number = numbers.int_or_none(status, 0, 2**32 - 1)
    if number is not None:
        return signed(number)
    code = os.waitstatus_to_exitcode(wait_status)
    if code == -_SIGKILL and not tells_signals:
        return EXIT_TERMINATED
    return 128 - code if code < 0 else code


LOST = Ending(EXIT_LOST, "Error", "the container's shim is gone: its exit code is not known")
