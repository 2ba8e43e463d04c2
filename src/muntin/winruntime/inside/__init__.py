"""Programs that run inside Windows containers, under the system's Python and its standard library.

Each is started as ``/usr/bin/python3 -ISE <this folder>/__main__.py PROGRAM ARGUMENT...`` by a
small PE launcher named ``PROGRAM.exe`` (or by the runtime itself, when it is the entry point).
Nothing here may import the rest of Muntin; :mod:`.install` copies the folder to where containers
see it.

What a program expects of its surroundings:

- ``$WINEPREFIX/drive_c`` (default ``/prefix/drive_c``) is the C: drive;
- its environment is the Windows environment of the caller (``WINE*`` variables included), and
  ``WINCWD`` the caller's current directory as ``C:\\...``; without it the Unix one counts;
- standard streams are bytes; ``SIGINT`` is Ctrl+C, ``SIGTERM`` is CTRL_SHUTDOWN_EVENT;
- ``WCINIT_STATUS``, where set, is where the full 32-bit exit code goes in decimal: a file's path,
  or the number of an inherited descriptor.
"""

PROGRAMS = (
    "powershell",
    "curl",
    "nslookup",
    "timeout",
    "tasklist",
    "findstr",
    "where",
    "ping",
    "tar",
    "ipconfig",
)
