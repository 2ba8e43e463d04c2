"""JSON, CSV, and searching in text."""

from __future__ import annotations

from typing import Any

from .. import values as v
from ..errors import NetError
from ..formatting import property_names
from ..members import get_member
from ..stages import Call
from ..textformat import regex


def convertto_json(call: Call, items: list[Any], has_input: bool) -> None:
    """Two blanks after the colon and four of indent a level, as Windows PowerShell has it."""
    value = v.unwrap(items) if has_input else call.get("inputobject")
    text = _json(value, call.get("depth", 2), 0, bool(call.get("compress")))
    call.write(text)


def _json(value: Any, depth: int, indent: int, compress: bool) -> str:
    import json

    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return v.float_text(value) if value != int(value) or abs(value) > 1e15 else f"{value:.1f}"
    if isinstance(value, str):
        return _escaped(json.dumps(str(value), ensure_ascii=False))
    if type(value).__name__ == "DateTime":
        return f'"\\/Date({(value.ToUniversalTime().Ticks - 621355968000000000) // 10000})\\/"'
    if isinstance(value, (list, bytearray)):
        if depth < 0:
            return _escaped(json.dumps(v.to_text(value)))
        parts = [_json(item, depth - 1, indent + 4, compress) for item in value]
        return _wrapped("[", parts, "]", indent, compress)
    if depth < 0:
        return _escaped(json.dumps(v.to_text(value)))
    pairs = _pairs(value)
    colon = ":" if compress else ":  "
    parts = []
    for name, item in pairs:
        head = _escaped(json.dumps(name, ensure_ascii=False)) + colon
        parts.append(head + _json(item, depth - 1, indent + 4 + len(head), compress))
    return _wrapped("{", parts, "}", indent, compress)


def _pairs(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, v.Hashtable):
        return [(v.to_text(key), item) for key, item in value.items()]
    if isinstance(value, v.PSObject):
        return list(value.properties.items())
    return [(name, get_member(value, name)) for name in property_names(value)]


def _wrapped(start: str, parts: list[str], end: str, indent: int, compress: bool) -> str:
    if compress:
        return start + ",".join(parts) + end
    if not parts:
        return f"{start}\r\n\r\n{' ' * indent}{end}"
    inner = " " * (indent + 4)
    body = ",\r\n".join(inner + part for part in parts)
    return f"{start}\r\n{body}\r\n{' ' * indent}{end}"


def _escaped(text: str) -> str:
    for char, code in (("<", "\\u003c"), (">", "\\u003e"), ("'", "\\u0027"), ("&", "\\u0026")):
        text = text.replace(char, code)
    return text


def from_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        NetError: ArgumentException.
    """
    import json

    try:
        return _value(json.loads(text))
    except ValueError as err:
        raise NetError(
            "System.ArgumentException", f"Invalid JSON primitive: {text.strip()[:40]}."
        ) from err


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        made = v.PSObject()
        made.properties = {key: _value(item) for key, item in value.items()}
        return made
    return [_value(item) for item in value] if isinstance(value, list) else value


def convertfrom_json(call: Call, items: list[Any], has_input: bool) -> None:
    """Objects become PSCustomObjects; an array is one object."""
    lines = items if has_input else v.listed(call.get("inputobject"))
    call.write(from_json("\n".join(v.to_text(line) for line in lines)))


def convertto_csv(call: Call, items: list[Any], _has_input: bool) -> None:
    """A header and a line for each object, everything quoted."""
    if not items:
        return
    mark = call.get("delimiter", ",")
    names = property_names(items[0])
    if not call.get("notypeinformation"):
        call.write(f"#TYPE {v.type_name(items[0])}")
    call.write(mark.join(_quoted(name) for name in names))
    for item in items:
        call.write(mark.join(_quoted(v.to_text(get_member(item, name))) for name in names))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def convertfrom_csv(call: Call, items: list[Any], has_input: bool) -> None:
    """Lines to objects by the header."""
    import csv

    lines = [v.to_text(item) for item in (items if has_input else call.get("inputobject", []))]
    lines = [line for one in lines for line in one.splitlines() if not line.startswith("#TYPE")]
    rows = list(csv.reader(lines, delimiter=call.get("delimiter", ",")))
    names = call.get("header") or (rows.pop(0) if rows else [])
    for row in rows:
        made = v.PSObject()
        for index, name in enumerate(names):
            made.properties[name] = row[index] if index < len(row) else None
        call.write(made)


def select_string(call: Call, items: list[Any], has_input: bool) -> None:
    """Lines that match."""
    import re

    patterns = [
        regex(
            re.escape(one) if call.get("simplematch") else one,
            cased=bool(call.get("casesensitive")),
        )
        for one in call.get("pattern")
    ]
    found = False
    for name, number, line in _lines(call, items, has_input):
        hits = [match for pattern in patterns for match in pattern.finditer(line)]
        if bool(hits) == bool(call.get("notmatch")):
            continue
        found = True
        if not call.get("quiet"):
            call.write(_match_info(name, number, line, hits))
    if call.get("quiet"):
        call.write(found)


def _lines(call: Call, items: list[Any], has_input: bool) -> list[tuple[str, int, str]]:
    if has_input:
        return [("InputStream", i, v.to_text(item)) for i, item in enumerate(items, 1)]
    from .files import expand, read_text

    found = []
    for path in expand(call, call.get("path", [])):
        text = read_text(call.host, path)
        found += [(path, i, line) for i, line in enumerate(text.splitlines(), 1)]
    return found


def _match_info(name: str, number: int, line: str, hits: list[Any]) -> v.PSObject:
    matches = [
        v.PSObject(Value=h.group(), Index=h.start(), Groups=[h.group(), *h.groups()]) for h in hits
    ]
    made = v.PSObject(
        "Microsoft.PowerShell.Commands.MatchInfo",
        Line=line, LineNumber=number, Path=name, Filename=name.rsplit("\\", 1)[-1], Matches=matches,
    )  # fmt: skip
    made.text = line if name == "InputStream" else f"{name}:{number}:{line}"
    made.is_text = True
    return made


def convertfrom_stringdata(call: Call, item: Any, has_input: bool) -> None:
    """``name = value`` lines to a hashtable."""
    text = v.to_text(item if has_input and not call.has("stringdata") else call.get("stringdata"))
    made = v.Hashtable()
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            made.set(name.strip(), value.strip())
    call.write(made)
