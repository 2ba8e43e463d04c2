"""The HTTP client against a scripted server: keep-alive, streaming, stale connections, upgrades."""

import asyncio
import contextlib
import ssl

import pytest

from muntin.kit import errors
from muntin.kit.http.addresses import NotAllowed, is_global_unicast
from muntin.kit.http.client import MOST_BYTES, HttpClient, HttpResponse, TooLong, Upgraded, paced
from muntin.kit.http.client_connection import HIGH_WATER_BYTES


@contextlib.asynccontextmanager
async def scripted(handle, path):
    """A server on Unix socket ``path`` that runs ``handle(reader, writer, nth)`` a connection."""
    count = 0

    async def serve(reader, writer):
        nonlocal count
        count += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await handle(reader, writer, count)
        writer.close()

    server = await asyncio.start_unix_server(serve, path)
    client = HttpClient(unix_socket=str(path))
    try:
        yield client
    finally:
        await client.close()
        server.close()


async def head_of(reader):
    return (await reader.readuntil(b"\r\n\r\n")).decode()


def run(coro):
    asyncio.run(asyncio.wait_for(coro, 10))


def test_a_connection_is_kept_and_used_again(tmp_path):
    seen = []

    async def handle(reader, writer, nth):
        while True:
            seen.append((nth, (await head_of(reader)).split(" ")[1]))
            writer.write(b"HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\nhi")

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            first = await client.request("GET", "http://x/a?b=c")
            await client.request("GET", "http://x/d")
            assert first == HttpResponse(200, {"x-a": "1, 2", "content-length": "2"}, b"hi")
        assert seen == [(1, "/a?b=c"), (1, "/d")]

    run(main())


def test_a_get_that_meets_a_connection_being_closed_is_sent_anew(tmp_path):
    async def handle(reader, writer, nth):
        await head_of(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % nth)
        if nth == 1:
            await head_of(reader)  # then close without an answer

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            assert (await client.request("GET", "http://x/")).body == b"1"
            assert (await client.request("GET", "http://x/")).body == b"2"

    run(main())


