"""Small .NET types: numbers' limits, Math, Convert, Environment, Console, Encoding, Regex, ...

A static class's plain functions are methods, those named ``get_X`` properties.
"""

from __future__ import annotations

import math
import os
import re
import time
from typing import Any

from . import values as v
from .errors import ExitSignal, NetError, Refusal
from .host import current
from .textformat import composite, regex, substitution


def _integer(name: str, low: int, high: int) -> type:
    def parse(text: Any, *_: Any) -> int:
        stripped = v.to_text(text).strip()
        if not re.fullmatch(r"[+-]?\d+", stripped):
            raise NetError("System.FormatException", "Input string was not in a correct format.")
        if not low <= int(stripped) <= high:
            raise NetError(
                "System.OverflowException",
                f"Value was either too large or too small for an {name}.",
            )
        return int(stripped)

    return type(name, (), {"MaxValue": high, "MinValue": low, "Parse": staticmethod(parse)})


Int16 = _integer("Int16", -(1 << 15), (1 << 15) - 1)
Int32 = _integer("Int32", *v.INT32)
Int64 = _integer("Int64", *v.INT64)
UInt16 = _integer("UInt16", 0, (1 << 16) - 1)
UInt32 = _integer("UInt32", 0, (1 << 32) - 1)
UInt64 = _integer("UInt64", 0, (1 << 64) - 1)
Byte = _integer("Byte", 0, 255)


class Double:
    """System.Double."""

    MaxValue = 1.7976931348623157e308
    MinValue = -1.7976931348623157e308
    Epsilon = 5e-324
    NaN = float("nan")
    PositiveInfinity = float("inf")
    NegativeInfinity = float("-inf")

    @staticmethod
    def Parse(text: Any) -> float:
        return float(v.to_number(v.to_text(text), "Double"))

    @staticmethod
    def IsNaN(value: Any) -> bool:
        return bool(value != value)


class Boolean:
    """System.Boolean."""

    TrueString = "True"
    FalseString = "False"

    @staticmethod
    def Parse(text: Any) -> bool:
        lower = v.to_text(text).strip().lower()
        if lower not in ("true", "false"):
            raise NetError(
                "System.FormatException", "String was not recognized as a valid Boolean."
            )
        return lower == "true"


class CharStatics:
    """System.Char."""

    @staticmethod
    def IsDigit(char: Any) -> bool:
        return v.to_text(char).isdigit()

    @staticmethod
    def IsLetter(char: Any) -> bool:
        return v.to_text(char).isalpha()

    @staticmethod
    def IsWhiteSpace(char: Any) -> bool:
        return v.to_text(char).isspace()

    @staticmethod
    def ToUpper(char: Any) -> v.Char:
        return v.Char(v.to_text(char).upper())

    @staticmethod
    def ToLower(char: Any) -> v.Char:
        return v.Char(v.to_text(char).lower())


class StringStatics:
    """System.String."""

    Empty = ""

    @staticmethod
    def IsNullOrEmpty(text: Any) -> bool:
        return not v.to_text(text)

    @staticmethod
    def IsNullOrWhiteSpace(text: Any) -> bool:
        return not v.to_text(text).strip()

    @staticmethod
    def Join(separator: Any, *items: Any) -> str:
        flat = [one for item in items for one in v.listed_bytes(item)]
        return v.to_text(separator).join(v.to_text(one) for one in flat)

    @staticmethod
    def Format(template: Any, *args: Any) -> str:
        flat = list(args[0]) if len(args) == 1 and isinstance(args[0], list) else list(args)
        return composite(v.to_text(template), flat)

    @staticmethod
    def Concat(*items: Any) -> str:
        return "".join(v.to_text(one) for item in items for one in v.listed_bytes(item))

    @staticmethod
    def Compare(left: Any, right: Any, ignore_case: Any = False) -> int:
        return v.compare(v.to_text(left), v.to_text(right), cased=not v.truth(ignore_case))

    @staticmethod
    def Equals(left: Any, right: Any, how: Any = None) -> bool:
        cased = how is None or "ignorecase" not in v.to_text(how).lower()
        return v.equal(v.to_text(left), v.to_text(right), cased=cased)


