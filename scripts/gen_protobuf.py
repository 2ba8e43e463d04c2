"""Distil the field numbers of the API's protobuf messages into model/data/protobuf.tsv.

In: ``scripts/sources/kubernetes-protobuf-fields.json``, facts of the wire format: per package and
message, JSON name to number, type and a mark (``?``: Go's writers send the zero value of a plain
field that JSON would leave out; ``inline``: the message's fields are the object's own). They were
read from the numbers and tags of k8s.io/api, apimachinery, apiextensions-apiserver and
kube-aggregator 0.37, and from older releases back to 0.15 what is not there any more.
Out: one line a message that a served kind needs; how to read it is said in `muntin.model.protobuf`.
"""

from __future__ import annotations

import json
from pathlib import Path

from muntin.model.resources import RESOURCES

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "scripts" / "sources" / "kubernetes-protobuf-fields.json"
TARGET = ROOT / "src" / "muntin" / "model" / "data" / "protobuf.tsv"

_SCALARS = {
    "string": "s",
    "bool": "b",
    "bytes": "y",
    "int32": "i",
    "int64": "i",
    "uint32": "i",
    "uint64": "i",
    "double": "d",
}
# Of these packages all messages are needed: options, statuses, lists, envelopes.
_WHOLE = ("meta.v1", "meta.v1beta1", "pkg.runtime", "util.intstr", "api.resource")
# Kinds that are no resource's and no subresource's own.
_MORE = ("autoscaling.v1.Scale", "core.v1.PodStatusResult", "core.v1.RangeAllocation")

Fields = dict[str, list[str | int]]


def short(package: str) -> str:
    """``core.v1`` for ``k8s.io.api.core.v1``; the last two words of the others."""
    return ".".join(package.split(".")[-2:])


def code(kind: str, package: str) -> str:
    """The type of a field: a letter, a message, ``[`` list of, ``{`` map to."""
    if kind.startswith("[]"):
        return "[" + code(kind[2:], package)
    if kind.startswith("map:"):
        return "{" + code(kind[4:], package)
    if kind in _SCALARS:
        return _SCALARS[kind]
    owner, _, message = kind.rpartition(".")
    return f"{short(owner or package)}.{message}"


def field(name: str, facts: list[str | int], package: str) -> str:
    """``number:JSON name:type``, with ``?`` when an empty value means "not set"."""
    number, kind, mark = [*facts, ""][:3]
    name = "" if mark == "inline" else name
    return f"{number}:{name}:{code(str(kind), package)}{'?' if mark == '?' else ''}"


def wanted() -> set[str]:
    """The messages of the kinds that rows and their subresources speak, and of their lists."""
    found = set(_MORE)
    for row in RESOURCES:
        package = f"{row.group.partition('.')[0] or 'core'}.{row.version}"
        found |= {f"{package}.{row.kind}", f"{package}.{row.list_kind}"}
        for sub in row.subresources:
            if sub.kind:
                found.add(f"{sub.group.partition('.')[0] or 'core'}.{sub.version}.{sub.kind}")
                found.add(f"{sub.group.partition('.')[0] or 'core'}.v1beta1.{sub.kind}")
    return found


def main() -> None:
    packages: dict[str, dict[str, Fields]] = json.loads(SOURCE.read_text(encoding="utf-8"))
    lines = {}
    for package, messages in packages.items():
        for message, fields in messages.items():
            name = f"{short(package)}.{message}"
            lines[name] = [field(key, facts, package) for key, facts in fields.items()]
    todo = {name for name in lines if name in wanted() or name.rpartition(".")[0] in _WHOLE}
    kept: set[str] = set()
    while todo:
        name = todo.pop()
        kept.add(name)
        kinds = (row.rpartition(":")[2].lstrip("[{").rstrip("?") for row in lines[name])
        todo |= {kind for kind in kinds if kind in lines and kind not in kept}
    rows = [f"{name}\t{' '.join(lines[name])}" for name in sorted(kept)]
    TARGET.write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
