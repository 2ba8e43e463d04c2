"""Fixtures that all kinds of tests share."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

OLD_KUBECTL = Path.home() / ".cache/muntin/kubernetes-client"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="rewrite the golden outputs with what is made now"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Let a run that is told to end take down what it brought up."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file, or rewrite the file when run with ``--update``."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update"):
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text

    return check


@pytest.fixture(scope="session")
def old_kubectl() -> str:
    """Debian 12's kubectl 1.20, unpacked beside the one on PATH."""
    binary = OLD_KUBECTL / "usr/bin/kubectl"
    if not binary.exists():
        OLD_KUBECTL.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=OLD_KUBECTL.parent) as folder:
            download = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "kubernetes-client"]
            if subprocess.run(download, cwd=folder, check=False).returncode:
                subprocess.run(["apt-get", "update", "-qq"], check=True)  # a machine without lists
                subprocess.run(download, cwd=folder, check=True)
            (package,) = Path(folder).glob("kubernetes-client*.deb")
            subprocess.run(["dpkg", "-x", package, OLD_KUBECTL], check=True)
    return str(binary)
