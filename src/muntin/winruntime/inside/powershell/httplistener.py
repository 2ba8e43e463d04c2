"""System.Net.HttpListener: prefixes, a queue of requests, one response object for each.

A thread accepts, a thread for each connection reads one request after the other and waits for its
response; ``GetContext`` takes from the queue, as http.sys serves its user.
"""

from __future__ import annotations

import queue
import re
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from . import values as v
from .addresses import IPEndPoint
from .encodings import Encodings
from .errors import NetError, Refusal
from .httpwire import BadRequest, Head, Reader
from .uri import Uri

QUEUE_LIMIT = 1000
"""Requests that wait for GetContext; http.sys' default."""
IDLE_S = 120
"""How long an idle connection is kept; http.sys' default."""
SERVER = "Muntin-HTTPAPI/1.0"
REASONS = {
    100: "Continue", 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content",
    206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
    304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
    413: "Request Entity Too Large", 415: "Unsupported Media Type", 418: "I'm a teapot",
    429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented",
    502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
}  # fmt: skip
_PREFIX = re.compile(r"(https?)://(\*|\+|\[[^\]]+\]|[^:/*+]+)(?::(\d+))?(/.*)\Z", re.IGNORECASE)


class Prefixes(v.ArrayList):
    """HttpListenerPrefixCollection."""

    __slots__ = ()

    def __init__(self) -> None:
        """Empty."""
        super().__init__((), "System.Net.HttpListenerPrefixCollection")


def parse_prefix(prefix: str) -> tuple[str, int, str]:
    """Host (``*`` and ``+`` any), port and path of a prefix.

    Raises:
        NetError: ArgumentException as .NET words it, or https (refused).
    """
    match = _PREFIX.match(prefix)
    if match is None:
        if not re.match("https?://", prefix, re.I):
            message = "Only Uri prefixes starting with 'http://' or 'https://' are supported."
        else:
            message = "Only Uri prefixes ending in '/' are allowed."
        raise NetError("System.ArgumentException", f"{message}\r\nParameter name: uriPrefix")
    if not prefix.endswith("/"):
        raise NetError(
            "System.ArgumentException",
            "Only Uri prefixes ending in '/' are allowed.\r\nParameter name: uriPrefix",
        )
    if match.group(1).lower() == "https":
        raise Refusal("https prefixes of HttpListener are")
    return match.group(2).lower(), int(match.group(3) or 80), match.group(4)


class HttpListener(v.NetObject):
    """The listener; members as .NET has them."""

    net_name = "System.Net.HttpListener"
    IsSupported = True

    def __init__(self) -> None:
        """Stopped, without prefixes."""
        self.Prefixes = Prefixes()
        self.IsListening = False
        self.AuthenticationSchemes = "Anonymous"
        self.IgnoreWriteExceptions = False
        self.Realm: Any = None
        self._sockets: list[socket.socket] = []
        self._queue: queue.Queue[HttpListenerContext | None] = queue.Queue(QUEUE_LIMIT)
        self._rules: list[tuple[str, int, str]] = []

    def Start(self) -> None:
        """Listen on every prefix's port, IPv4 and IPv6.

        Raises:
            NetError: HttpListenerException, a port is taken or may not be used.
        """
        if self.IsListening:
            return
        self._rules = [parse_prefix(v.to_text(prefix)) for prefix in self.Prefixes]
        opened: list[socket.socket] = []
        try:
            for prefix, (_host, port, _path) in zip(self.Prefixes, self._rules, strict=True):
                if not any(sock.getsockname()[1] == port for sock in opened):
                    opened += _listen(port, v.to_text(prefix))
        except NetError:
            for sock in opened:
                sock.close()
            raise
        self._sockets = opened
        self.IsListening = True
        for sock in opened:
            _thread(self._accept, sock)

    def Stop(self) -> None:
        """Stop listening; a waiting GetContext fails."""
        if not self.IsListening:
            return
        self.IsListening = False
        for sock in self._sockets:
            sock.close()
        self._sockets = []
        self._queue.put(None)

    Close = Abort = Dispose = Stop

    def GetContext(self) -> HttpListenerContext:
        """The next request, waiting for it.

        Raises:
            NetError: the listener was not started, or is stopped meanwhile.
        """
        if not self.IsListening:
            raise NetError(
                "System.InvalidOperationException",
                "Please call the Start() method before calling this method.",
            )
        context = self._queue.get()
        if context is None:
            raise NetError(
                "System.Net.HttpListenerException",
                "The I/O operation has been aborted because of either a thread exit or an "
                "application request",
                ErrorCode=995,
            )
        return context

    def GetContextAsync(self) -> Any:
        """Refused by name."""
        raise Refusal("GetContextAsync (use GetContext) is")

    BeginGetContext = GetContextAsync

    # --- connections ------------------------------------------------------------------------

    def _accept(self, sock: socket.socket) -> None:
        while self.IsListening:
            try:
                connection, _peer = sock.accept()
            except OSError:
                return
            _thread(self._serve, connection)

    def _serve(self, sock: socket.socket) -> None:
        with sock:
            sock.settimeout(IDLE_S)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            reader = Reader(sock)
            try:
                while self._serve_one(sock, reader):
                    pass
            except BadRequest as bad:
                _refuse(sock, bad.status, bad.reason)
            except OSError:
                return  # the peer is gone

    def _serve_one(self, sock: socket.socket, reader: Reader) -> bool:
        """One request and its response; whether the connection goes on."""
        head = reader.head()
        if head is None:
            return False
        if head.get("Expect").lower() == "100-continue":
            sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = reader.body(head)
        if head.version == "HTTP/1.1" and not head.get("Host"):
            raise BadRequest(400, "Bad Request")
        if not self._takes(head, sock.getsockname()[1]):
            raise BadRequest(404, "Not Found")
        context = HttpListenerContext(sock, head, body)
        try:
            self._queue.put_nowait(context)
        except queue.Full:
            raise BadRequest(503, "Service Unavailable") from None
        context.Response.wait()
        return context.Response.keep_alive and self.IsListening

    def _takes(self, head: Head, port: int) -> bool:
        """Whether some prefix covers the request."""
        host = head.get("Host").rsplit(":", 1)[0].lower() or "*"
        path = head.target.split("?", 1)[0] + "/"
        return any(
            rule_port == port
            and (rule_host in ("*", "+") or rule_host == host)
            and path.lower().startswith(rule_path.lower())
            for rule_host, rule_port, rule_path in self._rules
        )


