"""Images made on this machine for Linux nodes: ``pause``, and ``busybox`` from busybox-static.

They lie in an OCI image layout in a tar archive, built in memory, byte for byte the same for the
same inputs, so that it can be cached by name. ``ctr -n k8s.io images import`` loads it.
Source: OCI image-spec v1.0.2 image-layout.md, config.md, layer.md.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import subprocess
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAUSE_IMAGE = "registry.k8s.io/pause:3.10"
BUSYBOX_IMAGES = (
    "docker.io/library/busybox:latest",
    "docker.io/library/busybox:1.35",
    "registry.k8s.io/e2e-test-images/busybox:1.29-4",
)
BUSYBOX_BINARY = Path("/bin/busybox")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One path of a layer: a directory, a file with ``data``, or a hard link to ``link``."""

    path: str
    mode: int
    data: bytes | None = None
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """What an archive holds: the names it is loaded under, its run configuration, its files."""

    names: Sequence[str]
    config: Mapping[str, Any]
    entries: Sequence[Entry] = field(default=())


def pause_image() -> Image:
    """An image whose only program sleeps until it is told to stop, and reaps what it is given."""
    return Image(
        names=[PAUSE_IMAGE],
        config={"Entrypoint": ["/pause"], "User": "65535:65535", "WorkingDir": "/"},
        entries=[Entry(path="pause", mode=0o755, data=pause_program())],
    )


def busybox_image(binary: bytes, applets: Iterable[str]) -> Image:
    """Busybox with every applet as a hard link, laid out as the well-known image is."""
    directories = ["bin", "dev", "etc", "home", "root", "tmp", "usr", "usr/sbin", "var", "var/www"]
    modes = {"tmp": 0o1777, "root": 0o700}
    etc = {
        "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/home:/bin/false\n",
        "etc/group": "root:x:0:\nnobody:x:65534:\n",
    }
    return Image(
        names=BUSYBOX_IMAGES,
        config={
            "Cmd": ["sh"],
            "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        },
        entries=[
            *(Entry(path=path, mode=modes.get(path, 0o755)) for path in directories),
            *(Entry(path=path, mode=0o644, data=text.encode()) for path, text in etc.items()),
            Entry(path="bin/busybox", mode=0o755, data=binary),
            *(
                Entry(path=f"bin/{name}", mode=0o755, link="bin/busybox")
                for name in sorted(set(applets) - {"busybox"})
            ),
        ],
    )


def pause_program() -> bytes:
    """A static x86-64 ELF program: children vanish, SIGTERM and SIGINT end it with 0, it waits.

    The first process of a PID namespace is spared signals that it has no handler for, so a pod
    whose container it is would take its whole grace period to stop.
    """
    code = bytes.fromhex(
        "6a00 6a00 6a02 6a01"  # struct sigaction {SIG_IGN, SA_NOCLDWAIT, 0, 0} on the stack
        "4889e6 6a115f 31d2 6a08415a 6a0d58 0f05"  # rt_sigaction(SIGCHLD, sp, NULL, 8)
        "6a00 6a00 6800000004 488d051b000000 50"  # {leave, SA_RESTORER, 0, 0}
        "4889e6 6a0f5f 6a0d58 0f05"  # rt_sigaction(SIGTERM, sp, NULL, 8)
        "6a025f 6a0d58 0f05"  # rt_sigaction(SIGINT, sp, NULL, 8)
        "6a2258 0f05 ebf9"  # pause() in a loop
        "31ff 6a3c58 0f05"  # leave: exit(0)
    )
    base, headers = 0x400000, 64 + 56
    size = headers + len(code)
    elf = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01", 2, 62, 1, base + headers, 64, 0, 0, 64, 56, 1, 0, 0, 0,
    )  # fmt: skip
    program = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000)
    return elf + program + code


def archive(images: Sequence[Image]) -> bytes:
    """The OCI layout of all ``images`` as one uncompressed tar."""
    blobs: dict[str, bytes] = {}
    rows: list[dict[str, Any]] = []
    for image in images:
        manifest = _manifest(image, blobs)
        rows += [_named(name, manifest) for name in image.names]
    files = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": _json({"schemaVersion": 2, "manifests": rows}),
        **blobs,
    }
    return _tar([Entry(path=path, mode=0o644, data=data) for path, data in files.items()])


def _manifest(image: Image, blobs: dict[str, bytes]) -> bytes:
    """The manifest of ``image``; it, its layer and its configuration are put into ``blobs``."""
    layer = _tar(image.entries)
    config = _json(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": image.config,
            "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
            "history": [{"created_by": "muntin"}],
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _descriptor("application/vnd.oci.image.config.v1+json", config),
            "layers": [_descriptor("application/vnd.oci.image.layer.v1.tar", layer)],
        }
    )
    for blob in (layer, config, manifest):
        blobs[f"blobs/{_digest(blob).replace(':', '/')}"] = blob
    return manifest


_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def _named(name: str, manifest: bytes) -> dict[str, Any]:
    notes = {
        "io.containerd.image.name": name,
        "org.opencontainers.image.ref.name": name.rpartition(":")[2],
    }
    return {**_descriptor(_MANIFEST, manifest), "annotations": notes}


def _tar(entries: Sequence[Entry]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for entry in entries:
            info = tarfile.TarInfo(entry.path)
            info.mode = entry.mode
            if entry.link:
                info.type, info.linkname = tarfile.LNKTYPE, entry.link
            elif entry.data is None:
                info.type = tarfile.DIRTYPE
            else:
                info.size = len(entry.data)
            tar.addfile(info, io.BytesIO(entry.data or b""))
    return out.getvalue()


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def _descriptor(media_type: str, blob: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": _digest(blob), "size": len(blob)}


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def write_archives(cache: Path) -> list[Path]:
    """The local images in one archive under ``cache``, built only when it is missing.

    One archive, for containerd lets one import at a time in and makes others wait.
    """
    binary = BUSYBOX_BINARY.read_bytes()
    key = hashlib.sha256(binary + Path(__file__).read_bytes()).hexdigest()[:16]
    path = cache / f"linux-images-{key}.tar"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(archive([pause_image(), busybox_image(binary, _applets())]))
        partial.rename(path)
    return [path]


def _applets() -> list[str]:
    listed = subprocess.run([BUSYBOX_BINARY, "--list"], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split() if "/" not in name]
