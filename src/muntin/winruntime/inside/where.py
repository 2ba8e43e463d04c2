"""where.exe: the programs that a name would start."""

from __future__ import annotations

import os
import sys


def main(argv: list[str]) -> int:
    """``where [/q] NAME...``; 1 where one of them is not found."""
    from .powershell.host import Host

    host = Host(os.environ)
    quiet = any(arg.lower() == "/q" for arg in argv)
    names = [arg for arg in argv if not arg.startswith("/")]
    if not names:
        print("ERROR: The syntax of the command is incorrect.", file=sys.stderr)
        return 2
    code = 0
    for name in names:
        found = host.find_program(name)
        if found is None:
            code = 1
            if not quiet:
                print("INFO: Could not find files for the given pattern(s).", file=sys.stderr)
        elif not quiet:
            sys.stdout.buffer.write(f"{found}\r\n".encode())
    sys.stdout.buffer.flush()
    return code
