"""``url('https://host:443/path?q=1')``. Source: apiserver v1.34 pkg/cel/library/urls.go."""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from muntin.kit import numbers
from muntin.kit.cel import EvaluationError, Function
from muntin.kit.cel.messages import opaque, text_of

URL = "kubernetes.URL"


def _parse(text: str) -> SplitResult:
    """An absolute URL, or an absolute path.

    Raises:
        ValueError: neither.
    """
    if any(ord(char) < 0x20 or char == "\x7f" for char in text):
        raise ValueError("net/url: invalid control character in URL")
    found = urlsplit(text)
    if not found.scheme and not text.startswith("/"):
        raise ValueError(f'parse "{text}": invalid URI for request')
    if " " in found.netloc:
        raise ValueError('invalid character " " in host name')
    _ = found.port
    return found


def url(text: str) -> Any:
    try:
        _parse(text)
    except ValueError as err:
        raise EvaluationError(f"URL parse error during conversion from string: {err}") from err
    return opaque(URL, text)


def is_url(text: str) -> bool:
    try:
        _parse(text)
    except ValueError:
        return False
    return True


def _of(value: Any) -> SplitResult:
    return _parse(text_of(value))


def host(value: Any) -> str:
    return _of(value).netloc.rpartition("@")[2]


def hostname(value: Any) -> str:
    name, _, port = host(value).rpartition(":")
    name_or_address = name if name and numbers.is_digits(port) else host(value).removesuffix(":")
    return (
        name_or_address[1:-1]
        if name_or_address.startswith("[") and name_or_address.endswith("]")
        else name_or_address
    )


def port(value: Any) -> str:
    found = _of(value).port
    return "" if found is None else str(found)


def escaped_path(value: Any) -> str:
    return quote(_of(value).path, safe="/%:@!$&'()*+,;=~")


def query(value: Any) -> dict[str, list[str]]:
    return parse_qs(_of(value).query, keep_blank_values=True)


FUNCTIONS = (
    Function("url", ("string",), URL, url, member=False),
    Function("isURL", ("string",), "bool", is_url, member=False),
    Function("getScheme", (URL,), "string", lambda value: _of(value).scheme),
    Function("getHost", (URL,), "string", host),
    Function("getHostname", (URL,), "string", hostname),
    Function("getPort", (URL,), "string", port),
    Function("getEscapedPath", (URL,), "string", escaped_path),
    Function("getQuery", (URL,), "map(string,list(string))", query),
)
