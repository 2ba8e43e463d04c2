"""A registry that answers for every registry of the world, from one image layout in a tar file.

``python stand_in_registry.py ARCHIVE PORT`` listens on 127.0.0.1 and serves what a pull asks for
(OCI distribution-spec 1.0, sections "Pulling manifests" and "Pulling blobs"). The registry that is
meant is in the query, as containerd's mirrors have it: ``?ns=docker.io``.
"""

from __future__ import annotations

import json
import sys
import tarfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
NAME = "io.containerd.image.name"


class Layout:
    """The images of an archive: manifests by full name or digest, blobs by digest."""

    def __init__(self, path: str) -> None:
        with tarfile.open(path) as archive:
            files = {
                member.name: archive.extractfile(member).read()  # type: ignore[union-attr]
                for member in archive
                if member.isfile()
            }
        self.blobs = {
            name.removeprefix("blobs/").replace("/", ":"): data
            for name, data in files.items()
            if name.startswith("blobs/")
        }
        rows = json.loads(files["index.json"])["manifests"]
        self.manifests = {row["annotations"][NAME]: row["digest"] for row in rows}

    def find(self, registry: str, path: str) -> tuple[str, bytes] | None:
        """Digest and bytes of ``NAME/manifests/TAG``, ``.../DIGEST`` or ``NAME/blobs/DIGEST``."""
        name, kind, reference = path.rsplit("/", 2)
        digest = reference
        if kind == "manifests" and ":" not in reference:
            digest = self.manifests.get(f"{registry}/{name}:{reference}", "")
        blob = self.blobs.get(digest)
        return None if blob is None else (digest, blob)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    layout: Layout

    def do_HEAD(self) -> None:
        self._answer(False)

    def do_GET(self) -> None:
        self._answer(True)

    def _answer(self, with_body: bool) -> None:
        url = urlsplit(self.path)
        registry = parse_qs(url.query).get("ns", [""])[0]
        path = url.path.removeprefix("/v2/")
        found = self.layout.find(registry, path) if path.count("/") >= 2 else None
        digest, body = found or ("", b"" if path == "" else b'{"errors": []}')
        self.send_response(200 if found or path == "" else 404)
        if found:
            self.send_header("Docker-Content-Digest", digest)
        is_manifest = "/manifests/" in path
        self.send_header("Content-Type", MANIFEST if is_manifest else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        print(format % args, file=sys.stderr, flush=True)


if __name__ == "__main__":
    Handler.layout = Layout(sys.argv[1])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
