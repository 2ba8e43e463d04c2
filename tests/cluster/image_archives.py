"""Image archives as `docker save` writes them, with one layer."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any


def tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def docker_archive(path: Path, name: str, layer: bytes, **config: Any) -> Path:
    diff_id = "sha256:" + hashlib.sha256(layer).hexdigest()
    document = {"architecture": "amd64", "rootfs": {"type": "layers", "diff_ids": [diff_id]}}
    raw = json.dumps({**document, **config}).encode()
    config_name = hashlib.sha256(raw).hexdigest() + ".json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": ["1/layer.tar"]}]
    files = {config_name: raw, "1/layer.tar": layer, "manifest.json": json.dumps(manifest).encode()}
    path.write_bytes(tar(files))
    return path
