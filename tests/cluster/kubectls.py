"""The kubectl programs to try: whichever is on PATH, and Debian's 1.20 unpacked in a cache."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

CACHE = Path("/var/cache/muntin/test-tools")
PACKAGE = "kubernetes-client"


def newest() -> str:
    """The kubectl on PATH."""
    found = shutil.which("kubectl")
    assert found, "kubectl is missing: make setup"
    return found


def debian() -> str:
    """Debian's kubectl, fetched with apt and unpacked without being installed."""
    program = CACHE / PACKAGE / "usr/bin/kubectl"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            command = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", PACKAGE]
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
            (package,) = Path(folder).glob("*.deb")
            subprocess.run(["dpkg", "-x", package, f"{folder}/x"], check=True, timeout=120)
            shutil.rmtree(CACHE / PACKAGE, ignore_errors=True)
            Path(folder, "x").rename(CACHE / PACKAGE)
    return str(program)


PROGRAMS = {"path": newest, "debian": debian}
