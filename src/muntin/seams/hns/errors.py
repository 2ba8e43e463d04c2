"""HNS' error codes: their names, their texts, and the class that each is inside Muntin.

``HnsFailure`` is what the emulator raises and what the client raises again from the wire, so both
sides of the socket see the same code and text.
Sources: golang.org/x/sys/windows (HCN_E_*), Microsoft's system error codes; texts that are not
quoted in public reports are HNS' symbol put into words.
"""

from __future__ import annotations

from dataclasses import dataclass

from muntin.kit.errors import (
    AlreadyExists,
    Conflict,
    Internal,
    Invalid,
    MuntinError,
    NotFound,
    Unsupported,
)


class HnsFailure(MuntinError):
    """Any failure that HNS reports; ``code`` is the HRESULT, unsigned."""

    code: int = 0x80004005
    text: str = ""


class HnsNotFound(HnsFailure, NotFound):
    """Something that the request names is not there."""


class HnsAlreadyExists(HnsFailure, AlreadyExists):
    """A name, port or attachment is taken."""


class HnsConflict(HnsFailure, Conflict):
    """The object is in use."""


class HnsInvalid(HnsFailure, Invalid):
    """The request is wrong."""


class HnsUnsupported(HnsFailure, Unsupported):
    """This build of Windows cannot do it."""


class HnsInternal(HnsFailure, Internal):
    """HNS failed."""


@dataclass(frozen=True, slots=True)
class HnsCode:
    """One row: the HRESULT, its symbol, the text that the system prints, and our class."""

    code: int
    symbol: str
    text: str
    error: type[HnsFailure]


CODES: tuple[HnsCode, ...] = (
    HnsCode(0x803B0001, "NETWORK_NOT_FOUND", "Element not found.", HnsNotFound),
    HnsCode(0x803B0002, "ENDPOINT_NOT_FOUND", "Element not found.", HnsNotFound),
    HnsCode(0x803B0005, "SUBNET_NOT_FOUND", "The subnet was not found.", HnsNotFound),
    HnsCode(0x803B0006, "ADAPTER_NOT_FOUND", "The adapter was not found.", HnsNotFound),
    HnsCode(0x803B0007, "PORT_NOT_FOUND", "The switch-port was not found.", HnsNotFound),
    HnsCode(0x803B0008, "POLICY_NOT_FOUND", "Element not found.", HnsNotFound),
    HnsCode(0x803B000A, "INVALID_NETWORK", "The network is invalid.", HnsInvalid),
    HnsCode(0x803B000B, "INVALID_NETWORK_TYPE", "The network type is invalid.", HnsInvalid),
    HnsCode(0x803B000C, "INVALID_ENDPOINT", "The endpoint is invalid.", HnsInvalid),
    HnsCode(0x803B000D, "INVALID_POLICY", "The policy is invalid.", HnsInvalid),
    HnsCode(0x803B000E, "INVALID_POLICY_TYPE", "The policy type is invalid.", HnsInvalid),
    HnsCode(
        0x803B000F,
        "INVALID_REMOTE_ENDPOINT_OPERATION",
        "This operation is not valid on a remote endpoint.",
        HnsInvalid,
    ),
    HnsCode(
        0x803B0010,
        "NETWORK_ALREADY_EXISTS",
        "A network with this name already exists.",
        HnsAlreadyExists,
    ),
    HnsCode(0x803B0012, "POLICY_ALREADY_EXISTS", "The policy already exists.", HnsAlreadyExists),
    HnsCode(
        0x803B0013, "PORT_ALREADY_EXISTS", "The specified port already exists.", HnsAlreadyExists
    ),
    HnsCode(
        0x803B0014,
        "ENDPOINT_ALREADY_ATTACHED",
        "This endpoint is already attached to the switch.",
        HnsAlreadyExists,
    ),
    HnsCode(0x803B0015, "REQUEST_UNSUPPORTED", "The request is not supported.", HnsUnsupported),
    HnsCode(0x803B001B, "INVALID_JSON", "The JSON document is invalid.", HnsInvalid),
    HnsCode(0x803B001C, "INVALID_JSON_REFERENCE", "The JSON reference is invalid.", HnsInvalid),
    HnsCode(
        0x803B001E,
        "INVALID_IP",
        "IP address is either invalid or not part of any configured subnet(s).",
        HnsInvalid,
    ),
    HnsCode(
        0x803B002B,
        "ENDPOINT_NAMESPACE_ALREADY_EXISTS",
        "The endpoint is already in a namespace.",
        HnsAlreadyExists,
    ),
    HnsCode(0x803B002C, "ENTITY_HAS_REFERENCES", "The object is still referenced.", HnsConflict),
    HnsCode(0x803B002D, "INVALID_INTERNAL_PORT", "The internal port is invalid.", HnsInvalid),
    HnsCode(
        0x803B002E,
        "NAMESPACE_ATTACH_FAILED",
        "The endpoint could not be attached to the namespace.",
        HnsInternal,
    ),
    HnsCode(
        0x803B002F,
        "ADDR_INVALID_OR_RESERVED",
        "The address is invalid or reserved.",
        HnsInvalid,
    ),
    HnsCode(0x80004001, "E_NOTIMPL", "Not implemented.", HnsUnsupported),
    HnsCode(0x80004005, "E_FAIL", "Unspecified error.", HnsInternal),
    HnsCode(0x80070057, "E_INVALIDARG", "The parameter is incorrect.", HnsInvalid),
    HnsCode(0x800700B7, "ALREADY_EXISTS", "The file already exists.", HnsAlreadyExists),
    HnsCode(0x80070490, "NOT_FOUND", "Element not found.", HnsNotFound),
    HnsCode(0x80071392, "OBJECT_ALREADY_EXISTS", "The object already exists.", HnsAlreadyExists),
)
_BY_SYMBOL = {row.symbol: row for row in CODES}
_BY_CODE = {row.code: row for row in CODES}


def failure(symbol: str, detail: str = "") -> HnsFailure:
    """The error ``symbol``; ``detail`` follows the system's text, as HNS appends it."""
    row = _BY_SYMBOL[symbol]
    return _make(row.error, row.code, f"{row.text} {detail}" if detail else row.text)


def from_wire(code: int, text: str) -> HnsFailure:
    """The error that an envelope's ``ErrorCode`` and ``Error`` stand for."""
    row = _BY_CODE.get(code)
    return _make(row.error if row else HnsInternal, code, text)


def _make(error: type[HnsFailure], code: int, text: str) -> HnsFailure:
    made = error(f"HNS failed with error : {text.strip()} (0x{code:08x})")
    made.code, made.text = code, text.strip()
    return made
