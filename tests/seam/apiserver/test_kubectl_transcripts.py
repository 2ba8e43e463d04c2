"""kubectl of two ages prints of our API server what it prints of kube-apiserver 1.20 and 1.36.

The scripts and the recorded transcripts lie in tests/golden/transcripts. Differences that are meant
stand in its differences.yaml with their reasons; one that is no longer there must leave that file.
A kubectl on PATH that was not recorded is held only against what the server makes: its tables.
"""

from __future__ import annotations

import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from apiserver_process import ServerProcess
from transcript_run import Stage, play, set_up, version_of
from transcript_text import (
    HERE,
    RECORDED,
    Outcome,
    differences,
    is_made_by_the_server,
    read,
    topics,
)

APIS = sorted(path.name for path in RECORDED.iterdir())
CLIENTS = sorted({path.name for path in RECORDED.glob("*/*")}, key=lambda name: int(name[2:]))
OLDEST, NEWEST = CLIENTS[0], CLIENTS[-1]
EXPLAINED = yaml.safe_load((HERE / "differences.yaml").read_text()) or []
AT_ONCE = 2
"""Servers that are played with at the same time."""


def _on_path():
    """The kubectl on PATH, its version, and the recorded one that it is held against."""
    program = shutil.which("kubectl")
    assert program, "there is no kubectl on PATH"
    version = version_of(program)
    return program, version, version if version in CLIENTS else NEWEST


ON_PATH, VERSION, STANDS_FOR = _on_path()
"""On a machine whose own kubectl is the oldest recorded one, no other is tried."""


@pytest.fixture(scope="module")
def played(old_kubectl, tmp_path_factory):
    """What every topic printed, by API version and client; futures, for all play side by side."""
    programs = {OLDEST: old_kubectl, STANDS_FOR: ON_PATH}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            (api, client): pool.submit(
                _all_topics, tmp_path_factory.mktemp("stage"), api, client, program
            )
            for client, program in programs.items()
            for api in APIS
        }


def _all_topics(folder, api, client, kubectl) -> dict[str, list[Outcome] | Exception]:
    process = ServerProcess(folder, version=api, without="ServiceAccount")
    process.start()
    try:
        stage = Stage(kubectl, folder, process.kubeconfig())
        set_up(stage)
        return {topic: _topic(stage, topic, api, client) for topic in topics()}
    finally:
        process.stop()
        assert "Traceback" not in process.log, process.log


def _topic(stage, topic, api, client) -> list[Outcome] | Exception:
    try:
        return play(stage, topic, api, client)
    except AssertionError as error:  # the other topics are played all the same
        return error


@pytest.mark.parametrize("topic", topics())
@pytest.mark.parametrize("client", sorted({OLDEST, STANDS_FOR}))
@pytest.mark.parametrize("api", APIS)
def test_prints_what_upstream_prints(played, api, client, topic):
    found = played[api, client].result()[topic]
    if isinstance(found, Exception):
        raise found
    wanted = read((RECORDED / api / client / f"{topic}.txt").read_text())
    assert [one.line for one in wanted] == [one.line for one in found], "record them anew"
    whole = client == OLDEST or VERSION == STANDS_FOR
    rows = [row for row in EXPLAINED if re.fullmatch(row["where"], f"{api}/{client}/{topic}")]
    unused = {row["difference"] for row in rows if not row.get("sometimes")}
    unexplained = []
    for one, other in zip(wanted, found, strict=True):
        if not whole and not is_made_by_the_server(one):
            continue
        for difference in differences(one, other):
            reasons = [row for row in rows if re.search(row["difference"], difference)]
            unused -= {row["difference"] for row in reasons}
            if not reasons:
                unexplained.append(difference)
    assert not unexplained, "\n".join(unexplained)
    assert not unused or not whole, f"explained in differences.yaml, and no longer so: {unused}"
