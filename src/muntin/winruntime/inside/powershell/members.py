"""Members of values: what ``.Name``, ``.Name()`` and ``.Name = x`` find, without minding case.

A .NET shim's members are its own attributes. Text, numbers and arrays are plain Python, so
classes here supply theirs: a function is a method, one whose name begins with ``get_`` a property.
"""

from __future__ import annotations

import re
from typing import Any

from . import values as v
from .errors import NetError, NetException, PSError


class ObjectMembers:
    """What everything has."""

    def ToString(self: Any, pattern: Any = "") -> str:
        from .textformat import format_value

        return format_value(self, v.to_text(pattern)) if pattern else v.to_text(self)

    def GetType(self: Any) -> Any:
        from .types import type_of

        return type_of(self)

    def Equals(self: Any, other: Any) -> bool:
        return bool(v.equal(self, other, cased=True))

    def GetHashCode(self: Any) -> int:
        return hash(self) & 0x7FFFFFFF

    def CompareTo(self: Any, other: Any) -> int:
        return v.compare(self, other, cased=True)

    def get_Count(self: Any) -> int:
        return 1


class StringMembers(ObjectMembers):
    """System.String."""

    def get_Length(self: Any) -> Any:
        return len(self)

    def ToUpper(self: Any) -> Any:
        return self.upper()

    def ToLower(self: Any) -> Any:
        return self.lower()

    ToUpperInvariant = ToUpper
    ToLowerInvariant = ToLower

    def Trim(self: Any, *chars: Any) -> Any:
        return self.strip(_chars(chars))

    def TrimStart(self: Any, *chars: Any) -> Any:
        return self.lstrip(_chars(chars))

    def TrimEnd(self: Any, *chars: Any) -> Any:
        return self.rstrip(_chars(chars))

    def Split(self: Any, *separators: Any) -> list[str]:
        flat = [item for one in separators for item in v.listed(one)]
        drop = any(str(item).lower() == "removeemptyentries" or item == 1 for item in flat[1:])
        chars = [str(item) for item in flat if not isinstance(item, int)]
        chars = [item for item in chars if item.lower() not in ("removeemptyentries", "none")]
        pattern = "[" + re.escape("".join(chars)) + "]" if chars and any(chars) else r"\s"
        parts = re.split(pattern, self)
        return [part for part in parts if part] if drop else parts

    def Substring(self: Any, start: Any, length: Any = None) -> Any:
        at = v.to_int(start)
        size = len(self) - at if length is None else v.to_int(length)
        if not 0 <= at <= len(self):
            raise NetError(
                "System.ArgumentOutOfRangeException",
                "startIndex cannot be larger than length of string.\r\nParameter name: startIndex",
            )
        if size < 0 or at + size > len(self):
            raise NetError(
                "System.ArgumentOutOfRangeException",
                "Index and length must refer to a location within the string.\r\n"
                "Parameter name: length",
            )
        return self[at : at + size]

    def Replace(self: Any, old: Any, new: Any) -> Any:
        return self.replace(v.to_text(old), v.to_text(new))

    def Contains(self: Any, part: Any) -> Any:
        return v.to_text(part) in self

    def StartsWith(self: Any, part: Any, how: Any = None) -> Any:
        return _fold(self, how).startswith(_fold(v.to_text(part), how))

    def EndsWith(self: Any, part: Any, how: Any = None) -> Any:
        return _fold(self, how).endswith(_fold(v.to_text(part), how))

    def Equals(self: Any, other: Any, how: Any = None) -> Any:
        return isinstance(other, str) and _fold(self, how) == _fold(other, how)

    def IndexOf(self: Any, part: Any, start: Any = 0) -> Any:
        return self.find(v.to_text(part), v.to_int(start))

    def LastIndexOf(self: Any, part: Any) -> Any:
        return self.rfind(v.to_text(part))

    def Insert(self: Any, at: Any, text: Any) -> Any:
        index = v.to_int(at)
        return self[:index] + v.to_text(text) + self[index:]

    def Remove(self: Any, at: Any, count: Any = None) -> Any:
        index = v.to_int(at)
        return self[:index] + ("" if count is None else self[index + v.to_int(count) :])

    def PadLeft(self: Any, width: Any, fill: Any = " ") -> Any:
        return self.rjust(v.to_int(width), v.to_text(fill))

    def PadRight(self: Any, width: Any, fill: Any = " ") -> Any:
        return self.ljust(v.to_int(width), v.to_text(fill))

    def ToCharArray(self: Any) -> list[v.Char]:
        return [v.Char(c) for c in self]

    def Chars(self: Any, index: Any) -> v.Char:
        return v.Char(self[v.to_int(index)])