def make_string(char: Any, count: Any = None) -> str:
    """New-Object string: a character repeated, or an array of characters."""
    if count is None:
        return "".join(v.to_text(c) for c in v.listed(char))
    return v.to_text(char) * v.to_int(count)


class ArrayStatics:
    """System.Array."""

    @staticmethod
    def Reverse(items: Any) -> None:
        items.reverse()

    @staticmethod
    def Sort(items: Any) -> None:
        items.sort(key=v.sort_key)

    @staticmethod
    def IndexOf(items: Any, item: Any) -> int:
        return next((i for i, one in enumerate(items) if v.equal(one, item, cased=True)), -1)


class ScriptBlocks:
    """System.Management.Automation.ScriptBlock."""

    @staticmethod
    def Create(_text: Any) -> Any:
        raise Refusal("[scriptblock]::Create is")


class Maths:
    """System.Math."""

    PI = math.pi
    E = math.e

    @staticmethod
    def Abs(value: Any) -> Any:
        return abs(v.to_number(value))

    @staticmethod
    def Max(left: Any, right: Any) -> Any:
        return max(v.to_number(left), v.to_number(right))

    @staticmethod
    def Min(left: Any, right: Any) -> Any:
        return min(v.to_number(left), v.to_number(right))

    @staticmethod
    def Floor(value: Any) -> float:
        return float(math.floor(v.to_number(value)))

    @staticmethod
    def Ceiling(value: Any) -> float:
        return float(math.ceil(v.to_number(value)))

    @staticmethod
    def Truncate(value: Any) -> float:
        return float(math.trunc(v.to_number(value)))

    @staticmethod
    def Round(value: Any, places: Any = 0, how: Any = None) -> float:
        from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

        if isinstance(places, str):
            places, how = 0, places
        away = how is not None and v.to_text(how).lower() in ("awayfromzero", "1")
        number = Decimal(repr(float(v.to_number(value))))
        step = Decimal(1).scaleb(-v.to_int(places))
        return float(number.quantize(step, ROUND_HALF_UP if away else ROUND_HALF_EVEN))

    @staticmethod
    def Pow(base: Any, power: Any) -> float:
        return float(v.to_number(base)) ** v.to_number(power)

    @staticmethod
    def Sqrt(value: Any) -> float:
        number = v.to_number(value)
        return math.sqrt(number) if number >= 0 else float("nan")

    @staticmethod
    def Sign(value: Any) -> int:
        number = v.to_number(value)
        return (number > 0) - (number < 0)

    @staticmethod
    def Log(value: Any, base: Any = None) -> float:
        number = v.to_number(value)
        if number <= 0:
            return float("-inf") if number == 0 else float("nan")
        return math.log(number) if base is None else math.log(number, v.to_number(base))

    @staticmethod
    def Log10(value: Any) -> float:
        return math.log10(v.to_number(value))

    @staticmethod
    def Exp(value: Any) -> float:
        return math.exp(v.to_number(value))

    @staticmethod
    def Sin(value: Any) -> float:
        return math.sin(v.to_number(value))

    @staticmethod
    def Cos(value: Any) -> float:
        return math.cos(v.to_number(value))

    @staticmethod
    def Tan(value: Any) -> float:
        return math.tan(v.to_number(value))


class Converts:
    """System.Convert."""

    @staticmethod
    def ToInt32(value: Any, base: Any = None) -> int:
        return v.to_int(value) if base is None else int(v.to_text(value), v.to_int(base))

    @staticmethod
    def ToInt64(value: Any, base: Any = None) -> int:
        if base is not None:
            return int(v.to_text(value), v.to_int(base))
        return v.to_int(value, *v.INT64, "Int64")

    @staticmethod
    def ToByte(value: Any) -> int:
        return v.to_int(value, 0, 255, "Byte")

    @staticmethod
    def ToDouble(value: Any) -> float:
        return float(v.to_number(value, "Double"))

    @staticmethod
    def ToBoolean(value: Any) -> bool:
        return Boolean.Parse(value) if isinstance(value, str) else v.truth(value)

    @staticmethod
    def ToChar(value: Any) -> v.Char:
        return v.Char(chr(value) if isinstance(value, int) else v.to_text(value)[:1])

    @staticmethod
    def ToString(value: Any, base: Any = None) -> str:
        if base is None:
            return v.to_text(value)
        digits = {2: "b", 8: "o", 16: "x", 10: "d"}[v.to_int(base)]
        number = v.to_int(value, *v.INT64, "Int64")
        return format(number if number >= 0 else number & 0xFFFFFFFF, digits)

    @staticmethod
    def ToDateTime(value: Any) -> Any:
        from .datetimes import to_datetime

        return to_datetime(value)

    @staticmethod
    def ToBase64String(data: Any) -> str:
        import base64

        return base64.b64encode(bytes(data)).decode("ascii")

    @staticmethod
    def FromBase64String(text: Any) -> bytearray:
        import base64
        import binascii

        try:
            return bytearray(base64.b64decode(v.to_text(text), validate=True))
        except binascii.Error as err:
            raise NetError(
                "System.FormatException",
                "The input is not a valid Base-64 string as it contains a non-base 64 character, "
                "more than two padding characters, or an illegal character among the padding "
                "characters. ",
            ) from err


