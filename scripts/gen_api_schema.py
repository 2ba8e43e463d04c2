"""Distil the API's types into src/muntin/model/data/schema.tsv: names, fields, kinds of lists.

Reads the documents of the PyPI package `kubernetes-validate`: the installed release for the newer
API versions, and its release 1.20.0 (fetched with pip, kept in the user's cache) for 1.20. The
descriptions are left out. One line is one form of one type, with the set of versions that have
it, so that versions share what did not change. `muntin.model.schema` says how to read it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "src/muntin/model/data/schema.tsv"
OLD_RELEASE = "1.20.0"
OLD_SHA256 = "54211c0f22c6d09b2c8a3b598a8f1ecf9b60a11e2455e2cdb656937a8932d0bf"
SCALARS = {
    ("string", ""): "s",
    ("string", "byte"): "y",
    ("string", "date-time"): "t",
    ("integer", ""): "i",
    ("integer", "int32"): "i32",
    ("integer", "int64"): "i64",
    ("number", ""): "n",
    ("number", "double"): "n64",
    ("boolean", ""): "b",
    ("object", ""): "o",
}
ATTRIBUTES = {
    "x-kubernetes-list-type": "l",
    "x-kubernetes-list-map-keys": "k",
    "x-kubernetes-map-type": "m",
    "x-kubernetes-patch-merge-key": "p",
    "x-kubernetes-patch-strategy": "s",
}


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """(API version, its definitions), oldest first."""
    old = json.loads(old_document())
    yield "1.20", old["definitions"]
    spec = importlib.util.find_spec("kubernetes_validate")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent / "kubernetes-json-schema"
    for folder in sorted(root.glob("v*-local"), key=lambda path: int(path.name.split(".")[1])):
        version = ".".join(folder.name[1:].split(".")[:2])
        yield version, json.loads((folder / "_definitions.json").read_bytes())["$defs"]


def old_document() -> bytes:
    """The definitions of Kubernetes 1.20, from the old release's source archive."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "muntin"
    archive = cache / f"kubernetes-validate-{OLD_RELEASE}.tar.gz"
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        package = f"kubernetes-validate=={OLD_RELEASE}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
        subprocess.run([*command, str(cache), package], check=True)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != OLD_SHA256:
        sys.exit(f"{archive}: sha256 is {digest}, not {OLD_SHA256}; remove it and try again")
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.name.endswith("/v1.20.0-local/_definitions.json"):
                content = tar.extractfile(member)
                assert content is not None
                return content.read()
    sys.exit(f"{archive}: it has no definitions of 1.20.0")


def code(schema: dict[str, Any]) -> str:
    """The short form of a field's schema: ``[@Container|l=map|k=name``."""
    kind = schema.get("type", "")
    if isinstance(kind, list):
        kind = next(item for item in kind if item != "null")
    if "$ref" in schema:
        short = "@" + schema["$ref"].rpartition("/")[2]
    elif kind == "array":
        short = "[" + code(schema["items"])
    elif isinstance(schema.get("additionalProperties"), dict):
        short = "{" + code(schema["additionalProperties"])
    elif "oneOf" in schema or not kind:
        short = "*"
    else:
        short = SCALARS[kind, schema.get("format", "")]
    for long, letter in ATTRIBUTES.items():
        if long in schema:
            value = schema[long]
            short += f"|{letter}={'+'.join(value) if isinstance(value, list) else value}"
    return short


def line(name: str, schema: dict[str, Any]) -> str:
    """One type: name, own kind, group-version-kinds, fields (``!`` marks the required ones)."""
    kinds = sorted(
        f"{row['group']}/{row['version']}/{row['kind']}"
        for row in schema.get("x-kubernetes-group-version-kind", ())
    )
    required = frozenset(schema.get("required", ()))
    fields = [
        f"{'!' if field in required else ''}{field}:{code(value)}"
        for field, value in sorted(schema.get("properties", {}).items())
    ]
    own = code({key: value for key, value in schema.items() if key != "properties"})
    return "\t".join((name, own, " ".join(kinds), " ".join(fields)))


def main() -> None:
    versions: list[str] = []
    masks: dict[str, int] = {}
    for index, (version, definitions) in enumerate(documents()):
        versions.append(version)
        for name, schema in definitions.items():
            text = line(name, schema)
            masks[text] = masks.get(text, 0) | 1 << index
    rows = [f"{mask:x}\t{text}" for text, mask in sorted(masks.items())]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join((" ".join(versions), *rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