class ArrayMembers(ObjectMembers):
    """Object[] and the lists that grow."""

    def get_Length(self: Any) -> int:
        return len(self)

    get_Count = get_Length
    get_LongLength = get_Length

    def get_Rank(self: Any) -> int:
        return 1

    def Contains(self: Any, item: Any) -> bool:
        return any(v.equal(item, one, cased=True) for one in self)

    def IndexOf(self: Any, item: Any) -> int:
        return next((i for i, one in enumerate(self) if v.equal(item, one, cased=True)), -1)

    def GetUpperBound(self: Any, _dimension: Any) -> int:
        return len(self) - 1

    def GetValue(self: Any, index: Any) -> Any:
        return self[v.to_int(index)]

    def SetValue(self: Any, value: Any, index: Any) -> None:
        self[v.to_int(index)] = value

    def Clone(self: Any) -> Any:
        return type(self)(self)


class FixedArrayMembers(ArrayMembers):
    """Object[] alone."""

    def Add(self: Any, _item: Any) -> None:
        raise NetError("System.NotSupportedException", "Collection was of a fixed size.")

    RemoveAt = Remove = Add


class ListMembers(ArrayMembers):
    """ArrayList and List[T]."""

    def Add(self: Any, item: Any) -> Any:
        self.append(item)
        return len(self) - 1 if self.net_name == "System.Collections.ArrayList" else None

    def AddRange(self: Any, items: Any) -> None:
        self.extend(v.listed(items))

    def Insert(self: Any, index: Any, item: Any) -> None:
        self.insert(v.to_int(index), item)

    def Remove(self: Any, item: Any) -> Any:
        found = ArrayMembers.IndexOf(self, item)
        if found >= 0:
            del self[found]
        return None if self.net_name == "System.Collections.ArrayList" else found >= 0

    def RemoveAt(self: Any, index: Any) -> None:
        at = v.to_int(index)
        if not 0 <= at < len(self):
            raise NetError(
                "System.ArgumentOutOfRangeException",
                "Index was out of range. Must be non-negative and less than the size of the "
                "collection.\r\nParameter name: index",
            )
        del self[at]

    def Clear(self: Any) -> None:
        self.clear()

    def Sort(self: Any) -> None:
        self.sort(key=v.sort_key)

    def Reverse(self: Any) -> None:
        self.reverse()

    def ToArray(self: Any) -> list[Any]:
        return list(self)


class QueueMembers(ArrayMembers):
    """Queue and Queue[T]."""

    def Enqueue(self: Any, item: Any) -> None:
        self.append(item)

    def Dequeue(self: Any) -> Any:
        return _not_empty(self, "Queue").pop(0)

    def Peek(self: Any) -> Any:
        return _not_empty(self, "Queue")[0]

    def Clear(self: Any) -> None:
        self.clear()

    def ToArray(self: Any) -> list[Any]:
        return list(self)


class StackMembers(ArrayMembers):
    """Stack and Stack[T]; the end of the list is the top."""

    def Push(self: Any, item: Any) -> None:
        self.append(item)

    def Pop(self: Any) -> Any:
        return _not_empty(self, "Stack").pop()

    def Peek(self: Any) -> Any:
        return _not_empty(self, "Stack")[-1]

    def Clear(self: Any) -> None:
        self.clear()

    def ToArray(self: Any) -> list[Any]:
        return list(reversed(self))


def _not_empty(items: Any, name: str) -> Any:
    if not items:
        raise NetError("System.InvalidOperationException", f"{name} empty.")
    return items


class HashtableMembers(ObjectMembers):
    """Hashtable, OrderedDictionary and Dictionary."""

    def get_Count(self: Any) -> int:
        return len(self)

    def get_Keys(self: Any) -> list[Any]:
        return v.ArrayList([key for key, _ in self.items()], "System.Collections.ICollection")

    def get_Values(self: Any) -> list[Any]:
        return v.ArrayList([value for _, value in self.items()], "System.Collections.ICollection")

    def get_IsReadOnly(self: Any) -> bool:
        return False

    def Get_Item(self: Any, key: Any) -> Any:
        return self.get(key)

    Item = Get_Item

    def Set_Item(self: Any, key: Any, value: Any) -> None:
        self.set(key, value)

    def Add(self: Any, key: Any, value: Any) -> None:
        if key in self:
            raise NetError(
                "System.ArgumentException",
                f"Item has already been added. Key in dictionary: '{v.to_text(key)}'  "
                f"Key being added: '{v.to_text(key)}'",
            )
        self.set(key, value)

    def Remove(self: Any, key: Any) -> Any:
        found = self.drop(key)
        return found if "Dictionary" in self.net_name and "Ordered" not in self.net_name else None

    def Contains(self: Any, key: Any) -> bool:
        return key in self

    ContainsKey = Contains

    def ContainsValue(self: Any, value: Any) -> bool:
        return any(v.equal(value, one) for _, one in self.items())

    def Clear(self: Any) -> None:
        self.clear()

    def GetEnumerator(self: Any) -> list[Any]:
        return [entry(key, value) for key, value in self.items()]

    def Clone(self: Any) -> v.Hashtable:
        copy = v.Hashtable(net_name=self.net_name)
        for key, value in self.items():
            copy.set(key, value)
        return copy


class ScriptBlockMembers(ObjectMembers):
    """ScriptBlock."""

    def Invoke(self: Any, *args: Any) -> list[Any]:
        found: list[Any] = []
        self.run(self, list(args), found.append)
        return found

    def get_Ast(self: Any) -> str:
        return str(self.node.text)


