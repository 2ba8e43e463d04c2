"""What curl's options make of a URL: the request."""

from __future__ import annotations

import socket
import sys
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote_plus, unquote, urlsplit

from .curloptions import Options, Usage
from .httpclient import Proxy, Request

if TYPE_CHECKING:
    from .curlcookies import Cookies
    from .powershell.host import Host

Headers = dict[str, tuple[str, str]]
READ_ERROR, BAD_RESOLVE, NO_CONNECTION, MALFORMED = 26, 49, 7, 3
MOST_REDIRECTS, NO_LIMIT = 50, 1_000_000_000
_PROXY_PORT = 1080


def make_request(options: Options, url: str, host: Host, cookies: Cookies | None) -> Request:
    """The request for one URL.

    Raises:
        Usage: a file cannot be read, or a value has no meaning.
    """
    if "://" not in url:
        url = f"http://{url}"
    _check(url)
    body = _body(options, host)
    headers: Headers = {
        "user-agent": ("User-Agent", "curl/muntin"),
        "accept": ("Accept", "*/*"),
    }
    _body_headers(options, headers, body)
    if "get" in options.flags and body is not None:
        url = url.partition("#")[0]
        url += ("&" if "?" in url else "?") + body.decode("utf-8", "replace")
        body = None
    method = "POST" if body is not None else "GET"
    if "upload-file" in options.values:
        name = options.values["upload-file"]
        method, body = "PUT", read_file(host, name)
        headers.pop("content-type", None)
        if url.endswith("/") and name not in ("-", "."):
            url += name.replace("\\", "/").rpartition("/")[2]
    method = "HEAD" if "head" in options.flags else method
    _own_headers(options, headers, host, url)
    family = socket.AF_INET if "ipv4" in options.flags else socket.AF_UNSPEC
    most = int(options.number("max-redirs", MOST_REDIRECTS))
    return Request(
        url,
        options.values.get("request", method),
        tuple(headers.values()),
        body,
        timeout_s=options.number("max-time"),
        connect_timeout_s=options.number("connect-timeout"),
        redirects=(NO_LIMIT if most < 0 else most) if "location" in options.flags else 0,
        verify="insecure" not in options.flags,
        family=socket.AF_INET6 if "ipv6" in options.flags else family,
        resolve=tuple(one for text in options.resolve for one in resolved(text)),
        ca_file=host.unix_path(options.values["cacert"]) if "cacert" in options.values else "",
        proxy=proxy_of(options),
        cookies=cookies,
    )


def _check(url: str) -> None:
    try:
        urlsplit(url)
    except ValueError:
        raise Usage(
            f"curl: ({MALFORMED}) URL using bad/illegal format or missing URL", MALFORMED
        ) from None


def _body_headers(options: Options, headers: Headers, body: bytes | None) -> None:
    if body is None or "get" in options.flags:
        return
    headers["content-type"] = ("Content-Type", "application/x-www-form-urlencoded")
    if any(name == "json" for name, _ in options.data):
        headers["content-type"] = ("Content-Type", "application/json")
        headers["accept"] = ("Accept", "application/json")


def _own_headers(options: Options, headers: Headers, host: Host, url: str) -> None:
    simple = {"user-agent": "User-Agent", "referer": "Referer", "range": "Range"}
    for option, name in simple.items():
        value = options.values.get(option)
        if value:
            headers[option] = (name, f"bytes={value}" if option == "range" else value)
        elif value == "":
            headers.pop(option, None)
    if "compressed" in options.flags:
        headers["accept-encoding"] = ("Accept-Encoding", "deflate, gzip")
    user = options.values.get("user") or _user_of(url)
    if user:
        headers["authorization"] = ("Authorization", f"Basic {_basic(user)}")
    if "oauth2-bearer" in options.values:
        headers["authorization"] = ("Authorization", f"Bearer {options.values['oauth2-bearer']}")
    for line in _header_lines(options, host):
        name, colon, value = line.partition(":")
        if not colon:
            name, _, value = line.partition(";")
        elif not value.strip():
            headers.pop(name.strip().lower(), None)
            continue
        headers[name.strip().lower()] = (name.strip(), value.strip())