class Environments:
    """System.Environment."""

    NewLine = "\r\n"
    Is64BitOperatingSystem = True
    Is64BitProcess = True

    @staticmethod
    def get_MachineName() -> str:
        return current().variable("COMPUTERNAME") or ""

    @staticmethod
    def get_UserName() -> str:
        return current().variable("USERNAME") or ""

    @staticmethod
    def get_UserDomainName() -> str:
        return current().variable("USERDOMAIN") or ""

    @staticmethod
    def get_ProcessorCount() -> int:
        return int(current().variable("NUMBER_OF_PROCESSORS") or "1")

    @staticmethod
    def get_CurrentDirectory() -> str:
        return current().location

    @staticmethod
    def get_SystemDirectory() -> str:
        return "C:\\Windows\\system32"

    @staticmethod
    def get_TickCount() -> int:
        return int(time.monotonic() * 1000) & 0x7FFFFFFF

    @staticmethod
    def GetEnvironmentVariable(name: Any, _target: Any = None) -> str | None:
        return current().variable(v.to_text(name))

    @staticmethod
    def SetEnvironmentVariable(name: Any, value: Any, _target: Any = None) -> None:
        current().set_variable(v.to_text(name), v.to_text(value))

    @staticmethod
    def GetEnvironmentVariables(_target: Any = None) -> v.Hashtable:
        table = v.Hashtable()
        for name, value in current().environ.items():
            table.set(name, value)
        return table

    @staticmethod
    def ExpandEnvironmentVariables(text: Any) -> str:
        return re.sub(
            "%([^%]+)%",
            lambda m: found if (found := current().variable(m.group(1))) is not None else m.group(),
            v.to_text(text),
        )

    @staticmethod
    def GetFolderPath(name: Any) -> str:
        variables = {"userprofile": "USERPROFILE", "applicationdata": "APPDATA",
                     "windows": "SystemRoot",
                     "localapplicationdata": "LOCALAPPDATA", "programfiles": "ProgramFiles",
                     "commonapplicationdata": "ProgramData"}  # fmt: skip
        return current().variable(variables.get(v.to_text(name).lower(), "USERPROFILE")) or ""

    @staticmethod
    def Exit(code: Any = 0) -> None:
        raise ExitSignal(v.to_int(code))


class ConsoleWriter(v.NetObject):
    """Console.Out and Console.Error."""

    net_name = "System.IO.TextWriter"

    def __init__(self, write: Any) -> None:
        """``write`` takes text."""
        self._write = write

    def Write(self, *args: Any) -> None:
        self._write(_formatted(args))

    def WriteLine(self, *args: Any) -> None:
        self._write(_formatted(args) + "\r\n")

    def Flush(self) -> None:
        """Nothing is held back."""


def _formatted(args: tuple[Any, ...]) -> str:
    if len(args) > 1:
        return StringStatics.Format(*args)
    return "".join(v.to_text(one, "") for one in args)


