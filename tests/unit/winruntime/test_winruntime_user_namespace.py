"""User ids of pods and how a bundle gets a user namespace. Nothing is mounted here."""

from __future__ import annotations

from pathlib import Path

import pytest

from muntin.kit.errors import Unavailable
from muntin.seams.oci.bundle import Bundle, Process, bind, overlay
from muntin.winruntime import user_namespace
from muntin.winruntime.user_namespace import SIZE, IdRange, choose, isolate

LAST_32_BIT = (1 << 31) - 1


def test_every_pod_has_a_range_of_its_own_that_no_account_of_the_host_has() -> None:
    taken: set[int] = set()
    for number in range(500):
        taken.add(choose(f"{number % 5:08x}ff", taken).first)
    assert len(taken) == 500
    assert all(first % SIZE == 0 for first in taken)
    assert min(taken) > 1_879_048_191  # systemd's container ids end here
    assert max(taken) + SIZE < LAST_32_BIT
    assert choose("00000001", []) == choose("00000001", []) != choose("00000002", [])


def test_no_range_is_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_namespace, "_LAST", user_namespace._FIRST)
    first = choose("ab" * 32, []).first
    with pytest.raises(Unavailable, match="all 1 ranges of user ids are taken"):
        choose("cd" * 32, [first])


def test_volumes_and_layers_are_staged_and_system_folders_are_not() -> None:
    volume = bind("/data", "/prefix/drive_c/v", readonly=True)
    mounts = [
        bind("/usr", "/usr", readonly=True),
        overlay(["/top", "/low"], "/c/upper", "/c/work", "/prefix"),
        volume,
    ]
    process = Process(args=["x"], env={})
    bundle = Bundle(process=process, rootfs="/r", hostname="h", cgroup="/c", mounts=mounts)
    document, plan = isolate(bundle, IdRange(7 * SIZE), Path("/c"), [volume])
    own = document["mounts"][-3:]
    assert own[0] == mounts[0]
    assert [row["destination"] for row in own] == ["/usr", "/prefix", "/prefix/drive_c/v"]
    assert own[1]["options"] == ["rbind", "rw"]
    assert own[2]["options"] == ["rbind", "ro"]
    staged = {row["target"]: row for row in plan["mounts"]}
    assert staged[own[1]["source"]]["overlay"][0] == "lowerdir=/top:/low"
    assert staged[own[2]["source"]]["source"] == "/data"
    assert all(target.startswith("/c/stage/") for target in staged)
    assert (plan["first"], plan["size"]) == (7 * SIZE, SIZE)
    assert document["linux"]["uidMappings"] == document["linux"]["gidMappings"] == [
        {"containerID": 0, "hostID": 7 * SIZE, "size": SIZE}
    ]  # fmt: skip
    assert {"type": "user"} in document["linux"]["namespaces"]


@pytest.mark.parametrize("release", ["5.18.0-9-amd64", "4.19.0", "5.9"])
def test_old_kernels_have_none(monkeypatch: pytest.MonkeyPatch, release: str) -> None:
    uname = type("Uname", (), {"release": release})
    monkeypatch.setattr(user_namespace.os, "uname", lambda: uname)
    assert user_namespace.why_not([]) == f"Linux {release} is older than 5.19"
