"""The world a script runs in: console, environment, C: drive, native programs.

Everything that leaves the interpreter goes through one :class:`Host`, so that tests can give it
another. ``current()`` is the one of this process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .errors import NetError

if TYPE_CHECKING:
    from .jobs import Job

UNIX_ONLY = frozenset(
    [
        "HOME",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "LANG",
        "LC_ALL",
        "TERM",
        "_",
        "LOGNAME",
        "USER",
        "SHELL",
        "WINCWD",
        "WCINIT_STATUS",
        "HOSTNAME",
    ]
)
STATUS_CONTROL_C_EXIT = 0xC000013A
_current: Host | None = None


def current() -> Host:
    """The host of this process."""
    assert _current is not None, "no host was set"
    return _current


def use(host: Host) -> None:
    """Make ``host`` the one that :func:`current` gives."""
    global _current
    _current = host


class Host:
    """Streams as bytes, variables, paths and programs of one PowerShell process."""

    def __init__(self, environ: Mapping[str, str], drive_c: str = "") -> None:
        """``environ`` is the process's environment; ``drive_c`` where the C: drive lies."""
        self.unix_environ = dict(environ)
        self.drive_c = drive_c or environ.get("WINEPREFIX", "/prefix") + "/drive_c"
        self.environ = _windows_environment(environ)
        self.location = environ.get("WINCWD") or self._location_of_cwd()
        self.jobs: list[Job] = []
        self.jobs_started = 0

    def _location_of_cwd(self) -> str:
        try:
            here = os.getcwd()
        except OSError:
            here = "/"
        if here == self.drive_c or here.startswith(self.drive_c + "/"):
            return self.windows_path(here)
        return "C:\\"

    # --- console ----------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Text to standard output, as it is."""
        _write_all(1, text)

    def write_error(self, text: str) -> None:
        """Text to standard error."""
        _write_all(2, text)

    def read_line(self) -> str | None:
        """A line of standard input without its end; None at the end of input."""
        line = sys.stdin.buffer.readline()
        return line.decode("utf-8", "replace").rstrip("\r\n") if line else None

    def read_all(self) -> str:
        """All of standard input."""
        return sys.stdin.buffer.read().decode("utf-8-sig", "replace")

    # --- environment ------------------------------------------------------------------------

    def variable(self, name: str) -> str | None:
        """An environment variable in whatever case."""
        key = self._variable_key(name)
        return None if key is None else self.environ[key]

    def set_variable(self, name: str, value: str | None) -> None:
        """Set or (None or '') remove an environment variable."""
        key = self._variable_key(name)
        if value:
            self.environ[key or name] = value
        elif key is not None:
            del self.environ[key]

    def _variable_key(self, name: str) -> str | None:
        if name in self.environ:
            return name
        lower = name.lower()
        return next((key for key in self.environ if key.lower() == lower), None)

    # --- paths ------------------------------------------------------------------------------

    def absolute(self, path: str) -> str:
        """``path`` as ``C:\\...``, relative to the location.

        Raises:
            NetError: DriveNotFoundException for another drive.
        """
        path = path.replace("/", "\\")
        for prefix in ("Microsoft.PowerShell.Core\\FileSystem::", "FileSystem::", "\\\\?\\"):
            if path.lower().startswith(prefix.lower()):
                path = path[len(prefix) :]
        if path == "~" or path.startswith("~\\"):
            path = (self.variable("USERPROFILE") or "C:") + path[1:]
        if path[1:2] == ":":
            if path[0].lower() != "c":
                raise NetError(
                    "System.Management.Automation.DriveNotFoundException",
                    f"Cannot find drive. A drive with the name '{path[0]}' does not exist.",
                )
            rest = path[2:]
        elif path.startswith("\\"):
            rest = path
        else:
            rest = self.location[2:].rstrip("\\") + "\\" + path
        parts: list[str] = []
        for part in rest.split("\\"):
            if part == "..":
                parts = parts[:-1]
            elif part not in ("", "."):
                parts.append(part)
        return "C:\\" + "\\".join(parts)

    def unix_path(self, path: str) -> str:
        """Where ``path`` lies on the Unix side, whatever the case of its parts."""
        here = self.drive_c
        for part in self.absolute(path)[3:].split("\\"):
            if part:
                here = os.path.join(here, _in_folder(here, part))
        return here

    def windows_path(self, path: str) -> str:
        """``C:\\...`` of a place below the drive."""
        return "C:" + (path[len(self.drive_c) :].replace("/", "\\") or "\\")

    # --- processes --------------------------------------------------------------------------

    def set_location(self, path: str) -> None:
        """Change the current directory, which is known to exist."""
        self.location = path

    def find_program(self, name: str) -> str | None:
        """The full Windows path of a program, searched as Windows does, or None."""
        extensions = [""] if "." in name.rsplit("\\", 1)[-1] else []
        extensions += (self.variable("PATHEXT") or ".COM;.EXE;.BAT;.CMD").split(";")
        if "\\" in name or "/" in name or name[1:2] == ":":
            folders = [""]
        else:
            folders = [f"{folder.strip()}\\" for folder in (self.variable("PATH") or "").split(";")]
        for folder in folders:
            for extension in extensions:
                try:
                    full = self.absolute(folder + name + extension)
                except NetError:
                    continue
                if os.path.isfile(self.unix_path(full)):
                    return full
        return None

    def run(
        self,
        program: str,
        args: list[str],
        *,
        stdin: bytes | None,
        capture: bool,
        merge: bool = False,
    ) -> tuple[int, bytes]:
        """Run a native program to its end; its exit code and, if captured, its output."""
        from .native import run_program

        return run_program(self, program, args, stdin=stdin, capture=capture, merge=merge)

    def start(self, program: str, args: list[str]) -> int:
        """Start a native program without waiting; its process id."""
        from .native import start_program

        return start_program(self, program, args)

    def exit_status(self, code: int) -> int:
        """The Unix exit status for a Windows exit code, which is noted where that is wanted."""
        status = self.unix_environ.get("WCINIT_STATUS")
        if status and not 0 <= code <= 255:
            try:
                with open(int(status) if status.isdigit() else status, "wb", 0) as file:
                    file.write(b"%d" % (code & 0xFFFFFFFF))
            except OSError:
                pass  # the runtime falls back to the eight bits below
        return code & 0xFF or (1 if code else 0)


