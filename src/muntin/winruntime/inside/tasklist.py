"""tasklist.exe: the container's Windows processes."""

from __future__ import annotations

import sys


def main(argv: list[str]) -> int:
    """``tasklist [/nh] [/fo table|csv|list] [/fi "IMAGENAME eq NAME"]``."""
    from .powershell.cmdlets.processes import processes

    form, header, wanted = "table", True, ""
    rest = list(argv)
    while rest:
        option = rest.pop(0).lower().replace("-", "/", 1)
        if option == "/nh":
            header = False
        elif option == "/fo" and rest:
            form = rest.pop(0).lower()
        elif option == "/fi" and rest:
            words = rest.pop(0).split()
            if len(words) != 3 or [word.lower() for word in words[:2]] != ["imagename", "eq"]:
                print("ERROR: The search filter cannot be recognized.", file=sys.stderr)
                return 1
            wanted = words[2].lower()
        else:
            print("ERROR: Invalid argument/option - '" + option + "'.", file=sys.stderr)
            return 1
    rows = [
        (f"{row.properties['Name']}.exe", row.properties["Id"], row.properties["WorkingSet64"])
        for row in processes()
        if not wanted or f"{row.properties['Name']}.exe".lower() == wanted
    ]
    if not rows:
        print("INFO: No tasks are running which match the specified criteria.")
        return 0
    for line in _lines(rows, form, header):
        sys.stdout.buffer.write(f"{line}\r\n".encode())
    sys.stdout.buffer.flush()
    return 0


def _lines(rows: list[tuple[str, int, int]], form: str, header: bool) -> list[str]:
    titles = ("Image Name", "PID", "Session Name", "Session#", "Mem Usage")
    table = [
        (name, str(pid), "Services", "0", f"{memory // 1024:,} K") for name, pid, memory in rows
    ]
    if form == "csv":
        lines = [",".join(f'"{cell}"' for cell in row) for row in table]
        return ([",".join(f'"{title}"' for title in titles)] if header else []) + lines
    if form == "list":
        return [line for row in table for line in ("", *map("{0:13} {1}".format, titles, row))]
    widths = (25, 8, 16, 11, 12)
    lines = [_row(row, widths) for row in table]
    if not header:
        return ["", *lines]
    return ["", _row(titles, widths), " ".join("=" * width for width in widths), *lines]


def _row(cells: tuple[str, ...], widths: tuple[int, ...]) -> str:
    left = (cells[0].ljust(widths[0]), cells[1].rjust(widths[1]), cells[2].ljust(widths[2]))
    return " ".join((*left, cells[3].rjust(widths[3]), cells[4].rjust(widths[4])))
