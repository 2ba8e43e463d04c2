"""curl's cookies: those given with -b, those received, and the file of -c."""

from __future__ import annotations

import http.client
from email.message import Message
from http.cookiejar import Cookie, CookieJar
from typing import Any
from urllib.request import Request as CookieRequest

HEAD = "# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n\n"
_HTTP_ONLY = "#HttpOnly_"
_FIELDS = 7


class Cookies:
    """What is sent with each request; kept up to date by the answers."""

    def __init__(self, given: list[str]) -> None:
        """``given`` are ``name=value`` texts, for the host of the first request alone."""
        self.given = given
        self._first_host: str | None = None
        self.jar = CookieJar()

    def load(self, text: str) -> None:
        """Read the text of a cookie file; lines of another format are passed over."""
        for line in text.splitlines():
            fields = line.removeprefix(_HTTP_ONLY).split("\t")
            if len(fields) == _FIELDS and not fields[0].startswith("#"):
                self.jar.set_cookie(_cookie(fields))
        self.jar.clear_expired_cookies()

    def text(self) -> str:
        """All cookies as a cookie file."""
        lines = []
        for one in self.jar:
            domain = one.domain.removesuffix(".local")
            http_only = _HTTP_ONLY if one.has_nonstandard_attr("HttpOnly") else ""
            flags = ["TRUE" if flag else "FALSE" for flag in (domain.startswith("."), one.secure)]
            fields = [http_only + domain, flags[0], one.path, flags[1], str(one.expires or 0)]
            lines.append("\t".join([*fields, one.name, one.value or ""]) + "\n")
        return HEAD + "".join(lines)

    def header(self, url: str) -> str:
        """The value of the Cookie header for ``url``; empty for none."""
        request = CookieRequest(url)
        self.jar.add_cookie_header(request)
        own = request.get_header("Cookie")
        if self._first_host is None:
            self._first_host = request.host
        given = self.given if request.host == self._first_host else []
        return "; ".join([*([own] if own else []), *given])

    def received(self, url: str, headers: list[tuple[str, str]]) -> None:
        """Keep what an answer sets."""
        message = Message()
        for name, value in headers:
            if name.lower() == "set-cookie":
                message.add_header(name, value)
        response: Any = http.client.HTTPResponse.__new__(http.client.HTTPResponse)
        response.headers = response.msg = message
        self.jar.extract_cookies(response, CookieRequest(url))


def _cookie(fields: list[str]) -> Cookie:
    domain, below, path, secure, expires, name, value = fields
    if "." not in domain:
        domain += ".local"  # as CookieJar calls hosts without a domain
    lasting = expires.isdigit() and int(expires) > 0
    return Cookie(
        0, name, value, None, False, domain, below == "TRUE", domain.startswith("."), path, True,
        secure == "TRUE", int(expires) if lasting else None, not lasting, None, None, {},
    )  # fmt: skip
