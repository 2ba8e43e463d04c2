"""Types: the names that ``[Name]`` and ``New-Object`` know, what they cast, make and offer.

:data:`TYPES` is the table; classes of other modules are named as ``module:attribute`` and imported
when first used, so that a script pays only for what it names.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from . import values as v
from .errors import NetError, NetException, PSError, Refusal, ancestry


class Row(NamedTuple):
    """One type: its names, and where its statics, constructor and cast are."""

    full: str
    aliases: tuple[str, ...] = ()
    statics: str = ""
    new: str = ""
    cast: str = ""


def _row(full: str, *aliases: str, statics: str = "", new: str = "", cast: str = "") -> Row:
    return Row(full, aliases, statics, new, cast)


TYPES: tuple[Row, ...] = (
    _row("System.Int32", "int", statics="netlib:Int32", cast="types:cast_int32"),
    _row("System.Int64", "long", statics="netlib:Int64", cast="types:cast_int64"),
    _row("System.Int16", statics="netlib:Int16", cast="types:cast_int16"),
    _row("System.UInt16", "uint16", statics="netlib:UInt16", cast="types:cast_uint16"),
    _row("System.UInt32", "uint32", statics="netlib:UInt32", cast="types:cast_uint32"),
    _row("System.UInt64", "uint64", statics="netlib:UInt64", cast="types:cast_uint64"),
    _row("System.Byte", "byte", statics="netlib:Byte", cast="types:cast_byte"),
    _row("System.Double", "double", statics="netlib:Double", cast="types:cast_double"),
    _row("System.Single", "float", "single", statics="netlib:Double", cast="types:cast_double"),
    _row("System.Boolean", "bool", cast="types:cast_bool", statics="netlib:Boolean"),
    _row("System.Management.Automation.SwitchParameter", "switch", cast="types:cast_bool"),
    _row("System.Char", "char", statics="netlib:CharStatics", cast="types:cast_char"),
    _row("System.String", "string", statics="netlib:StringStatics", new="netlib:make_string",
         cast="types:cast_string"),
    _row("System.Object", "object", cast="types:cast_object", new="types:make_object"),
    _row("System.Void", "void", cast="types:cast_void"),
    _row("System.Array", "array", statics="netlib:ArrayStatics", cast="types:cast_array"),
    _row("System.Collections.Hashtable", "hashtable", new="types:make_hashtable",
         cast="types:cast_hashtable"),
    _row("System.Collections.Specialized.OrderedDictionary", "ordered",
         new="types:make_ordered", cast="types:cast_hashtable"),
    _row("System.Management.Automation.PSObject", "pscustomobject", "psobject", "psnoteproperty",
         "System.Management.Automation.PSCustomObject", new="types:make_psobject",
         cast="types:cast_psobject"),
    _row("System.Management.Automation.ScriptBlock", "scriptblock", statics="netlib:ScriptBlocks",
         cast="types:cast_same"),
    _row("System.Collections.ArrayList", new="types:make_arraylist", cast="types:make_arraylist"),
    _row("System.Collections.Generic.List", new="types:make_list", cast="types:make_list"),
    _row("System.Collections.Generic.Dictionary", new="types:make_dictionary"),
    _row("System.Collections.Queue", new="values:Queue"),
    _row("System.Collections.Generic.Queue", new="values:Queue"),
    _row("System.Collections.Stack", new="values:Stack"),
    _row("System.Collections.Generic.Stack", new="values:Stack"),
    _row("System.DateTime", "datetime", statics="datestatics:DateTimes",
         new="datetimes:make_datetime", cast="datetimes:to_datetime"),
    _row("System.TimeSpan", "timespan", statics="datestatics:TimeSpans",
         new="datetimes:make_timespan", cast="datetimes:to_timespan"),
    _row("System.Diagnostics.Stopwatch", statics="datestatics:Stopwatches",
         new="datetimes:Stopwatch"),
    _row("System.Math", "math", statics="netlib:Maths"),
    _row("System.Convert", statics="netlib:Converts"),
    _row("System.Environment", statics="netlib:Environments"),
    _row("System.Console", statics="netlib:Consoles"),
    _row("System.GC", statics="netlib:Collector"),
    _row("System.Guid", "guid", statics="netlib:Guids", cast="netlib:make_guid",
         new="netlib:make_guid"),
    _row("System.Random", new="netlib:Random"),
    _row("System.Version", "version", new="netlib:Version", cast="netlib:make_version"),
    _row("System.Uri", "uri", new="uri:Uri", cast="uri:to_uri", statics="uri:Uris"),
    _row("System.Text.StringBuilder", new="netlib:StringBuilder"),
    _row("System.Text.Encoding", statics="encodings:Encodings"),
    _row("System.Text.UTF8Encoding", new="encodings:utf8_encoding", statics="encodings:Encodings"),
    _row("System.Text.ASCIIEncoding", new="encodings:ascii_encoding",
         statics="encodings:Encodings"),
    _row("System.Text.RegularExpressions.Regex", "regex", statics="netlib:Regexes",
         new="netlib:Regex", cast="netlib:Regex"),
    _row("System.Security.AccessControl.AccessControlType", statics="cmdlets.security:Statics"),
    _row("System.Threading.Thread", statics="netlib:Threads"),
    _row("System.IO.File", statics="files:Files"),
    _row("System.IO.Directory", statics="files:Directories"),
    _row("System.IO.Path", statics="files:Paths"),
    _row("System.IO.StreamReader", new="streams:StreamReader"),
    _row("System.IO.StreamWriter", new="streams:StreamWriter"),
    _row("System.IO.MemoryStream", new="streams:MemoryStream"),
    _row("System.Net.HttpListener", new="httplistener:HttpListener",
         statics="httplistener:Listeners"),
    _row("System.Net.IPAddress", "ipaddress", statics="addresses:Addresses",
         cast="addresses:to_address", new="addresses:to_address"),
    _row("System.Net.IPEndPoint", new="addresses:IPEndPoint"),
    _row("System.Net.Dns", statics="addresses:Dns"),
    _row("System.Net.ServicePointManager", statics="addresses:ServicePoints"),
    _row("System.Net.WebClient", new="web:WebClient"),
    _row("System.Net.Sockets.TcpClient", new="sockets:TcpClient"),
    _row("System.Net.Sockets.TcpListener", new="sockets:TcpListener"),
)  # fmt: skip
_by_name: dict[str, Row] = {}


class TypeRef(v.NetObject):
    """A type as a value."""

    net_name = "System.RuntimeType"

    def __init__(self, full: str, row: Row | None = None) -> None:
        """``row`` is None for a type that only names what a value is."""
        self.FullName = full
        self.Name = v.short_name(full)
        self.Namespace = full.rpartition(".")[0]
        self.IsArray = full.endswith("[]")
        self.row = row

    @property
    def BaseType(self) -> Any:
        """The type above, as far as is known."""
        above = ancestry(self.FullName)
        return TypeRef(
            above[1] if len(above) > 1 and self.FullName != above[1] else "System.Object"
        )

    def ToString(self) -> str:
        """The full name."""
        return self.FullName

    def equals(self, other: Any) -> bool:
        """Same type."""
        return isinstance(other, TypeRef) and other.FullName == self.FullName


def find(name: str) -> TypeRef | None:
    """The type that ``[name]`` means, or None."""
    lower = name.lower()
    if lower.endswith("[]"):
        inner = find(name[:-2])
        return None if inner is None else TypeRef(inner.FullName + "[]", inner.row)
    lower = lower.split("[", 1)[0]
    if not _by_name:
        for row in TYPES:
            for known in (row.full, row.full.removeprefix("System."), *row.aliases):
                _by_name[known.lower()] = row
    row_found = _by_name.get(lower)
    if row_found is not None:
        return TypeRef(row_found.full, row_found)
    return _exception_type(lower)


def _exception_type(lower: str) -> TypeRef | None:
    from .errors import PARENTS

    for known in (*PARENTS, "System.Exception"):
        short = known.removeprefix("System.").lower()
        if lower in (
            known.lower(),
            short,
            known.lower().removeprefix("system.management.automation."),
        ):
            return TypeRef(known, Row(known))
    return None


def get(name: str) -> TypeRef:
    """The type that ``[name]`` means.

    Raises:
        PSError: TypeNotFound.
    """
    found = find(name)
    if found is None:
        raise PSError(
            f"Unable to find type [{name}].", "TypeNotFound", "InvalidOperation",
            target=name, target_type="TypeName", exception="RuntimeException",
        )  # fmt: skip
    return found


def type_of_name(full: str) -> TypeRef:
    """The type of a value whose full type name is known."""
    return find(full) or TypeRef(full)


def type_of(value: Any) -> TypeRef:
    """The type of a value."""
    return type_of_name(v.type_name(value))


def load(where: str) -> Any:
    """What ``module:attribute`` of this package names."""
    module, _, attribute = where.partition(":")
    return getattr(import_module(f"{__package__}.{module}"), attribute)


def is_instance(value: Any, wanted: TypeRef) -> bool:
    """``value -is [wanted]``."""
    full = wanted.FullName
    if value is None:
        return False
    if full == "System.Object":
        return True
    if isinstance(value, NetException):
        return full in ancestry(value.net_name)
    if full == "System.Array":
        return isinstance(value, (list, bytearray)) and not isinstance(value, v.ArrayList)
    if full == "System.Management.Automation.PSObject":
        return isinstance(value, v.PSObject)
    if isinstance(value, list) and full.startswith(("System.Collections.IList", "System.Object[")):
        return True
    if isinstance(value, int) and full in ("System.Int32", "System.Int64"):
        return v.type_name(value) == full
    return v.type_name(value).split("[", 1)[0].lower() == full.split("[", 1)[0].lower() and (
        v.type_name(value).endswith("[]") == full.endswith("[]")
    )


def cast(value: Any, wanted: TypeRef) -> Any:
    """``[wanted]value``.

    Raises:
        PSError: it cannot be converted.
    """
    full = wanted.FullName
    if full.endswith("[]"):
        return _cast_array(value, wanted)
    row = wanted.row
    if row is None or not row.cast:
        if row is not None and is_instance(value, wanted):
            return value
        raise _no_cast(value, full)
    try:
        return load(row.cast)(value)
    except (NetError, TypeError, AttributeError) as err:
        why = err.message if isinstance(err, NetError) else "Invalid cast."
        raise PSError(
            f'Cannot convert value "{v.to_text(value)}" to type "{full}". Error: "{why}"',
            "InvalidCastParseTargetInvocation", "InvalidArgument", exception="RuntimeException",
        ) from err  # fmt: skip


def _cast_array(value: Any, wanted: TypeRef) -> Any:
    element = type_of_name(wanted.FullName[:-2])
    if element.FullName == "System.Byte":
        return bytearray(cast_byte(item) for item in v.listed_bytes(value))
    if element.FullName == "System.Char" and isinstance(value, str):
        return [v.Char(c) for c in value]
    return [cast(item, element) for item in v.listed(value)]


def _no_cast(value: Any, full: str) -> PSError:
    return PSError(
        f'Cannot convert the "{v.to_text(value)}" value of type "{v.type_name(value)}" to type '
        f'"{full}".',
        "ConvertToFinalInvalidCastException",
        "InvalidArgument",
        exception="RuntimeException",
    )


def construct(wanted: TypeRef, args: list[Any]) -> Any:
    """``New-Object`` and ``[T]::new()``.

    Raises:
        PSError: the type has no constructor here.
        NetError: the constructor failed.
    """
    row = wanted.row
    if row is not None and not row.new and wanted.FullName.endswith("Exception"):
        usual = f"Exception of type '{wanted.FullName}' was thrown."
        return NetException(wanted.FullName, v.to_text(args[0]) if args else usual)
    if row is None or not row.new:
        raise Refusal(f"Making an instance of [{wanted.FullName}] is")
    maker = load(row.new)
    made = maker(*args)
    if isinstance(made, v.ArrayList) or (
        isinstance(made, v.Hashtable) and row.new != "types:make_ordered"
    ):
        made.net_name = wanted.FullName if row.full != "System.Collections.Hashtable" else row.full
    return made


# --- the casts that are this module's own ---------------------------------------------------


def cast_int32(value: Any) -> int:
    """[int]."""
    return v.to_int(value)


def cast_int64(value: Any) -> int:
    """[long]."""
    return v.to_int(value, *v.INT64, "Int64")


def cast_int16(value: Any) -> int:
    """[int16]."""
    return v.to_int(value, -(1 << 15), (1 << 15) - 1, "Int16")


def cast_uint16(value: Any) -> int:
    """[uint16]."""
    return v.to_int(value, 0, (1 << 16) - 1, "UInt16")


def cast_uint32(value: Any) -> int:
    """[uint32]."""
    return v.to_int(value, 0, (1 << 32) - 1, "UInt32")


def cast_uint64(value: Any) -> int:
    """[uint64]."""
    return v.to_int(value, 0, (1 << 64) - 1, "UInt64")


def cast_byte(value: Any) -> int:
    """[byte]."""
    return v.to_int(value, 0, 255, "Byte")


def cast_double(value: Any) -> float:
    """[double]."""
    return float(v.to_number(value, "Double"))


def cast_bool(value: Any) -> bool:
    """[bool]."""
    return v.truth(value)


def cast_char(value: Any) -> v.Char:
    """[char] of a number or a text of one character."""
    if isinstance(value, int):
        return v.Char(chr(value))
    text = v.to_text(value)
    if len(text) != 1:
        raise NetError("System.FormatException", "String must be exactly one character long.")
    return v.Char(text)


def cast_string(value: Any) -> str:
    """[string]."""
    return v.to_text(value)


def cast_object(value: Any) -> Any:
    """[object]."""
    return value


cast_same = cast_object


def cast_void(_value: Any) -> None:
    """[void]."""


def cast_array(value: Any) -> list[Any]:
    """[array]."""
    return list(v.listed(value))


def cast_hashtable(value: Any) -> v.Hashtable:
    """[hashtable] and [ordered]."""
    if isinstance(value, v.Hashtable):
        return value
    raise NetError("System.InvalidCastException", "only a hashtable can be converted to one.")


def cast_psobject(value: Any) -> Any:
    """[pscustomobject]: a hashtable becomes an object with its keys as properties."""
    if not isinstance(value, v.Hashtable):
        return value
    made = v.PSObject()
    for key, item in value.items():
        made.properties[v.to_text(key)] = item
    return made


def make_object() -> v.NetObject:
    """New-Object object."""
    return v.NetObject()


def make_hashtable(*_args: Any) -> v.Hashtable:
    """New-Object hashtable."""
    return v.Hashtable()


def make_ordered(*_args: Any) -> v.Hashtable:
    """New-Object System.Collections.Specialized.OrderedDictionary."""
    return v.Hashtable(net_name="System.Collections.Specialized.OrderedDictionary")


def make_dictionary(*_args: Any) -> v.Hashtable:
    """New-Object Dictionary[K,V]."""
    return v.Hashtable(cased=True)


def make_psobject(*args: Any) -> Any:
    """New-Object psobject."""
    return cast_psobject(args[0]) if args else v.PSObject()


def make_arraylist(items: Any = None) -> v.ArrayList:
    """An ArrayList of ``items``; a number is a capacity."""
    return v.ArrayList([] if isinstance(items, int) else v.listed(items))


def make_list(items: Any = None) -> v.ArrayList:
    """A List[T]."""
    return v.ArrayList(
        [] if isinstance(items, int) else v.listed(items), "System.Collections.Generic.List`1"
    )
