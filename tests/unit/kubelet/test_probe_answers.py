"""Probes and hooks against odd servers: every try has a result, and it is bounded."""

import asyncio
import contextlib
import struct
from types import SimpleNamespace

import pytest
from grpclib.const import Cardinality, Handler, Status
from grpclib.encoding.base import CodecBase
from grpclib.exceptions import GRPCError
from grpclib.server import Server
from grpclib.server import Stream as ServerStream

from muntin.kit.clock import FakeClock
from muntin.kubelet import hooks
from muntin.kubelet.platform import Platform
from muntin.kubelet.probes import grpc_check, of_pod
from muntin.kubelet.probes.http_get import MAX_OUTPUT, http_get
from muntin.kubelet.probes.result import Result
from muntin.kubelet.probes.run import run_probe
from muntin.kubelet.runtime_state import Container, PodRuntime
from muntin.seams.cri.enums import ContainerState


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


@contextlib.asynccontextmanager
async def answering(answer):
    """A server that reads one request and then runs ``answer(head, writer)``; gives its port."""

    async def serve(reader, writer):
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await answer(await reader.readuntil(b"\r\n\r\n"), writer)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def got(answer, action=None, timeout_s=5.0):
    async with answering(answer) as port:
        return await http_get(
            f"http://127.0.0.1:{port}/", action or {}, timeout_s, "kube-probe/1.34"
        )


def saying(data):
    async def answer(head, writer):
        writer.write(data)

    return answer


def test_of_an_answer_without_end_ten_kibibytes_are_read():
    sent = 0

    async def endless(head, writer):
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(bytes(64 * 1024))
            sent += 64 * 1024
            await writer.drain()

    result = run(got(endless))
    assert (result.passed, len(result.output)) == (True, MAX_OUTPUT)
    assert sent < 16 * 1024 * 1024  # what fits into buffers of the kernel and of both ends


