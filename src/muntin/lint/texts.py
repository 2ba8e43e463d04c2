"""A file's text as documents: manifests, JSON, configurations, scripts, by name and contents."""

from __future__ import annotations

import re

from muntin.lint.commands import SCRIPTS
from muntin.lint.documents import Document, Problem, read
from muntin.lint.json_text import looks_like_json, place, plain

MAX_BYTES = 32 * 1024 * 1024
_ACTION = re.compile(r"\{\{-?\s*(/\*|[.$\w(\"`])")
_HELM = re.compile(r"\{\{-?\s*(\.(Values|Release|Chart|Capabilities)\b|include\b|template\b)")


def read_bytes(raw: bytes, file: str) -> tuple[list[Document], list[Problem]]:
    """The documents of a file.

    UTF-8, with or without a mark, and UTF-16 with one (as PowerShell writes it) are read.
    """
    if len(raw) > MAX_BYTES:
        what = f"the file has {len(raw)} bytes: more than {MAX_BYTES} are not read"
        return [], [Problem("too-large", what)]
    encoding = encoding_of(raw)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as err:
        good = raw[: err.start].decode(encoding, "replace")
        what = f"no {encoding.upper().removesuffix('-SIG')}: the byte 0x{raw[err.start]:02x}"
        return [], [Problem("encoding", what, *place(good, len(good)))]
    return read_text(text, file)


def encoding_of(raw: bytes) -> str:
    """Python's name of the encoding, by the mark at the beginning."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    return "utf-8-sig" if raw[:3] == b"\xef\xbb\xbf" else "utf-8"


def read_text(text: str, file: str) -> tuple[list[Document], list[Problem]]:
    """The documents of a text; ``file`` says by its suffix what it is."""
    if file.lower().endswith(SCRIPTS):
        return [Document(file, text, None, script=True)], []
    if looks_like_json(text):
        clean, problems = plain(text, file)
        documents, more = read(clean, file)
        if any(problem.rule == "json-syntax" for problem in problems):
            more = [problem for problem in more if problem.rule != "yaml-syntax"]
        for document in documents:
            document.text = text
        return documents, problems + more
    if (match := _unrendered(text)) is not None:
        what = "a template that was not rendered: lint what `helm template` prints"
        return [], [Problem("not-rendered", what, *place(text, match.start()))]
    return read(text, file)


def _unrendered(text: str) -> re.Match[str] | None:
    """The first action of a template that stands where a value or a line begins, or is Helm's.

    Others are left alone: rules of Prometheus and the like have such texts in their values.
    """
    for match in _ACTION.finditer(text) if "{{" in text else ():
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        if "#" in before or _in_block(text, match.start()):
            continue
        if not before or before[-1] in ":-" or _HELM.match(text, match.start()):
            return match
    return None


def _in_block(text: str, offset: int) -> bool:
    """Whether the line at ``offset`` belongs to a block of text (``key: |``)."""
    lines = text[:offset].split("\n")
    indent = len(lines[-1]) - len(lines[-1].lstrip())
    for line in reversed(lines[:-1]):
        if line.strip() and len(line) - len(line.lstrip()) < indent:
            return bool(re.search(r"[|>][-+0-9]*\s*$", line))
    return False