def test_a_post_on_a_connection_being_closed_is_not_repeated(tmp_path):
    async def handle(reader, writer, nth):
        await head_of(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
        await head_of(reader)

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            await client.request("GET", "http://x/")
            with pytest.raises(errors.Unavailable):
                await client.request("POST", "http://x/", body=b"{}")

    run(main())


def test_chunks_arrive_as_they_are_sent(tmp_path):
    go_on = asyncio.Event()

    async def handle(reader, writer, nth):
        await head_of(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await go_on.wait()
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")

    async def main():
        async with (
            scripted(handle, tmp_path / "s") as client,
            client.stream("GET", "http://x/") as answer,
        ):
            assert await anext(answer.chunks) == b"one"
            go_on.set()
            assert await anext(answer.chunks) == b"two"
            assert [part async for part in answer.chunks] == []

    run(main())


def test_a_reader_that_waits_makes_the_sender_wait(tmp_path):
    sent = 0

    async def handle(reader, writer, nth):
        nonlocal sent
        await head_of(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(400):
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 65536

    async def main():
        async with (
            scripted(handle, tmp_path / "s") as client,
            client.stream("GET", "http://x/") as answer,
        ):
            await asyncio.sleep(0.2)
            assert sent < 4 * HIGH_WATER_BYTES
            assert sum([len(part) async for part in answer.chunks]) == 400 * 65536

    run(main())


def test_a_body_cut_short_is_an_error(tmp_path):
    async def handle(reader, writer, nth):
        await head_of(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            with pytest.raises(errors.Unavailable, match="closed by the peer"):
                await client.request("GET", "http://x/")

    run(main())


def test_a_body_without_length_ends_with_the_connection(tmp_path):
    async def handle(reader, writer, nth):
        await head_of(reader)
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nabc")

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            assert (await client.request("GET", "http://x/")).body == b"abc"

    run(main())


def test_a_head_answer_has_no_body(tmp_path):
    async def handle(reader, writer, nth):
        await head_of(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
        await reader.read()

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            assert (await client.request("HEAD", "http://x/")).body == b""

    run(main())


def test_a_streamed_request_body_is_chunked(tmp_path):
    got = []

    async def handle(reader, writer, nth):
        got.append(await head_of(reader))
        got.append(await reader.readuntil(b"0\r\n\r\n"))
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")

    async def body():
        yield b"abc"
        yield b"defg"

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            assert (await client.request("POST", "http://x/", body=body())).status == 201
        assert "Transfer-Encoding: chunked" in got[0]
        assert got[1] == b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"

    run(main())


def test_no_answer_in_time_is_timed_out(tmp_path):
    async def handle(reader, writer, nth):
        await reader.read()

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            with pytest.raises(errors.TimedOut, match=r"GET http://x/: no answer within 0.05 s"):
                await client.request("GET", "http://x/", timeout_s=0.05)

    run(main())


def test_nobody_listening_is_unavailable_with_its_cause(tmp_path):
    async def main():
        client = HttpClient(unix_socket=str(tmp_path / "none"))
        with pytest.raises(errors.Unavailable) as info:
            await client.request("GET", "http://x/")
        assert isinstance(info.value.__cause__, FileNotFoundError)

    run(main())


def test_an_upgrade_gives_the_bytes_that_came_with_it_and_both_directions(tmp_path):
    async def handle(reader, writer, nth):
        await head_of(reader)
        writer.write(b"HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly")
        while data := await reader.read(100):
            writer.write(data.upper())
        writer.write(b"bye")

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            headers = {"Connection": "Upgrade", "Upgrade": "echo"}
            answer = await client.upgrade("POST", "http://x/", headers=headers)
            assert isinstance(answer, Upgraded)
            assert answer.headers["upgrade"] == "echo"
            assert await answer.reader.readexactly(5) == b"early"
            answer.writer.write(b"abc")
            assert await answer.reader.readexactly(3) == b"ABC"
            answer.writer.write_eof()
            assert await answer.reader.read() == b"bye"
            answer.writer.close()

    run(main())


def test_a_refused_upgrade_is_the_ordinary_answer(tmp_path):
    async def handle(reader, writer, nth):
        await head_of(reader)
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            answer = await client.upgrade("GET", "http://x/", headers={"Upgrade": "echo"})
            assert isinstance(answer, HttpResponse)
            assert (answer.status, answer.body) == (403, b"no")

    run(main())


def test_an_answer_that_is_too_long_is_not_read(tmp_path):
    sent = 0

    async def endless(reader, writer, nth):
        nonlocal sent
        await head_of(reader)
        writer.write(b"HTTP/1.1 %d OK\r\n\r\n" % (200 if nth == 1 else 400))
        while True:
            writer.write(bytes(65536))
            sent += 65536
            await writer.drain()

    async def main():
        async with scripted(endless, tmp_path / "s") as client:
            with pytest.raises(TooLong, match="more than 16777216 bytes"):
                await client.request("GET", "http://a/")
            headers = {"Connection": "Upgrade", "Upgrade": "x"}
            with pytest.raises(TooLong):
                await client.upgrade("GET", "http://a/", headers=headers)

    run(main())
    assert sent < 3 * MOST_BYTES


@pytest.mark.parametrize(
    "piece",
    [b"X: y\r\n", b"y" * 100, b"HTTP/1.1 100 Continue\r\n\r\n"],
    ids=["many", "long", "100"],
)
def test_a_header_without_end_is_an_error(tmp_path, piece):
    async def endless(reader, writer, nth):
        await head_of(reader)
        if not piece.startswith(b"HTTP"):
            writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            writer.write(piece * 1000)
            await writer.drain()

    async def main():
        async with scripted(endless, tmp_path / "s") as client:
            with pytest.raises(errors.Unavailable, match="more than 1048576 bytes"):
                await client.request("GET", "http://a/")

    run(main())


@pytest.mark.parametrize(
    "url", ["http://a:99999/", "http://[", "http://a]b/", "http://a:x/", "ftp://a/", "http://a/€"]
)
def test_what_is_no_url_is_invalid(tmp_path, url):
    async def main():
        client = HttpClient()
        with pytest.raises(errors.Invalid):
            await client.request("GET", url)

    run(main())


def test_a_host_that_no_name_can_have_is_unavailable():
    async def main():
        for guarded in (False, True):
            client = HttpClient(guarded=guarded)
            with pytest.raises(errors.Unavailable):
                await client.request("GET", f"http://{'a' * 70}/")

    run(main())


def test_a_guarded_client_judges_the_address_that_it_dials():
    async def main():
        server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            client = HttpClient(guarded=True)
            for host in ("127.0.0.1", "localhost", "0x7f000001", "127.1", "[::ffff:127.0.0.1]",
                         "[::127.0.0.1]", "0.0.0.0", "[::1]", "[fe80::1]"):  # fmt: skip
                with pytest.raises(errors.Unavailable) as refused:
                    await client.request("GET", f"http://{host}:{port}/")
                assert isinstance(refused.value, NotAllowed), host

    run(main())


def test_a_body_that_stalls_is_timed_out(tmp_path):
    async def stalls(reader, writer, nth):
        await head_of(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(3):
            writer.write(b"abc")
            await asyncio.sleep(0.02)
        await reader.read()

    async def main():
        seen = []

        async def read(client):
            async with client.stream("GET", "http://a/") as answer:
                async for part in paced(answer.chunks, 0.3):
                    seen.append(part)

        async with scripted(stalls, tmp_path / "s") as client:
            with pytest.raises(errors.TimedOut):
                await read(client)
        assert b"".join(seen) == b"abcabcabc"

    run(main())


@pytest.mark.parametrize(
    ("address", "allowed"),
    [("10.0.0.1", True), ("192.0.2.1", True), ("2001:db8::1", True), ("::ffff:10.0.0.1", True),
     ("127.255.255.254", False), ("::ffff:169.254.169.254", False), ("255.255.255.255", False),
     ("ff02::1", False), ("fe80::1", False), ("localhost", False), ("", False)],
)  # fmt: skip
def test_global_unicast(address, allowed):
    assert is_global_unicast(address) is allowed


def test_trailer_fields_do_not_change_the_header_of_an_answer(tmp_path):
    async def handle(reader, writer, nth):
        while True:
            await head_of(reader)
            writer.write(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n3\r\nabc\r\n"
            )
            writer.write(b"0\r\nX-A: 2\r\nLocation: /evil\r\n\r\n")

    async def main():
        async with scripted(handle, tmp_path / "s") as client:
            for _ in range(2):  # the second time on the same connection
                answer = await client.request("GET", "http://a/")
                assert answer.body == b"abc"
                assert answer.headers == {"transfer-encoding": "chunked", "x-a": "1"}

    run(main())


def test_a_header_cannot_smuggle_a_line(tmp_path):
    async def main():
        client = HttpClient(unix_socket=str(tmp_path / "none"))
        with pytest.raises(errors.Invalid, match="line break"):
            await client.request("GET", "http://x/", headers={"A": "b\r\nC: d"})
        with pytest.raises(errors.Invalid, match="not an absolute"):
            await client.request("GET", "/relative")

    run(main())


def test_tls_with_a_client_certificate(tmp_path):
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    from muntin.kit.http.tls import client_context

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "me")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("server.test")]), False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    key_pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (tmp_path / "pair").write_bytes(pem + key_pem)
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(tmp_path / "pair")
    server_context.load_verify_locations(cadata=pem.decode())
    server_context.verify_mode = ssl.CERT_REQUIRED

    async def serve(reader, writer):
        await head_of(reader)
        subject = writer.get_extra_info("peercert")["subject"][0][0][1]
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + subject.encode())
        await writer.drain()
        writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server_context)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        context = client_context(ca=pem, certificate=pem, key=key_pem)
        client = HttpClient(tls=context, server_hostname="server.test")
        assert (await client.request("GET", url)).body == b"me"
        await client.close()
        wrong = HttpClient(tls=context)
        with pytest.raises(errors.Unavailable, match="IP address mismatch"):
            await wrong.request("GET", url)
        server.close()

    run(main())
    with pytest.raises(errors.Invalid, match="TLS credentials"):
        client_context(ca=b"nonsense")
