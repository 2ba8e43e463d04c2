"""What the client accepts: the form of objects, and the media type they are written in.

JSON is preferred wherever it is accepted at all, as clients of Go do that name protobuf first and
JSON second. Source: apiserver v1.34 pkg/endpoints/handlers/negotiation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from muntin.model import tables

OBJECT, TABLE, PARTIAL = "object", "Table", "PartialObjectMetadata"
META_GROUP = "meta.k8s.io"
JSON, YAML = "application/json", "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
ACCEPTED = f"{JSON}, {YAML}, {PROTOBUF}"
STREAMED = f"{JSON};stream=watch, {PROTOBUF};stream=watch"

_ANY = ("*/*", "application/*")
_KNOWN = frozenset({JSON, YAML, PROTOBUF, *_ANY})
MOST_CLAUSES = 256
MOST_REMEMBERED = 1024  # characters of a header
_FORMS = (TABLE, PARTIAL)


@dataclass(frozen=True, slots=True)
class Format:
    """``kind`` is an object, a Table or its metadata; ``version`` is that of meta.k8s.io."""

    kind: str = OBJECT
    version: str = "v1"
    include: str = tables.METADATA
    media: str = JSON


PLAIN = Format()


def negotiated(accept: str, *, has_table: bool = True) -> Format | None:
    """The format for an Accept header; None if nothing in it can be answered.

    What has no Table (``has_table`` false) is answered in another form that the header names.
    """
    if len(accept) <= MOST_REMEMBERED:
        return _remembered(accept, has_table)
    return _negotiated(accept, has_table)


def _negotiated(accept: str, has_table: bool) -> Format | None:
    otherwise = None
    for media, wanted in _clauses(accept):
        if not has_table and wanted.get("as") == TABLE:
            continue
        if media in (JSON, *_ANY):
            found = _format(wanted, JSON)
            if found is not None:
                return found
        elif media == YAML:
            return _format(wanted, YAML)
        elif media == PROTOBUF and otherwise is None:
            found = _format(wanted, PROTOBUF)
            otherwise = found if found is not None and found.kind != TABLE else None
    return otherwise


_remembered = lru_cache(maxsize=256)(_negotiated)


def is_known(accept: str) -> bool:
    """Whether any of the media types that are asked for can be had at all, in whatever form."""
    return bool(_clauses(accept))


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    """Media types that can be had and their parameters, the most wanted first.

    Of a header of a hundred thousand types only the first of these are looked at.
    """
    found: list[tuple[float, str, dict[str, str]]] = []
    for clause in accept.split(","):
        media, _, rest = clause.partition(";")
        if (media := media.strip()) not in _KNOWN:
            continue
        wanted = dict(part.strip().partition("=")[::2] for part in rest.split(";")) if rest else {}
        found.append((_quality(wanted.get("q", "")), media, wanted))
        if len(found) == MOST_CLAUSES:
            break
    found.sort(key=lambda row: -row[0])
    return [(media, wanted) for quality, media, wanted in found if quality]


def _quality(text: str) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 1.0


def _format(wanted: dict[str, str], media: str) -> Format | None:
    kind = wanted.get("as", "")
    if not kind:
        return Format(media=media) if media != JSON else PLAIN
    if wanted.get("g") != META_GROUP or wanted.get("v") not in ("v1", "v1beta1"):
        return None
    kind = kind.removesuffix("List")
    return Format(kind, wanted["v"], media=media) if kind in _FORMS else None
