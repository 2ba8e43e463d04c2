"""The errors that Muntin raises inside: one base and eleven classes with the standards' vocabulary.

``WIRE`` says what each class is on every wire; each server translates in one place by it.
Codes: apimachinery's metav1.StatusReason, google.golang.org/grpc/codes, CNI spec 1.1.0
("Error" table), golang.org/x/sys/windows (HCN_E_*). The pairing across a row is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """One field that was wrong: ``field`` is a path such as ``spec.ports[0].port``.

    ``reason`` is a metav1.CauseType such as ``FieldValueInvalid``.
    """

    reason: str
    field: str
    message: str


class MuntinError(Exception):
    """The base: ``message`` names the object and the wrong value, then what would be right."""

    def __init__(self, message: str, *, causes: Sequence[Cause] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.causes = tuple(causes)


class NotFound(MuntinError):
    pass


class AlreadyExists(MuntinError):
    pass


class Conflict(MuntinError):
    pass


class Invalid(MuntinError):
    pass


class Forbidden(MuntinError):
    pass


class Unsupported(MuntinError):
    pass


class Unavailable(MuntinError):
    pass


class Exhausted(MuntinError):
    pass


class TimedOut(MuntinError):
    pass


class Gone(MuntinError):
    pass


class Internal(MuntinError):
    pass


@dataclass(frozen=True, slots=True)
class WireCodes:
    """One row: HTTP status and reason, gRPC status number, CNI code, HRESULT (0 = none)."""

    http: int
    reason: str
    grpc: int
    cni: int
    hresult: int


WIRE: dict[type[MuntinError], WireCodes] = {
    NotFound: WireCodes(404, "NotFound", 5, 3, 0x803B0001),
    AlreadyExists: WireCodes(409, "AlreadyExists", 6, 999, 0x803B0010),
    Conflict: WireCodes(409, "Conflict", 10, 11, 0x803B002C),
    Invalid: WireCodes(422, "Invalid", 3, 7, 0x803B001B),
    Forbidden: WireCodes(403, "Forbidden", 7, 999, 0x80070005),
    Unsupported: WireCodes(405, "MethodNotAllowed", 12, 2, 0x803B0015),
    Unavailable: WireCodes(503, "ServiceUnavailable", 14, 11, 0x80070015),
    Exhausted: WireCodes(429, "TooManyRequests", 8, 999, 0x8007000E),
    TimedOut: WireCodes(504, "Timeout", 4, 11, 0x800705B4),
    Gone: WireCodes(410, "Expired", 11, 999, 0x80070002),
    Internal: WireCodes(500, "InternalError", 13, 999, 0x80004005),
}


def wire_codes(error: BaseException) -> WireCodes:
    """The row of ``error``'s class, or of the nearest base that has one; Internal otherwise."""
    for cls in type(error).__mro__:
        if cls in WIRE:
            return WIRE[cls]
    return WIRE[Internal]