def _write_all(fd: int, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    while data:
        try:
            data = data[os.write(fd, data) :]
        except OSError:
            return  # nobody listens any more


def _in_folder(folder: str, name: str) -> str:
    """The entry of ``folder`` that ``name`` means; ``name`` itself where there is none."""
    if os.path.lexists(os.path.join(folder, name)):
        return name
    lower = name.lower()
    try:
        return next((entry for entry in os.listdir(folder) if entry.lower() == lower), name)
    except OSError:
        return name


def _windows_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables a Windows process has, from ``environ`` and what is the same everywhere."""
    import socket

    user = environ.get("USERNAME") or environ.get("USER") or "ContainerAdministrator"
    profile = f"C:\\Users\\{user}"
    name = socket.gethostname().upper()[:15]
    found = {
        "ALLUSERSPROFILE": "C:\\ProgramData",
        "APPDATA": f"{profile}\\AppData\\Roaming",
        "COMPUTERNAME": name,
        "ComSpec": "C:\\Windows\\system32\\cmd.exe",
        "HOMEDRIVE": "C:",
        "HOMEPATH": profile[2:],
        "LOCALAPPDATA": f"{profile}\\AppData\\Local",
        "NUMBER_OF_PROCESSORS": str(os.cpu_count() or 1),
        "OS": "Windows_NT",
        "PATHEXT": ".COM;.EXE;.BAT;.CMD;.VBS;.JS;.WS;.MSC",
        "PROCESSOR_ARCHITECTURE": "AMD64",
        "ProgramData": "C:\\ProgramData",
        "ProgramFiles": "C:\\Program Files",
        "PUBLIC": "C:\\Users\\Public",
        "SystemDrive": "C:",
        "SystemRoot": "C:\\Windows",
        "TEMP": f"{profile}\\AppData\\Local\\Temp",
        "TMP": f"{profile}\\AppData\\Local\\Temp",
        "USERDOMAIN": "User Manager",
        "USERNAME": user,
        "USERPROFILE": profile,
        "windir": "C:\\Windows",
    }
    path = "C:\\Windows\\system32;C:\\Windows;C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\"
    lower = {key.lower(): key for key in found}
    for key, value in environ.items():
        if key in UNIX_ONLY or key.startswith("WINE"):
            continue
        if key.lower() == "path":
            if value.startswith("/"):
                continue
            path = value
            continue
        found.pop(lower.get(key.lower(), ""), None)
        found[key] = value
    extra = environ.get("WINEPATH")
    if extra and extra.lower() not in path.lower():
        path = f"{extra};{path}"
    found["Path"] = path
    return found
