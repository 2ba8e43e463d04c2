"""The Warning header of an answer, from what writers and webhooks have to say.

Source: apiserver v1.36 pkg/endpoints/filters/warning.go; RFC 7234, 5.5.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

MOST_IN_ALL, MOST_OF_ONE = 4 * 1024, 256


def warning_header(texts: Iterable[str]) -> str:
    """The header's value; empty if nothing can be said.

    Each text stands once. What holds control characters is left out, since a header is one line;
    texts are cut when they are too long together.
    """
    known = [text for text in dict.fromkeys(texts) if text and not _has_controls(text)]
    if sum(map(len, known)) > MOST_IN_ALL:
        known = _cut(known)
    return ", ".join(f"299 - {_quoted(text)}" for text in known)


def _has_controls(text: str) -> bool:
    if text.isprintable():  # then there is none, and most texts are
        return False
    return any(unicodedata.category(char) in ("Cc", "Cs") for char in text)


def _cut(texts: list[str]) -> list[str]:
    found, written = [], 0
    for text in texts:
        if written >= MOST_IN_ALL:
            break
        found.append(text[:MOST_OF_ONE])
        written += len(found[-1])
    return found


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
