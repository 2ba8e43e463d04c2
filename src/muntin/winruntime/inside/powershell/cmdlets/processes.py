"""Processes of the container, as /proc shows them."""

from __future__ import annotations

import os
import signal
from typing import Any

from .. import values as v
from ..stages import Call
from ..textformat import wildcard


def _of_python(parts: list[str]) -> str:
    """The name of a program of ours by its command line, or ''."""
    if len(parts) > 3 and parts[0].endswith("python3") and parts[2].endswith("__main__.py"):
        return parts[3]
    return ""


def _of_wine(pid: int, parts: list[str]) -> str:
    """The name of a program that runs under Wine, or ''."""
    try:
        loader = os.readlink(f"/proc/{pid}/exe").rsplit("/", 1)[-1]
    except OSError:
        return ""
    if loader not in ("wine64", "wine64-preloader"):
        return ""
    words = [part for part in parts if part and not part.startswith("/usr/lib/wine/")]
    name = words[0].replace("/", "\\").rsplit("\\", 1)[-1] if words else ""
    return name[:-4] if name.lower().endswith(".exe") else name


def _read(pid: int) -> tuple[list[str], int]:
    """Command line and parent."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        parts = [os.fsdecode(part) for part in file.read().split(b"\0") if part]
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        parent = int(file.read().rsplit(")", 1)[1].split()[1])
    return parts, parent


def processes() -> list[v.PSObject]:
    """All Windows processes; a program of ours counts once, without its launcher."""
    names: dict[int, str] = {}
    launchers: set[int] = set()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            parts, parent = _read(int(entry))
        except OSError:
            continue  # it ended meanwhile
        own = _of_python(parts)
        if own:
            launchers.add(parent)
        name = own or _of_wine(int(entry), parts)
        if name:
            names[int(entry)] = name
    found = [_process(pid, name) for pid, name in names.items() if pid not in launchers]
    return sorted(found, key=lambda row: row.properties["ProcessName"].lower())


def _process(pid: int, name: str) -> v.PSObject:
    memory, threads = 0, 0
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    memory = int(line.split()[1]) * 1024
                elif line.startswith("Threads:"):
                    threads = int(line.split()[1])
    except OSError:
        pass  # it ended meanwhile
    row = v.PSObject(
        "System.Diagnostics.Process",
        Id=pid, ProcessName=name, Name=name, WorkingSet64=memory, WorkingSet=memory,
        WS=memory, SessionId=0, Threads=threads, HasExited=False,
    )  # fmt: skip
    row.shown = ("Id", "ProcessName", "WorkingSet64", "SessionId")
    row.methods = {"kill": lambda: os.kill(pid, signal.SIGKILL)}
    row.text = f"System.Diagnostics.Process ({name})"
    return row


def get_process(call: Call, _item: Any, _has_input: bool) -> None:
    """By name (wildcards) or id; all without."""
    rows = processes()
    if call.has("id"):
        wanted = [row for row in rows if row.properties["Id"] == call.get("id")]
        if not wanted:
            call.error(
                f"Cannot find a process with the process identifier {call.get('id')}.",
                "NoProcessFoundForGivenId", "ObjectNotFound", call.get("id"),
                exception="Microsoft.PowerShell.Commands.ProcessCommandException",
            )  # fmt: skip
    elif call.has("name"):
        wanted = []
        for name in call.get("name"):
            pattern = wildcard(name)
            matching = [row for row in rows if pattern.match(row.properties["ProcessName"])]
            if not matching and not any(c in name for c in "*?["):
                call.error(
                    f'Cannot find a process with the name "{name}". Verify the process name and '
                    "call the cmdlet again.",
                    "NoProcessFoundForGivenName", "ObjectNotFound", name,
                    exception="Microsoft.PowerShell.Commands.ProcessCommandException",
                )  # fmt: skip
            wanted += matching
    else:
        wanted = rows
    for row in wanted:
        call.write(row)


def stop_process(call: Call, item: Any, has_input: bool) -> None:
    """Kill by id, name or object."""
    ids = [v.to_int(one) for one in call.get("id", [])]
    if has_input and isinstance(item, v.PSObject):
        ids.append(item.properties["Id"])
    names = [name.lower() for name in call.get("name", [])]
    ids += [row.properties["Id"] for row in processes() if row.properties["Name"].lower() in names]
    for pid in ids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            call.error(
                f"Cannot find a process with the process identifier {pid}.",
                "NoProcessFoundForGivenId", "ObjectNotFound", pid,
                exception="Microsoft.PowerShell.Commands.ProcessCommandException",
            )  # fmt: skip


def start_process(call: Call, _item: Any, _has_input: bool) -> None:
    """A native program; without -Wait it is left to itself."""
    name = call.get("filepath")
    program = call.host.find_program(name)
    if program is None:
        raise call.failure(
            "This command cannot be run due to the error: The system cannot find the file "
            "specified.",
            "InvalidOperationException", "InvalidOperation",
            exception="System.InvalidOperationException",
        )  # fmt: skip
    args = [part for one in call.get("argumentlist", []) for part in one.split()]
    code, pid = None, 0
    if call.get("wait"):
        code, _ = call.host.run(program, args, stdin=b"", capture=False)
    else:
        pid = call.host.start(program, args)
    if call.get("passthru"):
        row = v.PSObject(
            "System.Diagnostics.Process", Id=pid, ExitCode=code, HasExited=code is not None
        )
        row.properties["Name"] = row.properties["ProcessName"] = name
        call.write(row)
