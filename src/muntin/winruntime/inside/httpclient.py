"""HTTP requests with one deadline, redirects, and errors that say what went wrong."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit


class FetchError(Exception):
    """A request without an answer; ``kind`` is one of the words below."""

    KINDS = (
        "scheme", "url", "resolve", "connect", "timeout", "tls", "certificate", "empty", "recv",
        "redirects",
    )  # fmt: skip

    def __init__(self, kind: str, message: str) -> None:
        """``message`` is for a person."""
        super().__init__(message)
        self.kind = kind


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
        self._response = response
        self._timer = timer

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
        self.sock: socket.socket | None = None

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
    while True:
        answer = _once(request, timer, trace)
        target = answer.header("Location")
        if not request.redirects or answer.status not in (301, 302, 303, 307, 308) or not target:
            answer.redirects = count
            return answer
        count += 1
        if count > request.redirects:
            raise FetchError("redirects", f"Maximum ({request.redirects}) redirects followed")
        for _ in answer.chunks():
            pass
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
    parts = urlsplit(request.url)
    if parts.scheme not in ("http", "https"):
        raise FetchError("scheme", f'Protocol "{parts.scheme}" not supported')
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as err:
        raise FetchError("url", "URL using bad/illegal format or missing URL") from err
    if not parts.hostname:
        raise FetchError("url", "URL using bad/illegal format or missing URL")
    sock = _connect(request, parts.hostname, port, timer, trace)
    if parts.scheme == "https":
        sock = _secure(sock, request, parts.hostname, timer)
    timer.sock = sock
    connection = http.client.HTTPConnection(parts.hostname, port)
    connection.sock = sock
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        timer.apply(sock)
        _send(connection, request, target, _host_header(parts.hostname, port, parts.scheme), trace)
        response = connection.getresponse()
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
    return answer


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


def _connect(
    request: Request, host: str, port: int, timer: Timer, trace: Callable[[str], None]
) -> socket.socket:
    fixed = [address for name, number, address in request.resolve if (name, number) == (host, port)]
    try:
        found = socket.getaddrinfo(
            fixed[0] if fixed else host, port, request.family, socket.SOCK_STREAM
        )
    except (OSError, UnicodeError) as err:
        raise FetchError("resolve", f"Could not resolve host: {host}") from err
    started = time.monotonic()
    for family, kind, protocol, _name, address in found:
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
        context.load_verify_locations(request.ca_file)
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
