"""Wine's registry files as text: parse, change, write, with no Wine running.

A hive is a header and keys with their lines; values the program does not touch stay byte for
byte. Source: wine 8.0 server/registry.c (save_all_subkeys, load_keys).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Value = str | int | tuple[str, ...] | None
"""A string, a dword, a list of strings, or None for "no such value"."""
_LIST = "str(7):"
_CONTROL = re.compile(r"[\x00-\x1f]")


@dataclass(slots=True)
class _Key:
    head: str
    lines: list[str]


class Hive:
    """One ``*.reg`` file. Keys and value names are matched without regard to case."""

    def __init__(self, text: str) -> None:
        self._header: list[str] = []
        self._keys: dict[str, _Key] = {}
        current: _Key | None = None
        for line in text.rstrip("\n").split("\n"):
            if line.startswith("["):
                current = _Key(line, [])
                self._keys[_key_of(line)] = current
            elif current is None:
                self._header.append(line)
            else:
                current.lines.append(line)

    def set(self, key: str, name: str, value: Value) -> None:
        """Give ``name`` ("" for the key's default) its value; None removes it."""
        entry = self._keys.get(key.lower())
        if entry is None:
            if value is None:
                return
            entry = _Key(f"[{_escape(key)}] 0", [])
            self._keys[key.lower()] = entry
        prefix = f'"{_escape(name)}"=' if name else "@="
        lines = _without(entry.lines, prefix.lower())
        while lines and not lines[-1]:
            lines.pop()
        if value is not None:
            lines.append(prefix + _text(value))
        entry.lines = [*lines, ""]

    def get(self, key: str, name: str) -> Value:
        """A string or dword value, None where it is absent or of another type."""
        prefix = (f'"{_escape(name)}"=' if name else "@=").lower()
        for line in getattr(self._keys.get(key.lower()), "lines", []):
            if line.lower().startswith(prefix):
                return _value(line[len(prefix) :])
        return None

    def remove(self, key: str) -> None:
        """Remove a key and all below it."""
        wanted = key.lower()
        for name in [n for n in self._keys if n == wanted or n.startswith(wanted + "\\")]:
            del self._keys[name]

    def replace(self, old: str, new: str) -> None:
        """Replace a text in all values, both given as Windows paths are written."""
        before, after = _escape(old), _escape(new)
        for entry in self._keys.values():
            entry.lines = [line.replace(before, after) for line in entry.lines]

    def text(self) -> str:
        """The file's content."""
        lines = [*self._header, *(t for k in self._keys.values() for t in (k.head, *k.lines))]
        return "\n".join(lines) + "\n"


def added(keys: Mapping[str, Mapping[str, Value]]) -> str:
    """Text that adds keys and values to a hive when it is appended to the file.

    Wine takes a key that is there twice as one, and the last value of a name.
    """
    lines: list[str] = []
    for key, values in keys.items():
        lines += ["", f"[{_escape(key)}] 0"]
        lines += [f'"{_escape(n)}"={_text(v)}' for n, v in values.items() if v is not None]
    return "\n".join([*lines, ""])


def _key_of(line: str) -> str:
    return line[1 : line.rindex("]")].replace("\\\\", "\\").lower()


def _escape(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):04x}", quoted)


def _text(value: str | int | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return _LIST + '"' + "".join(_escape(f"{text}\0") for text in value) + '"'
    return f"dword:{value:08x}" if isinstance(value, int) else f'"{_escape(value)}"'


def _value(text: str) -> Value:
    if text.startswith("dword:"):
        return int(text[6:], 16)
    if text.startswith('"'):
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return None


def _without(lines: list[str], prefix: str) -> list[str]:
    """``lines`` without the value that begins with ``prefix``, continuation lines included."""
    kept: list[str] = []
    dropping = False
    for line in lines:
        if not dropping and not line.lower().startswith(prefix):
            kept.append(line)
        else:
            dropping = line.endswith("\\")
    return kept