class Listeners:
    """Statics of HttpListener."""

    IsSupported = True


class HttpListenerContext(v.NetObject):
    """One request with its response."""

    net_name = "System.Net.HttpListenerContext"

    def __init__(self, sock: socket.socket, head: Head, body: bytes) -> None:
        """For a request that was read whole."""
        self.Request = HttpListenerRequest(sock, head, body)
        self.Response = HttpListenerResponse(sock, head)
        self.User = None


class HttpListenerRequest(v.NetObject):
    """The request as scripts see it."""

    net_name = "System.Net.HttpListenerRequest"

    def __init__(self, sock: socket.socket, head: Head, body: bytes) -> None:
        """Addresses come from the socket."""
        from .streams import MemoryStream

        peer, own = sock.getpeername(), sock.getsockname()
        self.HttpMethod = head.method
        self.RawUrl = head.target
        host = head.get("Host") or IPEndPoint(own[0], own[1]).ToString()
        target = head.target if head.target.startswith("/") else "/"
        self.Url = Uri(head.target if "://" in head.target else f"http://{host}{target}")
        self.RemoteEndPoint = IPEndPoint(peer[0], peer[1])
        self.LocalEndPoint = IPEndPoint(own[0], own[1])
        self.UserHostAddress = self.LocalEndPoint.ToString()
        self.UserHostName = host
        self.UserAgent = head.get("User-Agent") or None
        self.ContentType = head.get("Content-Type") or None
        self.ContentLength64 = len(body)
        self.HasEntityBody = bool(body)
        self.ContentEncoding = Encodings.UTF8
        self.InputStream = MemoryStream(bytearray(body))
        self.ProtocolVersion = head.version.removeprefix("HTTP/")
        self.Headers = WebHeaders(head.headers)
        self.KeepAlive = _keeps_alive(head)
        self.IsLocal = peer[0] in (own[0], "127.0.0.1", "::1")
        self.IsSecureConnection = False
        self.QueryString = _query(self.Url.Query)
        self.Cookies: list[Any] = []


class WebHeaders(v.Hashtable):
    """WebHeaderCollection: names without case, several values joined."""

    def __init__(self, pairs: list[tuple[str, str]] | None = None) -> None:
        """From header lines."""
        super().__init__(net_name="System.Net.WebHeaderCollection")
        for name, value in pairs or []:
            self.set(name, f"{self.get(name)},{value}" if name in self else value)

    def get_AllKeys(self) -> list[str]:
        """The names."""
        return [key for key, _ in self.items()]


