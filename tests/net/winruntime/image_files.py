"""Small Windows images, as archives and for a registry."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

OS_VERSION = "10.0.17763.1"


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def tar_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


class Image:
    """One image with the given layers; its first layer is a base that nobody should need."""

    def __init__(self, *layers: dict[str, bytes], os_version: str = OS_VERSION, **run: Any) -> None:
        self.tars = [tar_of(layer) for layer in layers]
        self.zipped = [gzip.compress(tar, mtime=0) for tar in self.tars]
        history = [{"created_by": "Apply image 1809-RTM-amd64"}]
        history += [{"created_by": "COPY"} for _ in layers]
        config = {
            "os": "windows",
            "architecture": "amd64",
            "os.version": os_version,
            "config": run,
            "history": history,
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + "0" * 64]},
        }
        config["rootfs"]["diff_ids"] += [digest(tar) for tar in self.tars]
        self.config = json.dumps(config).encode()
        foreign = {
            "mediaType": "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
            "digest": "sha256:" + "1" * 64,
            "size": 1_000_000,
            "urls": ["https://example.invalid/base"],
        }
        layers_part = [
            {
                "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip",
                "digest": digest(blob),
                "size": len(blob),
            }
            for blob in self.zipped
        ]
        self.manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": {
                    "mediaType": "application/vnd.oci.image.config.v1+json",
                    "digest": digest(self.config),
                    "size": len(self.config),
                },
                "layers": [foreign, *layers_part],
            }
        ).encode()

    def blobs(self) -> dict[str, bytes]:
        return {digest(b): b for b in (self.config, self.manifest, *self.zipped)}

    def oci_archive(self, path: Path, name: str) -> Path:
        index = {
            "schemaVersion": 2,
            "manifests": [
                {
                    "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "digest": digest(self.manifest),
                    "size": len(self.manifest),
                    "annotations": {"io.containerd.image.name": name},
                }
            ],
        }
        files = {
            "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
            "index.json": json.dumps(index).encode(),
            **{f"blobs/{d.replace(':', '/')}": b for d, b in self.blobs().items()},
        }
        path.write_bytes(tar_of(files))
        return path
