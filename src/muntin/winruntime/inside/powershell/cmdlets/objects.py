"""Cmdlets that filter, order, measure and make objects."""

from __future__ import annotations

from typing import Any

from .. import types
from .. import values as v
from ..errors import NetError, NetException, Refusal
from ..formatting import columns_of, property_names
from ..members import get_member as member_of
from ..stages import Call
from ..textformat import wildcard


def foreach_object_begin(call: Call) -> None:
    """-Begin, and of several process blocks the first."""
    blocks = [one for one in call.get("process") if isinstance(one, v.ScriptBlock)]
    first, last = call.get("begin"), call.get("end")
    if len(blocks) > 1 and first is None:
        first = blocks.pop(0)
    if len(blocks) > 1 and last is None:
        last = blocks.pop()
    call.state.update(blocks=blocks, last=last)
    if first is not None:
        call.run_to(first, None, call.write)


def foreach_object(call: Call, item: Any, has_input: bool) -> None:
    """The process blocks, or a member by name, for each input."""
    if not has_input and "inputobject" in call.params:
        item = call.get("inputobject")
    blocks = call.state["blocks"]
    if not blocks and not isinstance(call.get("process")[0], v.ScriptBlock):
        _by_member(call, item)
        return
    for block in blocks:
        call.run_to(block, item, call.write)


def _by_member(call: Call, item: Any) -> None:
    from ..members import find_method

    name = v.to_text(call.get("process")[0])
    args = call.get("argumentlist", [])
    if find_method(item, name) is not None and (args or member_of(item, name) is None):
        value = call.ev.call_method(item, name, args)
    else:
        value = member_of(item, name)
    for one in v.enumerate_output(value):
        if one is not None:
            call.write(one)


def foreach_object_end(call: Call) -> None:
    """-End."""
    if call.state["last"] is not None:
        call.run_to(call.state["last"], None, call.write)


_COMPARISONS = ("eq", "ne", "gt", "ge", "lt", "le", "like", "notlike", "match", "notmatch",
                "contains", "in")  # fmt: skip


def where_object(call: Call, item: Any, has_input: bool) -> None:
    """Pass on what a block or a comparison holds for."""
    if not has_input:
        return
    test = call.get("filterscript")
    if isinstance(test, v.ScriptBlock):
        keep = v.truth(v.unwrap(call.run(test, item)))
    else:
        value = member_of(item, v.to_text(test))
        op = next((name for name in _COMPARISONS if call.get(name)), None)
        if op is None:
            keep = v.truth(value) != bool(call.get("not"))
        else:
            keep = v.truth(call.ev.binary(f"-{op}", value, call.get("value")))
    if keep:
        call.write(item)


def select_object_begin(call: Call) -> None:
    """Nothing was seen yet."""
    call.state.update(seen=0, kept=[], written=[])


def select_object(call: Call, item: Any, has_input: bool) -> None:
    """-Skip and -First as objects come; -Last at the end."""
    if not has_input:
        return
    state = call.state
    state["seen"] += 1
    if call.has("last") or call.has("index"):
        state["kept"].append(item)
        return
    if state["seen"] <= call.get("skip", 0):
        return
    limit = call.get("first")
    if limit is not None and state["seen"] > call.get("skip", 0) + limit:
        call.stop()
    _selected(call, item)
    if limit is not None and state["seen"] >= call.get("skip", 0) + limit:
        call.stop()


def select_object_end(call: Call) -> None:
    """-Last and -Index."""
    kept = call.state["kept"]
    if call.has("last"):
        stop = len(kept) - call.get("skip", 0)
        last = call.get("last")
        for item in kept[max(0, stop - last) : max(0, stop)] if last else []:
            _selected(call, item)
    elif call.has("index"):
        for index in call.get("index"):
            if 0 <= v.to_int(index) < len(kept):
                _selected(call, kept[v.to_int(index)])


def _selected(call: Call, item: Any) -> None:
    if call.has("expandproperty"):
        name = call.get("expandproperty")
        value = member_of(item, name)
        if value is None and name.lower() not in [p.lower() for p in property_names(item)]:
            call.error(
                f'Property "{name}" cannot be found.', "ExpandPropertyNotFound", "InvalidArgument",
                item, exception="PSArgumentException",
            )  # fmt: skip
            return
        for one in v.enumerate_output(value):
            _unique(call, one)
        return
    wanted = call.get("property")
    if not wanted and not call.has("excludeproperty"):
        _unique(call, item)
        return
    made = v.PSObject()
    excluded = [wildcard(one) for one in call.get("excludeproperty", [])]
    for column in columns_of(wanted or ["*"], item, _runner(call)):
        if not any(pattern.match(column.label) for pattern in excluded):
            made.properties[column.label] = column.value(item)
    _unique(call, made)


def _unique(call: Call, item: Any) -> None:
    if call.get("unique"):
        mark = v.to_text(item)
        if mark in call.state["written"]:
            return
        call.state["written"].append(mark)
    call.write(item)


def _runner(call: Call) -> Any:
    return lambda block, item: v.unwrap(call.run(block, item))


