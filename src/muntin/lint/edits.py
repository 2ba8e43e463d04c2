"""Edits of values as edits of the text: what is not touched keeps its form and its comments.

Places come from the nodes the values were made of. What an anchor shares is not edited.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from muntin.lint.documents import Document, child
from muntin.lint.places import Edit, Fix, Path, Put

_SIMPLE = re.compile(r"[A-Za-z_][\w./-]*")
# Maps that say nothing when they are empty; others (emptyDir) are kept as {}.
_NOTHING_IF_EMPTY = frozenset(
    [
        "securityContext",
        "windowsOptions",
        "capabilities",
        "seLinuxOptions",
        "seccompProfile",
        "appArmorProfile",
        "resources",
        "limits",
        "requests",
        "nodeSelector",
        "annotations",
        "labels",
        "dnsConfig",
        "affinity",
        "sessionAffinityConfig",
        "clientIP",
        "lifecycle",
    ]
)
_WORDS = frozenset(["y", "n", "yes", "no", "true", "false", "on", "off", "null"])


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """``start`` to ``end`` of the text become ``new``."""

    start: int
    end: int
    new: str


def changes(document: Document, fix: Fix) -> list[Change] | None:
    """The fix as changes of the text, in order; None where it cannot be made there."""
    if document.root is None or document.inside or document.script:
        return None
    found: list[Change] = []
    for edit in fix.edits:
        change = _change(document, edit)
        if change is None:
            return None
        found.append(change)
    found.sort()
    if any(left.end > right.start for left, right in itertools.pairwise(found)):
        return None
    return found


def applied(text: str, found: Sequence[Change]) -> str:
    """The text with changes that do not overlap."""
    for change in sorted(found, reverse=True):
        text = text[: change.start] + change.new + text[change.end :]
    return text


def edited(data: Any, fix: Fix) -> Any:
    """The values as they are after the fix."""
    data = copy.deepcopy(data)
    for edit in fix.edits:
        if isinstance(edit, Put):
            _put_value(data, edit.path, edit.value)
        else:
            _remove_value(data, edit.path)
    return data


def _put_value(data: Any, path: Path, value: Any) -> None:
    for index, step in enumerate(path[:-1]):
        if isinstance(data, dict) and data.get(step) is None:
            data[step] = [] if isinstance(path[index + 1], int) else {}
        data = data[step]
    if isinstance(data, list) and path[-1] == len(data):
        data.append(value)
    else:
        data[path[-1]] = value


def _remove_value(data: Any, path: Path) -> None:
    holders = [data]
    for step in path[:-1]:
        holders.append(holders[-1][step])
    level = _level(path, [len(holder) for holder in holders])
    if level < 0:
        holders[-level - 1][path[-level - 1]] = {}
    else:
        del holders[level][path[level]]


def _level(path: Path, sizes: Sequence[int]) -> int:
    """Which step of the path goes: the last, or one before it whose map would be empty.

    ``-n - 1`` where step n keeps its name and becomes an empty map.
    """
    level = len(path) - 1
    while level > 0 and sizes[level] == 1:
        before = path[level - 1]
        if isinstance(path[level], str) and before not in _NOTHING_IF_EMPTY:
            return -level
        level -= 1
    return level


@dataclass(slots=True)
class _Trail:
    """The nodes on the way to a path: of each step the holder, the key and the value."""

    holders: list[yaml.CollectionNode]
    keys: list[yaml.Node | None]
    values: list[yaml.Node]


def _change(document: Document, edit: Edit) -> Change | None:
    assert document.root is not None
    trail = _trail(document.root, edit.path)
    shared = _shared(document.root)
    if any(id(node) in shared for node in (*trail.holders, *trail.values)):
        return None
    whole = len(trail.values) == len(edit.path)
    if isinstance(edit, Put):
        if whole:
            return _replace(document.text, trail.values[-1], edit.value)
        return _insert(document.text, trail, document.root, edit, shared)
    return _remove(document.text, trail, edit.path, shared) if whole else None


def _trail(root: yaml.Node, path: Path) -> _Trail:
    trail, node = _Trail([], [], []), root
    for step in path:
        found = child(node, step)
        if found is None:
            break
        assert isinstance(node, yaml.CollectionNode)
        trail.holders.append(node)
        trail.keys.append(found[0])
        trail.values.append(found[1])
        node = found[1]
    return trail


def _shared(root: yaml.Node) -> set[int]:
    """Nodes that stand in several places: what is under an anchor that is used."""
    seen: set[int] = set()
    twice: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            twice.add(id(node))
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
    return twice


def _parts(node: yaml.Node) -> list[tuple[yaml.Node, yaml.Node]]:
    """(where an entry begins, its value) of a map or a list."""
    if isinstance(node, yaml.MappingNode):
        return list(node.value)
    return [(item, item) for item in node.value]


def _has(shared: set[int], node: yaml.Node) -> bool:
    """Whether something in the node is shared: where it ends in the text is then unknown."""
    if id(node) in shared:
        return True
    if isinstance(node, yaml.MappingNode):
        return any(_has(shared, part) for pair in node.value for part in pair)
    return isinstance(node, yaml.SequenceNode) and any(_has(shared, one) for one in node.value)


def _remove(text: str, trail: _Trail, path: Path, shared: set[int]) -> Change | None:
    """The entry goes, and with it what would be empty then."""
    level = _level(path, [len(holder.value) for holder in trail.holders])
    if level < 0:
        return _empty(text, trail, -level - 1)
    holder, value = trail.holders[level], trail.values[level]
    if _has(shared, value):
        return None
    parts = _parts(holder)
    if len(parts) == 1:
        return None
    index = next(number for number, part in enumerate(parts) if part[1] is value)
    begin = parts[index][0].start_mark.index
    following = parts[index + 1][0].start_mark.index if index + 1 < len(parts) else None
    if holder.flow_style:
        if following is not None:
            return Change(begin, following, "")
        if _has(shared, parts[index - 1][1]):
            return None
        return Change(_end(parts[index - 1]), _end(parts[index]), "")
    return _remove_lines(text, holder, parts[index], begin, following)


def _empty(text: str, trail: _Trail, level: int) -> Change | None:
    """The map at that step becomes ``{}``; what stood in it goes with its lines."""
    key, value = trail.keys[level], trail.values[level]
    end = _end((value, value))
    if key is None or (isinstance(value, yaml.CollectionNode) and value.flow_style):
        return Change(value.start_mark.index, end, "{}")
    behind = key.end_mark.index + 1
    lines = _line_end(text, end)
    return Change(behind, lines, " {}" + (_newline(text) if text[lines - 1] == "\n" else ""))


def _remove_lines(
    text: str,
    holder: yaml.Node,
    part: tuple[yaml.Node, yaml.Node],
    begin: int,
    following: int | None,
) -> Change | None:
    """An entry of block style: its lines, and what stands behind it on the last of them."""
    line = text.rfind("\n", 0, begin) + 1
    before = text[line:begin]
    end = _line_end(text, _end(part))
    if isinstance(holder, yaml.SequenceNode):
        if before.strip() != "-":  # the list stands in an item of another
            return None if following is None else Change(begin, following, "")
        return Change(line, end, "")
    if before.strip():  # the first entry of a list's item: the dash stays
        return None if following is None else Change(begin, following, "")
    return Change(line, end, "")


def _end(part: tuple[yaml.Node, yaml.Node]) -> int:
    """Where an entry's text ends, before blanks and comments that come after it."""
    key, value = part
    if isinstance(value, yaml.ScalarNode):
        if value.value == "" and not value.style:
            return int(key.end_mark.index) + (1 if key is not value else 0)
        return int(value.end_mark.index)
    if not isinstance(value, yaml.CollectionNode) or value.flow_style or not value.value:
        return int(value.end_mark.index)
    return _end(_parts(value)[-1])


