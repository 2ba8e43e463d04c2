"""`muntin lint --prove`: what the linter says happens, on a cluster that is gone afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from whole_cluster import MUNTIN, run

from muntin.model.windows import Feature

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
    roots = (Path("/var/lib/muntin"), Path("/run/muntin"))
    assert [path for root in roots for path in root.glob("prove-*")] == []


def test_what_comes_up_is_exit_code_0(tmp_path):
    done = proved(tmp_path, pod("fine"))
    assert done.returncode == 0, done.stdout + done.stderr


CORPUS = Path(__file__).parents[1] / "lint_corpus"
# Rows whose pods do not come up, and say why: what the corpus has as bad is run on a node.
SHOWN = (
    *(feature for feature in Feature if feature.name.startswith("FORBIDS_")),
    Feature.HOSTPROCESS_ALL_OR_NONE,
    Feature.HOSTPROCESS_NEEDS_HOSTNETWORK,
    Feature.HUGE_PAGES,
    Feature.POD_OS_LINUX_WINDOWSOPTIONS,
    Feature.RUN_AS_NON_ROOT,
)


@pytest.mark.reproduces(
    Feature.HOSTPROCESS_ALL_OR_NONE,
    Feature.HOSTPROCESS_NEEDS_HOSTNETWORK,
    Feature.HUGE_PAGES,
    Feature.POD_OS_LINUX_WINDOWSOPTIONS,
    Feature.RUN_AS_NON_ROOT,
)
def test_rows_of_errors_are_seen(tmp_path):
    for feature in SHOWN:
        text = (CORPUS / feature / "bad.yaml").read_text(encoding="utf-8")
        (one,) = yaml.safe_load_all(text)
        one["metadata"]["name"] = str(feature)
        (tmp_path / f"{feature}.yaml").write_text(yaml.safe_dump(one))
    command = (*MUNTIN, "lint", "--prove", "--profile", "1.34/2022", "--level", "info")
    done = run(*command, str(tmp_path), check=False, timeout_s=240)
    seen = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("  seen ")}
    assert {str(feature) for feature in SHOWN} - seen == set(), done.stdout
    assert len(SHOWN) >= 20