def _query(text: str) -> v.Hashtable:
    table = v.Hashtable(net_name="System.Collections.Specialized.NameValueCollection")
    if len(text) > 1:
        from urllib.parse import parse_qsl

        for name, value in parse_qsl(text[1:], keep_blank_values=True):
            table.set(name, f"{table.get(name)},{value}" if name in table else value)
    return table


def _keeps_alive(head: Head) -> bool:
    wish = head.get("Connection").lower()
    return wish == "keep-alive" if head.version == "HTTP/1.0" else wish != "close"


class HttpListenerResponse(v.NetObject):
    """The response; headers go out with the first byte of the body or at Close."""

    net_name = "System.Net.HttpListenerResponse"

    def __init__(self, sock: socket.socket, head: Head) -> None:
        """For one request on ``sock``."""
        self.StatusCode = 200
        self.StatusDescription = "OK"
        self.ContentType: Any = None
        self.ContentEncoding: Any = None
        self.RedirectLocation: Any = None
        self.SendChunked = False
        self.ProtocolVersion = "1.1"
        self.Headers = WebHeaders()
        self.Cookies: list[Any] = []
        self.OutputStream = ResponseStream(self)
        self._length: int | None = None
        self._sock = sock
        self._head = head
        self._keep_alive = _keeps_alive(head)
        self._sent_head = False
        self._sent = 0
        self._done = threading.Event()

    @property
    def ContentLength64(self) -> int:
        """The length that the header will tell."""
        return self._length or 0

    @ContentLength64.setter
    def ContentLength64(self, value: Any) -> None:
        number = v.to_int(value, *v.INT64, "Int64")
        if number < 0:
            raise NetError(
                "System.ArgumentOutOfRangeException",
                "The value must be greater than or equal to zero.\r\nParameter name: value",
            )
        if self._sent_head:
            raise NetError(
                "System.InvalidOperationException",
                "This property cannot be set after writing has started.",
            )
        self._length = number

    @property
    def KeepAlive(self) -> bool:
        """Whether the connection is kept."""
        return self._keep_alive

    @KeepAlive.setter
    def KeepAlive(self, value: Any) -> None:
        self._keep_alive = v.truth(value)

    @property
    def keep_alive(self) -> bool:
        """For the connection: whether another request may follow."""
        return self._keep_alive and self._done.is_set()

    def wait(self) -> None:
        """Until the response is closed."""
        self._done.wait()

    def AddHeader(self, name: Any, value: Any) -> None:
        """Set a header."""
        self.Headers.set(v.to_text(name), v.to_text(value))

    def AppendHeader(self, name: Any, value: Any) -> None:
        """Add to a header."""
        key, text = v.to_text(name), v.to_text(value)
        self.Headers.set(key, f"{self.Headers.get(key)},{text}" if key in self.Headers else text)

    def Redirect(self, url: Any) -> None:
        """302 to ``url``."""
        self.StatusCode, self.StatusDescription = 302, "Found"
        self.RedirectLocation = v.to_text(url)

    def write(self, data: bytes) -> None:
        """Some of the body.

        Raises:
            NetError: more than ContentLength64, after the end, or the peer is gone.
        """
        if self._done.is_set():
            raise NetError(
                "System.ObjectDisposedException",
                "Cannot access a disposed object.\r\n"
                "Object name: 'System.Net.HttpListenerResponse'.",
            )
        if self._length is not None and self._sent + len(data) > self._length:
            raise NetError(
                "System.Net.ProtocolViolationException",
                "Bytes to be written to the stream exceed the Content-Length bytes size specified.",
            )
        self._send_head()
        self._sent += len(data)
        if not data or self._head.method == "HEAD":
            return
        chunked = self._length is None
        self._raw(b"%x\r\n%b\r\n" % (len(data), data) if chunked and self._chunks() else data)

    def Close(self, data: Any = None, _will_block: Any = False) -> None:
        """Send what is left (``data`` as the whole body) and be done."""
        if self._done.is_set():
            return
        try:
            if data is not None:
                if not self._sent_head and self._length is None:
                    self._length = len(data)
                self.write(bytes(data))
            if not self._sent_head and self._length is None:
                self._length = 0
            self._send_head()
            if self._length is None and self._chunks():
                self._raw(b"0\r\n\r\n")
            elif self._length is not None and self._sent < self._length and self._has_body():
                self._keep_alive = False
        except NetError:
            self._keep_alive = False
        finally:
            self._done.set()

    Dispose = Close

    def Abort(self) -> None:
        """Drop the connection."""
        self._keep_alive = False
        self._done.set()

    def _has_body(self) -> bool:
        return self._head.method != "HEAD" and self.StatusCode not in (204, 304)

    def _chunks(self) -> bool:
        return self._head.version == "HTTP/1.1" and self._has_body()

    def _send_head(self) -> None:
        if self._sent_head:
            return
        self._sent_head = True
        status = v.to_int(self.StatusCode)
        reason = self.StatusDescription
        if reason == "OK" and status != 200:
            reason = REASONS.get(status, "")
        rows: dict[str, str] = {"Server": SERVER, "Date": _date()}
        if self._length is not None and status != 204:
            rows["Content-Length"] = str(self._length)
        elif self._chunks():
            rows["Transfer-Encoding"] = "chunked"
        else:
            self._keep_alive = False
        if self.ContentType is not None:
            rows["Content-Type"] = v.to_text(self.ContentType)
        if self.RedirectLocation is not None:
            rows["Location"] = v.to_text(self.RedirectLocation)
        if not self._keep_alive:
            rows["Connection"] = "close"
        known = {name.lower(): name for name in rows}
        for name, value in self.Headers.items():
            rows[known.get(name.lower(), name)] = _one_line(v.to_text(value))
        lines = [
            f"HTTP/1.1 {status} {reason}",
            *(f"{name}: {value}" for name, value in rows.items()),
        ]
        self._raw("\r\n".join([*lines, "", ""]).encode("latin-1", "replace"))

    def _raw(self, data: bytes) -> None:
        try:
            self._sock.sendall(data)
        except OSError as err:
            self._keep_alive = False
            raise NetError(
                "System.Net.HttpListenerException",
                "The specified network name is no longer available",
                ErrorCode=64,
            ) from err