def _keys(call: Call, item: Any) -> list[Any]:
    found = []
    for one in call.get("property") or []:
        if isinstance(one, v.ScriptBlock):
            found.append(v.unwrap(call.run(one, item)))
        elif isinstance(one, v.Hashtable):
            block = one.get("expression") if "expression" in one else one.get("e")
            found.append(
                v.unwrap(call.run(block, item))
                if isinstance(block, v.ScriptBlock)
                else member_of(item, v.to_text(block))
            )
        else:
            found.append(member_of(item, v.to_text(one)))
    return found if call.get("property") else [item]


def sort_object(call: Call, items: list[Any], _has_input: bool) -> None:
    """Stable, by all keys, case ignored."""
    keys = call.get("property") or [None]
    ordered = list(items)
    for index in range(len(keys) - 1, -1, -1):
        one = keys[index]
        down = bool(call.get("descending"))
        if isinstance(one, v.Hashtable) and ("descending" in one or "ascending" in one):
            down = v.truth(one.get("descending")) or (
                "ascending" in one and not v.truth(one.get("ascending"))
            )
        ordered.sort(key=lambda item, i=index: v.sort_key(_keys(call, item)[i]), reverse=down)  # type: ignore[misc]  # default argument binds the index
    last: Any = None
    for position, item in enumerate(ordered):
        mark = [v.sort_key(key) for key in _keys(call, item)]
        if call.get("unique") and position and mark == last:
            continue
        last = mark
        call.write(item)


def group_object(call: Call, items: list[Any], _has_input: bool) -> None:
    """Objects with the same keys together."""
    groups: dict[str, tuple[list[Any], list[Any]]] = {}
    for item in items:
        keys = _keys(call, item)
        name = ", ".join(v.to_text(key) for key in keys)
        groups.setdefault(name.lower(), (keys, []))[1].append(item)
    if call.get("ashashtable"):
        made = v.Hashtable()
        for keys, members in groups.values():
            key = v.to_text(keys[0]) if call.get("asstring") else keys[0]
            made.set(key, members)
        call.write(made)
        return
    for keys, members in sorted(groups.values(), key=lambda row: v.sort_key(row[0][0])):
        group = v.PSObject(
            "Microsoft.PowerShell.Commands.GroupInfo",
            Count=len(members),
            Name=", ".join(v.to_text(key) for key in keys),
            Group=members,
            Values=keys,
        )
        group.shown = ("Count", "Name") if call.get("noelement") else ("Count", "Name", "Group")
        call.write(group)


def measure_object(call: Call, items: list[Any], _has_input: bool) -> None:
    """Count, sum, average, extremes; lines, words and characters of text."""
    name = call.get("property")
    if call.get("line") or call.get("word") or call.get("character"):
        text = "\n".join(v.to_text(item) for item in items)
        made = v.PSObject(
            "Microsoft.PowerShell.Commands.TextMeasureInfo",
            Lines=len(text.splitlines()) if call.get("line") else None,
            Words=len(text.split()) if call.get("word") else None,
            Characters=sum(len(v.to_text(i)) for i in items) if call.get("character") else None,
            Property=name,
        )
        call.write(made)
        return
    measured = [member_of(item, name) if name else item for item in items]
    measured = [value for value in measured if value is not None]
    wants = any(call.get(flag) for flag in ("sum", "average", "maximum", "minimum"))
    numbers = [v.to_number(value, "Double") for value in measured] if wants else []
    made = v.PSObject(
        "Microsoft.PowerShell.Commands.GenericMeasureInfo",
        Count=len(measured),
        Average=sum(numbers) / len(numbers) if call.get("average") and numbers else None,
        Sum=sum(numbers) if call.get("sum") else None,
        Maximum=max(numbers) if call.get("maximum") and numbers else None,
        Minimum=min(numbers) if call.get("minimum") and numbers else None,
        Property=name,
    )
    call.write(made)


def tee_object(call: Call, items: list[Any], _has_input: bool) -> None:
    """To a file or a variable, and on."""
    if call.has("variable"):
        call.ev.scope.set(call.get("variable"), v.unwrap(items))
    if call.has("filepath"):
        from ..formatting import render
        from .files import write_text

        write_text(
            call.host,
            call.get("filepath"),
            render(items),
            "unicode",
            append=bool(call.get("append")),
        )
    for item in items:
        call.write(item)


def compare_object(call: Call, _item: Any, _has_input: bool) -> None:
    """What only one side has."""
    left, right = list(call.get("referenceobject")), list(call.get("differenceobject"))
    both = []
    for item in list(left):
        match = next((other for other in right if v.equal(item, other)), None)
        if match is not None:
            both.append(item)
            left.remove(item)
            right.remove(match)
    rows = [(item, "==") for item in both] if call.get("includeequal") else []
    if not call.get("excludedifferent"):
        rows += [(item, "=>") for item in right] + [(item, "<=") for item in left]
    for item, side in rows:
        call.write(v.PSObject(InputObject=item, SideIndicator=side))


