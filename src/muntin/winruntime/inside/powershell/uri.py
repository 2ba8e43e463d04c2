"""System.Uri."""

from __future__ import annotations

import re
from typing import Any

from . import values as v
from .errors import NetError

_PORTS = {"http": 80, "https": 443, "ftp": 21}
_FORM = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:(?P<user>[^@/?#]*)@)?"
    r"(?P<host>\[[^\]]*\]|[^:/?#]*)(?::(?P<port>\d*))?(?P<path>/[^?#]*)?"
    r"(?P<query>\?[^#]*)?(?P<fragment>#.*)?\Z",
    re.DOTALL,
)


class Uri(v.NetObject):
    """An absolute URI."""

    net_name = "System.Uri"

    def __init__(self, text: Any, relative: Any = None) -> None:
        """``relative`` is resolved against ``text``."""
        if relative is not None:
            from urllib.parse import urljoin

            text = urljoin(v.to_text(text), v.to_text(relative))
        self.OriginalString = v.to_text(text)
        match = _FORM.match(self.OriginalString)
        if match is None:
            raise NetError(
                "System.UriFormatException",
                "Invalid URI: The format of the URI could not be determined.",
            )
        self.Scheme = match.group("scheme").lower()
        self.UserInfo = match.group("user") or ""
        self.Host = match.group("host").lower()
        self.DnsSafeHost = self.Host.strip("[]")
        default = _PORTS.get(self.Scheme, -1)
        self.Port = int(match.group("port")) if match.group("port") else default
        self.IsDefaultPort = self.Port == default
        self.AbsolutePath = match.group("path") or "/"
        self.LocalPath = _unquoted(self.AbsolutePath)
        self.Query = match.group("query") or ""
        self.Fragment = match.group("fragment") or ""
        self.PathAndQuery = self.AbsolutePath + self.Query
        self.Authority = self.Host if self.IsDefaultPort else f"{self.Host}:{self.Port}"
        self.IsAbsoluteUri = True
        self.IsLoopback = self.DnsSafeHost in ("localhost", "127.0.0.1", "::1")
        self.Segments: list[Any] = re.findall("[^/]*/|[^/]+", self.AbsolutePath)
        self.AbsoluteUri = f"{self.Scheme}://{self.Authority}{self.PathAndQuery}{self.Fragment}"

    def ToString(self) -> str:
        """The URI with escapes undone where that is harmless."""
        path = _unquoted(self.PathAndQuery)
        return f"{self.Scheme}://{self.Authority}{path}{self.Fragment}"

    def equals(self, other: Any) -> bool:
        """Same URI."""
        return self.AbsoluteUri == (
            other.AbsoluteUri if isinstance(other, Uri) else v.to_text(other)
        )


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return re.sub(
        r"(?:%[0-9A-Fa-f]{2})+",
        lambda m: m.group() if re.search("%(25|23|3f)", m.group(), re.I) else unquote(m.group()),
        text,
    )


def to_uri(value: Any) -> Uri:
    """[uri]value."""
    return value if isinstance(value, Uri) else Uri(value)


class Uris:
    """Statics of Uri."""

    @staticmethod
    def EscapeDataString(text: Any) -> str:
        """Everything but unreserved characters escaped."""
        from urllib.parse import quote

        return quote(v.to_text(text), safe="~")

    @staticmethod
    def UnescapeDataString(text: Any) -> str:
        """Escapes undone."""
        from urllib.parse import unquote

        return unquote(v.to_text(text))
