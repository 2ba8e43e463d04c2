"""Mounts by descriptor, in a mount namespace of the test's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

STEPS = """
import os
from pathlib import Path
from muntin.kit.safe_paths import bind_mount

top = Path({top!r})
source = os.open(top / "source", os.O_PATH)
target = os.open(top / "target", os.O_PATH)
(top / "source").rename(top / "moved")
(top / "source").symlink_to("/etc")
bind_mount(source, target, read_only=True)
print((top / "target/file").read_text())
try:
    (top / "target/new").write_text("")
except OSError as err:
    print(err.strerror)
"""


def test_a_mount_by_descriptor_ignores_renames_and_can_be_read_only(tmp_path: Path) -> None:
    for name in ("source", "target"):
        (tmp_path / name).mkdir()
    (tmp_path / "source/file").write_text("content")
    script = STEPS.format(top=str(tmp_path))
    command = ["unshare", "--mount", "--propagation=private", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.splitlines() == ["content", "Read-only file system"], done.stderr