def get_member(call: Call, items: list[Any], _has_input: bool) -> None:
    """Properties and methods of the inputs' types."""
    from ..members import member_names, members_of

    seen: set[str] = set()
    for item in items:
        name = v.type_name(item)
        if name in seen:
            continue
        seen.add(name)
        rows = [(one, "Property") for one in property_names(item)]
        kind = type(item) if isinstance(item, v.NetObject) else members_of(item)
        rows += [
            (one, "Method")
            for one in member_names(kind).values()
            if not one.startswith("get_") and one not in dict(rows)
        ]
        for one, what in sorted(rows):
            row = v.PSObject(TypeName=name, Name=one, MemberType=what, Definition=one)
            row.shown = ("Name", "MemberType", "Definition")
            call.write(row)


def new_object(call: Call, _item: Any, _has_input: bool) -> None:
    """An instance of a type."""
    if call.has("comobject"):
        raise Refusal("COM objects are")
    if not call.has("typename"):
        raise call.failure(
            "Cannot process command because of one or more missing mandatory parameters: TypeName.",
            "MissingMandatoryParameter", "InvalidArgument", exception="ParameterBindingException",
        )  # fmt: skip
    name = call.get("typename")
    wanted = types.find(name)
    if wanted is None:
        raise call.failure(
            f"Cannot find type [{name}]: verify that the assembly containing this type is loaded.",
            "TypeNotFound", "InvalidType", exception="PSArgumentException",
        )  # fmt: skip
    args = call.get("argumentlist", [])
    try:
        made = types.construct(wanted, args)
    except NetError as err:
        error = call.failure(
            f'Exception calling ".ctor" with "{len(args)}" argument(s): "{err.message}"',
            "ConstructorInvokedThrowException", "InvalidOperation",
            exception="MethodInvocationException",
        )  # fmt: skip
        error.exception.InnerException = NetException(err.type_name, err.message)
        raise error from err
    except TypeError as err:
        raise call.failure(
            f'A constructor was not found. Cannot find an appropriate constructor for type {name}.',
            "CannotFindAppropriateCtor", "ObjectNotFound", exception="PSArgumentException",
        ) from err  # fmt: skip
    _set_properties(made, call.get("property"))
    call.write(made)


def _set_properties(made: Any, wanted: Any) -> None:
    from ..members import set_member

    if isinstance(wanted, v.Hashtable):
        for key, value in wanted.items():
            if isinstance(made, v.PSObject):
                made.properties[v.to_text(key)] = value
            else:
                set_member(made, v.to_text(key), value)


def add_member(call: Call, item: Any, has_input: bool) -> None:
    """A note property, or a method made of a script block."""
    target = item if has_input else call.get("inputobject")
    name = call.get("notepropertyname") or call.get("name")
    value = call.get("notepropertyvalue") if call.has("notepropertyname") else call.get("value")
    kind = v.to_text(call.get("membertype", "NoteProperty")).lower()
    if kind not in ("noteproperty", "scriptmethod", "scriptproperty", "aliasproperty", "property"):
        kind, name, value = "noteproperty", call.get("membertype"), name  # NAME VALUE alone
    if not isinstance(target, v.PSObject):
        raise Refusal("Adding members to anything but a PSCustomObject is")
    if kind == "scriptmethod" and isinstance(value, v.ScriptBlock):
        target.methods[v.to_text(name).lower()] = _method(call, target, value)
    elif kind == "noteproperty":
        target.properties[target.find(v.to_text(name)) or v.to_text(name)] = value
    else:
        raise Refusal(f"Member type '{kind}' is")
    if call.get("passthru"):
        call.write(target)


def _method(call: Call, target: v.PSObject, block: v.ScriptBlock) -> Any:
    evaluator = call.ev

    def run(*args: Any) -> Any:
        found: list[Any] = []
        evaluator.pipelines.invoke_block(
            block, list(args), found.append, variables={"this": target}
        )
        return v.unwrap(found)

    return run


def get_random(call: Call, items: list[Any], _has_input: bool) -> None:
    """A number below -Maximum, or some of the inputs."""
    import random

    source = random.Random(call.get("setseed")) if call.has("setseed") else random.SystemRandom()
    choices = items or call.get("inputobject", [])
    if choices:
        for item in source.sample(list(choices), min(call.get("count", 1), len(choices))):
            call.write(item)
        return
    low, high = v.to_number(call.get("minimum", 0)), v.to_number(call.get("maximum", 2147483647))
    if low >= high:
        raise call.failure(
            f"The Minimum value ({v.to_text(low)}) cannot be greater than or equal to the Maximum "
            f"value ({v.to_text(high)}).",
            "MinGreaterThanOrEqualMax", "InvalidArgument", exception="System.ArgumentException",
        )  # fmt: skip
    if isinstance(low, int) and isinstance(high, int):
        call.write(source.randrange(low, high))
    else:
        call.write(source.uniform(low, high))


def get_unique(call: Call, items: list[Any], _has_input: bool) -> None:
    """Drop repetitions that follow each other."""
    for index, item in enumerate(items):
        if not index or not v.equal(items[index - 1], item, cased=True):
            call.write(item)
