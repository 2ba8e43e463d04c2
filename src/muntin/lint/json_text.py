"""Texts that are JSON, or were meant to be: comments are blanked, places stay as they are."""

from __future__ import annotations

import json
import re

from muntin.lint.documents import Problem

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|#[^\n]*', re.DOTALL)
SUFFIXES = (".json", ".conf", ".conflist")


def looks_like_json(text: str) -> bool:
    """Whether it begins with a map or a list of JSON, comments before it aside."""
    start = _TOKEN.sub("", text[:4096]).lstrip("\ufeff \t\r\n")[:2]
    return start[:1] in ("{", "[") and start != "{{"


def plain(text: str, file: str) -> tuple[str, list[Problem]]:
    """The text without comments and tabs, as long as before, and what a JSON parser refuses."""
    problems: list[Problem] = []

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        if found[0] == '"':
            return found
        what = "JSON has no comments: whoever reads the file refuses it"
        problems.append(Problem("json-comment", what, *place(text, match.start()), fatal=False))
        return re.sub(r"[^\n]", " ", found)

    clean = _TOKEN.sub(blank, text).replace("\t", " ").replace("\ufeff", " ")
    if file.endswith(SUFFIXES):
        try:
            json.loads(clean)
        except json.JSONDecodeError as err:
            what = f"no JSON: {err.msg[:1].lower()}{err.msg[1:]}"
            problems.append(Problem("json-syntax", what, err.lineno, err.colno, fatal=False))
        except (ValueError, RecursionError):  # 5,000 digits, or 1,000 levels: it is JSON still
            pass
    return clean, problems


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
