"""The HTTP server against raw sockets: framing, order, limits, upgrade, shutdown."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from apiserver_process import Authority

from muntin.kit.http.server import HttpServer, Limits, Request, Response, Upgrade


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 10))


@asynccontextmanager
async def serving(handler, limits=None):
    server = HttpServer(handler, limits)
    port = await server.listen_tcp("127.0.0.1", 0)
    try:
        yield server, port
    finally:
        await server.close(grace_s=0.5)


async def until(condition) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.002)
    raise AssertionError("it never came true")


async def talk(port: int, data: bytes) -> bytes:
    """Send ``data`` and read until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    try:
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


async def echo(request: Request) -> Response:
    if request.path == "/slow":
        await asyncio.sleep(0.05)
    text = f"{request.method} {request.path} {request.query} {request.body.decode()}"
    return Response(200, {"X-Seen": request.headers.get("x-many", "")}, text.encode())


def test_pipelined_requests_are_answered_in_order():
    async def main():
        async with serving(echo) as (_, port):
            return await talk(
                port,
                b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
                b"GET /quick?a=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            )

    answer = run(main())
    assert answer.index(b"GET /slow") < answer.index(b"GET /quick a=1")
    assert answer.count(b"HTTP/1.1 200 OK") == 2


def test_repeated_headers_are_joined_and_chunked_bodies_are_whole():
    async def main():
        async with serving(echo) as (_, port):
            return await talk(
                port,
                b"POST / HTTP/1.1\r\nHost: a\r\nX-Many: one\r\nX-Many: two\r\n"
                b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
            )

    answer = run(main())
    assert b"X-Seen: one, two" in answer
    assert answer.endswith(b"POST /  abcde")


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"NONSENSE\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n", 413),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + b"x" * 101,
            413,
        ),
    ],
)
def test_what_cannot_be_served_is_refused(data, status):
    async def main():
        async with serving(echo, Limits(body=100)) as (_, port):
            return await talk(port, data)

    assert run(main()).startswith(b"HTTP/1.1 %d " % status)


