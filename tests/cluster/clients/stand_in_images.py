"""The images that the suites ask for, made on this machine from busybox.

A pod of ``nginx`` is to answer on port 80, one of ``ubuntu`` to have a shell, one of ``pause`` to
stay; that is all the suites use of them. ``python`` is this machine's own interpreter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from muntin.cluster import images_linux
from muntin.cluster.images_linux import Entry, Image

SHELLS = ("docker.io/library/busybox:latest", "docker.io/library/ubuntu:latest")
WEB_SERVERS = (
    "docker.io/library/nginx:latest",
    "docker.io/library/nginx:1.14.2",
    "docker.io/library/nginx:1.15.4",
    "docker.io/library/nginx:1.21.4",
)
PAUSES = ("gcr.io/google_containers/pause:latest", "k8s.gcr.io/pause:2.0")
PYTHON = "docker.io/library/python:latest"
ROOT = "/usr/share/nginx/html"
PAGE = b"<!DOCTYPE html><title>Welcome to nginx!</title><h1>Welcome to nginx!</h1>\n"


def write(path: Path, *, with_python: bool) -> None:
    """All images in one archive at ``path``, an OCI image layout; python's takes 70 MB."""
    applets = subprocess.run(["/bin/busybox", "--list"], capture_output=True, text=True, check=True)
    names = [name for name in applets.stdout.split() if "/" not in name]
    shell = images_linux.busybox_image(Path("/bin/busybox").read_bytes(), names)
    images = [
        replace(shell, names=SHELLS),
        _web_server(shell),
        replace(images_linux.pause_image(), names=PAUSES),
        *([_python(shell)] if with_python else []),
    ]
    path.write_bytes(images_linux.archive(images))


def _web_server(shell: Image) -> Image:
    return replace(
        shell,
        names=WEB_SERVERS,
        config={**shell.config, "Cmd": ["httpd", "-f", "-p", "80", "-h", ROOT]},
        entries=[
            *shell.entries,
            *(Entry(path=path, mode=0o755) for path in ("usr/share", "usr/share/nginx", ROOT[1:])),
            Entry(path=f"{ROOT[1:]}/index.html", mode=0o644, data=PAGE),
        ],
    )


def _python(shell: Image) -> Image:
    """The interpreter, the libraries it is linked to, and the standard library's plain modules."""
    program = Path(sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib"))
    files = [program, *_libraries(program), *_modules(library)]
    files += [path for module in _extensions(library) for path in _libraries(module)]
    link = Entry(path="usr/local/bin/python", mode=0o755, link=str(program)[1:])
    return replace(shell, names=[PYTHON], entries=[*shell.entries, *_entries(set(files)), link])


def _libraries(program: Path) -> Iterator[Path]:
    """What the dynamic linker loads for ``program``, itself among it."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for word in text.split():
        if word.startswith("/") and os.path.exists(word):
            yield Path(word)


def _modules(library: Path) -> Iterator[Path]:
    for path in [*library.glob("*.py"), *library.glob("*/*.py")]:
        if path.parent.name not in ("test", "idlelib", "ensurepip", "lib2to3", "__pycache__"):
            yield path
    yield from _extensions(library)


def _extensions(library: Path) -> Iterable[Path]:
    return library.glob("lib-dynload/*.so")


def _entries(files: Iterable[Path]) -> list[Entry]:
    made: dict[str, Entry] = {}
    for file in sorted(files):
        for folder in reversed(file.parents[:-1]):
            made.setdefault(str(folder), Entry(path=str(folder)[1:], mode=0o755))
        made[str(file)] = Entry(path=str(file)[1:], mode=0o755, data=file.read_bytes())
    return list(made.values())
