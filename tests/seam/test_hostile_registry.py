"""Pulling from a registry that sends what it should not: a clear error, and nothing is kept."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from muntin.kit.errors import MuntinError
from muntin.kit.http.client import HttpClient
from muntin.kit.http.server import HttpServer, Request, Response
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.oci import reference
from muntin.winruntime.image_load import pull
from muntin.winruntime.image_store import ImageStore

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def layer(name: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(tarfile.TarInfo(name))
    return out.getvalue()


def image(tar: bytes, diff_id: str = "", **changes: Any) -> dict[str, tuple[str, bytes]]:
    """Answers by path for one image; ``changes`` are of its layer's descriptor."""
    blob = gzip.compress(tar, mtime=0)
    config = json.dumps(
        {"os": "windows", "rootfs": {"diff_ids": [diff_id or digest(tar)]}}
    ).encode()
    manifest = json.dumps(
        {
            "mediaType": MANIFEST,
            "config": {"digest": digest(config), "size": len(config)},
            "layers": [{"digest": digest(blob), "size": len(blob), **changes}],
        }
    ).encode()
    blobs = {f"/v2/a/b/blobs/{digest(data)}": ("", data) for data in (config, blob)}
    return {"/v2/a/b/manifests/1": (MANIFEST, manifest), **blobs}


GOOD = layer("Files/x")
NESTED = json.dumps({"manifests": [{"digest": digest(b""), "size": 1}]}).encode()
CASES: dict[str, tuple[dict[str, tuple[str, bytes]], str]] = {
    "a longer blob": (image(GOOD, size=10), "has more than its 10 bytes"),
    "another blob": (
        {
            k: (t, d if "manifests" in k or d[:1] == b"{" else d[:-1])
            for k, (t, d) in image(GOOD).items()
        },
        "has the digest sha256:",
    ),
    "another content": (
        image(GOOD, digest(b"other")),
        f"its content has the digest {digest(GOOD)}",
    ),
    "a path as digest": (image(GOOD, digest="sha256:../../../etc/passwd"), "is not a digest"),
    "a path as diff id": (image(GOOD, "sha256:/etc"), "is not a digest"),
    "a way out": (image(layer("Files/../../x")), "entry 'Files/../../x' leads out"),
    "no JSON": ({"/v2/a/b/manifests/1": (MANIFEST, b"{" * 5000)}, "not a JSON document|max depth"),
    "a list": ({"/v2/a/b/manifests/1": (MANIFEST, b"[]")}, "not a JSON object"),
    "another manifest": (
        {
            "/v2/a/b/manifests/1": (INDEX, NESTED),
            f"/v2/a/b/manifests/{digest(b'')}": (INDEX, NESTED),
        },
        "has the digest",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_hostile_registry_sends_is_refused(case: str, tmp_path: Path) -> None:
    answers, words = CASES[case]

    async def handle(request: Request) -> Response:
        kind, body = answers.get(request.path, ("", b""))
        return Response(200 if request.path in answers else 404, {"Content-Type": kind}, body)

    async def run() -> None:
        server, http = HttpServer(handle), HttpClient()
        port = await server.listen_tcp("127.0.0.1", 0)
        store = ImageStore(tmp_path / "state", tmp_path / "base")
        name = reference.parse(f"127.0.0.1:{port}/a/b:1")
        try:
            with pytest.raises(MuntinError, match=words):
                await pull(store, http, name, profile_of(build_named("2019")))
        finally:
            await http.close()
            await server.close()
        assert sorted(path.name for path in store.root.rglob("*")) == ["images", "layers"]
        assert store.all() == []

    asyncio.run(run())