class Consoles:
    """System.Console."""

    @staticmethod
    def Write(*args: Any) -> None:
        current().write(_formatted(args))

    @staticmethod
    def WriteLine(*args: Any) -> None:
        current().write(_formatted(args) + "\r\n")

    @staticmethod
    def ReadLine() -> str | None:
        return current().read_line()

    @staticmethod
    def get_Out() -> ConsoleWriter:
        return ConsoleWriter(current().write)

    @staticmethod
    def get_Error() -> ConsoleWriter:
        return ConsoleWriter(current().write_error)

    @staticmethod
    def get_OutputEncoding() -> Any:
        from .encodings import Encodings

        return Encodings.UTF8

    @staticmethod
    def set_OutputEncoding(_encoding: Any) -> None:
        """UTF-8 in any case."""

    @staticmethod
    def set_TreatControlCAsInput(_value: Any) -> None:
        """There are no keys."""


class Collector:
    """System.GC."""

    @staticmethod
    def Collect(*_: Any) -> None:
        """Nothing to be done."""

    @staticmethod
    def GetTotalMemory(_force: Any = False) -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096


class Guid(v.NetObject):
    """System.Guid."""

    net_name = "System.Guid"

    def __init__(self, text: str) -> None:
        """``text`` is the canonical form."""
        self.Guid = text

    def ToString(self, form: Any = "D") -> str:
        """By form D, N, B or P."""
        forms = {
            "D": self.Guid,
            "N": self.Guid.replace("-", ""),
            "B": f"{{{self.Guid}}}",
            "P": f"({self.Guid})",
        }
        return forms.get(v.to_text(form).upper(), self.Guid)

    def equals(self, other: Any) -> bool:
        """Same GUID."""
        return v.to_text(other).lower() == self.Guid


