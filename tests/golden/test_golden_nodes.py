"""What the node of each Windows release looks like in the API, one file per profile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.facts import windows_facts
from muntin.kubelet.node_object import new_node, node_status
from muntin.kubelet.platform import windows
from muntin.model.windows_releases import (
    BUILDS,
    DEFAULT_KUBERNETES,
    RUNTIME_VERSIONS,
    WindowsBuild,
    git_version,
    profile_of,
)

HERE = Path(__file__).parent / "node"
PROFILES = [
    *((f"{row.release_id}", row, DEFAULT_KUBERNETES, "containerd") for row in BUILDS),
    ("v1.20", BUILDS[3], (1, 20), "docker"),
]


@pytest.mark.parametrize(
    ("name", "release", "kubernetes", "runtime"), PROFILES, ids=[row[0] for row in PROFILES]
)
def test_node_of_each_profile(
    golden: Callable[[Path, str], None],
    name: str,
    release: WindowsBuild,
    kubernetes: tuple[int, ...],
    runtime: str,
) -> None:
    profile = profile_of(release, kubernetes, runtime=runtime)
    config = KubeletConfig(
        node_name="win01",
        node_ip="172.31.0.12",
        version=git_version(kubernetes),
        platform=windows(profile),
        facts=windows_facts(profile, "win01", cpus=4, memory_bytes=8 << 30, storage_bytes=80 << 30),
        annotations={"muntin.dev/emulated": "true"},
    )
    status = node_status(
        config,
        runtime_version=f"{runtime}://{RUNTIME_VERSIONS[runtime]}",
        images=[],
        problems=[],
        old={},
        now=1_700_000_000.0,
    )
    node = json.dumps(new_node(config, status), indent=2, sort_keys=True) + "\n"
    golden(HERE / f"windows-{name}.json", node)
