"""URL globbing of curl: ``{one,two}``, ``[1-9]``, ``[01-10:3]``, ``[a-c]``."""

from __future__ import annotations

import re
from itertools import product
from socket import AF_INET6, inet_pton
from typing import NamedTuple

MOST_URLS = 100_000
_NUMBERS = re.compile(r"(\d{1,9})-(\d{1,9})(?::(\d{1,9}))?")
_LETTERS = re.compile(r"([a-z])-([a-z])(?::(\d{1,9}))?|([A-Z])-([A-Z])(?::(\d{1,9}))?")
_VARIABLE = re.compile(r"#(\d)")


class Globbed(NamedTuple):
    """One URL, and what each of its patterns stands for."""

    url: str
    parts: tuple[str, ...]

    def name(self, output: str) -> str:
        """An output's name with ``#1``, ``#2`` filled in; others stay as they are."""

        def part(match: re.Match[str]) -> str:
            number = int(match[1])
            return self.parts[number - 1] if 0 < number <= len(self.parts) else match[0]

        return _VARIABLE.sub(part, output)


class BadGlob(Exception):
    """A pattern that cannot be read; the message is curl's."""


def expand(url: str) -> list[Globbed]:
    """All URLs that ``url`` stands for.

    Raises:
        BadGlob: a brace or bracket is not closed, or what it holds is no range.
    """
    pieces: list[list[str]] = []
    globs: list[int] = []
    at, count = 0, 1
    text = ""
    while at < len(url):
        char = url[at]
        if char == "\\" and url[at + 1 : at + 2] in ("{", "}", "[", "]"):
            text += url[at + 1]
            at += 2
            continue
        if char in "}]":
            raise BadGlob(f"[globbing] unmatched close brace/bracket in column {at + 1}")
        if char not in "{[":
            text += char
            at += 1
            continue
        end = url.find("}" if char == "{" else "]", at)
        if end < 0:
            kind = "unmatched brace" if char == "{" else "bad range"
            raise BadGlob(f"[globbing] {kind} in column {at + 1}")
        inner = url[at + 1 : end]
        if char == "[" and _is_ipv6(inner):
            text += url[at : end + 1]
        else:
            choices = inner.split(",") if char == "{" else _range(inner, at + 2)
            count *= len(choices)
            if count > MOST_URLS:
                raise BadGlob(f"[globbing] range overflow in column {at + 1}")
            globs.append(len(pieces) + 1)
            pieces += [[text], choices]
            text = ""
        at = end + 1
    pieces.append([text])
    return [
        Globbed("".join(words), tuple(words[number] for number in globs))
        for words in product(*pieces)
    ]


def _is_ipv6(text: str) -> bool:
    try:
        inet_pton(AF_INET6, text.split("%")[0])
    except (OSError, ValueError):
        return False
    return True


def _range(text: str, column: int) -> list[str]:
    if match := _NUMBERS.fullmatch(text):
        first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
        width = len(match[1]) if match[1].startswith("0") else 0
        if first <= last and step and (last - first) // step < MOST_URLS:
            return [str(n).zfill(width) for n in range(first, last + 1, step)]
    elif match := _LETTERS.fullmatch(text):
        first, last = ord(match[1] or match[4]), ord(match[2] or match[5])
        step = int(match[3] or match[6] or 1)
        if first <= last and step:
            return [chr(n) for n in range(first, last + 1, step)]
    raise BadGlob(f"[globbing] bad range in column {column}")
