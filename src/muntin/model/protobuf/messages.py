"""The messages of the API: their fields by number and by JSON name.

They come from data/protobuf.tsv (scripts/gen_protobuf.py), one message a line: name, then fields
``number:JSON name:type``. A type is ``s`` string, ``b`` boolean, ``i`` integer, ``d`` double,
``y`` bytes, or a message; ``[`` before it is a list, ``{`` a map from strings. An empty JSON name
means that the message's fields are the object's own. ``?`` marks plain fields, whose zero value
Go's writers send although JSON would leave it out.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
UNKNOWN = "pkg.runtime.Unknown"
_META_GROUP = "meta.k8s.io"


@dataclass(frozen=True, slots=True)
class Field:
    """One field; ``container`` is "[" for a list, "{" for a map, else empty."""

    number: int
    name: str
    kind: str
    container: str
    drop_empty: bool


@cache
def _lines() -> Mapping[str, str]:
    raw = pkgutil.get_data("muntin.model", "data/protobuf.tsv")
    assert raw is not None
    rows = (line.split("\t") for line in raw.decode("utf-8").splitlines())
    return {row[0]: row[1] for row in rows}


@cache
def fields_of(message: str) -> tuple[Field, ...]:
    """The fields of a message, by number; KeyError if it is not known."""
    found = []
    for row in _lines()[message].split():
        number, label, code = row.split(":")
        container = code[0] if code[0] in "[{" else ""
        kind = code.lstrip("[{").rstrip("?")
        found.append(Field(int(number), label, kind, container, code.endswith("?")))
    return tuple(found)


@cache
def by_number(message: str) -> Mapping[int, Field]:
    """The fields of a message by their numbers."""
    return {field.number: field for field in fields_of(message)}


def message_name(api_version: str, kind: str) -> str:
    """The message of a kind; empty if it has none that is known."""
    group, _, version = api_version.rpartition("/")
    package = "meta" if group == _META_GROUP else (group.partition(".")[0] or "core")
    for name in (f"{package}.{version}.{kind}", f"meta.v1.{kind}"):
        if name in _lines():
            return name
    return ""


def is_known(api_version: str, kind: str) -> bool:
    """Whether objects of a kind have a protobuf form here."""
    return bool(message_name(api_version, kind))
