"""The linter asks registries for which Windows builds an image is."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from muntin.cli.lint import command

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def index(*platforms: tuple[str, str]) -> bytes:
    """An index with an entry for each system and version."""
    entries = [
        {
            "mediaType": MANIFEST,
            "digest": digest(f"{os}{version}".encode()),
            "size": 1,
            "platform": {"os": os, "architecture": "amd64", "os.version": version},
        }
        for os, version in platforms
    ]
    document = {"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}
    return json.dumps(document).encode()


CONFIG = json.dumps(
    {
        "os": "windows",
        "architecture": "amd64",
        "os.version": "10.0.17763.3650",
        "rootfs": {"type": "layers", "diff_ids": []},
    }
).encode()
SINGLE = json.dumps(
    {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": digest(CONFIG),
            "size": len(CONFIG),
        },
        "layers": [],
    }
).encode()
ANSWERS = {
    "/v2/shop/web/manifests/1": (INDEX, index(("windows", "10.0.17763.1"), ("linux", ""))),
    "/v2/shop/both/manifests/1": (
        INDEX,
        index(("windows", "10.0.17763.1"), ("windows", "10.0.20348.1")),
    ),
    "/v2/shop/linux/manifests/1": (INDEX, index(("linux", ""))),
    "/v2/shop/single/manifests/1": (MANIFEST, SINGLE),
    f"/v2/shop/single/blobs/{digest(CONFIG)}": ("application/octet-stream", CONFIG),
}


class Registry(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind, body = ANSWERS.get(self.path, ("application/json", b'{"errors": []}'))
        self.send_response(200 if self.path in ANSWERS else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def registry() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def found(image: str, profile: str, *flags: str) -> list[tuple[str, str]]:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {
            "nodeSelector": {"kubernetes.io/os": "windows"},
            "containers": [{"name": "web", "image": image}],
        },
    }
    words = ["--output", "json", "--profile", profile, *flags, "-"]
    result = CliRunner().invoke(command, words, input=json.dumps(pod), standalone_mode=False)
    findings = json.loads(result.output)["findings"]
    return [(one["rule"], one["field"]) for one in findings]


IMAGE = "spec.containers[0].image"


@pytest.mark.parametrize(
    "name, profile, rules",
    [
        ("shop/web:1", "1.34/2019", []),
        ("shop/web:1", "1.34/2022", ["older-images"]),
        ("shop/both:1", "1.34/2022", []),
        ("shop/both:1", "1.34/2019", []),
        ("shop/linux:1", "1.34/2019", ["os-must-match-or-not-start"]),
        ("shop/single:1", "1.34/2019", []),
        ("shop/single:1", "1.34/2025", ["older-images"]),
    ],
)
def test_builds_that_the_registry_has(registry: str, name: str, profile: str, rules: list[str]):
    expected = [(rule, IMAGE) for rule in rules]
    assert found(f"{registry}/{name}", profile, "--registry") == expected


def test_what_it_does_not_have_is_judged_by_its_name(registry: str):
    image = f"{registry}/shop/gone:1-ltsc2022"
    expected = [("os-must-match-or-not-start", IMAGE)]
    assert found(image, "1.34/2019", "--registry") == expected
    assert found(image, "1.34/2022", "--registry") == []


def test_it_is_not_asked_unless_told_to(registry: str):
    assert found(f"{registry}/shop/linux:1", "1.34/2019") == []


def test_a_registry_that_is_not_there_says_nothing():
    assert found("127.0.0.1:1/shop/web:1", "1.34/2019", "--registry") == []
