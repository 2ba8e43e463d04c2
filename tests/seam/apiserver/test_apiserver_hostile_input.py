"""Input that no client sends by mistake: each piece is refused, and others are served meanwhile.

A watcher asks for ``/version`` the whole time: the longest that it waits says for how long the
server's loop was held.
"""

import asyncio
import contextlib
import gzip
import json
import random
import re
import ssl
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from apiserver_process import ServerProcess
from test_apiserver_every_kind import OBJECTS

from muntin.model import protobuf, resources, schema

# How long the server's loop may compute at a stretch, in time of its processor, which no other work
# on the machine adds to; and how long another caller may wait at all.
HOLD_S = 0.25
PATIENCE_S = 10.0
PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
JSON = {"content-type": "application/json"}
YAML = {"content-type": "application/yaml"}
USER = "guest"


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    found = ServerProcess(tmp_path_factory.mktemp("hostile"), version="1.34")
    found.authority.pair(USER, USER, "guests")
    found.start()
    asyncio.run(allow(found))
    yield found
    found.stop()
    assert "request failed" not in found.log
    assert "Traceback" not in found.log


async def allow(process):
    """The administrator's step: the guest may write pods and ConfigMaps and no more."""
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    role = {
        "metadata": {"name": USER},
        "rules": [
            {
                "apiGroups": [""],
                "resources": ["pods", "configmaps", "pods/exec", "pods/portforward", "services"],
                "verbs": ["create", "get", "list", "patch", "update", "delete", "watch"],
            }
        ],
    }
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}
    binding = {
        "metadata": {"name": USER},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": USER},
        "subjects": [subject],
    }
    for path, body in (
        (f"{rbac}/clusterroles", role),
        (f"{rbac}/clusterrolebindings", binding),
        ("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}}),
    ):
        answer = await send(process, request("POST", path, json.dumps(body).encode()), user="admin")
        assert answer.startswith(b"HTTP/1.1 201"), answer


def context(process, user):
    found = ssl.create_default_context(cafile=process.directory / "ca.crt")
    found.load_cert_chain(process.directory / f"{user}.crt", process.directory / f"{user}.key")
    return found


def request(method, path, body=b"", headers=JSON):
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


async def send(process, data, *, user=USER, patience_s=15):
    """The server's first answer to ``data``; empty if it only closes."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", process.port, ssl=context(process, user)
    )
    try:
        writer.write(data)
        return await asyncio.wait_for(first_answer(reader), patience_s)
    except ConnectionError:
        return b""
    finally:
        await closed(writer)


async def closed(writer):
    writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def first_answer(reader):
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as err:
        return err.partial
    size = re.search(rb"(?i)content-length: (\d+)", head)
    return head + await reader.readexactly(int(size[1])) if size else head


class Watchdog:
    """Asks on a connection of its own how long the server takes, until it is left.

    It was answered before what it watches begins, and once more after that has ended.
    """

    def __init__(self, process):
        self._process = process
        self._left = False
        self.longest = 0.0

    async def __aenter__(self):
        self._reader, self._writer = await asyncio.open_connection(
            "127.0.0.1", self._process.port, ssl=context(self._process, USER)
        )
        await self._ask()
        self.longest, self._known = 0.0, len(self._process.holds)
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_):
        self._left = True
        try:
            await self._task
        finally:
            await closed(self._writer)
        assert self.longest < PATIENCE_S
        assert max(self._process.holds[self._known :], default=0.0) < HOLD_S

    async def _watch(self):
        while not self._left:
            await asyncio.sleep(0.002)
            await self._ask()

    async def _ask(self):
        started = time.monotonic()
        self._writer.write(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = await first_answer(self._reader)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        self.longest = max(self.longest, time.monotonic() - started)


def code_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer else 0


def refused(process, data, codes=range(400, 500)):
    """Send ``data``; the answer, or the lack of one, says that it was not accepted."""

    async def scenario():
        async with Watchdog(process):
            return await send(process, data)

    answer = asyncio.run(scenario())
    assert code_of(answer) in codes, answer[:500]
    if code_of(answer) >= 400 and b"\r\n\r\n{" in answer:
        status = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert status["kind"] == "Status"
        assert status["message"]
    return answer


def pod(**spec):
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


def posted(body, headers=JSON, path=PODS):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request("POST", path, data, headers)


def in_pod(text):
    """A pod whose annotations are the given JSON text."""
    head = json.dumps(pod())[:-1].encode()
    return head + b', "status": ' + text + b"}"


# -- HTTP ---------------------------------------------------------------------------------------

BROKEN = {
    "no HTTP": b"\x00\x01\x02 hello\r\n\r\n",
    "another version": b"GET / HTTP/9.9\r\n\r\n",
    "no target": b"GET\r\n\r\n",
    "a folded header": b"GET /version HTTP/1.1\r\nHost: x\r\n folded: y\r\nX y\r\n\r\n",
    "a space before the colon": b"GET /version HTTP/1.1\r\nHost : x\r\n\r\n",
    "two lengths": b"POST /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a length and chunks": b"POST /x HTTP/1.1\r\nContent-Length: 3\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a length that is no number": b"POST /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "a chunk's size that is no number": b"POST /x HTTP/1.1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n",
    "a chunk's size without end": b"POST /x HTTP/1.1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 64,
    "a method nobody knows": b"BREW /api HTTP/1.1\r\nHost: x\r\n\r\n",
    "a null in a header": b"GET /version HTTP/1.1\r\nX: a\x00b\r\n\r\n",
    "a header of 2 MiB": b"GET /version HTTP/1.1\r\nX: " + b"a" * 2**21 + b"\r\n\r\n",
    "200,000 headers": b"GET /version HTTP/1.1\r\n"
    + b"".join(b"X-%d: a\r\n" % n for n in range(200_000)) + b"\r\n",
    "100,000 headers": b"GET /version HTTP/1.1\r\n"
    + b"".join(b"X-%07d: a\r\n" % n for n in range(100_000)) + b"\r\n",
    "a target of 2 MiB": b"GET /" + b"a" * 2**21 + b" HTTP/1.1\r\n\r\n",
    "a length of 4 GiB": b"POST /api/v1/namespaces HTTP/1.1\r\nContent-Length: 4294967296\r\n\r\n",
    "HTTP/2 without asking": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}  # fmt: skip


HEADERS = {
    "74,000 headers": (b"".join(b"X-%07d: a\r\n" % n for n in range(74_000)), 200),
    "75,800 headers": (b"".join(b"X-%07d: a\r\n" % n for n in range(75_800)), 431),
    "one header 150,000 times": (b"X: y\r\n" * 150_000, 200),
    "50,000 media types": (
        b"Accept: " + b",".join(b"a/b%d" % n for n in range(50_000)) + b"\r\n",
        200,
    ),
    "50,000 forms of one": (
        b"Accept: " + b",".join(b"*/*;q=0.%d" % n for n in range(50_000)) + b"\r\n",
        200,
    ),
}


@pytest.mark.parametrize(("lines", "code"), HEADERS.values(), ids=HEADERS)
def test_headers_of_a_mebibyte_are_enough(process, lines, code):
    """As kube-apiserver 1.36 answers."""

    async def scenario():
        async with Watchdog(process):
            return await send(process, b"GET /version HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n")

    answer = asyncio.run(scenario())
    assert code_of(answer) == code
    if code == 431:
        assert answer.endswith(b"\r\n\r\n431 Request Header Fields Too Large")


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_broken_http(process, data):
    refused(process, data)


def test_garbage_of_every_kind(process):
    dice = random.Random(7)
    valid = request("POST", MAPS, b'{"metadata":{"name":"x"}}')

    async def scenario():
        async with Watchdog(process):
            for _ in range(60):
                data = bytearray(valid[: dice.randrange(1, len(valid))])
                for _ in range(dice.randrange(1, 6)):
                    data[dice.randrange(len(data))] = dice.randrange(256)
                try:
                    answer = await send(process, bytes(data) + b"\r\n\r\n", patience_s=0.3)
                except TimeoutError:  # it waits for the rest of a body
                    continue
                assert code_of(answer) < 500, (bytes(data), answer)

    asyncio.run(scenario())


def test_senders_that_never_come_to_an_end(process):
    """Hundreds of requests that trickle in do not keep others waiting."""

    async def scenario():
        tls = context(process, USER)
        opened = [
            await asyncio.open_connection("127.0.0.1", process.port, ssl=tls) for _ in range(100)
        ]
        async with Watchdog(process):
            for _ in range(10):
                for number, (_, writer) in enumerate(opened):
                    writer.write(b"POST /x HTTP/1.1\r\n" if number % 2 else b"X: y\r\n")
                await asyncio.sleep(0.02)
            answer = await send(process, request("GET", PODS))
            assert code_of(answer) == 200
        for _, writer in opened:
            await closed(writer)

    asyncio.run(scenario())


# -- JSON and YAML ------------------------------------------------------------------------------

DEEP = 100_000
BODIES = {
    "nothing": b"",
    "half an object": b'{"kind": "Pod", "metadata": {',
    "no JSON": b"\xff\xfe\x00",
    "UTF-8 that is none": in_pod(b'{"message": "\xff\xc0\xaf"}'),
    "half a surrogate": in_pod(b'{"message": "\\ud800"}'),
    "lists in lists": b"[" * DEEP,
    "lists in lists, closed": b"[" * DEEP + b"]" * DEEP,
    "objects in objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "objects in a pod": in_pod(b'{"a":' * 5_000 + b"1" + b"}" * 5_000),
    "not a number": in_pod(b'{"phase": NaN}'),
    "infinity": in_pod(b'{"phase": Infinity}'),
    "a string where a map is": b'"Pod"',
    "a number": b"1",
    "null": b"null",
    "a list": b"[{}]",
}
NUMBERS = {
    "a number too great": b"1" + b"0" * 400,
    "a number of 100,000 digits": b"9" * 100_000,
    "an exponent too great": b"1e400",
    "a fraction": b"1.5",
    "more than 64 bits": b"18446744073709551616",
    "less than 64 bits": b"-18446744073709551616",
    "one less than 64 bits hold": b"-9223372036854775809",
    "a whole number with a fraction": b"1.0",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_broken_json(process, body):
    refused(process, posted(body))


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_numbers_that_do_not_fit(process, number):
    text = json.dumps(pod(terminationGracePeriodSeconds=4711)).encode()
    refused(process, posted(text.replace(b"4711", number)))


def test_duplicate_keys_are_refused_if_asked(process):
    body = b'{"metadata": {"name": "d", "name": "e"}, "data": {"a": "1", "a": "2"}}'
    answer = refused(process, posted(body, path=f"{MAPS}?fieldValidation=Strict"))
    assert b"duplicate field" in answer


def test_a_hundred_thousand_keys(process):
    many = {f"k{number}": "" for number in range(100_000)}
    refused(process, posted({"metadata": {"name": "many"}, "data": many}))
    refused(process, posted({"metadata": {"name": "many", "labels": many}}, path=MAPS))
    refused(process, posted({"metadata": {"name": "many"}, "nothing": many},
                            path=f"{MAPS}?fieldValidation=Strict"))  # fmt: skip


BOMBS = {
    "aliases of aliases": b"a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        b"a%d: &a%d [%b]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)
    ),
    "an alias of itself": b"kind: Pod\nmetadata: &m {name: x, annotations: *m}\n",
    "a list of itself": b"&a [*a]\n",
    "a Python object": b"!!python/object/apply:os.system ['true']\n",
    "lists in lists": b"[" * 20_000,
    "lists in lists without brackets": b"- " * 30_000 + b"a",
    "keys in keys": b"? " * 100_000,
    "aliases one level deeper each": b"a0: &a0 [x]\n"
    + b"".join(b"a%d: &a%d [*a%d]\n" % (n, n, n - 1) for n in range(1, 2_000)),
    "maps in maps": b"".join(b" " * n + b"a:\n" for n in range(1_000)),
    "merge keys": b"a: &a {x: y}\nb: {<<: [*a, *a], <<: *a}\n",
    "many documents": b"--- {}\n" * 1_000,
    "a key that is a map": b"? {a: b}\n: c\n",
    "no YAML": b"\x00\x01: [",
    "a tab": b"\tkind: Pod\n",
}


@pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS)
def test_broken_yaml(process, body):
    refused(process, posted(body, headers=YAML))


@pytest.mark.parametrize("kind", ["json-patch", "merge-patch", "strategic-merge-patch"])
def test_broken_patches(process, kind):
    asyncio.run(send(process, posted({"metadata": {"name": "patched"}}, path=MAPS)))
    headers = {"content-type": f"application/{kind}+json"}
    for name in ("half an object", "lists in lists, closed", "objects in objects", "not a number"):
        refused(process, request("PATCH", f"{MAPS}/patched", BODIES[name], headers))
    if kind == "json-patch":
        many = [{"op": "add", "path": "/data", "value": {}}] * 10_001
        refused(process, request("PATCH", f"{MAPS}/patched", json.dumps(many).encode(), headers))
        grown = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "x" * 1000}}]
        grown += [
            {"op": "copy", "from": "/metadata/annotations", "path": f"/metadata/annotations/{n}"}
            for n in range(40)
        ]
        refused(process, request("PATCH", f"{MAPS}/patched", json.dumps(grown).encode(), headers))


def test_broken_apply(process):
    headers = {"content-type": "application/apply-patch+yaml"}
    path = f"{MAPS}/applied?fieldManager=me"
    for body in (BOMBS["aliases of aliases"], BOMBS["an alias of itself"], b"[]", b"x", b""):
        refused(process, request("PATCH", path, body, headers))


def test_a_body_that_unpacks_to_much_more(process):
    """No encoding of requests is understood, so nothing is unpacked."""
    body = gzip.compress(b" " * 2**26)
    refused(process, posted(body, headers={**JSON, "content-encoding": "gzip"}))


SELECTORS = {
    "unequal labels": "labelSelector=" + ",".join(f"a{number}!=b" for number in range(90_000)),
    "a set of labels": "labelSelector=a+in+(" + ",".join(f"a{n}" for n in range(90_000)) + ")",
    "fields": "fieldSelector=" + ",".join(f"spec.nodeName!=b{n}" for n in range(40_000)),
}


@pytest.mark.parametrize("query", SELECTORS.values(), ids=SELECTORS)
@pytest.mark.parametrize("watch", ["", "&watch=true&timeoutSeconds=1"], ids=["list", "watch"])
def test_selectors_of_a_mebibyte(process, query, watch):
    refused(process, request("GET", f"{PODS}?{query}{watch}"), codes=[200])


# -- protobuf -----------------------------------------------------------------------------------


def messages():
    """One valid protobuf body of every kind that has one."""
    for document in OBJECTS:
        row = resources.known(document["apiVersion"], document["kind"])
        if protobuf.is_known(document["apiVersion"], document["kind"]):
            yield row, protobuf.encode_body(document)


def test_protobuf_that_is_nearly_right(process):
    dice = random.Random(11)
    types = schema.load("1.34")
    sent = 0

    async def scenario():
        nonlocal sent
        async with Watchdog(process):
            for row, body in messages():
                if not types.has_kind(row.group, row.version, row.kind):
                    continue
                path = row.path(namespace="default" if row.namespaced else None)
                for _ in range(3):
                    data = bytearray(body)
                    for _ in range(dice.randrange(1, 8)):
                        data[dice.randrange(4, len(data))] = dice.randrange(256)
                    cut = dice.choice((len(data), dice.randrange(4, len(data))))
                    headers = {"content-type": "application/vnd.kubernetes.protobuf"}
                    answer = await send(
                        process,
                        request("POST", f"{path}?dryRun=All", bytes(data[:cut]), headers),
                        user="admin",  # what is tried is the decoder of every kind
                    )
                    assert code_of(answer) < 500, (row.kind, bytes(data[:cut]), answer)
                    sent += 1

    asyncio.run(scenario())
    assert sent > 100


# -- upgrades -----------------------------------------------------------------------------------


def upgrade(path, protocol, **headers):
    lines = [f"GET {path} HTTP/1.1", "Host: x", "Connection: Upgrade", f"Upgrade: {protocol}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


WATCH = upgrade(
    f"{MAPS}?watch=true", "websocket", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
    Sec_WebSocket_Version="13",
)  # fmt: skip
FRAMES = {
    "a length of 2^63": b"\x82\xff" + struct.pack(">Q", 2**63 - 1),
    "no mask": b"\x82\x05hello",
    "reserved bits": b"\xf2\x80\x00\x00\x00\x00",
    "no opcode": b"\x83\x80\x00\x00\x00\x00",
    "a control frame in pieces": b"\x09\x80\x00\x00\x00\x00",
    "noise": bytes(random.Random(3).randrange(256) for _ in range(4096)),
    "text that is none": b"\x81\x82\x00\x00\x00\x00\xff\xff",
    "a piece of nothing": b"\x80\x80\x00\x00\x00\x00" * 100,
}


@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
def test_frames_of_a_websocket(process, frames):
    """A watch over a WebSocket ends when the peer makes no sense; the server goes on."""

    async def scenario():
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", process.port, ssl=context(process, USER)
        )
        async with Watchdog(process):
            writer.write(WATCH)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 101"), head
            writer.write(frames)
            if writer.can_write_eof():
                writer.write_eof()
            else:
                writer.close()
            with contextlib.suppress(OSError):  # one of TLS, too
                await asyncio.wait_for(reader.read(), 5)
        await closed(writer)

    asyncio.run(scenario())


@pytest.mark.parametrize("protocol", ["SPDY/3.1", "websocket", "h2c", "nonsense", ""])
@pytest.mark.parametrize("path", [f"{PODS}/none/exec?command=x&stdout=1", MAPS, "/version"])
def test_upgrades_to_what_is_not_there(process, path, protocol):
    answer = asyncio.run(send_some(process, upgrade(path, protocol, X_Stream="x") + b"\x80" * 64))
    assert 100 < code_of(answer) < 500, answer


async def send_some(process, data):
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", process.port, ssl=context(process, USER)
    )
    writer.write(data)
    try:
        return await asyncio.wait_for(reader.read(4096), 10)
    finally:
        await closed(writer)


def test_compressed_headers_of_spdy_are_bounded():
    """A few bytes of zlib that unpack to very many are not unpacked."""
    from muntin.kit.errors import Invalid
    from muntin.seams.streams.spdy_dictionary import DICTIONARY
    from muntin.seams.streams.spdy_frames import SpdyFrames

    packer = zlib.compressobj(9, zdict=DICTIONARY)
    bomb = packer.compress(b"\x00\x00\x00\x01" + b"\x00" * 2**24) + packer.flush()
    payload = struct.pack(">IIBB", 1, 0, 0, 0) + bomb
    frame = struct.pack(">HHI", 0x8003, 1, len(payload)) + payload
    started = time.monotonic()
    with pytest.raises(Invalid):
        list(SpdyFrames().receive(frame))
    assert time.monotonic() - started < PATIENCE_S


# -- the tests themselves -----------------------------------------------------------------------

STARTER = """
import pathlib, sys, time
sys.path.insert(0, sys.argv[1])
from apiserver_process import ServerProcess
found = ServerProcess(pathlib.Path(sys.argv[2]))
found.start()
print(found.process.pid, flush=True)
time.sleep(60)
"""


def test_a_server_ends_with_whoever_started_it(tmp_path):
    """However that ended: a test that is killed leaves nothing behind."""
    command = [sys.executable, "-c", STARTER, str(Path(__file__).parent), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        server = Path("/proc", starter.stdout.readline().strip())
        assert "serve.py" in (server / "cmdline").read_text()
        starter.kill()
    deadline = time.monotonic() + 10
    while server.exists() and (server / "cmdline").read_text():  # one that ended has none
        assert time.monotonic() < deadline
        time.sleep(0.01)