def _header_lines(options: Options, host: Host) -> list[str]:
    lines: list[str] = []
    for text in options.headers:
        if text.startswith("@"):
            lines += read_file(host, text[1:]).decode("latin-1").splitlines()
        else:
            lines.append(text)
    return [line for line in lines if line.strip()]


def _user_of(url: str) -> str:
    name, at, _ = urlsplit(url).netloc.rpartition("@")
    return unquote(name) if at else ""


def _basic(user: str) -> str:
    if ":" not in user:
        user += ":" + _password(user)
    return b64encode(user.encode()).decode()


def _password(user: str) -> str:
    """Asked for at a terminal, empty without one."""
    import getpass

    if not sys.stdin.isatty():
        return ""
    return getpass.getpass(f"Enter host password for user '{user}':")


def proxy_of(options: Options) -> Proxy | None:
    """The proxy of -x.

    Raises:
        Usage: it is no HTTP proxy, or its port is no port.
    """
    text = options.values.get("proxy", "")
    if not text:
        return None
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme != "http":
        raise Usage(f"curl: ({NO_CONNECTION}) Unsupported proxy scheme for '{text}'", NO_CONNECTION)
    try:
        port = parts.port or _PROXY_PORT
    except ValueError:
        port = 0
    if not port or not parts.hostname:
        raise Usage(f"curl: (5) Unsupported proxy syntax in '{text}'", 5)
    user = options.values.get("proxy-user") or _user_of(parts.geturl())
    excepted = tuple(one.strip() for one in options.values.get("noproxy", "").split(","))
    return Proxy(
        parts.hostname,
        port,
        f"Basic {_basic(user)}" if user else "",
        tuple(one for one in excepted if one),
    )


def resolved(text: str) -> list[tuple[str, int, str]]:
    """The addresses of ``--resolve [+]HOST:PORT:ADDRESS[,ADDRESS]...``.

    Raises:
        Usage: it has another form.
    """
    if text.startswith("-"):
        return []
    name, _, rest = text.removeprefix("+").partition(":")
    port, _, addresses = rest.partition(":")
    targets = [one.strip("[]") for one in addresses.split(",") if one]
    if not name or not targets or not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise Usage(
            f"curl: ({BAD_RESOLVE}) Couldn't parse CURLOPT_RESOLVE entry '{text}'", BAD_RESOLVE
        )
    return [(name.lower(), int(port), one) for one in targets]


def _body(options: Options, host: Host) -> bytes | None:
    parts: list[bytes] = []
    for kind, text in options.data:
        if kind == "data-urlencode":
            parts.append(_urlencoded(text, host))
        elif text.startswith("@") and kind != "data-raw":
            data = read_file(host, text[1:])
            parts.append(data if kind in ("data-binary", "json") else _unlined(data))
        else:
            parts.append(text.encode())
    joint = b"" if any(kind == "json" for kind, _ in options.data) else b"&"
    return joint.join(parts) if parts else None


def _urlencoded(text: str, host: Host) -> bytes:
    """``content``, ``=content``, ``name=content``, ``@file`` or ``name@file``."""
    name, equals, content = text.partition("=")
    file_name, at, path = text.partition("@")
    data: str | bytes = content
    if not equals and at:
        name, data = file_name, read_file(host, path)
    elif not equals:
        name, data = "", text
    encoded = quote_plus(data)
    return (f"{name}={encoded}" if name else encoded).encode()


def _unlined(data: bytes) -> bytes:
    return data.replace(b"\r", b"").replace(b"\n", b"")


def read_file(host: Host, name: str) -> bytes:
    """A file, or standard input for ``-``.

    Raises:
        Usage: it cannot be read.
    """
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        with open(host.unix_path(name), "rb") as file:
            return file.read()
    except OSError:
        raise Usage(f"curl: Failed to open {name}", READ_ERROR) from None