def _line_end(text: str, at: int) -> int:
    """Behind the line's end; ``at`` may be there already (behind a block of text)."""
    if at and text[at - 1] == "\n":
        return at
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _replace(text: str, node: yaml.Node, value: Any) -> Change | None:
    """A scalar gets another value, in quotes if it had them."""
    if not isinstance(node, yaml.ScalarNode) or node.style in ("|", ">"):
        return None
    if isinstance(value, dict | list) or (node.value == "" and not node.style):
        return None
    start, end = node.start_mark.index, node.end_mark.index
    if node.style == "'" and isinstance(value, str):
        return Change(start, end, "'" + value.replace("'", "''") + "'")
    new = json.dumps(value, ensure_ascii=False) if node.style == '"' else _scalar(value)
    return Change(start, end, new)


def _insert(
    text: str, trail: _Trail, root: yaml.Node, edit: Put, shared: set[int]
) -> Change | None:
    """The steps that are missing are made in the last map (or list) that is there."""
    depth = len(trail.values)
    holder = trail.values[-1] if trail.values else root
    key, rest = edit.path[depth], edit.path[depth + 1 :]
    value = edit.value
    for step in reversed(rest):
        if step not in (0,) and isinstance(step, int):
            return None
        value = [value] if isinstance(step, int) else {step: value}
    if isinstance(holder, yaml.ScalarNode):
        return _insert_in_nothing(text, trail, holder, key, value)
    if isinstance(holder, yaml.SequenceNode) and key != len(holder.value):
        return None
    if isinstance(holder, yaml.MappingNode) and not isinstance(key, str):
        return None
    assert isinstance(holder, yaml.CollectionNode)
    entry = value if isinstance(holder, yaml.SequenceNode) else {key: value}
    if holder.value and _has(shared, _parts(holder)[-1][1]):
        return _insert_first(text, holder, entry)
    if holder.flow_style or not holder.value:
        return _insert_in_flow(text, holder, entry)
    last = _parts(holder)[-1]
    column = _parts(holder)[0][0].start_mark.column
    if isinstance(holder, yaml.SequenceNode):
        line = text.rfind("\n", 0, last[0].start_mark.index) + 1
        column = text.find("-", line) - line
        entry = [value]
    return _insert_lines(text, _end(last), _block(entry, column, text))