class Guids:
    """Statics of Guid."""

    Empty = Guid("00000000-0000-0000-0000-000000000000")

    @staticmethod
    def NewGuid() -> Guid:
        raw = bytearray(os.urandom(16))
        raw[6], raw[8] = raw[6] & 0x0F | 0x40, raw[8] & 0x3F | 0x80
        text = raw.hex()
        return Guid("-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])))

    @staticmethod
    def Parse(text: Any) -> Guid:
        return make_guid(text)


def make_guid(text: Any) -> Guid:
    """[guid]text."""
    digits = re.sub(r"[{}()-]", "", v.to_text(text)).lower()
    if not re.fullmatch(r"[0-9a-f]{32}", digits):
        raise NetError("System.FormatException", "Unrecognized Guid format.")
    return Guid("-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])))


class Random(v.NetObject):
    """System.Random."""

    net_name = "System.Random"

    def __init__(self, seed: Any = None) -> None:
        """A seed repeats the sequence, though not .NET's own."""
        import random

        self._source = random.Random(seed)

    def Next(self, *limits: Any) -> int:
        numbers = [v.to_int(one) for one in limits]
        low, high = (0, *numbers) if len(numbers) == 1 else numbers or (0, v.INT32[1])
        return self._source.randrange(low, high) if high > low else low

    def NextDouble(self) -> float:
        return self._source.random()


class Version(v.NetObject):
    """System.Version."""

    net_name = "System.Version"

    def __init__(self, *parts: Any) -> None:
        """From numbers or from text."""
        if len(parts) == 1 and isinstance(parts[0], str):
            if not re.fullmatch(r"\d+(\.\d+){1,3}", parts[0]):
                raise NetError(
                    "System.ArgumentException", "Version string portion was too short or too long."
                )
            parts = tuple(int(one) for one in parts[0].split("."))
        self._parts = tuple(v.to_int(one) for one in parts)
        self.Major, self.Minor, self.Build, self.Revision = (*self._parts, -1, -1, -1)[:4]

    def ToString(self) -> str:
        """Dotted."""
        return ".".join(str(one) for one in self._parts)

    def compare_to(self, other: Any) -> int:
        """Order by parts."""
        right = make_version(other)._parts
        return (self._parts > right) - (self._parts < right)

    def equals(self, other: Any) -> bool:
        """Same parts."""
        return self.compare_to(other) == 0


def make_version(value: Any) -> Version:
    """[version]value."""
    return value if isinstance(value, Version) else Version(v.to_text(value))


class StringBuilder(v.NetObject):
    """System.Text.StringBuilder."""

    net_name = "System.Text.StringBuilder"

    def __init__(self, text: Any = "") -> None:
        """Begin with ``text`` (a number is a capacity)."""
        self._parts = [] if isinstance(text, int) else [v.to_text(text)]

    def Append(self, item: Any, count: Any = 1) -> StringBuilder:
        self._parts.append(v.to_text(item) * v.to_int(count))
        return self

    def AppendLine(self, item: Any = "") -> StringBuilder:
        self._parts.append(v.to_text(item) + "\r\n")
        return self

    def AppendFormat(self, template: Any, *args: Any) -> StringBuilder:
        self._parts.append(StringStatics.Format(template, *args))
        return self

    def Clear(self) -> StringBuilder:
        self._parts = []
        return self

    def ToString(self) -> str:
        """All of it."""
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    @property
    def Length(self) -> int:
        """Characters so far."""
        return len(self.ToString())


class Match(v.NetObject):
    """A match of a regular expression, or the failure to match."""

    net_name = "System.Text.RegularExpressions.Match"

    def __init__(self, match: re.Match[str] | None) -> None:
        """None is no match."""
        self.Success = match is not None
        self.Value = match.group() if match else ""
        self.Index = match.start() if match else 0
        self.Length = len(self.Value)
        self.Groups = _groups(match)

    def ToString(self) -> str:
        """The text."""
        return self.Value


def _groups(match: re.Match[str] | None) -> v.Hashtable:
    table = v.Hashtable(net_name="System.Text.RegularExpressions.GroupCollection")
    if match is None:
        return table
    names = {index: name for name, index in match.re.groupindex.items()}
    for index in range(match.re.groups + 1):
        text = match.group(index)
        group = v.PSObject(
            "System.Text.RegularExpressions.Group",
            Success=text is not None, Value=text or "", Index=max(match.start(index), 0),
            Length=len(text or ""),
        )  # fmt: skip
        group.text = text or ""
        table.set(index, group)
        if index in names:
            table.set(names[index], group)
    return table


def _options(options: Any) -> bool:
    """Whether case counts."""
    return "ignorecase" not in v.to_text(options).lower() and options != 1


class Regex(v.NetObject):
    """System.Text.RegularExpressions.Regex."""

    net_name = "System.Text.RegularExpressions.Regex"

    def __init__(self, pattern: Any, options: Any = "") -> None:
        """Case counts unless the options say otherwise."""
        self._text = v.to_text(pattern)
        self._pattern = regex(self._text, cased=_options(options))

    def ToString(self) -> str:
        """The pattern."""
        return self._text

    def IsMatch(self, text: Any) -> bool:
        return self._pattern.search(v.to_text(text)) is not None

    def Match(self, text: Any) -> Any:
        return Match(self._pattern.search(v.to_text(text)))

    def Matches(self, text: Any) -> list[Any]:
        return [Match(one) for one in self._pattern.finditer(v.to_text(text))]

    def Replace(self, text: Any, new: Any) -> str:
        return self._pattern.sub(substitution(v.to_text(new)), v.to_text(text))

    def Split(self, text: Any) -> list[str]:
        return [part or "" for part in self._pattern.split(v.to_text(text))]


class Regexes:
    """Statics of Regex."""

    @staticmethod
    def IsMatch(text: Any, pattern: Any, options: Any = "") -> bool:
        return Regex(pattern, options).IsMatch(text)

    @staticmethod
    def Match(text: Any, pattern: Any, options: Any = "") -> Any:
        return Regex(pattern, options).Match(text)

    @staticmethod
    def Matches(text: Any, pattern: Any, options: Any = "") -> list[Any]:
        return Regex(pattern, options).Matches(text)

    @staticmethod
    def Replace(text: Any, pattern: Any, new: Any, options: Any = "") -> str:
        return Regex(pattern, options).Replace(text, new)

    @staticmethod
    def Split(text: Any, pattern: Any, options: Any = "") -> list[str]:
        return Regex(pattern, options).Split(text)

    @staticmethod
    def Escape(text: Any) -> str:
        return re.sub(r"([\\*+?|{\[()^$.# ])", r"\\\1", v.to_text(text))


class Threads:
    """System.Threading.Thread."""

    @staticmethod
    def Sleep(milliseconds: Any) -> None:
        if hasattr(milliseconds, "seconds"):  # a TimeSpan
            time.sleep(milliseconds.seconds())
        else:
            time.sleep(v.to_int(milliseconds) / 1000)
