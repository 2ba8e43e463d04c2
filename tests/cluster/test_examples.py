"""Every example does what its page says: ``run.sh`` prints ``expected.txt``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from whole_cluster import ROOT, free_port, run

EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/run.sh"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(cluster, example: Path, tmp_path: Path):
    muntin = tmp_path / "muntin"
    muntin.write_text(f'#!/bin/sh\nexec {sys.executable} -m muntin "$@"\n')
    muntin.chmod(0o755)
    programs = {"MUNTIN": str(muntin), "HELM": str(Path(sys.executable).parent / "helm")}
    own = {"PORT": str(free_port()), "STAGE": f"s{os.getpid()}"}
    environment = {**cluster.environment, "NAME": cluster.name, **programs, **own}
    done = run(str(example / "run.sh"), timeout_s=240, check=False, env=environment)
    assert done.stdout == (example / "expected.txt").read_text(), done.stderr
    assert done.returncode == 0
    for manifest in example.glob("*.yaml"):  # what it leaves in place, to play with
        cluster.kubectl("delete", "-f", str(manifest), "--ignore-not-found", "--now")
