"""Cmdlets that write: to the pipeline, the console, a file; and the formatting ones."""

from __future__ import annotations

from typing import Any

from .. import formatting as f
from .. import values as v
from ..errors import PSError, Refusal
from ..stages import Call


def write_output(call: Call, item: Any, has_input: bool) -> None:
    """Objects to the pipeline."""
    value = item if has_input and not call.has("inputobject") else call.get("inputobject")
    if call.get("noenumerate"):
        call.write(value)
        return
    for one in v.enumerate_output(value):
        if one is not None:
            call.write(one)


def write_host(call: Call, item: Any, has_input: bool) -> None:
    """Text to the console at once."""
    value = item if has_input and not call.has("object") else call.get("object")
    separator = v.to_text(call.get("separator", " "))
    text = separator.join(v.to_text(one) for one in v.listed_bytes(value))
    console = getattr(call.ev.show, "__self__", None)
    if console is not None:
        console.flush()
    call.host.write(text + ("" if call.get("nonewline") else "\r\n"))


def write_error(call: Call, item: Any, has_input: bool) -> None:
    """A non-terminating error of the script's own."""
    message = v.to_text(item if has_input and not call.has("message") else call.get("message"))
    category = call.get("category", "NotSpecified")
    own_id = call.get("errorid")
    error_id = own_id or "Microsoft.PowerShell.Commands.WriteErrorException"
    error = PSError(
        message, error_id, category, v.to_text(call.get("targetobject")), activity="Write-Error",
        exception="Microsoft.PowerShell.Commands.WriteErrorException",
    )  # fmt: skip
    call.stage.complain(error)


def _stream(call: Call, text: str, label: str, preference: str, flag: str) -> None:
    setting = v.to_text(call.ev.scope.get(preference.lower())).lower()
    if call.get(flag) or setting in ("continue", "inquire"):
        console = getattr(call.ev.show, "__self__", None)
        if console is not None:
            console.flush()
        call.host.write(f"{label}{text}\r\n")
    elif setting == "stop":
        raise call.failure(
            "The running command stopped because the preference variable "
            f'"{preference}" or common parameter is set to Stop: {text}',
            "ActionPreferenceStop", "OperationStopped",
        )  # fmt: skip


def _message(call: Call, item: Any, has_input: bool, name: str = "message") -> str:
    return v.to_text(item if has_input and not call.has(name) else call.get(name))


def write_warning(call: Call, item: Any, has_input: bool) -> None:
    """``WARNING: ...``."""
    if v.to_text(call.get("warningaction", "")).lower() in ("silentlycontinue", "ignore"):
        return
    _stream(call, _message(call, item, has_input), "WARNING: ", "WarningPreference", "")


def write_verbose(call: Call, item: Any, has_input: bool) -> None:
    """``VERBOSE: ...`` where asked for."""
    _stream(call, _message(call, item, has_input), "VERBOSE: ", "VerbosePreference", "verbose")


def write_debug(call: Call, item: Any, has_input: bool) -> None:
    """``DEBUG: ...`` where asked for."""
    _stream(call, _message(call, item, has_input), "DEBUG: ", "DebugPreference", "debug")


def write_information(call: Call, item: Any, has_input: bool) -> None:
    """Text where information is asked for."""
    text = _message(call, item, has_input, "messagedata")
    if v.to_text(call.get("informationaction", "")).lower() == "continue":
        call.host.write(f"{text}\r\n")
        return
    _stream(call, text, "", "InformationPreference", "")


def write_progress(_call: Call, _item: Any, _has_input: bool) -> None:
    """Nothing: there is no progress bar where output is a log."""


def out_null(_call: Call, _item: Any, _has_input: bool) -> None:
    """Nothing."""


def _to_console(call: Call, items: list[Any]) -> None:
    console = getattr(call.ev.show, "__self__", None)
    if console is not None:
        console.flush()
    call.host.write(f.render(items))


def out_host(call: Call, items: list[Any], has_input: bool) -> None:
    """To the console."""
    _to_console(call, items if has_input else v.listed(call.get("inputobject")))


out_default = out_host


def out_string(call: Call, items: list[Any], has_input: bool) -> None:
    """What the console would show, as text."""
    text = f.render(items if has_input else v.listed(call.get("inputobject")))
    if not call.get("stream"):
        call.write(text)
        return
    for line in text.removesuffix("\r\n").split("\r\n"):
        call.write(line)


def out_file(call: Call, items: list[Any], has_input: bool) -> None:
    """What the console would show, into a file."""
    import os

    from .files import write_text

    text = f.render(items if has_input else v.listed(call.get("inputobject")))
    path = call.get("filepath")
    if call.get("nonewline"):
        text = text.replace("\r\n", "")
    if call.get("noclobber") and os.path.exists(call.host.unix_path(path)):
        raise call.failure(
            f"The file '{call.host.absolute(path)}' already exists.", "NoClobber",
            "ResourceExists", path, exception="System.IO.IOException",
        )  # fmt: skip
    encoding = call.get("encoding", "unicode")
    write_text(call.host, path, text, encoding, append=bool(call.get("append")))


def _columns(call: Call, items: list[Any], everything: bool) -> list[f.Column]:
    first = items[0]
    wanted = call.get("property")
    if wanted:
        return f.columns_of(v.listed(wanted), first, lambda b, item: v.unwrap(call.run(b, item)))
    names = f.property_names(first)
    if everything or not getattr(first, "shown", ()):
        return f.columns_of(list(names), first, lambda b, item: None)
    return f.default_columns(first)


def _rows(items: list[Any]) -> list[Any]:
    from ..members import entry

    found: list[Any] = []
    for item in items:
        if isinstance(item, v.Hashtable):
            found.extend(entry(key, value) for key, value in item.items())
        else:
            found.append(item)
    return found


def format_table(call: Call, items: list[Any], _has_input: bool) -> None:
    """A table of the named or usual properties."""
    rows = _rows(items)
    if not rows:
        return
    if f.shown_as_text(rows[0]) and not call.get("property"):
        call.write(f.FormattedText(f.render(rows)))
        return
    columns = _columns(call, rows, False)
    call.write(f.FormattedText(f.table(rows, columns, header=not call.get("hidetableheaders"))))


def format_list(call: Call, items: list[Any], _has_input: bool) -> None:
    """A line for each of the named or all properties."""
    rows = _rows(items)
    if not rows:
        return
    if f.shown_as_text(rows[0]) and not call.get("property"):
        call.write(f.FormattedText(f.render(rows)))
        return
    call.write(f.FormattedText(f.listing(rows, _columns(call, rows, True))))


def format_wide(call: Call, items: list[Any], _has_input: bool) -> None:
    """One property of each, in columns."""
    name = v.to_text(call.get("property", "Name"))
    from ..members import get_member

    texts = [f.cell(get_member(item, name)) for item in _rows(items)]
    count = call.get("column", 2)
    width = max((len(text) for text in texts), default=0) + 2
    lines = [
        "".join(text.ljust(width) for text in texts[i : i + count]).rstrip()
        for i in range(0, len(texts), count)
    ]
    call.write(f.FormattedText("\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n"))


def read_host(call: Call, _item: Any, _has_input: bool) -> None:
    """A line of standard input."""
    if call.get("assecurestring"):
        raise Refusal("Secure strings are")
    if call.has("prompt"):
        call.host.write(f"{v.to_text(call.get('prompt'))}: ")
    line = call.host.read_line()
    call.write("" if line is None else line)


def clear_host(_call: Call, _item: Any, _has_input: bool) -> None:
    """Nothing: the console is a log."""
