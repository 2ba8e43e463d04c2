"""The attackers' images: Python for Linux, made of Debian's own files; raw.exe for Windows."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from pathlib import Path

from image_archives import docker_archive, tar

from muntin.winruntime.base.programs import COMPILER, FLAGS, SOURCES

HERE = Path(__file__).parent
LINUX_IMAGE, WINDOWS_IMAGE = "example.com/attack/lin:1", "example.com/attack/win:1"
_PYTHON = Path("/usr/bin/python3").resolve().name


def linux_image(folder: Path) -> Path:
    """Python with its standard library, and the attacks under /attack."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as layer:
        for path in _python_files():
            layer.add(path, path.lstrip("/"), recursive=False)
        for name, target in (("bin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            layer.addfile(link)
        temporary = tarfile.TarInfo("tmp")
        temporary.type, temporary.mode = tarfile.DIRTYPE, 0o1777
        layer.addfile(temporary)
        for program in sorted((HERE / "programs").glob("*.py")):
            layer.add(program, f"attack/{program.name}")
        layer.add("/bin/busybox", "usr/bin/busybox")
    config = {"Entrypoint": ["/usr/bin/busybox", "sleep", "100000"]}
    path = folder / "attack-lin.tar"
    return docker_archive(path, LINUX_IMAGE, buffer.getvalue(), os="linux", config=config)


def windows_image(folder: Path) -> Path:
    """raw.exe, which leaves Wine, and the attacks in C:\\attack."""
    program = folder / "raw.exe"
    source = HERE / "programs/raw.c"
    command = [COMPILER, *FLAGS, f"-I{SOURCES}", "-o", str(program), str(source)]
    subprocess.run(command, check=True, timeout=60)
    files = {"Files/attack/raw.exe": program.read_bytes()}
    for script in sorted((HERE / "programs").glob("*.py")):
        files[f"Files/attack/{script.name}"] = script.read_bytes()
    fields = {"os": "windows", "os.version": "10.0.17763.1"}
    config = {"Cmd": ["cmd", "/c", "ping -t 127.0.0.1 > nul"]}
    return docker_archive(
        folder / "attack-win.tar", WINDOWS_IMAGE, tar(files), **fields, config=config
    )


def _python_files() -> list[str]:
    """What the packages of the system's Python hold, without documentation."""
    version = _PYTHON.removeprefix("python")
    packages = [f"python{version}-minimal", f"libpython{version}-minimal",
                f"libpython{version}-stdlib", "python3-minimal"]  # fmt: skip
    listed = subprocess.run(
        ["dpkg-query", "-L", *packages], capture_output=True, text=True, check=True, timeout=30
    ).stdout.split("\n")
    paths = {p for p in listed if p.startswith(("/usr/bin/python", "/usr/lib/python"))}
    wanted = {p for p in paths if not Path(p).is_dir() or Path(p).is_symlink()}
    binaries = [p for p in wanted if p.endswith(".so")] + [f"/usr/bin/{_PYTHON}"]
    return sorted(path for path in wanted | _libraries(binaries) if Path(path).exists())


def _libraries(binaries: list[str]) -> set[str]:
    """Paths of the shared libraries and the loader that ``binaries`` need, below /usr."""
    text = subprocess.run(
        ["ldd", *binaries], capture_output=True, text=True, check=False, timeout=60
    ).stdout
    named = re.findall(r"(?<=\s)/\S+(?= \(0x)", text)
    return {path if path.startswith("/usr/") else f"/usr{path}" for path in named}
