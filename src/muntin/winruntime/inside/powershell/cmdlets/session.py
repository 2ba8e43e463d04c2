"""Dates, waiting, variables, aliases, and looking at the session itself."""

from __future__ import annotations

import time
from typing import Any

from .. import types
from .. import values as v
from ..errors import PSError
from ..stages import Call
from ..textformat import wildcard


def get_date(call: Call, item: Any, has_input: bool) -> None:
    """Now, or the date given, as an object or as text."""
    import datetime as dt

    from .. import datetimes

    moment = call.get("date") or (datetimes.to_datetime(item) if has_input else datetimes.now())
    changes = {
        name: call.get(name)
        for name in ("year", "month", "day", "hour", "minute", "second")
        if call.has(name)
    }
    if changes:
        moment = datetimes.DateTime(moment.value.replace(**changes), moment.Kind)
    if call.has("uformat"):
        seconds = str(int(moment.value.astimezone(dt.UTC).timestamp()))
        call.write(moment.value.strftime(call.get("uformat").lstrip("+").replace("%s", seconds)))
    elif call.has("format"):
        call.write(moment.format(call.get("format")))
    else:
        call.write(moment)


def start_sleep(call: Call, _item: Any, _has_input: bool) -> None:
    """Wait."""
    if not call.has("seconds") and not call.has("milliseconds"):
        raise call.failure(
            "Cannot process command because of one or more missing mandatory parameters: Seconds.",
            "MissingMandatoryParameter", "InvalidArgument", exception="ParameterBindingException",
        )  # fmt: skip
    time.sleep(max(0.0, call.get("seconds", 0.0) + call.get("milliseconds", 0) / 1000))


def new_timespan(call: Call, _item: Any, _has_input: bool) -> None:
    """A length of time, or the one between two dates."""
    from .. import datetimes

    if call.has("start") or call.has("end"):
        start = call.get("start") or datetimes.now()
        call.write((call.get("end") or datetimes.now()).Subtract(start))
        return
    parts = [call.get(name, 0) for name in ("days", "hours", "minutes", "seconds")]
    call.write(datetimes.make_timespan(*parts))


def get_variable(call: Call, _item: Any, _has_input: bool) -> None:
    """Variables by name."""
    from .. import nodes as n

    name = call.get("name", "*")
    if any(c in name for c in "*?["):
        pattern = wildcard(name)
        names = sorted(
            {n for scope in call.ev.scope.chain() for n in scope.values if pattern.match(n)}
        )
    else:
        known = call.ev.scope.owner(name.lower()) is not None
        if not known and name.lower() not in call.ev.variables.automatic:
            call.error(
                f"Cannot find a variable with the name '{name}'.", "VariableNotFound",
                "ObjectNotFound", name, exception="ItemNotFoundException",
            )  # fmt: skip
            return
        names = [name]
    for one in names:
        value = call.ev.variables.get(n.Variable("", one))
        row = v.PSObject("System.Management.Automation.PSVariable", Name=one, Value=value)
        row.shown = ("Name", "Value")
        call.write(value if call.get("valueonly") else row)


def set_variable(call: Call, item: Any, has_input: bool) -> None:
    """Set a variable by name."""
    scope = call.ev.scope.named(v.to_text(call.get("scope", "")).lower())
    scope.set(call.get("name"), item if has_input and not call.has("value") else call.get("value"))


new_variable = set_variable


def remove_variable(call: Call, _item: Any, _has_input: bool) -> None:
    """Forget variables."""
    for name in call.get("name"):
        owner = call.ev.scope.owner(name.lower())
        if owner is None:
            call.error(
                f"Cannot find a variable with the name '{name}'.", "VariableNotFound",
                "ObjectNotFound", name, exception="ItemNotFoundException",
            )  # fmt: skip
        else:
            del owner.values[name.lower()]


def get_command(call: Call, _item: Any, _has_input: bool) -> None:
    """What a name would run."""
    from . import table

    names = call.get("name") or ["*"]
    for name in names:
        if any(c in name for c in "*?["):
            pattern = wildcard(name)
            for row in table.ROWS:
                if pattern.match(row.name):
                    call.write(_command("Cmdlet", row.name))
            continue
        try:
            found = call.ev.pipelines.resolve(name)
        except PSError as err:
            if err.fatal:
                raise
            call.error(
                err.message, "CommandNotFoundException", "ObjectNotFound", name,
                exception="CommandNotFoundException",
            )  # fmt: skip
            continue
        if isinstance(found, v.ScriptBlock):
            call.write(_command("Function", name))
        elif isinstance(found, str):
            call.write(_command("Application", found.rsplit("\\", 1)[-1], found))
        else:
            kind = "Alias" if name.lower() in table.ALIASES else "Cmdlet"
            call.write(_command(kind, found.name))


def _command(kind: str, name: str, source: str = "") -> v.PSObject:
    row = v.PSObject(
        "System.Management.Automation.CommandInfo",
        CommandType=kind, Name=name, Version="", Source=source, Path=source,
        Definition=source or name,
    )  # fmt: skip
    row.shown = ("CommandType", "Name", "Version", "Source")
    row.text = name
    return row


def set_alias(call: Call, _item: Any, _has_input: bool) -> None:
    """Another name for a command."""
    call.ev.scope.aliases[call.get("name").lower()] = call.get("value")


new_alias = set_alias


def get_alias(call: Call, _item: Any, _has_input: bool) -> None:
    """Aliases by name."""
    from . import table

    known = dict(table.ALIASES)
    for scope in call.ev.scope.chain():
        known.update(scope.aliases)
    pattern = wildcard(call.get("name", "*"))
    for name in sorted(known):
        if pattern.match(name):
            row = _command("Alias", f"{name} -> {known[name]}")
            row.properties.update(
                Definition=known[name], Name=name, DisplayName=f"{name} -> {known[name]}"
            )
            call.write(row)


def invoke_expression(call: Call, item: Any, has_input: bool) -> None:
    """Run a text where the caller stands."""
    text = v.to_text(item if has_input and not call.has("command") else call.get("command"))
    block = call.ev.pipelines.block_of(text, "")
    call.ev.pipelines.invoke_block(block, [], call.write, same_scope=True)


def measure_command(call: Call, _item: Any, _has_input: bool) -> None:
    """How long a block takes."""
    from .. import datetimes

    start = time.monotonic()
    call.run(call.get("expression"), None)
    call.write(datetimes.TimeSpan.of_seconds(time.monotonic() - start))


def get_host(call: Call, _item: Any, _has_input: bool) -> None:
    """$Host."""
    call.write(call.ev.variables.automatic["host"]())


def get_culture(call: Call, _item: Any, _has_input: bool) -> None:
    """en-US: the only culture here."""
    row = v.PSObject(LCID=1033, Name="en-US", DisplayName="English (United States)")
    row.text = "en-US"
    call.write(row)


def new_guid(call: Call, _item: Any, _has_input: bool) -> None:
    """A random GUID."""
    call.write(types.load("netlib:Guids").NewGuid())


def get_executionpolicy(call: Call, _item: Any, _has_input: bool) -> None:
    """Every script may run."""
    call.write("Unrestricted")


def set_executionpolicy(_call: Call, _item: Any, _has_input: bool) -> None:
    """Accepted: every script may run anyway."""
