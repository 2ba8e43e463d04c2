"""HTTP requests with one deadline, redirects, and errors that say what went wrong."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol
from urllib.parse import urljoin, urlsplit


class FetchError(Exception):
    """A request without an answer; ``kind`` is one of the words below."""

    KINDS = (
        "scheme", "url", "resolve", "connect", "timeout", "tls", "certificate", "empty", "recv",
        "redirects", "proxy", "ca",
    )  # fmt: skip

    def __init__(self, kind: str, message: str) -> None:
        """``message`` is for a person."""
        super().__init__(message)
        self.kind = kind


class CookieStore(Protocol):
    """Cookies that requests send and answers set."""

    def header(self, url: str) -> str:
        """The value of the Cookie header; empty for none."""

    def received(self, url: str, headers: list[tuple[str, str]]) -> None:
        """An answer has come."""


class Proxy(NamedTuple):
    """An HTTP proxy; ``authorization`` is a header's value, or empty."""

    host: str
    port: int
    authorization: str = ""
    except_for: tuple[str, ...] = ()

    def serves(self, host: str) -> bool:
        """Whether requests for ``host`` go through it."""
        name = host.lower().rstrip(".")
        return not any(
            one == "*" or name == one or name.endswith(f".{one}")
            for one in (text.lower().strip(".") for text in self.except_for)
        )


class Request(NamedTuple):
    """What to ask for, and how."""

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    timeout_s: float = 0.0
    connect_timeout_s: float = 0.0
    redirects: int = 0
    verify: bool = True
    family: int = socket.AF_UNSPEC
    resolve: tuple[tuple[str, int, str], ...] = ()
    ca_file: str = ""
    proxy: Proxy | None = None
    cookies: CookieStore | None = None