def _insert_first(text: str, holder: yaml.CollectionNode, entry: Any) -> Change | None:
    """Before the first entry of a map whose last is an alias, which has no place of its own."""
    first = _parts(holder)[0][0].start_mark
    if isinstance(holder, yaml.SequenceNode):
        return None
    if holder.flow_style:
        new = json.dumps(entry, ensure_ascii=False)[1:-1]
        return Change(first.index, first.index, new + ", ")
    lines = _block(entry, first.column, text)
    return Change(first.index, first.index, lines.lstrip(" ") + " " * int(first.column))


def _insert_in_nothing(
    text: str, trail: _Trail, holder: yaml.ScalarNode, key: str | int, value: Any
) -> Change | None:
    """``key:`` without a value becomes a map."""
    if holder.value != "" or holder.style or not trail.keys or trail.keys[-1] is None:
        return None
    if trail.holders[-1].flow_style:
        return None
    column = trail.keys[-1].start_mark.column
    entry = [value] if isinstance(key, int) else {key: value}
    block = _block(entry, column + 2, text)
    return _insert_lines(text, trail.keys[-1].end_mark.index + 1, block)


def _insert_lines(text: str, after: int, lines: str) -> Change:
    at = _line_end(text, after)
    newline = "" if at == 0 or text[at - 1] == "\n" else _newline(text)
    return Change(at, at, newline + lines)


def _insert_in_flow(text: str, holder: yaml.CollectionNode, entry: Any) -> Change:
    """``, "key": value`` behind the last entry, on a line of its own where they have lines."""
    new = json.dumps(entry, ensure_ascii=False)
    new = new if isinstance(holder, yaml.SequenceNode) else new[1:-1]
    if not holder.value:
        return Change(holder.start_mark.index + 1, holder.start_mark.index + 1, new)
    first, last = _parts(holder)[0], _parts(holder)[-1]
    between = " "
    if first[0].start_mark.line != holder.start_mark.line:
        between = _newline(text) + " " * int(first[0].start_mark.column)
    end = _end(last)
    comma = re.compile(r"\s*,").match(text, end)  # a comma that YAML lets stand at the end
    if comma is not None:
        return Change(comma.end(), comma.end(), between + new)
    return Change(end, end, "," + between + new)


def _block(entry: Any, column: int, text: str) -> str:
    """Lines of a map or a list at ``column``."""
    lines = list(_block_lines(entry))
    newline = _newline(text)
    return "".join(" " * column + line + newline for line in lines)


def _block_lines(entry: Any) -> list[str]:
    lines: list[str] = []
    if isinstance(entry, list):
        for item in entry:
            inner = _block_lines(item) if isinstance(item, dict | list) and item else None
            inner = inner or [_scalar(item)]
            lines += [f"- {inner[0]}", *(f"  {line}" for line in inner[1:])]
        return lines
    for key, value in entry.items():
        if isinstance(value, dict | list) and value:
            pad = "" if isinstance(value, list) else "  "
            lines += [f"{_scalar(key)}:", *(pad + line for line in _block_lines(value))]
        else:
            lines.append(f"{_scalar(key)}: {_scalar(value)}")
    return lines


def _scalar(value: Any) -> str:
    """One value in block style: plain where that says the same."""
    if isinstance(value, str) and _SIMPLE.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z]:[\\/][^\s:#'\"{}\[\],&*!|>%@`]*", value):
        return value  # a path of Windows
    return json.dumps(value, ensure_ascii=False)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