class ResponseStream(v.NetObject):
    """HttpResponseStream."""

    net_name = "System.Net.HttpResponseStream"
    CanWrite = True
    CanRead = False

    def __init__(self, response: HttpListenerResponse) -> None:
        """Of ``response``."""
        self._response = response

    def Write(self, data: Any, offset: Any = 0, count: Any = None) -> None:
        """``count`` bytes from ``offset``."""
        raw = bytes(v.to_int(one) for one in data) if isinstance(data, list) else bytes(data)
        at = v.to_int(offset)
        size = len(raw) - at if count is None else v.to_int(count)
        if at < 0 or size < 0 or at + size > len(raw):
            raise NetError(
                "System.ArgumentOutOfRangeException",
                "Specified argument was out of the range of valid values.\r\nParameter name: size",
            )
        self._response.write(raw[at : at + size])

    def WriteByte(self, value: Any) -> None:
        """One byte."""
        self._response.write(bytes([v.to_int(value)]))

    def Flush(self) -> None:
        """Nothing is held back."""

    def Close(self) -> None:
        """The end of the body is the end of the response."""
        self._response.Close()

    Dispose = Close


def _listen(port: int, prefix: str) -> list[socket.socket]:
    """Sockets on the port, IPv4 and (where there is IPv6) IPv6."""
    found: list[socket.socket] = []
    for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        try:
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            continue
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((host, port))
            sock.listen(256)
        except OSError as err:
            sock.close()
            if family == socket.AF_INET6 and isinstance(err, OSError) and err.errno in (97, 99):
                continue
            for other in found:
                other.close()
            raise _not_started(err, prefix) from err
        found.append(sock)
    return found


def _not_started(err: OSError, prefix: str) -> NetError:
    if isinstance(err, PermissionError):
        return NetError("System.Net.HttpListenerException", "Access is denied", ErrorCode=5)
    return NetError(
        "System.Net.HttpListenerException",
        f"Failed to listen on prefix '{prefix}' because it conflicts with an existing registration "
        "on the machine.",
        ErrorCode=183,
    )


def _refuse(sock: socket.socket, status: int, reason: str) -> None:
    """A response of the listener itself, and the end of the connection."""
    text = f"<HTML><HEAD><TITLE>{reason}</TITLE></HEAD><BODY><h2>{reason}</h2></BODY></HTML>\r\n"
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/html; charset=us-ascii\r\n"
        f"Server: {SERVER}\r\nDate: {_date()}\r\nConnection: close\r\n"
        f"Content-Length: {len(text)}\r\n\r\n"
    )
    try:
        sock.sendall((head + text).encode("ascii"))
    except OSError:
        return  # the peer is gone


def _date() -> str:
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())


def _one_line(text: str) -> str:
    if "\r" in text or "\n" in text:
        raise NetError(
            "System.ArgumentException",
            "Specified value has invalid CRLF characters.\r\nParameter name: value",
        )
    return text


def _thread(target: Callable[[socket.socket], None], sock: socket.socket) -> None:
    threading.Thread(target=target, args=(sock,), daemon=True).start()
