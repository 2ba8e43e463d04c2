"""Bodies and headers that are long: who may send them, how many are held, and what is left."""

import asyncio
import gc
import weakref

import pytest
from test_http_server import CHUNKED, run, talk, until

from muntin.kit.http import server as http_server
from muntin.kit.http.budget import STRANGER, Budget
from muntin.kit.http.limits import FREE
from muntin.kit.http.server import HttpServer, Limits, Passed, Response

SIZE = 10 * FREE
LONG = b"POST /%b HTTP/1.1\r\nHost: a\r\nX-User: %b\r\nContent-Length: " + b"%d\r\n\r\n" % SIZE


class Server:
    """A server whose gate lets all but ``nobody`` pass; notes what it and the handler saw."""

    def __init__(self, limits=None):
        self.asked, self.bodies = [], []
        self.let_go = asyncio.Event()
        self.let_go.set()
        self.passing = asyncio.Event()
        self.passing.set()
        self.http = HttpServer(self.answer, limits, gate=self.gate)

    async def gate(self, head):
        assert (head.complete, head.body) == (False, b"")
        self.asked.append(head.path)
        await self.passing.wait()
        if head.path == "/broken":
            raise KeyError("odd")
        user = head.headers["x-user"]
        return Response(403, {}, b"no") if user == "nobody" else Passed(user, user)

    async def answer(self, request):
        self.bodies.append((request.path, len(request.body), request.known))
        await self.let_go.wait()
        return Response(200)

    async def __aenter__(self):
        self.port = await self.http.listen_tcp("127.0.0.1", 0)
        return self

    async def __aexit__(self, *_):
        await self.http.close(grace_s=0.2)

    async def connect(self, data=b""):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        return reader, writer


