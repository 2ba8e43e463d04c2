"""exec, attach and port-forward to a runtime that does not answer."""

import asyncio

import pytest

from muntin.kit.errors import TimedOut
from muntin.kit.http.messages import Request
from muntin.kubelet import tunnel


def test_a_runtime_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(tunnel, "ANSWER_S", 0.1)

    async def silent(reader, writer):
        await reader.read()
        writer.close()

    async def main():
        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            headers = {"connection": "Upgrade", "upgrade": "SPDY/3.1"}
            request = Request(method="POST", path="/exec", headers=headers, upgrade=True)
            with pytest.raises(TimedOut):
                await tunnel.tunnel(request, f"http://127.0.0.1:{port}/exec/token")
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(main(), 10))