class Answer:
    """A response whose body is still to be read."""

    def __init__(self, response: http.client.HTTPResponse, request: Request, timer: Timer) -> None:
        """``request`` is the last one of a chain of redirects."""
        self.status = response.status
        self.reason = response.reason
        self.version = "1.0" if response.version == 10 else "1.1"
        self.headers = list(response.getheaders())
        self.url = request.url
        self.method = request.method
        self.request = request
        self.peer: tuple[str, int] = ("", 0)
        self.own: tuple[str, int] = ("", 0)
        self.redirects = 0
        self.earlier: list[Answer] = []
        self.marks = timer.marks
        self._response = response
        self._timer = timer
        self._sock = timer.sock

    def close(self) -> None:
        """Let go of the connection; what was not read is lost."""
        self._response.close()
        if self._sock:
            self._sock.close()

    def header(self, name: str) -> str:
        """A header's value, '' where there is none."""
        lower = name.lower()
        return next((value for key, value in self.headers if key.lower() == lower), "")

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes.

        Raises:
            FetchError: timeout or recv.
        """
        while True:
            try:
                self._timer.apply(self._timer.sock)
                data = self._response.read1(65536)
            except TimeoutError as err:
                raise self._timer.expired() from err
            except (OSError, http.client.HTTPException) as err:
                raise FetchError("recv", f"Recv failure: {err}") from err
            if not data:
                if self._response.length:
                    raise FetchError(
                        "recv",
                        f"transfer closed with {self._response.length} bytes remaining to read",
                    )
                return
            self._timer.received += len(data)
            yield data

    def body(self) -> bytes:
        """All of it."""
        return b"".join(self.chunks())


class Timer:
    """The time that a request has in all."""

    def __init__(self, timeout_s: float) -> None:
        """0 is without end."""
        self.started = time.monotonic()
        self.timeout_s = timeout_s
        self.received = 0
        self.marks: dict[str, float] = {}
        self.sock: socket.socket | None = None

    def mark(self, name: str) -> None:
        """Write down how many seconds have passed."""
        self.marks[name] = time.monotonic() - self.started

    def left(self) -> float | None:
        """Seconds left, None for no limit.

        Raises:
            FetchError: none are left.
        """
        if not self.timeout_s:
            return None
        left = self.started + self.timeout_s - time.monotonic()
        if left <= 0:
            raise self.expired()
        return left

    def apply(self, sock: socket.socket | None) -> None:
        """Let the socket wait no longer than what is left."""
        left = self.left()
        if sock is not None:
            sock.settimeout(left)

    def expired(self) -> FetchError:
        """What to say when it is over."""
        spent = round((time.monotonic() - self.started) * 1000)
        return FetchError(
            "timeout",
            f"Operation timed out after {spent} milliseconds with {self.received} bytes received",
        )


def fetch(request: Request, trace: Callable[[str], None] = lambda _line: None) -> Answer:
    """Send and follow redirects; ``trace`` gets a line for each step.

    Raises:
        FetchError: there is no answer.
    """
    timer = Timer(request.timeout_s)
    count = 0
    earlier: list[Answer] = []
    while True:
        try:
            answer = _once(request, timer, trace)
        except FetchError:
            if timer.sock:
                timer.sock.close()
            raise
        answer.earlier = earlier
        target = answer.header("Location")
        if not request.redirects or answer.status not in (301, 302, 303, 307, 308) or not target:
            answer.redirects = count
            return answer
        count += 1
        if count > request.redirects:
            raise FetchError("redirects", f"Maximum ({request.redirects}) redirects followed")
        for _ in answer.chunks():
            pass
        answer.close()
        earlier = [*earlier, answer]
        request = _redirected(request, answer.status, urljoin(request.url, target))
        trace(f"* Issue another request to this URL: '{request.url}'")


def _redirected(request: Request, status: int, url: str) -> Request:
    """The request that a redirect leads to."""
    old, new = urlsplit(request.url), urlsplit(url)
    headers = request.headers
    if (old.scheme, old.netloc) != (new.scheme, new.netloc):
        headers = tuple(
            h for h in headers if h[0].lower() not in ("authorization", "cookie", "host")
        )
    if status in (307, 308) or request.method in ("GET", "HEAD"):
        return request._replace(url=url, headers=headers)
    headers = tuple(h for h in headers if h[0].lower() not in ("content-type", "content-length"))
    return request._replace(url=url, method="GET", body=None, headers=headers)


def _once(request: Request, timer: Timer, trace: Callable[[str], None]) -> Answer:
    try:
        parts = urlsplit(request.url)
    except ValueError as err:
        raise FetchError("url", "URL using bad/illegal format or missing URL") from err
    if parts.scheme not in ("http", "https"):
        raise FetchError("scheme", f'Protocol "{parts.scheme}" not supported')
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as err:
        raise FetchError("url", "URL using bad/illegal format or missing URL") from err
    if not parts.hostname:
        raise FetchError("url", "URL using bad/illegal format or missing URL")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = _host_header(parts.hostname, port, parts.scheme)
    proxy = request.proxy if request.proxy and request.proxy.serves(parts.hostname) else None
    timer.sock = sock = _connect(request, parts.hostname, port, proxy, timer, trace)
    if proxy and parts.scheme == "https":
        _tunnel(sock, f"{parts.hostname}:{port}", proxy, timer, trace)
    if parts.scheme == "https":
        timer.sock = sock = _secure(sock, request, parts.hostname, timer)
        timer.mark("appconnect")
    elif proxy:
        target = f"http://{host}{target}"
    timer.mark("pretransfer")
    connection = http.client.HTTPConnection(parts.hostname, port)
    connection.sock = sock
    try:
        timer.apply(sock)
        _send(connection, _completed(request, proxy, parts.scheme), target, host, trace)
        response = connection.getresponse()
        timer.mark("starttransfer")
        answer = Answer(response, request, timer)
    except TimeoutError as err:
        raise timer.expired() from err
    except http.client.RemoteDisconnected as err:
        raise FetchError("empty", "Empty reply from server") from err
    except (OSError, http.client.HTTPException) as err:
        raise FetchError("recv", f"Recv failure: {err}") from err
    answer.peer, answer.own = sock.getpeername()[:2], sock.getsockname()[:2]
    trace(f"< HTTP/{answer.version} {answer.status} {answer.reason}")
    for name, value in answer.headers:
        trace(f"< {name}: {value}")
    trace("<")
    if request.cookies:
        request.cookies.received(request.url, answer.headers)
    return answer


def _completed(request: Request, proxy: Proxy | None, scheme: str) -> Request:
    """The request with the headers that depend on where it goes."""
    headers = request.headers
    if proxy and proxy.authorization and scheme == "http":
        headers = (*headers, ("Proxy-Authorization", proxy.authorization))
    cookie = request.cookies.header(request.url) if request.cookies else ""
    if cookie:
        headers = (*headers, ("Cookie", cookie))
    return request._replace(headers=headers)


def _tunnel(
    sock: socket.socket, target: str, proxy: Proxy, timer: Timer, trace: Callable[[str], None]
) -> None:
    """Have the proxy connect to ``target``."""
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    for line in lines:
        trace(f"> {line}")
    try:
        timer.apply(sock)
        sock.sendall("".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1"))
        with http.client.HTTPResponse(sock, method="CONNECT") as response:
            response.begin()
    except TimeoutError as err:
        raise timer.expired() from err
    except (OSError, http.client.HTTPException) as err:
        raise FetchError("recv", "Proxy CONNECT aborted") from err
    if response.status != http.HTTPStatus.OK:
        raise FetchError("recv", f"CONNECT tunnel failed, response {response.status}")


def _host_header(host: str, port: int, scheme: str) -> str:
    shown = f"[{host}]" if ":" in host else host
    return shown if port == {"http": 80, "https": 443}[scheme] else f"{shown}:{port}"


def _send(
    connection: http.client.HTTPConnection,
    request: Request,
    target: str,
    host: str,
    trace: Callable[[str], None],
) -> None:
    headers = list(request.headers)
    names = {name.lower() for name, _ in headers}
    if "host" not in names:
        headers.insert(0, ("Host", host))
    if request.body is not None and "content-length" not in names:
        headers.append(("Content-Length", str(len(request.body))))
    connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
    trace(f"> {request.method} {target} HTTP/1.1")
    for name, value in headers:
        connection.putheader(name, value)
        trace(f"> {name}: {value}")
    trace(">")
    connection.endheaders(request.body)


def _addresses(request: Request, host: str, port: int) -> list[Any]:
    """What getaddrinfo gives for ``host``, or for the addresses that the request fixes for it."""
    fixed = [
        address
        for name, number, address in request.resolve
        if name in (host.lower(), "*") and number == port
    ]
    return [
        row
        for one in fixed or [host]
        for row in socket.getaddrinfo(one, port, request.family, socket.SOCK_STREAM)
    ]


def _connect(
    request: Request, host: str, port: int, proxy: Proxy | None, timer: Timer,
    trace: Callable[[str], None],
) -> socket.socket:  # fmt: skip
    if proxy:
        host, port = proxy.host, proxy.port
    try:
        candidates = _addresses(request, host, port)
    except (OSError, UnicodeError) as err:
        kind, what = ("proxy", "proxy") if proxy else ("resolve", "host")
        raise FetchError(kind, f"Could not resolve {what}: {host}") from err
    timer.mark("namelookup")
    started = time.monotonic()
    for family, kind, protocol, _name, address in candidates:
        left = timer.left()
        limits = [one for one in (left, request.connect_timeout_s or None) if one]
        sock = socket.socket(family, kind, protocol)
        sock.settimeout(min(limits) if limits else None)
        trace(f"*   Trying {address[0]}:{port}...")
        try:
            sock.connect(address)
        except TimeoutError as err:
            sock.close()
            spent = round((time.monotonic() - started) * 1000)
            raise FetchError(
                "timeout",
                f"Failed to connect to {host} port {port} after {spent} ms: Timeout was reached",
            ) from err
        except OSError:
            sock.close()
            continue
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        timer.mark("connect")
        trace(f"* Connected to {host} ({address[0]}) port {port}")
        return sock
    spent = round((time.monotonic() - started) * 1000)
    raise FetchError(
        "connect",
        f"Failed to connect to {host} port {port} after {spent} ms: Couldn't connect to server",
    )


def _secure(sock: socket.socket, request: Request, host: str, timer: Timer) -> ssl.SSLSocket:
    context: Any = ssl.create_default_context()
    if request.ca_file:
        try:
            context.load_verify_locations(request.ca_file)
        except OSError as err:
            raise FetchError(
                "ca", f"error setting certificate verify locations:  CAfile: {request.ca_file}"
            ) from err
    if not request.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        timer.apply(sock)
        secured: ssl.SSLSocket = context.wrap_socket(sock, server_hostname=host)
    except ssl.SSLCertVerificationError as err:
        raise FetchError("certificate", f"SSL certificate problem: {err.verify_message}") from err
    except TimeoutError as err:
        raise timer.expired() from err
    except OSError as err:
        raise FetchError("tls", f"TLS connect error: {err}") from err
    return secured
