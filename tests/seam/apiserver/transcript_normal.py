"""What differs from run to run in kubectl's output, replaced by a word for it."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

_AGE = r"(?:\d+[ydhms]){1,2}"
_REPLACED = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\b[EIW]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (\w+\.go):\d+\]", r"\1]"),
        (r"https://(127\.0\.0\.1|localhost):\d+", "{server}"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "{uid}"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "{time}"),
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?( \+\d{4} \w+)?( m=\S+)?", "{time}"),
        (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "{time}"),
        (r"\beyJ[\w-]+\.[\w-]+\.[\w-]+", "{token}"),
        (r'("?resourceVersion"?: *)["\']?\d+["\']?', r'\1"{revision}"'),
        (r"(Expected resource version to be 1, was )\d+", r"\1{revision}"),
        (r'("continue": )"[^"]+"', r'\1"{token}"'),
        (r"(Resource ?Version: +)\d+", r"\1{revision}"),
        (r"\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b", "{address}"),
        (r"(?<![\w.])3[0-2]\d{3}(?![\w.])", "{port}"),
        (r"-[bcdfghjklmnpqrstvwxz2456789]{5}(?=[\s\"',]|$)", "-{name}"),
        (rf"(?<!\S){_AGE}(?!\S)", "{age}"),
        (rf"(\(x\d+ over ){_AGE}(?=\))", r"\1{age}"),
        (rf"\({_AGE} ago\)", "({age} ago)"),
        (r"/tmp/[^ \t'\"]*/(LIVE|MERGED)-\d+/|/tmp/(LIVE|MERGED)-\d+/", r"{\1\2}/"),
        (r"(tls\.(?:crt|key): +)\d+ bytes", r"\1{some} bytes"),
        (r"/tmp/kubectl-edit-\S+?\.yaml", "{edited}"),
    )
)  # fmt: skip
_JSON = re.compile(r"^[\[{].*[\]}]$")
_NOISE = re.compile(
    r"^(request\.go\] (Throttling|Waited for)|WARNING: version difference|"
    r"(reflector|memcache)\.go\]|websocket\.go\] Unknown stream)"  # it met what is not ready yet
)
# kubectl 1.20 compares managed fields, too, whose times differ when a second has passed.
_CHANGE = re.compile(r"^([+-](?! *time: )|[^ @+-])")
# Upstream's prose about fields, which explain and describe show, is no matter of behaviour.
_PROSE = re.compile(
    r"^(KIND|VERSION|GROUP|RESOURCE|FIELD|FIELDS|error|Error)\b|^\s+[\w$-]+ +<\S+>( -required-)?$"
)


def comparable(text: str, words: tuple[str, ...], work: str) -> tuple[str, ...]:
    """The lines of an output as they are in every run; columns are two spaces apart.

    ``work`` is the directory the command ran in.
    """
    if {"yaml", "json"} & {*words}:
        text = _document(text)
    lines = []
    for line in text.replace(f"{work}/", "").splitlines():
        if _JSON.match(line):
            line = _sorted(line)
        for pattern, replacement in _REPLACED:
            line = pattern.sub(replacement, line)
        if not _NOISE.match(line):
            lines.append(re.sub(r"(?<=\S)(?: {2,}|\t+ *)(?=\S)", "  ", line).rstrip())
    if words[:1] == ("explain",):
        lines = [line for line in lines if _PROSE.match(line)]
    if words[:1] == ("diff",):
        lines = [line for line in lines if _CHANGE.match(line)]
    if words[:2] == ("describe", "secret") or ("--list" in words and words[0] != "auth"):
        lines.sort()  # kubectl prints them in any order
    if any(" in body should " in line for line in lines):
        lines.sort()  # the properties of a custom object are judged in any order
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)


def _document(text: str) -> str:
    """An object as YAML with its managed fields in order; what is none is as it was."""
    try:
        found = yaml.load(text, yaml.BaseLoader)
    except yaml.YAMLError:
        return text
    return yaml.safe_dump(_ordered(found), width=10_000) if isinstance(found, dict) else text


def _sorted(line: str) -> str:
    """One line of JSON with its keys in order; what only looks like JSON is as it was."""
    try:
        found = json.loads(line)
    except ValueError:
        return line
    return json.dumps(_ordered(found), sort_keys=True)


def _ordered(value: Any) -> Any:
    """``value`` with managed fields, which go by the second, by manager."""
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    if not isinstance(value, dict):
        return value
    managed = value.get("managedFields")
    if isinstance(managed, list):
        managed.sort(key=lambda row: (row["manager"], row.get("subresource", "")))
    return {key: _ordered(item) for key, item in value.items()}