def test_unauthorized_senders_are_refused_before_the_body():
    async def main():
        async with Server() as server:
            reader, writer = await server.connect(LONG % (b"", b"nobody"))
            answer = await reader.read()
            writer.close()
            assert answer.startswith(b"HTTP/1.1 403 ")
            assert answer.endswith(b"no")
            assert (server.bodies, server.http.budget.held) == ([], 0)

    run(main())


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_may_come_is_whole_and_known(chunked):
    body = b"x" * SIZE

    async def main():
        async with Server() as server:
            head = CHUNKED.replace(b"X-Many: 1", b"X-User: me") if chunked else LONG % (b"a", b"me")
            _, writer = await server.connect(head)
            pieces = [body[at : at + 5000] for at in range(0, SIZE, 5000)]
            for piece in pieces:
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                await asyncio.sleep(0)
            writer.write(b"0\r\n\r\n" if chunked else b"")
            writer.write(b"GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
            await until(lambda: len(server.bodies) == 2)
            writer.close()
            assert server.asked == ["/a"]
            assert server.bodies == [("/a", SIZE, "me"), ("/b", 0, None)]
            await until(lambda: not server.http.budget.held)

    run(main())


def test_short_and_complete_bodies_do_not_call_the_gate():
    async def main():
        async with Server() as server:
            head = b"POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
            _, writer = await server.connect(head % FREE)
            await asyncio.sleep(0.01)
            writer.write(b"x" * FREE)
            await until(lambda: server.bodies)
            writer.close()
            assert server.asked == []

    run(main())


def test_nothing_is_read_while_the_gate_is_asked():
    """Also not when the answer to an earlier request is written meanwhile."""
    sent = 0

    async def main():
        nonlocal sent
        async with Server(Limits(body=1 << 30)) as server:
            server.let_go.clear()
            server.passing.clear()
            data = LONG.replace(b"%d" % SIZE, b"%d" % (1 << 30)) % (b"", b"me")
            _, writer = await server.connect(b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n" + data)
            await until(lambda: server.asked and server.bodies)
            server.let_go.set()
            for _ in range(200):
                writer.write(b"x" * 65536)
                sent += 65536
                try:
                    await asyncio.wait_for(writer.drain(), 0.05)
                except TimeoutError:
                    break
            writer.transport.abort()
            assert sent < 200 * 65536

    run(main())


def test_expect_waits_for_the_gate():
    async def main():
        async with Server() as server:
            for user, said in ((b"me", b"HTTP/1.1 100 "), (b"nobody", b"HTTP/1.1 403 ")):
                head = (LONG % (b"", user)).replace(b"Host", b"Expect: 100-continue\r\nHost")
                reader, writer = await server.connect(head)
                assert (await reader.readuntil(b"\r\n")).startswith(said)
                writer.close()

    run(main())


def test_a_gate_that_breaks_is_a_server_error():
    async def main():
        async with Server() as server:
            return await talk(server.port, LONG % (b"broken", b"me"))

    assert run(main()).startswith(b"HTTP/1.1 500 ")


def test_one_user_holds_no_more_than_their_share_and_all_no_more_than_all():
    async def main():
        limits = Limits(held=5 * SIZE, held_of_user=2 * SIZE)
        async with Server(limits) as server:
            held = []
            for user in (b"a", b"a", b"b", b"b", b"c"):
                held.append(await server.connect(LONG % (b"", user)))
                count = len(held)
                await until(lambda n=count: server.http.budget.held == n * SIZE)
                if count in (2, 4, 5):  # one more of the same, or of anybody
                    answer = await talk(server.port, LONG % (b"", user))
                    assert answer.startswith(b"HTTP/1.1 429 ")
            assert server.http.budget.held == 5 * SIZE
            held[0][1].close()
            await until(lambda: server.http.budget.held == 4 * SIZE)
            for _, writer in held[1:]:
                writer.transport.abort()
            await until(lambda: not server.http.budget.held)
            reader, writer = await server.connect(LONG % (b"", b"a") + b"x" * SIZE)
            assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200 ")
            writer.close()

    run(main())


def test_unauthenticated_headers_share_a_budget():
    async def main():
        async with Server(Limits(head=SIZE, held_of_user=2 * SIZE)) as server:
            head = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 2 * FREE
            held = [await server.connect(head) for _ in range(2)]
            await until(lambda: server.http.budget.held == 2 * SIZE)
            assert (await talk(server.port, head)).startswith(b"HTTP/1.1 429 ")
            reader, writer = held[0]
            writer.write(b"\r\n\r\n")
            assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200 ")
            await until(lambda: server.http.budget.held == SIZE)
            for _, writer in held:
                writer.close()

    run(main())


@pytest.mark.parametrize(
    "data", [b"", LONG % (b"", b"me") + b"x" * FREE, b"GET / HTTP/1.1\r\nX: y"]
)
def test_a_closed_connection_leaves_nothing_for_the_garbage_collector(data, monkeypatch):
    """It comes seldom in a server: what it would have to find is held for hours."""
    made = []

    class Noted(http_server.Connection):
        def connection_made(self, transport):
            made.append(weakref.ref(self))
            super().connection_made(transport)

    monkeypatch.setattr(http_server, "Connection", Noted)

    async def main():
        async with Server() as server:
            gc.collect()
            gc.disable()
            try:
                _, writer = await server.connect(data)
                await until(lambda: made and (not data or made[0]()._receiving_since))
                await asyncio.sleep(0.05)
                writer.transport.abort()
                await until(lambda: not server.http.connections)
                await until(lambda: made[0]() is None)
            finally:
                gc.enable()

    run(main())


def test_budget():
    budget = Budget(10, 6)
    assert [budget.take("a", 4), budget.take("a", 3), budget.take(STRANGER, 6)] == [
        True,
        False,
        True,
    ]
    assert [budget.take(None, 1), budget.held, budget.most_held] == [False, 10, 10]
    budget.give_back("a", 4)
    assert [budget.take(None, 4), budget.take("a", 1)] == [True, False]
    budget.give_back(None, 4)
    budget.give_back(STRANGER, 6)
    assert budget.held == 0
