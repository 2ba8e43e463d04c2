"""`muntin lint --prove`: what the linter says happens, on a cluster that is gone afterwards."""

from __future__ import annotations

import json
from pathlib import Path

from whole_cluster import MUNTIN, run

IMAGE = "mcr.microsoft.com/windows/nanoserver:ltsc2019"
PROFILE = "1.34/2019"


def pod(name, *, container=None, **spec):
    own = {"name": "c", "image": IMAGE, "command": ["cmd", "/c", "ping -t 127.0.0.1"]}
    found = {
        "os": {"name": "windows"},
        "nodeSelector": {"kubernetes.io/os": "windows"},
        "containers": [{**own, **(container or {})}],
        **spec,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": found}


def proved(tmp_path, *objects):
    file = tmp_path / "pods.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    command = (*MUNTIN, "lint", "--prove", "--profile", PROFILE, "--level", "info", str(file))
    return run(*command, check=False, timeout_s=240)


def test_what_happens_is_told(tmp_path):
    done = proved(
        tmp_path,
        pod("fine"),
        pod("forbidden", hostPID=True),
        pod("ends", container={"command": ["cmd", "/c", "exit 3"]}, restartPolicy="Never"),
    )
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"On {PROFILE}:"
    assert "  seen      os-windows-forbids-hostpid" in done.stdout
    assert "spec.hostPID: Forbidden: cannot be set for a windows pod" in done.stdout
    assert "  Pod default/fine: ready" in lines
    assert "  Pod default/ends: container c ended with exit code 3: Error" in lines
    folders = [*Path("/var/lib/muntin").iterdir(), *Path("/run/netns").iterdir()]
    assert [path for path in folders if "prove-" in path.name] == []


def test_what_comes_up_is_exit_code_0(tmp_path):
    done = proved(tmp_path, pod("fine"))
    assert done.returncode == 0, done.stdout + done.stderr
