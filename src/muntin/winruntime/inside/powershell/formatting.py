"""How objects look on the console: text as it is, records as a table or a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import values as v
from .members import get_member

TABLE_LIMIT = 4
"""Objects with more properties than this are shown as a list."""
WIDTH = 120


class Column:
    """One column or line: a label and how to get its value."""

    def __init__(self, label: str, value: Callable[[Any], Any]) -> None:
        """``value`` takes the object."""
        self.label = label
        self.value = value


def shown_as_text(item: Any) -> bool:
    """Whether an object is a line of text by itself."""
    if isinstance(item, v.PSObject):
        return item.is_text
    return not isinstance(item, v.Hashtable) and not _public(item)


def _public(item: Any) -> list[str]:
    """Properties of a shim that are shown, for the shims that say so."""
    return list(getattr(item, "shown", ()))


def render(items: list[Any]) -> str:
    """Objects as the console shows them, every line ended."""
    parts: list[str] = []
    index = 0
    while index < len(items):
        item = items[index]
        if shown_as_text(item):
            if item is not None:
                parts.append(_as_text(item))
            index += 1
            continue
        group = [item]
        while index + len(group) < len(items) and _same_kind(items[index + len(group)], item):
            group.append(items[index + len(group)])
        parts.append(render_group(group))
        index += len(group)
    return "".join(parts)


def _as_text(item: Any) -> str:
    if isinstance(item, v.ErrorRecord):
        return item.text
    if type(item).__name__ == "DateTime":
        return f"\r\n{item.format('F')}\r\n\r\n\r\n"
    return v.to_text(item) + "\r\n"


def _same_kind(item: Any, first: Any) -> bool:
    if shown_as_text(item):
        return False
    return v.type_name(item) == v.type_name(first) and _layout(item) == _layout(first)


def _layout(item: Any) -> str:
    return str(getattr(item, "layout", ""))


def render_group(items: list[Any]) -> str:
    """Objects of one kind, in the form that suits them."""
    first = items[0]
    if isinstance(first, FormattedText):
        return "".join(item.text for item in items)
    if isinstance(first, v.Hashtable):
        return "".join(_hashtable(item) for item in items)
    columns = default_columns(first)
    if not columns:
        return "".join(f"{v.to_text(item)}\r\n" for item in items)
    if getattr(first, "shown", ()) or len(columns) <= TABLE_LIMIT:
        return table(items, columns)
    return listing(items, columns)


class FormattedText(v.PSObject):
    """What Format-Table and its like give: text that is shown unchanged."""

    def __init__(self, text: str) -> None:
        """``text`` with its line ends."""
        super().__init__("Microsoft.PowerShell.Commands.Internal.Format.FormatStartData")
        self.text = text


def default_columns(item: Any) -> list[Column]:
    """The columns an object is shown with when nobody names them."""
    names = list(getattr(item, "shown", ())) or list(getattr(item, "properties", ()))
    return [_column(name) for name in names]


def _column(name: str) -> Column:
    return Column(name, lambda item: get_member(item, name))


def columns_of(wanted: list[Any], first: Any, run: Callable[[Any, Any], Any]) -> list[Column]:
    """Columns from names, wildcards and calculated properties; ``run`` evaluates a block."""
    from .textformat import wildcard

    found: list[Column] = []
    for one in wanted:
        if isinstance(one, v.Hashtable):
            found.append(_calculated(one, run))
        elif isinstance(one, v.ScriptBlock):
            found.append(Column(one.node.text.strip(), lambda item, b=one: run(b, item)))  # type: ignore[misc]  # default argument binds the block
        elif any(c in v.to_text(one) for c in "*?["):
            pattern = wildcard(v.to_text(one))
            names = property_names(first)
            found.extend(_column(name) for name in names if pattern.match(name))
        else:
            text = v.to_text(one)
            real = next((x for x in property_names(first) if x.lower() == text.lower()), text)
            found.append(_column(real))
    return found


def _calculated(row: v.Hashtable, run: Callable[[Any, Any], Any]) -> Column:
    label = row.get("name") or row.get("label") or row.get("n") or row.get("l")
    value = row.get("expression")
    value = row.get("e") if value is None else value
    if isinstance(value, v.ScriptBlock):
        return Column(v.to_text(label) or value.node.text.strip(), lambda item: run(value, item))
    name = v.to_text(value)
    return Column(v.to_text(label) or name, lambda item: get_member(item, name))


def property_names(item: Any) -> list[str]:
    """The properties an object has."""
    if isinstance(item, v.PSObject):
        return list(item.properties)
    if isinstance(item, v.Hashtable):
        return ["Count", "Keys", "Values", "IsReadOnly"]
    if isinstance(item, str):
        return ["Length"]
    if isinstance(item, v.NetObject):
        names = [n for n in vars(item) if n[0].isupper()]
        for kind in type(item).__mro__:
            names += [
                n for n, x in vars(kind).items() if n[0].isupper() and isinstance(x, property)
            ]
        return list(dict.fromkeys(names))
    return []


def cell(value: Any) -> str:
    """A value in one cell or line."""
    if isinstance(value, list):
        inside = ", ".join(cell(item) for item in value[:4])
        return "{" + inside + (", ..." if len(value) > 4 else "") + "}"
    if isinstance(value, v.Hashtable):
        return "{" + ", ".join(v.to_text(key) for key, _ in value.items()[:4]) + "}"
    if type(value).__name__ == "DateTime":
        return str(value.format("G"))
    if isinstance(value, float):
        from .textformat import format_number

        text = v.float_text(value)
        return (
            text if "." not in text or len(text.split(".")[1]) <= 2 else format_number(value, "F2")
        )
    return v.to_text(value)


def table(items: list[Any], columns: list[Column], *, header: bool = True) -> str:
    """A table with a rule under its header and an empty line around it."""
    rows = [[column.value(item) for column in columns] for item in items]
    texts = [[cell(value) for value in row] for row in rows]
    widths = [
        max([len(column.label)] + [len(row[i]) for row in texts])
        for i, column in enumerate(columns)
    ]
    numeric = [
        all(isinstance(row[i], (int, float)) and not isinstance(row[i], bool) for row in rows)
        for i in range(len(columns))
    ]
    lines: list[str] = []
    if header:
        lines = [
            _line([column.label for column in columns], widths, numeric),
            _line(["-" * len(column.label) for column in columns], widths, numeric),
        ]
    lines += [_line(row, widths, numeric) for row in texts]
    return "\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n\r\n"


def _line(row: list[str], widths: list[int], numeric: list[bool]) -> str:
    cells = [
        text.rjust(width) if right else text.ljust(width)
        for text, width, right in zip(row, widths, numeric, strict=True)
    ]
    return " ".join(cells).rstrip() if not numeric[-1] else " ".join(cells)


def listing(items: list[Any], columns: list[Column]) -> str:
    """``Name : value`` lines, an empty line between objects."""
    width = max((len(column.label) for column in columns), default=0)
    blocks: list[str] = []
    for item in items:
        lines = [f"{c.label.ljust(width)} : {cell(c.value(item))}".rstrip(" ") for c in columns]
        blocks.append("".join(f"{line}\r\n" for line in lines))
    return "\r\n" + "\r\n".join(blocks) + "\r\n\r\n\r\n"


def _hashtable(item: v.Hashtable) -> str:
    if not len(item):
        return ""
    texts = [(v.to_text(key), cell(value)) for key, value in item.items()]
    width = max(30, max(len(name) for name, _ in texts))
    lines = [f"{'Name'.ljust(width)} Value", f"{'----'.ljust(width)} -----"]
    lines += [f"{name.ljust(width)} {value}".rstrip() for name, value in texts]
    return "\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n\r\n"


class Console:
    """The end of every pipeline: text at once, records when their run of one kind has ended."""

    def __init__(self, write: Callable[[str], None]) -> None:
        """``write`` takes text with its line ends."""
        self.write = write
        self.pending: list[Any] = []

    def show(self, item: Any) -> None:
        """One object."""
        if item is None:
            return
        if shown_as_text(item):
            self.flush()
            self.write(render([item]))
            return
        if self.pending and not _same_kind(item, self.pending[0]):
            self.flush()
        self.pending.append(item)

    def flush(self) -> None:
        """Write what is held back."""
        if self.pending:
            held, self.pending = self.pending, []
            self.write(render(held))
