"""kubectl logs, of Linux and Windows pods."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from samples import BRIEF, User, container, pod
from whole_cluster import eventually

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z line \d+")


def test_what_a_container_wrote(user: User, system: str):
    assert user("logs", system, "-c", "main").splitlines()[0] == "line 1"
    (last,) = user("logs", system, "-c", "main", "--tail=1").splitlines()
    assert re.fullmatch(r"line \d+", last)
    assert user("logs", system, "-c", "main", "--tail=0") == ""


def test_timestamps_and_since(user: User, system: str):
    line = user("logs", system, "-c", "main", "--tail=1", "--timestamps").strip()
    assert STAMP.fullmatch(line)
    before = (datetime.now(UTC) - timedelta(seconds=3)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    rows = user("logs", system, "-c", "main", "--since=3s", "--timestamps").splitlines()
    assert [row for row in rows if row.split()[0] < before] == []
    since = line.split()[0]
    assert line.split(" ", 1)[1] in user("logs", system, "-c", "main", f"--since-time={since}")


def test_of_all_containers_and_by_label(user: User, system: str):
    text = user("logs", system, "--all-containers", "--prefix", "--tail=3")
    assert f"[pod/{system}/main] line" in text
    assert "line" in user("logs", "-l", f"app={system}", "-c", "main", "--tail=1")


def test_followed_until_the_container_ends(user: User, system: str):
    name = f"{system}-brief"
    brief = container(system, "main", BRIEF[system])
    document = pod(system, name, brief, policy="Never")
    user("create", "-f", "-", input=json.dumps(document))
    try:
        eventually(lambda: user.run("logs", name).returncode == 0, what="a log")
        assert user("logs", "-f", name).split() == ["n1", "n2", "n3"]
        found = user.object("pod", name)["status"]["containerStatuses"][0]["state"]
        assert found.get("terminated", {}).get("exitCode", 3) == 3
        assert user("logs", "-f", name).split() == ["n1", "n2", "n3"]
    finally:
        user("delete", "pod", name, "--now")


def test_followed_while_it_writes(user: User, system: str):
    with user.running("logs", "-f", "--tail=1", system, "-c", "main") as lines:
        first = int(lines.wait("line").split()[1])
        lines.wait(f"line {first + 2}")


def test_of_the_run_before(user: User, system: str):
    assert user("logs", f"{system}-crash", "--previous").split() == ["bye"]
    assert user("logs", f"{system}-half", "-c", "done").split() == ["bye"]
    error = user.fails("logs", system, "-c", "main", "--previous")
    assert f'previous terminated container "main" in pod "{system}" not found' in error


@pytest.mark.parametrize(
    ("args", "text"),
    [(("nosuch",), 'pods "nosuch" not found'), (("{}", "-c", "nosuch"), "container nosuch is not")],
)
def test_of_what_is_not_there(user: User, system: str, args: tuple[str, ...], text: str):
    assert text in user.fails("logs", *(arg.format(system) for arg in args))
