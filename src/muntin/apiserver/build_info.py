"""What the server says it is: ``/version`` and the metric ``kubernetes_build_info``.

The version is that of the API that is served; the other fields say what really runs.
"""

from __future__ import annotations

import hashlib
import platform
from functools import lru_cache
from pathlib import Path

from muntin.kit.clock import rfc3339

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}


@lru_cache(maxsize=8)
def version_info(kubernetes_version: str) -> dict[str, str]:
    """The fields of version.Info (apimachinery pkg/version/types.go), none of them empty."""
    version = kubernetes_version.removeprefix("v")
    major, minor, *_ = version.split(".")
    full = version if version.count(".") >= 2 else f"{version}.0"
    built = max(path.stat().st_mtime for path in Path(__file__).parent.glob("*.py"))
    machine = platform.machine()
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"v{full}",
        "gitCommit": hashlib.sha1(f"muntin v{full}".encode()).hexdigest(),
        "gitTreeState": "clean",
        "buildDate": rfc3339(built),
        "goVersion": f"python{platform.python_version()}",
        "compiler": "muntin",
        "platform": f"linux/{_MACHINES.get(machine, machine)}",
    }