def test_a_header_without_end_is_a_failure():
    async def endless(head, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            writer.write(b"y" * 64 * 1024)
            await writer.drain()

    result = run(got(endless))
    assert not result.passed
    assert result.output.endswith("the header of the answer has more than 1048576 bytes")


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("http://127.0.0.1:99999/", "Port out of range 0-65535"),
        ("http://[", "failed to parse Location header"),
        ("http://a]b/", ""),
    ],
)
def test_a_redirect_that_leads_nowhere_fails(location, said):
    result = run(got(saying(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n".encode())))
    assert (result.passed, result.errored) == (False, False)
    assert said in result.output


def test_redirects_in_a_circle_fail_and_others_pass_with_a_warning():
    result = run(got(saying(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")))
    assert result.output.endswith("stopped after 10 redirects")
    data = b"HTTP/1.1 302 Found\r\nLocation: http://other/\r\nContent-Length: 2\r\n\r\nhi"
    result = run(got(saying(data)))
    assert result.passed
    assert result.event == (
        "ProbeWarning",
        "probe warning: Probe terminated redirects, Response body: hi",
    )


def test_header_values_are_sent_as_utf_8_and_names_may_repeat():
    heads = []

    async def note(head, writer):
        heads.append(head)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    rows = [{"name": "X-Price", "value": "5 €"}, {"name": "x-price", "value": "6"}]
    assert run(got(note, {"httpHeaders": rows})).passed
    assert "X-Price: 5 €\r\nX-Price: 6\r\n".encode() in heads[0]


def test_probes_that_cannot_run_are_reported_and_not_counted():
    result = run(http_get("http://a]b:80/", {}, 1.0, "kube-probe/1.34"))
    assert (result.passed, result.errored) == (False, True)
    assert result.event[0] == "Unhealthy"
    assert result.event[1].startswith("probe errored and resulted in unknown state: ")


def config(minor=34):
    """A Linux kubelet of 1.``minor``, as far as probes look at it."""
    platform = Platform(os="linux", root_dir="/k", pod_logs_dir="/l", kubernetes=(1, minor))
    return SimpleNamespace(version=f"v1.{minor}.0", node_ip="127.0.0.1", platform=platform)


POD = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {"containers": []}}


def test_a_host_that_no_name_can_have_is_a_failure():
    for host in ("a" * 70, "ä" * 70, "no.such.host.invalid"):
        probe = {"tcpSocket": {"port": 80, "host": host}}
        result = run(run_probe(None, POD, ("c", "id"), probe, "127.0.0.1", config()))
        assert (result.passed, result.errored) == (False, False)
        assert result.output == f"dial tcp: lookup {host}: no such host"
        http = {"httpGet": {"port": 80, "host": host}}
        result = run(run_probe(None, POD, ("c", "id"), http, "127.0.0.1", config()))
        assert (result.passed, result.errored) == (False, False)


# -- gRPC ------------------------------------------------------------------------------------------


class Raw(CodecBase):
    """Messages are bytes."""

    __content_subtype__ = "proto"

    def encode(self, message, message_type):
        return message

    def decode(self, data, message_type):
        return data


class Health:
    """``grpc.health.v1.Health`` of grpclib's server; ``answer`` gives a message or raises."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def check(self, stream: ServerStream):
        message = await stream.recv_message()
        self.asked.append((message, stream.metadata.get("user-agent"), stream.user_agent))
        await stream.send_message(await self.answer(message))

    def __mapping__(self):
        return {grpc_check.PATH: Handler(self.check, Cardinality.UNARY_UNARY, bytes, bytes)}


def asked(answer, service="", timeout_s=5, minor=34):
    """The result of a gRPC probe against grpclib's server, and what that was asked."""

    async def main():
        health = Health(answer)
        server = Server([health], codec=Raw())
        await server.start("127.0.0.1", 0)
        port = server._server.sockets[0].getsockname()[1]
        probe = {"grpc": {"port": port, "service": service}, "timeoutSeconds": timeout_s}
        try:
            result = await run_probe(None, POD, ("c", "id"), probe, "127.0.0.1", config(minor))
        finally:
            server.close()
            await server.wait_closed()
        return result, health.asked

    return run(main())


def status(number):
    async def answer(message):
        return bytes([0x08, number])

    return answer


def test_a_serving_grpc_server_passes():
    result, seen = asked(status(1), service="db")
    assert (result.passed, result.output) == (True, "service healthy")
    assert seen == [(b"\x0a\x02db", None, "kube-probe/1.34")]
    assert asked(status(1))[1][0][0] == b""


@pytest.mark.parametrize(
    ("number", "name"), [(0, "UNKNOWN"), (2, "NOT_SERVING"), (3, "SERVICE_UNKNOWN"), (9, "9")]
)
def test_any_other_status_fails(number, name):
    result, _ = asked(status(number))
    assert (result.passed, result.errored) == (False, False)
    assert result.output == f'service unhealthy (responded with "{name}")'


def test_rpc_errors_have_upstreams_messages():
    async def unknown(message):
        raise GRPCError(Status.NOT_FOUND, "unknown service: a b")

    async def unimplemented(message):
        raise GRPCError(Status.UNIMPLEMENTED, "no such method")

    async def slow(message):
        await asyncio.sleep(5)

    said = "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service: a b"
    assert asked(unknown)[0].output == said
    assert asked(unimplemented)[0].output == (
        "error: this server does not implement the grpc health protocol "
        "(grpc.health.v1.Health): no such method"
    )
    assert asked(slow, timeout_s=1)[0].output == "timeout: health rpc did not complete within 1s"


def grpc_of(answer, timeout_s=1):
    async def main():
        async with answering(answer) as port:
            probe = {"grpc": {"port": port}, "timeoutSeconds": timeout_s}
            where = f"127.0.0.1:{port}"
            return where, await run_probe(None, POD, ("c", "id"), probe, "127.0.0.1", config())

    return run(main())


def test_peers_without_http_2_fail_to_connect():
    async def silent(head, writer):
        await asyncio.sleep(5)

    for answer in (silent, saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"), saying(b"")):
        where, result = grpc_of(answer)
        assert result.output == (
            f'timeout: failed to connect service "{where}" within 1s: context deadline exceeded'
        )


def test_a_grpc_answer_without_end_is_bounded():
    """A message of 4 GiB is announced and sent without looking at the window."""
    sent = 0

    async def endless(head, writer):
        nonlocal sent
        writer.write(struct.pack(">I", 0)[1:] + b"\x04\x00" + struct.pack(">I", 0))  # SETTINGS
        await asyncio.sleep(0.2)
        headers = b"\x88" + b"\x0f\x10\x10application/grpc"  # :status 200, content-type
        writer.write(
            struct.pack(">I", len(headers))[1:] + b"\x01\x04" + struct.pack(">I", 1) + headers
        )
        piece = b"\x00\xff\xff\xff\xff" + bytes(16379)
        while True:
            frame = struct.pack(">I", len(piece))[1:] + b"\x00\x00" + struct.pack(">I", 1) + piece
            writer.write(frame)
            sent += len(frame)
            await writer.drain()

    _, result = grpc_of(endless, timeout_s=10)
    assert result.output.startswith("error: health rpc probe failed: rpc error: code = Unavailable")
    assert sent < 8 * 1024 * 1024


def test_kubelets_before_1_24_have_no_grpc_probes():
    result, seen = asked(status(1), minor=23)
    assert (result.passed, result.errored, seen) == (False, True, [])
    assert result.output == "missing probe handler for p_n(u):c"


# -- whatever goes wrong ---------------------------------------------------------------------------


def test_an_unexpected_exception_is_an_event_and_probing_goes_on(monkeypatch):
    """Three tries of a liveness probe: two break inside, one fails, and the failure counts."""
    tries, events = [], []

    async def broken(*args):
        tries.append(1)
        if len(tries) < 3:
            raise KeyError("odd")
        return Result(False, "no")

    monkeypatch.setattr(of_pod, "run_probe", broken)
    clock = FakeClock(1000.0)
    spec = {"name": "c", "livenessProbe": {"periodSeconds": 1, "failureThreshold": 1}}
    pod = {**POD, "spec": {"containers": [spec]}}
    context = SimpleNamespace(
        cri=None, config=config(), clock=clock, runtime_name="r",
        pod_event=lambda *values: events.append(values[2:4]),
    )  # fmt: skip

    async def main():
        probes = of_pod.PodProbes(context, lambda: pod, changed=lambda: None)
        running = ContainerState.CONTAINER_RUNNING
        container = Container(
            id="id", name="c", sandbox_id="s", attempt=0, state=running,
            created_at=0, started_at=int(1000e9),
        )  # fmt: skip
        probes.match(PodRuntime(containers=(container,)))
        await clock.advance(0)
        assert not probes.health["id"].liveness_failed
        await clock.advance(3)
        assert probes.health["id"].liveness_failed
        await probes.stop()

    run(main())
    odd = ("Unhealthy", "Liveness probe errored and resulted in unknown state: KeyError('odd')")
    assert events[:3] == [odd, odd, ("Unhealthy", "Liveness probe failed: no")]


@pytest.mark.parametrize(
    "action",
    [{"host": "a]b"}, {"host": "a" * 70}, {"httpHeaders": [{"name": "a\nb", "value": ""}]}],
)
def test_a_hook_that_cannot_be_carried_out_has_failed(action):
    handler = {"httpGet": {"port": 80, "path": "/", **action}}
    with pytest.raises(hooks.HookFailed):
        run(hooks.run_hook(None, POD, "id", handler, "127.0.0.1"))


def test_a_hook_has_passed_once_there_is_an_answer_with_whatever_status():
    async def main():
        async with answering(saying(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")) as port:
            await hooks.run_hook(None, POD, "id", {"httpGet": {"port": port}}, "127.0.0.1")

    run(main())
