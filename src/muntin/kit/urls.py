"""Parses untrusted URLs in one place, with a single error type for all errors of `urllib`.

`urllib.parse.urlsplit` raises ValueError for some hosts at once, and for a port only when it is
asked for.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from muntin.kit.errors import Invalid

_SHOWN = 200


class NotAUrl(Invalid, ValueError):
    """The text is not a URL."""


def split(url: str) -> SplitResult:
    """The parts of ``url``, which may be relative; its port is none or a number below 65536.

    Raises:
        NotAUrl: a host in broken brackets, or a port that is not one.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port, parts.hostname
    except ValueError as err:
        raise NotAUrl(f"{url[:_SHOWN]!r}: {err}") from err
    return parts
