"""findstr.exe: lines that hold one of some words or match a pattern."""

from __future__ import annotations

import os
import re
import sys


def main(argv: list[str]) -> int:
    """0 where something was found, 1 where not, 2 for a wrong command line."""
    flags: set[str] = set()
    patterns: list[str] = []
    names: list[str] = []
    literal = False
    for arg in argv:
        if arg.startswith("/") and len(arg) > 1:
            if arg[1:3].lower() == "c:":
                patterns.append(arg[3:])
                literal = True
            elif arg.lower() == "/offline":
                continue
            elif all(c in "bceilmnrsvx" for c in arg[1:].lower()):
                flags.update(arg[1:].lower())
            else:
                print(f"FINDSTR: {arg} is not a known option", file=sys.stderr)
                return 2
        elif not patterns:
            patterns = arg.split()
        else:
            names.append(arg)
    if not patterns:
        print("FINDSTR: Bad command line", file=sys.stderr)
        return 2
    plain = "l" in flags or (literal and "r" not in flags)
    matcher = _matcher(patterns, flags, plain)
    return _search(matcher, flags, names)


def _matcher(patterns: list[str], flags: set[str], plain: bool) -> re.Pattern[str]:
    sources = [re.escape(one) if plain else _expression(one) for one in patterns]
    source = "|".join(f"(?:{one})" for one in sources)
    if "x" in flags:
        source = f"^(?:{source})$"
    elif "b" in flags:
        source = f"^(?:{source})"
    elif "e" in flags:
        source = f"(?:{source})$"
    return re.compile(source, re.IGNORECASE if "i" in flags else 0)


def _expression(pattern: str) -> str:
    """findstr's own small language: ``. * ^ $ [class] \\x \\< \\>``."""
    text = pattern.replace("\\<", "\0B").replace("\\>", "\0B")
    text = re.sub(r"(?<!\\)([+?{}()|])", r"\\\1", text)
    return text.replace("\0B", r"\b")


def _search(matcher: re.Pattern[str], flags: set[str], names: list[str]) -> int:
    from .powershell.host import Host

    host = Host(os.environ)
    sources: list[tuple[str, bytes]] = []
    code = 1
    for name in names:
        try:
            with open(host.unix_path(name), "rb") as file:
                sources.append((name, file.read()))
        except OSError:
            print(f"FINDSTR: Cannot open {name}", file=sys.stderr)
    if not names:
        sources.append(("", sys.stdin.buffer.read()))
    for name, data in sources:
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if bool(matcher.search(line)) == ("v" in flags):
                continue
            code = 0
            prefix = f"{name}:" if len(names) > 1 else ""
            shown = f"{number}:{line}" if "n" in flags else line
            if "m" in flags:
                sys.stdout.buffer.write(f"{name}\r\n".encode())
                break
            sys.stdout.buffer.write(f"{prefix}{shown}\r\n".encode())
    sys.stdout.buffer.flush()
    return code
