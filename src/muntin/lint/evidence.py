"""Whether what really happened shows what a finding says: the platform's own words. Pure.

A row's message is what the platform says where it refuses; ``{name}`` in it stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from muntin.lint.findings import Finding

_PLACE = re.compile(r"\\\{[^{}]*\\\}")
_OF_A_FIELD = ("Forbidden: ", "Invalid value: ", "Required value: ", "Unsupported value: ")


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of an object: ``about`` is ``Kind namespace/name``, ``text`` the cluster's."""

    about: str
    text: str


def showing(finding: Finding, seen: Iterable[Seen]) -> Seen | None:
    """The first of ``seen`` that shows the finding; None if none does.

    It is about the finding's object or one that was made of it, whose names begin with its name.
    What the API says of a field is said of the finding's field.
    """
    if not finding.message:
        return None
    field = finding.field if finding.message.startswith(_OF_A_FIELD) else ""
    pattern = _pattern(finding.message, field)
    for one in seen:
        if is_about(one.about, finding.object) and pattern.search(one.text):
            return one
    return None


def is_about(about: str, obj: str) -> bool:
    """Whether ``about`` is ``obj`` or was made of it: ``Pod shop/web-5d4f-x`` of ``Deployment
    shop/web``; an object that names no namespace is in any."""
    kind, _, wanted = obj.partition(" ")
    found_kind, _, found = about.partition(" ")
    if "/" not in wanted:
        found = found.rpartition("/")[2]
    if kind == found_kind:
        return found == wanted
    return found.startswith(f"{wanted}-") or found == wanted


@lru_cache(maxsize=1000)
def _pattern(message: str, field: str) -> re.Pattern[str]:
    words = _PLACE.sub(".*?", re.escape(message))
    return re.compile(f"{re.escape(field)}: {words}" if field else words, re.IGNORECASE | re.DOTALL)
