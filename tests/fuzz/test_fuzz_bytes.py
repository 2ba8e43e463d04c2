"""Bytes that peers send: HTTP, DNS, protobuf, gRPC, WebSocket and SPDY."""

import asyncio
import contextlib
import struct
import zlib

import pytest
from dnslib import DNSRecord
from fuzzing import data, fuzz

from muntin.apiserver import bodies
from muntin.dns.answer import answer
from muntin.dns.zone import Zone
from muntin.kit import protobuf as kit_protobuf
from muntin.kit.errors import Invalid
from muntin.kit.http.limits import Limits, plain_refusal
from muntin.kit.http.messages import Response
from muntin.kit.http.server_connection import Connection
from muntin.model import protobuf
from muntin.seams.cri import tables
from muntin.seams.oci import manifest
from muntin.seams.streams.spdy_dictionary import DICTIONARY
from muntin.seams.streams.spdy_frames import SpdyFrames
from muntin.seams.streams.websocket import WebSocket

HTTP = (
    b"POST /api/v1/pods?limit=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3\r\nabc\r\n0\r\nX: y\r\n\r\n",
    b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x00",
    b"GET /x HTTP/1.0\r\n\r\n",
)
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "labels": {"b": "c"}, "creationTimestamp": "2024-01-01T00:00:00Z"},
    "spec": {
        "containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}],
        "activeDeadlineSeconds": 5,
    },
}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "a.b"},
    "spec": {"group": "b", "scope": "Namespaced", "names": {"plural": "a", "kind": "A"},
             "versions": [{"name": "v1", "served": True, "storage": True, "schema": {
                 "openAPIV3Schema": {"type": "object", "properties": {
                     "x": {"default": {"y": [1]}, "items": {"type": "string"}}}}}}]},
}  # fmt: skip
LEASE = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "a"},
    "spec": {"leaseDurationSeconds": 15, "renewTime": "2024-01-01T00:00:00.000001Z"},
}
MANIFEST = (
    b'{"schemaVersion":2,"mediaType":"m","config":{"digest":"DIGEST","size":2,"platform":'
    b'{"os":"windows","os.version":"10.0.17763.1"}},"layers":[{"digest":"DIGEST","size":3,'
    b'"urls":["u"]}],"manifests":[{"digest":"DIGEST","size":1}],"rootfs":{"diff_ids":["a"]},'
    b'"history":[{"created_by":"x","empty_layer":true}]}'
).replace(b"DIGEST", b"sha256:" + b"0" * 64)


class Wire(asyncio.Transport):
    """The other end of a connection, which notes what was written."""

    def __init__(self):
        super().__init__({"peername": ("192.0.2.1", 1)})
        self.written = bytearray()
        self.closed = False

    def write(self, data):
        self.written += data

    def set_write_buffer_limits(self, high=None, low=None):
        pass

    def get_write_buffer_size(self):
        return 0

    def is_closing(self):
        return self.closed

    def close(self):
        self.closed = True

    abort = close

    def pause_reading(self):
        pass

    resume_reading = pause_reading

    def write_eof(self):
        pass

    def can_write_eof(self):
        return True


def http(data):
    """Whatever comes, each answer is HTTP, and no request reaches the handler in pieces."""

    async def handler(request):
        assert request.method
        assert request.path
        return Response(200, {}, b"ok")

    async def run():
        connection = Connection(handler, Limits(), plain_refusal, lambda _: None, lambda _: None)
        wire = Wire()
        connection.connection_made(wire)
        for at in range(0, len(data), 1000):
            connection.data_received(data[at : at + 1000])
        connection.eof_received()
        for _ in range(20):
            await asyncio.sleep(0)
        connection.connection_lost(None)
        connection.task.cancel()
        await asyncio.gather(connection.task, return_exceptions=True)
        assert bytes(wire.written[:9]) in (b"", b"HTTP/1.1 ")
        assert b"500 Internal" not in wire.written

    asyncio.run(run())


def dns(data):
    zone = Zone("cluster.local")
    zone.set_namespace("a", exists=True)
    zone.update(("a", "web"), {"spec": {"clusterIP": "10.96.0.9", "ports": []}}, [])

    async def forward(packet):
        return packet  # an upstream that is hostile, too

    response = asyncio.run(answer(zone, 5, data, forward, tcp=False))
    assert isinstance(response, bytes | bytearray)


def cri(data):
    for name in ("RunPodSandboxRequest", "CreateContainerRequest", "ListPodSandboxResponse"):
        kit_protobuf.decode(tables.tables().messages, name, data)


def spdy(data):
    frames = SpdyFrames()
    for _ in frames.receive(data):
        pass


class Peer:
    """One that sends ``data``, and then nothing."""

    def __init__(self, data):
        self._data = [data]

    async def read(self):
        return self._data.pop() if self._data else b""

    def write(self, data):
        pass

    async def drain(self):
        pass

    def close(self):
        pass


def websocket(data):
    async def run():
        socket = WebSocket(Peer(data))
        while await socket.receive() is not None:
            pass

    asyncio.run(run())


def image(data):
    document = manifest.parse_document(data)
    manifest.is_index(document)
    for parse in (manifest.parse_index, manifest.parse_manifest):
        with contextlib.suppress(Invalid):
            parse(document)
    manifest.parse_config(data)


def syn_stream():
    packer = zlib.compressobj(9, zdict=DICTIONARY)
    names = b"\x00\x00\x00\x01\x00\x00\x00\x04port\x00\x00\x00\x0280"
    block = packer.compress(names) + packer.flush(zlib.Z_SYNC_FLUSH)
    payload = struct.pack(">IIBB", 1, 0, 0, 0) + block
    return struct.pack(">HHI", 0x8003, 1, len(payload)) + payload + struct.pack(">II", 1, 2) + b"ab"


TARGETS = {
    "HTTP": (http, data(*HTTP)),
    "DNS": (dns, data(*(bytes(DNSRecord.question(name, kind).pack()) for name, kind in (
        ("web.a.svc.cluster.local", "A"), ("9.0.96.10.in-addr.arpa", "PTR"), ("x.org", "SRV"))))),
    "protobuf body": (protobuf.decode_body, data(*(
        protobuf.encode_body(obj) for obj in (POD, CRD, LEASE))), Invalid),
    "CRI message": (cri, data(b"\x0a\x04\x0a\x02ab\x12\x00",
                              b"\x0a\x03abc\x12\x06\x0a\x04\x0a\x02xy"), Invalid),
    "YAML bytes": (bodies.parse_yaml, data(b"a: [b, {c: d}]\n", "é: ü\n".encode("utf-16")),
                   bodies.status.ApiError),
    "SPDY": (spdy, data(syn_stream()), Invalid),
    "WebSocket": (websocket, data(b"\x82\x85\x00\x00\x00\x00hello", b"\x89\x80\x00\x00\x00\x00",
                                  b"\x01\x81\x00\x00\x00\x00a\x80\x81\x00\x00\x00\x00b")),
    "image": (image, data(MANIFEST), Invalid),
}  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_bytes(name):
    parse, values, *refusals = TARGETS[name]
    fuzz(parse, values, *refusals)
