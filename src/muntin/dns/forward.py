"""Names that are not the cluster's: asked of the upstream servers, each in turn."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets

from muntin.dns.config import DnsConfig
from muntin.kit.log import fields

log = logging.getLogger(__name__)


def parse_upstream(text: str) -> tuple[str, int]:
    """``192.0.2.1`` or ``192.0.2.1#5353`` as address and port."""
    address, _, port = text.partition("#")
    return address, int(port or 53)


def read_resolv_conf(text: str) -> tuple[str, ...]:
    """The nameserver addresses of a resolv.conf, in order."""
    words = (line.split() for line in text.splitlines())
    return tuple(part[1] for part in words if len(part) > 1 and part[0] == "nameserver")


class _Ask(asyncio.DatagramProtocol):
    def __init__(self, query: bytes) -> None:
        self._query = query
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if data[:2] == self._query[:2] and not self.answer.done():
            self.answer.set_result(data)

    def error_received(self, exc: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(exc)


async def forward(config: DnsConfig, query: bytes, *, tcp: bool) -> bytes | None:
    """The raw answer of the first upstream that gives one, under the query's own id.

    None when no upstream is known or none answers in time.
    """
    unguessable = secrets.token_bytes(2)
    for upstream in config.upstreams:
        address, port = parse_upstream(upstream)
        ask = _ask_tcp if tcp else _ask_udp
        try:
            async with asyncio.timeout(config.upstream_timeout_s):
                answer = await ask(address, port, unguessable + query[2:])
        except (OSError, EOFError, TimeoutError) as err:
            log.debug("upstream did not answer", **fields(upstream=upstream, error=err))
            continue
        return query[:2] + answer[2:]
    return None


async def _ask_udp(address: str, port: int, query: bytes) -> bytes:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.create_datagram_endpoint(
        lambda: _Ask(query), remote_addr=(address, port)
    )
    try:
        transport.sendto(query)
        return await protocol.answer
    finally:
        transport.close()


async def _ask_tcp(address: str, port: int, query: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(address, port)
    try:
        writer.write(len(query).to_bytes(2) + query)
        size = int.from_bytes(await reader.readexactly(2))
        return await reader.readexactly(size)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
