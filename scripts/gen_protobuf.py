"""Distil the field numbers of the API's protobuf messages into model/data/protobuf.tsv.

In: ``scripts/sources/kubernetes-protobuf-fields.json`` (numbers and types of every message), and
data/schema.tsv for the JSON names and required fields. Out: one line a message; how to read it is
said in `muntin.model.protobuf`. Run after gen_api_schema.py, without arguments; ``make gen`` does.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from muntin.model import schema

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "scripts" / "sources" / "kubernetes-protobuf-fields.json"
TARGET = ROOT / "src" / "muntin" / "model" / "data" / "protobuf.tsv"

# Beta versions that rows of model.resources serve, and the packages nobody sends.
_BETAS = ("batch.v1beta1", "discovery.v1beta1", "policy.v1beta1")
_LEFT_OUT = re.compile(r"testapigroup|apidiscovery|imagepolicy|lifecycle|runtime\.schema")
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
# Numbers and booleans that are plain values in Go: writers always send them, so zero means unset.
_PLAIN = {
    "active", "availableReplicas", "count", "currentReplicas", "denied", "failed",
    "failureThreshold", "generation", "globalDefault", "healthCheckNodePort", "hostIPC",
    "hostNetwork", "hostPID", "hostPort", "initialDelaySeconds", "minReadySeconds", "nodePort",
    "numberAvailable", "numberUnavailable", "observedGeneration", "paused", "periodSeconds",
    "publishNotReadyAddresses", "readOnly", "readyReplicas", "signal", "stdin", "stdinOnce",
    "successThreshold", "succeeded", "timeoutSeconds", "tty", "unavailableReplicas",
    "unschedulable", "updatedNumberScheduled", "updatedReplicas",
}  # fmt: skip
# Strings that are pointers in Go and mean something when they are empty.
_EMPTY_COUNTS = frozenset({"storageClassName"})


def short(package: str) -> str:
    """``core.v1`` for ``k8s.io.api.core.v1``; the last two words of the others."""
    return ".".join(package.split(".")[-2:])


def json_fields() -> dict[str, dict[str, bool]]:
    """Type (``core.v1.PodSpec``) to its JSON fields and whether each is required, newest first."""
    found: dict[str, dict[str, bool]] = {}
    for version in reversed(schema.versions()):
        types = schema.load(version)
        for name in types.type_names:
            fields = found.setdefault(".".join(name.split(".")[-3:]), {})
            for field, shape in types.type(name).fields.items():
                fields.setdefault(field, shape.required)
    return found


def is_embedded(field: str, code: str) -> bool:
    """Whether a field that JSON does not know stands for a Go struct embedded in this one."""
    message = code.rpartition(".")[2]
    return field.lower() == message.lower() or (field, message) == ("handler", "ProbeHandler")


class Line:
    """One message as a line of the table."""

    def __init__(self, package: str, message: str, known: dict[str, bool] | None) -> None:
        self.package, self.known = package, known
        self.name = f"{short(package)}.{message}"

    def code(self, kind: str) -> str:
        """The type of a field: a letter, a message, ``[`` list of, ``{`` map to."""
        if kind.startswith("[]"):
            return "[" + self.code(kind[2:])
        if kind.startswith("map<"):
            return "{" + self.code(kind[4:-1].partition(", ")[2])
        if kind in _SCALARS:
            return _SCALARS[kind]
        package, _, message = kind.rpartition(".")
        return f"{short(package or self.package)}.{message}"

    def field(self, name: str, number: int, kind: str) -> str:
        """``number:JSON name:type``, with ``?`` when an empty value means "not set"."""
        code, required = self.code(kind), False
        if self.known is not None:
            match = next((item for item in self.known if item.lower() == name.lower()), None)
            if match is None and is_embedded(name, code):
                return f"{number}::{code}"
            name = match or name[0].lower() + name[1:]
            required = self.known.get(name, False)
        optional = (code == "s" and name not in _EMPTY_COUNTS) or name in _PLAIN
        mark = "?" if len(code) == 1 and code != "y" and optional and not required else ""
        return f"{number}:{name}:{code}{mark}"


def main() -> None:
    packages = json.loads(SOURCE.read_text(encoding="utf-8"))
    known = json_fields()
    lines = []
    for package, messages in packages.items():
        version = short(package)
        beta = "alpha" in version or "beta" in version
        if _LEFT_OUT.search(package) or (beta and version not in _BETAS):
            continue
        for message, fields in messages.items():
            line = Line(package, message, known.get(f"{version}.{message}"))
            rows = sorted((number, name, kind) for name, (number, kind) in fields.items())
            texts = (line.field(name, number, kind) for number, name, kind in rows)
            lines.append(f"{line.name}\t{' '.join(texts)}")
    TARGET.write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
