"""The script's text and the pieces that need no grammar: blanks, words, numbers, escapes."""

from __future__ import annotations

import re

from .errors import ParseError

WORD = re.compile(r"[A-Za-z_][\w-]*")
NUMBER = re.compile(
    r"(0x[0-9a-f]+|\d+\.\d+(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+\.?(?![.\w])|\d+)"
    r"([ld]?)(kb|mb|gb|tb|pb)?(?![\w])",
    re.IGNORECASE,
)
VARIABLE = re.compile(
    r"\$(?:(?P<braced>\{[^}\n]*\})|(?:(?P<scope>[A-Za-z]\w*):(?=[\w]))?(?P<name>\w+)|(?P<odd>[$?^]))"
)
PARAMETER = re.compile(r"-([A-Za-z_?][\w?-]*)(:?)")
BLANK = re.compile(r"(?:[ \t\u00a0\ufeff]|`\r?\n|<#.*?#>|\#[^\r\n]*)+", re.DOTALL)
BLANK_AND_LINES = re.compile(r"(?:[ \t\r\n\u00a0\ufeff]|`\r?\n|<#.*?#>|\#[^\r\n]*)+", re.DOTALL)

ESCAPES = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
}
MULTIPLIERS = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40, "pb": 1 << 50}
SINGLE_QUOTES = "'‘’‚‛"
DOUBLE_QUOTES = '"“”„'
# where a word among a command's arguments ends
TOKEN_END = " \t\r\n|&;(){},<>\u00a0"


def number_value(match: re.Match[str]) -> int | float:
    """The value of a :data:`NUMBER`: int stays int, ``d`` and fractions are floating."""
    digits, suffix, multiplier = match.group(1), match.group(2).lower(), match.group(3)
    value: int | float
    if digits.lower().startswith("0x"):
        value = int(digits, 16)
        if 0x80000000 <= value <= 0xFFFFFFFF and not suffix:
            value -= 1 << 32
    elif re.fullmatch(r"\d+", digits) and suffix != "d":
        value = int(digits)
    else:
        value = float(digits)
    return value * MULTIPLIERS[multiplier.lower()] if multiplier else value


def position_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column (from 1) of ``offset``."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


class Scanner:
    """A text and the place reached in it."""

    def __init__(self, text: str) -> None:
        """Begin at the start of ``text``."""
        self.text = text
        self.pos = 0

    @property
    def char(self) -> str:
        """The character here, '' at the end."""
        return self.text[self.pos : self.pos + 1]

    def looking(self, prefix: str) -> bool:
        """Whether the text goes on with ``prefix``."""
        return self.text.startswith(prefix, self.pos)

    def skip(self, *, lines: bool = False) -> None:
        """Pass over blanks and comments, and line ends too if ``lines``."""
        match = (BLANK_AND_LINES if lines else BLANK).match(self.text, self.pos)
        if match:
            self.pos = match.end()
        if self.looking("<#"):
            raise self.error(
                "The terminator '#>' is missing from the multiline comment.",
                "MissingTerminatorMultiLineComment",
                self.pos,
            )

    def word(self) -> str:
        """The bare word here in lower case, or ''; the place stays."""
        match = WORD.match(self.text, self.pos)
        return match.group().lower() if match else ""

    def take_word(self, word: str) -> bool:
        """Pass over ``word`` if it stands here."""
        if self.word() != word:
            return False
        self.pos += len(word)
        return True

    def take(self, symbol: str) -> bool:
        """Pass over ``symbol`` if it stands here."""
        if not self.looking(symbol):
            return False
        self.pos += len(symbol)
        return True

    def error(self, message: str, error_id: str, start: int, end: int | None = None) -> ParseError:
        """A syntax error at ``start`` (up to ``end`` or one character)."""
        return ParseError(message, error_id, start, start + 1 if end is None else end)

    def token_here(self) -> str:
        """The token that an error message would name."""
        match = re.compile(r"[\w.-]+|\S").match(self.text, self.pos)
        return match.group() if match else ""

    def unexpected(self) -> ParseError:
        """The general complaint about what stands here."""
        token = self.token_here()
        return self.error(
            f"Unexpected token '{token}' in expression or statement.",
            "UnexpectedToken",
            self.pos,
            self.pos + len(token),
        )

    def escape(self) -> str:
        """The character that a backtick here stands for; passes over both."""
        char = self.text[self.pos + 1 : self.pos + 2]
        self.pos += 2
        if char == "\r" and self.char == "\n":
            self.pos += 1
            return ""
        return "" if char == "\n" else ESCAPES.get(char, char)
