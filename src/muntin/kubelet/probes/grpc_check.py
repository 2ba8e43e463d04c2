"""gRPC probes: one call of ``grpc.health.v1.Health/Check`` over plaintext HTTP/2.

The peer is a container, so reads are bounded: the HTTP/2 flow control window is never opened
any further than WINDOW_BYTES. Sources: kubernetes v1.34 pkg/probe/grpc/grpc.go (the words are
its), grpc doc/health-checking.md, doc/PROTOCOL-HTTP2.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from urllib.parse import unquote

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings

from muntin.kit.errors import Invalid
from muntin.kit.numbers import int_or_none
from muntin.kit.protobuf import raw_fields
from muntin.kubelet.backoff import duration
from muntin.kubelet.probes.result import Result

PATH = "/grpc.health.v1.Health/Check"
WINDOW_BYTES = 65_535  # HTTP/2's own first window
BLOCK = 16 * 1024
AGAIN_S = 0.1  # between two tries to connect
STATUSES = ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")
# google.golang.org/grpc/codes, by number.
CODES = (
    "OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound",
    "AlreadyExists", "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted",
    "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated",
)  # fmt: skip
# What a status of HTTP means. Source: grpc doc/http-grpc-status-mapping.md.
HTTP_CODES = {
    400: "Internal", 401: "Unauthenticated", 403: "PermissionDenied", 404: "Unimplemented",
    429: "Unavailable", 502: "Unavailable", 503: "Unavailable", 504: "Unavailable",
}  # fmt: skip


class RpcError(Exception):
    """The call failed with ``code``, a name of CODES."""

    def __init__(self, code: str, description: str) -> None:
        super().__init__(f"rpc error: code = {code} desc = {description}")
        self.code = code
        self.description = description


async def grpc_check(
    host: str, port: int, service: str, timeout_s: float, user_agent: str
) -> Result:
    """Passed when the server says SERVING of ``service`` in time; until then it is tried to
    connect to."""
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    within = duration(timeout_s)
    end = asyncio.get_running_loop().time() + timeout_s
    try:
        async with asyncio.timeout_at(end):
            call = await _connected(host, port)
    except TimeoutError:
        reason = f"failed to connect service {_quoted(where)} within {within}"
        return Result(False, f"timeout: {reason}: context deadline exceeded")
    try:
        async with asyncio.timeout_at(end):
            status = await call.check(where, service, user_agent)
    except TimeoutError:
        return Result(False, f"timeout: health rpc did not complete within {within}")
    except RpcError as err:
        if err.code == "Unimplemented":
            text = "this server does not implement the grpc health protocol"
            return Result(False, f"error: {text} (grpc.health.v1.Health): {err.description}")
        if err.code == "DeadlineExceeded":
            return Result(False, f"timeout: health rpc did not complete within {within}")
        return Result(False, f"error: health rpc probe failed: {err}")
    finally:
        call.close()
    if status != "SERVING":
        return Result(False, f"service unhealthy (responded with {_quoted(status)})")
    return Result(True, "service healthy")


async def _connected(host: str, port: int) -> _Call:
    """A connection whose server has sent its settings, as gRPC servers do at once."""
    while True:
        with contextlib.suppress(OSError, ValueError, h2.exceptions.ProtocolError):
            reader, writer = await asyncio.open_connection(host, port, limit=BLOCK)
            call = _Call(reader, writer)
            try:
                await call.settle()
                return call
            except BaseException:
                call.close()
                raise
        await asyncio.sleep(AGAIN_S)


class _Call:
    """One connection and the one call on it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=True, header_encoding="latin-1")
        )
        self._headers: dict[str, str] = {}
        self._body = b""
        self._ended = self._settled = False

    def close(self) -> None:
        """Drop the connection."""
        self._writer.transport.abort()

    async def settle(self) -> None:
        """Exchange settings.

        Raises:
            OSError, h2.exceptions.ProtocolError: the peer does not speak HTTP/2.
        """
        self._http.initiate_connection()
        self._http.update_settings({h2.settings.SettingCodes.ENABLE_PUSH: 0})
        self._send()
        while not self._settled:
            await self._receive()

    async def check(self, authority: str, service: str, user_agent: str) -> str:
        """The status of ``service`` by its name.

        Raises:
            RpcError: the call failed, or its answer is none.
        """
        try:
            stream = self._http.get_next_available_stream_id()
            self._http.send_headers(
                stream,
                [
                    (":method", "POST"),
                    (":scheme", "http"),
                    (":path", PATH),
                    (":authority", authority),
                    ("content-type", "application/grpc"),
                    ("user-agent", user_agent),
                    ("te", "trailers"),
                ],
            )
            self._http.send_data(stream, framed(service), end_stream=True)
            self._send()
            while not self._ended:
                await self._receive()
        except (OSError, h2.exceptions.H2Error) as err:
            raise RpcError("Unavailable", str(err) or type(err).__name__) from err
        return status_of(self._headers, self._body)

    def _send(self) -> None:
        self._writer.write(self._http.data_to_send())

    async def _receive(self) -> None:
        data = await self._reader.read(BLOCK)
        if not data:
            raise ConnectionResetError("error reading from server: EOF")
        for event in self._http.receive_data(data):
            if isinstance(event, h2.events.RemoteSettingsChanged):
                self._settled = True
            elif isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
                self._headers.update((str(name), str(value)) for name, value in event.headers)
            elif isinstance(event, h2.events.DataReceived):
                self._body += event.data  # bounded by the window, which is not opened again
            elif isinstance(event, h2.events.StreamEnded):
                self._ended = True
            elif isinstance(event, h2.events.StreamReset):
                text = f"stream terminated by RST_STREAM with error code: {event.error_code}"
                raise RpcError("Unavailable", text)
            elif isinstance(event, h2.events.ConnectionTerminated):
                raise RpcError("Unavailable", "the connection is draining")
        self._send()
        await self._writer.drain()


def framed(service: str) -> bytes:
    """A HealthCheckRequest as a message of gRPC: not compressed, its length, its bytes."""
    name = service.encode()
    message = b"\x0a" + _varint(len(name)) + name if name else b""
    return struct.pack(">BI", 0, len(message)) + message


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def status_of(headers: dict[str, str], body: bytes) -> str:
    """What a whole answer says: the name of a ServingStatus. Pure.

    Raises:
        RpcError: the call failed, or its answer is none.
    """
    number = int_or_none(headers.get("grpc-status"))
    if number is None:
        http = int_or_none(headers.get(":status"))
        text = f"unexpected HTTP status code received from server: {http}"
        raise RpcError(HTTP_CODES.get(http or 0, "Unknown"), text)
    if number:
        name = CODES[number] if number < len(CODES) else f"Code({number})"
        raise RpcError(name, unquote(headers.get("grpc-message", "")))
    if len(body) < 5 or body[0] or len(body) != 5 + struct.unpack(">I", body[1:5])[0]:
        raise RpcError("Internal", "the answer is not one message without compression")
    value = 0
    try:
        for field, wire, found in raw_fields(body[5:]):
            if field == 1 and wire == 0 and isinstance(found, int):
                value = found
    except Invalid as err:
        raise RpcError("Internal", err.message) from err
    return STATUSES[value] if value < len(STATUSES) else str(value)


def _quoted(text: str) -> str:
    return f'"{text}"'
