"""CNI's error object: what a plugin prints on failure, and what the runner raises for it.

Source: CNI specification 1.1.0, section "Error".
"""

from __future__ import annotations

from muntin.kit import depth
from muntin.kit.errors import Internal, Invalid, MuntinError, NotFound, Unavailable, Unsupported

INCOMPATIBLE_VERSION = 1
UNSUPPORTED_FIELD = 2
UNKNOWN_CONTAINER = 3
INVALID_ENVIRONMENT = 4
IO_FAILURE = 5
DECODING_FAILURE = 6
INVALID_NETWORK_CONFIG = 7
INVALID_NETNS = 8
TRY_AGAIN_LATER = 11
PLUGIN_NOT_AVAILABLE = 50
LIMITED_CONNECTIVITY = 51
INTERNAL = 999


class CniError(MuntinError):
    """A plugin failed; ``code`` as the specification numbers it, ``plugin`` is its type."""

    code = INTERNAL
    details = ""
    plugin = ""


class CniUnsupported(CniError, Unsupported):
    """Codes 1 and 2."""


class CniUnknownContainer(CniError, NotFound):
    """Codes 3 and 8."""


class CniInvalid(CniError, Invalid):
    """Codes 4, 6 and 7."""


class CniTryAgain(CniError, Unavailable):
    """Codes 11, 50 and 51."""


class CniInternal(CniError, Internal):
    """Every other code."""


_CLASSES: dict[int, type[CniError]] = {
    INCOMPATIBLE_VERSION: CniUnsupported,
    UNSUPPORTED_FIELD: CniUnsupported,
    UNKNOWN_CONTAINER: CniUnknownContainer,
    INVALID_NETNS: CniUnknownContainer,
    INVALID_ENVIRONMENT: CniInvalid,
    DECODING_FAILURE: CniInvalid,
    INVALID_NETWORK_CONFIG: CniInvalid,
    TRY_AGAIN_LATER: CniTryAgain,
    PLUGIN_NOT_AVAILABLE: CniTryAgain,
    LIMITED_CONNECTIVITY: CniTryAgain,
}


def cni_error(code: int, message: str, *, details: str = "", plugin: str = "") -> CniError:
    """The error of the class that ``code`` stands for."""
    text = f'plugin type="{plugin}" failed: {message}' if plugin else message
    made = _CLASSES.get(code, CniInternal)(f"{text}; {details}" if details else text)
    made.code, made.details, made.plugin = code, details, plugin
    return made


def parse_error(stdout: bytes, stderr: bytes, exit_code: int, plugin: str) -> CniError:
    """What a plugin that exited with ``exit_code`` said, or a guess from what it printed."""
    try:
        document = depth.loads(stdout)
        return cni_error(
            int(document["code"]),
            str(document.get("msg", "")),
            details=str(document.get("details", "")),
            plugin=plugin,
        )
    except (ValueError, KeyError, TypeError, OverflowError, Invalid):
        said = (stdout or stderr).decode(errors="replace").strip()
        return cni_error(INTERNAL, said or f"exit code {exit_code}", plugin=plugin)