CHUNKED = b"POST /a HTTP/1.1\r\nHost: a\r\nX-Many: 1\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_trailer_fields_are_no_header_fields_of_this_or_the_next_request(pieces):
    """Cut at many places: a parser that keeps the last field may hand it to the next request."""
    seen = []

    async def note(request):
        seen.append((request.path, dict(request.headers), request.body))
        return Response(200)

    trailers = b"0\r\nImpersonate-User: admin\r\nX-Many: 2\r\nAuthorization: Bearer x\r\n\r\n"
    data = CHUNKED + b"3\r\nabc\r\n" + trailers
    data += b"GET /b HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n"

    async def main():
        async with serving(note) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            size = -(-len(data) // pieces)
            for start in range(0, len(data), size):
                writer.write(data[start : start + size])
                await asyncio.sleep(0.001 if pieces > 1 else 0)
            await reader.read()
            writer.close()

    run(main())
    assert seen == [
        ("/a", {"host": "a", "x-many": "1", "transfer-encoding": "chunked"}, b"abc"),
        ("/b", {"host": "b", "connection": "close"}, b""),
    ]


def test_trailer_fields_of_an_upgrade_request_are_no_header_fields():
    seen = []

    async def note(request):
        seen.append(dict(request.headers))
        return Response(200)

    head = CHUNKED.replace(b"X-Many: 1", b"Connection: Upgrade\r\nUpgrade: x")

    async def main():
        async with serving(note) as (_, port):
            await talk(port, head + b"3\r\nabc\r\n0\r\nImpersonate-User: admin\r\n\r\n")

    run(main())
    assert [sorted(headers) for headers in seen] == [
        ["connection", "host", "transfer-encoding", "upgrade"]
    ]


@pytest.mark.parametrize("filler", [b"X: y\r\n", b"y" * 100])
def test_endless_trailers_are_refused(filler):
    async def main():
        async with serving(echo, Limits(head=1000)) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(CHUNKED + b"3\r\nabc\r\n0\r\nX: ")
            for _ in range(400):
                writer.write(filler)
                await asyncio.sleep(0)
            answer = await reader.read()
            writer.close()
            return answer

    assert run(main()).startswith(b"HTTP/1.1 431 ")


def test_a_body_of_tiny_chunks_is_taken():
    async def main():
        async with serving(echo, Limits(head=200)) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(CHUNKED)
            for _ in range(1000):
                writer.write(b"1\r\nx\r\n")
                await asyncio.sleep(0)
            writer.write(b"0\r\n\r\n")
            answer = await reader.readuntil(b"x" * 1000)
            writer.close()
            return answer

    assert run(main()).startswith(b"HTTP/1.1 200 ")


def test_endless_header_is_refused():
    async def main():
        async with serving(echo, Limits(head=1000)) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nX: ")
            for _ in range(20):
                writer.write(b"y" * 100)
                await writer.drain()
                await asyncio.sleep(0)
            answer = await reader.read()
            writer.close()
            return answer

    assert run(main()).startswith(b"HTTP/1.1 431 ")


def test_streamed_body_obeys_back_pressure():
    produced = 0

    async def handler(request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            nonlocal produced
            for _ in range(1000):
                produced += 1
                yield b"x" * 100_000

        return Response(200, {}, pieces())

    async def main():
        async with serving(handler) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await reader.readline()
            await asyncio.sleep(0.2)
            early = produced
            writer.transport.abort()
            return early

    assert 0 < run(main()) < 500


def test_pushed_body_ends_cancelled_when_the_client_goes():
    ended: list[str] = []

    async def handler(request: Request) -> Response:
        async def push(writer) -> None:
            writer.write(b"hello")
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        return Response(200, {}, push)

    async def main():
        async with serving(handler) as (server, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await reader.readuntil(b"5\r\nhello\r\n")
            writer.close()
            await writer.wait_closed()
            await until(lambda: not server.connections)

    run(main())
    assert ended == ["cancelled"]


def test_upgrade_hands_over_the_bytes_already_read():
    async def handler(request: Request) -> Upgrade:
        async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while line := await reader.readline():
                writer.write(line.upper())
                await writer.drain()
                if line == b"bye\n":
                    return

        assert request.upgrade
        return Upgrade("shout", shout, {"X-A": "b"})

    async def main():
        async with serving(handler) as (_, port):
            return await talk(
                port,
                b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n"
                b"hello\nbye\n",
            )

    head, _, tail = run(main()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 Switching Protocols")
    assert b"Upgrade: shout" in head
    assert tail == b"HELLO\nBYE\n"


def test_upgrade_request_may_get_an_ordinary_answer():
    async def main():
        async with serving(echo) as (_, port):
            return await talk(
                port, b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
            )

    answer = run(main())
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"Connection: close" in answer


def test_unix_socket(tmp_path):
    async def main():
        server = HttpServer(echo)
        await server.listen_unix(str(tmp_path / "s"))
        assert (tmp_path / "s").stat().st_mode & 0o777 == 0o600
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / "s"))
        writer.write(b"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        await server.close()
        return answer

    answer = run(main())
    assert b"Content-Length: 8" in answer
    assert answer.endswith(b"\r\n\r\n")


def test_close_lets_a_running_answer_end():
    async def main():
        begun = asyncio.Event()

        async def handler(request: Request) -> Response:
            begun.set()
            return await echo(request)

        server = HttpServer(handler)
        port = await server.listen_tcp("127.0.0.1", 0)
        asking = asyncio.create_task(talk(port, b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"))
        await begun.wait()
        await server.close()
        return await asking

    assert b"GET /slow" in run(main())


def test_http_1_0_gets_an_unchunked_stream():
    async def handler(request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            yield b"one"
            yield b"two"

        return Response(200, {}, pieces())

    async def main():
        async with serving(handler) as (_, port):
            return await talk(port, b"GET / HTTP/1.0\r\n\r\n")

    assert run(main()).endswith(b"\r\n\r\nonetwo")


def test_handler_error_is_a_500_and_the_connection_lives(caplog):
    async def handler(request: Request) -> Response:
        if request.path == "/bad":
            raise ValueError("no")
        return Response(200, {}, b"fine")

    async def main():
        async with serving(handler) as (_, port):
            return await talk(
                port,
                b"GET /bad HTTP/1.1\r\nHost: a\r\n\r\n"
                b"GET /good HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            )

    answer = run(main())
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert answer.endswith(b"fine")
    assert "handler failed" in caplog.text


def test_close_ends_a_pushed_body_cleanly():
    async def handler(request: Request) -> Response:
        async def push(writer) -> None:
            writer.write(b"hello")
            await asyncio.Event().wait()

        return Response(200, {}, push)

    async def main():
        server = HttpServer(handler)
        port = await server.listen_tcp("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await reader.readuntil(b"5\r\nhello\r\n")
        started = asyncio.get_running_loop().time()
        await server.close(grace_s=20)
        assert asyncio.get_running_loop().time() - started < 4, "not the whole grace"
        assert await reader.read() == b"0\r\n\r\n"
        writer.close()

    run(main())


def test_a_request_that_never_ends_is_refused():
    async def main():
        async with serving(echo, Limits(receive_s=0.1)) as (_, port):
            head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"
            slow = await talk(port, head + b"half")
            unsent = await talk(port, b"GET / HTTP/1.1\r\nHost")
            return slow, unsent

    for answer in run(main()):
        assert answer.startswith(b"HTTP/1.1 408 ")


def test_an_idle_connection_is_closed_and_a_used_one_is_not():
    async def main():
        async with serving(echo, Limits(idle_s=4.0)) as (server, port):
            idle = asyncio.create_task(talk(port, b""))
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            while not idle.done():
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                answer = await reader.readuntil(b"GET /  ")
                assert answer.startswith(b"HTTP/1.1 200")
                await asyncio.sleep(0.2)
            assert server.connections == 1
            writer.close()

    run(main())


def upgraded(port: int, context: ssl.SSLContext) -> ssl.SSLSocket:
    """A client over TLS whose upgrade was answered; it never says goodbye."""
    sock = socket.create_connection(("127.0.0.1", port), timeout=5)
    client = context.wrap_socket(sock, server_hostname="localhost")
    client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
    assert client.recv(4096).startswith(b"HTTP/1.1 101 ")
    return client


def is_closed_by_peer(client: ssl.SSLSocket) -> bool:
    """Whether the connection below TLS has ended."""
    with socket.socket(fileno=client.detach()) as raw:
        raw.settimeout(10)
        try:
            while raw.recv(4096):
                pass
        except ConnectionError:
            return True
        except TimeoutError:
            return False
        return True


@pytest.mark.parametrize("is_over", [False, True], ids=["goes on", "is over"])
def test_the_end_closes_connections_of_who_says_no_goodbye(tmp_path, is_over):
    Authority(tmp_path).pair("server", "server", server=True)
    serverside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serverside.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    clientside = ssl.create_default_context(cafile=tmp_path / "ca.crt")

    async def handler(request: Request) -> Upgrade:
        async def stay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if is_over:
                writer.close()
            else:
                await asyncio.Event().wait()

        return Upgrade("x", stay, {})

    async def main():
        server = HttpServer(handler)
        port = await server.listen_tcp("127.0.0.1", 0, serverside)
        client = await asyncio.to_thread(upgraded, port, clientside)
        await asyncio.sleep(0.05)
        assert server.connections == 1  # counted until its socket is closed
        before = asyncio.get_running_loop().time()
        await server.close(grace_s=0.1)
        assert asyncio.get_running_loop().time() - before < 5
        assert server.connections == 0
        assert await asyncio.to_thread(is_closed_by_peer, client)

    run(main())


@asynccontextmanager
async def who_takes_nothing(body):
    """The server of a client that has asked for ``body`` and does not read it."""

    async def handler(request: Request) -> Response:
        return Response(200, {}, body())

    async with serving(handler, Limits(idle_s=0.2, linger_s=0.4)) as (server, port):
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", port))
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            await until(lambda: server.connections == 1)
            yield server


def test_who_takes_nothing_of_an_answer_is_cut_off():
    async def main():
        async with who_takes_nothing(lambda: b"x" * 30_000_000) as server:
            await until(lambda: not server.connections)

    run(main())


def test_who_takes_nothing_of_a_stream_may_go_on_later():
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1_000_000

    async def main():
        async with who_takes_nothing(endless) as server:
            await asyncio.sleep(0.6)
            assert server.connections == 1

    run(main())


def test_who_never_takes_the_end_of_a_stream_is_cut_off():
    async def main():
        loop = asyncio.get_running_loop()
        ended = loop.create_future()

        async def fill(writer) -> None:
            while not writer.buffered:
                writer.write(b"x" * 50_000)
                await writer.drain()
            ended.set_result(loop.time())

        async with who_takes_nothing(lambda: fill) as server:
            before = await ended
            await until(lambda: not server.connections)
            assert loop.time() - before > 0.3

    run(main())
