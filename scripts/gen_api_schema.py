"""Distil the API's types into src/muntin/model/data/schema.tsv: names, fields, kinds of lists.

Reads the documents of the PyPI package `kubernetes-validate`: the installed release for the newer
API versions, and its release 1.20.0 (fetched with pip, kept in the user's cache) for 1.20. The
descriptions are left out. One line is one form of one type, with the set of versions that have
it, so that versions share what did not change. `muntin.model.schema` says how to read it.
Versions of kinds that a release no longer has, but that the table of resources knows, keep the
types of the last release that had them (those of before 1.20 are in the old archive): a server
can then be told to serve them still.
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
from functools import cache
from pathlib import Path
from typing import Any

from muntin.model.resources import RESOURCES

TARGET = Path(__file__).parent.parent / "src/muntin/model/data/schema.tsv"
PLAIN = Path(__file__).parent / "sources/kubernetes-protobuf-fields.json"
# What the marks do not tell: these were optional before they were required, and had no pointers.
ONCE_OPTIONAL = {("PodIP", "ip"), ("HostAlias", "ip")}
BYTES = "y"  # never pointers, and left out when they are optional and empty
# Embedded in others, which then have their fields.
EMBEDDED = "", "rule"
OLD_RELEASE = "1.20.0"
# The last release with every kind of the groups that were emptied before 1.20.
LAST_OLD_GROUPS = "1.15.0"
OLD_SHA256 = "54211c0f22c6d09b2c8a3b598a8f1ecf9b60a11e2455e2cdb656937a8932d0bf"
# Old packages whose types have the form of the stable ones: what those got later, they have too.
SAME_FORM = {
    "io.k8s.api.apps.v1beta1": ("io.k8s.api.apps.v1",),
    "io.k8s.api.apps.v1beta2": ("io.k8s.api.apps.v1",),
    "io.k8s.api.batch.v1beta1": ("io.k8s.api.batch.v1",),
    "io.k8s.api.extensions.v1beta1": ("io.k8s.api.apps.v1", "io.k8s.api.networking.v1"),
    "io.k8s.api.policy.v1beta1": ("io.k8s.api.policy.v1",),
}
OTHER_FORM = ("Ingress", "HTTPIngress", "Scale")  # but not types whose names begin so
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
    yield "1.20", old_document(OLD_RELEASE)
    spec = importlib.util.find_spec("kubernetes_validate")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent / "kubernetes-json-schema"
    for folder in sorted(root.glob("v*-local"), key=lambda path: int(path.name.split(".")[1])):
        version = ".".join(folder.name[1:].split(".")[:2])
        yield version, json.loads((folder / "_definitions.json").read_bytes())["$defs"]


@cache
def old_archive() -> Path:
    """The old release's source archive, fetched if it is not there yet."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "muntin"
    archive = folder / f"kubernetes-validate-{OLD_RELEASE}.tar.gz"
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        package = f"kubernetes-validate=={OLD_RELEASE}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
        subprocess.run([*command, str(folder), package], check=True)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != OLD_SHA256:
        sys.exit(f"{archive}: sha256 is {digest}, not {OLD_SHA256}; remove it and try again")
    return archive


def old_document(version: str) -> dict[str, Any]:
    """The definitions of an old Kubernetes release, from the old archive."""
    with tarfile.open(old_archive()) as tar:
        for member in tar:
            if member.name.endswith(f"/v{version}-local/_definitions.json"):
                content = tar.extractfile(member)
                assert content is not None
                definitions: dict[str, Any] = json.loads(content.read())["definitions"]
                return definitions
    sys.exit(f"{old_archive()}: it has no definitions of {version}")


def old_packages(definitions: dict[str, Any]) -> set[str]:
    """The packages of types whose beta version the table of resources has a row for."""
    wanted = {(row.group, row.version, row.kind) for row in RESOURCES if "beta" in row.version}
    found = set()
    for name, schema in definitions.items():
        for row in schema.get("x-kubernetes-group-version-kind", ()):
            if (row["group"], row["version"], row["kind"]) in wanted:
                found.add(package(name))
    return found


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


def package(name: str) -> str:
    """``io.k8s.api.apps.v1`` of ``io.k8s.api.apps.v1.Deployment``."""
    return name.rpartition(".")[0]


@cache
def marks() -> dict[str, dict[str, list[Any]]]:
    """Per type, by its name in the schema, what is known of its fields on the wire."""
    source = json.loads(PLAIN.read_bytes())
    found = {}
    for owner, messages in source.items():
        stem = f"io.k8s.{owner.removeprefix('k8s.io.').replace('_', '-')}"
        for message, fields in messages.items():
            inner = [messages.get(fields[name][1], {}) for name in EMBEDDED if name in fields]
            found[f"{stem}.{message}"] = {
                **fields,
                **{k: v for row in inner for k, v in row.items()},
            }
    return found


def is_plain(name: str, field: str, short: str) -> bool:
    """Whether a scalar is not told apart from none when it is zero, and then left out."""
    short = short.partition("|")[0]
    if short == BYTES or (name.rpartition(".")[2], field) in ONCE_OPTIONAL:
        return True
    fact = marks().get(name, {}).get(field, ())
    return short in SCALARS.values() and len(fact) > 2 and fact[2] == "?"


def line(name: str, schema: dict[str, Any]) -> str:
    """One type: name, own kind, group-version-kinds, fields (``!`` marks the required ones)."""
    kinds = sorted(
        f"{row['group']}/{row['version']}/{row['kind']}"
        for row in schema.get("x-kubernetes-group-version-kind", ())
    )
    required = frozenset(schema.get("required", ()))
    fields = []
    for field, value in sorted(schema.get("properties", {}).items()):
        short = code(value)
        mark = "!" if field in required else "?" if is_plain(name, field, short) else ""
        fields.append(f"{mark}{field}:{short}")
    own = code({key: value for key, value in schema.items() if key != "properties"})
    return "\t".join((name, own, " ".join(kinds), " ".join(fields)))


def extended(name: str, schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """An old type with the fields that its stable counterpart in ``definitions`` has besides."""
    short = name.rpartition(".")[2]
    if short.startswith(OTHER_FORM):
        return schema
    for stable in SAME_FORM.get(package(name), ()):
        newer = definitions.get(f"{stable}.{short}", {}).get("properties", {})
        if newer and "properties" in schema:
            return {**schema, "properties": {**newer, **schema["properties"]}}
    return schema


def main() -> None:
    versions: list[str] = []
    masks: dict[str, int] = {}
    kept: dict[str, dict[str, Any]] = {}  # types of old packages, as the last release has them
    packages: set[str] = set()

    def keep(definitions: dict[str, Any]) -> None:
        packages.update(old_packages(definitions))
        kept.update({name: it for name, it in definitions.items() if package(name) in packages})

    keep(old_document(LAST_OLD_GROUPS))
    for index, (version, definitions) in enumerate(documents()):
        versions.append(version)
        old = {name: extended(name, schema, definitions) for name, schema in kept.items()}
        keep(definitions)
        for name, schema in {**old, **definitions}.items():
            text = line(name, schema)
            masks[text] = masks.get(text, 0) | 1 << index
    rows = [f"{mask:x}\t{text}" for text, mask in sorted(masks.items())]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join((" ".join(versions), *rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