class PSObjectMembers(ObjectMembers):
    """PSCustomObject."""

    def get_PSObject(self: Any) -> v.PSObject:
        rows = [
            v.PSObject("System.Management.Automation.PSNoteProperty", Name=name, Value=value)
            for name, value in self.properties.items()
        ]
        return v.PSObject(Properties=rows, TypeNames=list(self.type_names))


_CLASSES: tuple[tuple[type, type], ...] = (
    (str, StringMembers),
    (v.Queue, QueueMembers),
    (v.Stack, StackMembers),
    (v.ArrayList, ListMembers),
    (list, FixedArrayMembers),
    (bytearray, FixedArrayMembers),
    (v.Hashtable, HashtableMembers),
    (v.ScriptBlock, ScriptBlockMembers),
    (v.PSObject, PSObjectMembers),
)
_index: dict[type, dict[str, str]] = {}


def entry(key: Any, value: Any) -> v.PSObject:
    """One pair of a hashtable as an object."""
    row = v.PSObject("System.Collections.DictionaryEntry", Name=key, Key=key, Value=value)
    row.shown = ("Name", "Value")
    return row


def member_names(kind: type) -> dict[str, str]:
    """Lower-case name to attribute name of the public members of ``kind``."""
    found = _index.get(kind)
    if found is None:
        found = {}
        for name in dir(kind):
            if name[0].isupper():
                found[name.lower()] = name
            elif name.startswith("get_"):
                found[name[4:].lower()] = name
        _index[kind] = found
    return found


def members_of(value: Any) -> type:
    """The class here that supplies the members of a plain value."""
    for kind, members in _CLASSES:
        if isinstance(value, kind):
            return members
    return ObjectMembers


def _attribute(value: Any, name: str) -> str | None:
    """The attribute of a shim called ``name``."""
    for own in getattr(value, "__dict__", ()):
        if own.lower() == name and own[0].isupper():
            return str(own)
    return member_names(type(value)).get(name)


def get_member(value: Any, name: str) -> Any:
    """``value.name``; $null where there is no such property.

    Raises:
        NetError: the property's own code failed.
    """
    lower = name.lower()
    if value is None:
        return None
    if isinstance(value, v.Hashtable) and name in value:
        return value.get(name)
    if isinstance(value, v.PSObject):
        found = value.find(name)
        if found is not None:
            return value.properties[found]
    if isinstance(value, (v.NetObject, NetException)) and not isinstance(value, v.Hashtable):
        attribute = _attribute(value, lower)
        if attribute is not None:
            return getattr(value, attribute)
    supplied = member_names(members_of(value)).get(lower)
    if supplied is not None and supplied.startswith("get_"):
        return getattr(members_of(value), supplied)(value)
    if isinstance(value, list):
        found_in = [get_member(item, name) for item in value]
        return v.unwrap([item for item in found_in if item is not None])
    return None


def set_member(value: Any, name: str, new: Any) -> None:
    """``value.name = new``.

    Raises:
        PSError: there is no such property to set.
    """
    if isinstance(value, v.Hashtable):
        value.set(name, new)
        return
    if isinstance(value, v.PSObject):
        found = value.find(name)
        if found is not None:
            value.properties[found] = new
            return
    if isinstance(value, v.NetObject):
        attribute = _attribute(value, name.lower())
        if attribute is not None:
            descriptor = getattr(type(value), attribute, None)
            if not isinstance(descriptor, property) or descriptor.fset is not None:
                setattr(value, attribute, new)
                return
            raise PSError(
                f"'{attribute}' is a ReadOnly property.", "PropertyAssignmentException",
                "InvalidOperation", exception="RuntimeException",
            )  # fmt: skip
    raise PSError(
        f"The property '{name}' cannot be found on this object. Verify that the property exists "
        "and can be set.",
        "PropertyNotFound",
        "InvalidOperation",
        exception="RuntimeException",
    )


def find_method(value: Any, name: str) -> Any:
    """A callable for ``value.name(...)``, or None."""
    lower = name.lower()
    if isinstance(value, v.PSObject) and lower in value.methods:
        return value.methods[lower]
    if isinstance(value, (v.NetObject, NetException)):
        attribute = _attribute(value, lower)
        if attribute is not None:
            found = getattr(value, attribute)
            return found if callable(found) else None
    kind = members_of(value)
    supplied = member_names(kind).get(lower)
    if supplied is not None and not supplied.startswith("get_"):
        function = getattr(kind, supplied)
        return lambda *args: function(value, *args)
    accessor = re.fullmatch(r"(get|set)_(\w+)", lower)
    if accessor and accessor.group(1) == "get":
        return lambda *args: get_member(value, accessor.group(2))
    if accessor:
        return lambda new: set_member(value, accessor.group(2), new)
    return None


def _chars(chars: tuple[Any, ...]) -> str | None:
    text = "".join(v.to_text(c) for one in chars for c in v.listed(one))
    return text or None


def _fold(text: str, how: Any) -> str:
    return text.lower() if how is not None and "ignorecase" in v.to_text(how).lower() else text
