"""kubectl of two ages, on whole clusters of the oldest API and of the newest, on both systems.

What is to be seen is written by hand in tests/golden/transcripts/running, from upstream's
documentation and from what kubectl's own commands print; running_text.py tells the form. What our
clusters do in another way stands in its differences.yaml with the reason.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from running_stage import played
from running_text import RUNNING, parts, topics, variables
from transcript_run import Stage, set_up, version_of
from transcript_text import differences
from whole_cluster import Cluster

from muntin.model.windows_releases import API_VERSIONS

EXPLAINED = yaml.safe_load((RUNNING / "differences.yaml").read_text()) or []
NEWEST = ".".join(map(str, API_VERSIONS[-1]))
APIS = {"1.20": ("--profile", "v1.20"), "newest": ("--kubernetes-version", NEWEST)}
ON_PATH = shutil.which("kubectl") or ""
CLIENTS = ("1.20", "1.32") if ON_PATH and version_of(ON_PATH) != "1.20" else ("1.20",)
"""The oldest, and the one on PATH in the place of the newest; on Debian 12 they are the same."""
WORLDS = [
    (api, client, system)
    for api, client, system in (
        ("1.20", "1.20", "windows"),
        ("1.20", "1.32", "linux"),
        ("newest", "1.20", "linux"),
        ("newest", "1.32", "windows"),
    )
    if client in CLIENTS
]
"""API, kubectl and system: every pair of two of them is there, in half of all combinations."""
ALONE = {"nodes"}
"""Transcripts that change a node, which two should not do at a time."""
SLOW = ("top", "run", "rollout", "logs")
"""What takes longest is begun first."""
AT_ONCE = 8


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    """One cluster of each API, with two nodes of each system."""
    found = {
        api: Cluster(f"k{os.getpid()}{number}", tmp_path_factory.mktemp(f"api{number}"))
        for number, api in enumerate(APIS)
    }
    try:
        for api, cluster in found.items():
            cluster.up(*APIS[api], "--linux-nodes", "2", "--windows-nodes", "2")
        yield found
    finally:
        for cluster in found.values():
            cluster.down()


@pytest.fixture(scope="module")
def stages(clusters, old_kubectl, tmp_path_factory):
    """The users of each cluster, by API and client."""
    programs = dict(zip(CLIENTS, (old_kubectl, ON_PATH), strict=False))
    found = {
        (api, client): Stage(program, tmp_path_factory.mktemp("stage"), cluster.kubeconfig)
        for api, cluster in clusters.items()
        for client, program in programs.items()
    }
    for api in APIS:
        set_up(found[api, "1.20"])
    return found


@pytest.fixture(scope="module")
def outcomes(stages):
    """What every transcript printed, by topic, API, client and system; futures of it."""
    alone = threading.Lock()

    def play(topic, api, client, system):
        world = {"api": api, "kubectl": client, "os": system}
        words = variables(world, "1.20" if api == "1.20" else NEWEST)
        steps = list(parts(topic, world, words))
        namespace = f"{topic}-{system}-{client.replace('.', '')}"
        with alone if topic in ALONE else contextlib.nullcontext():
            return steps, played(stages[api, client], namespace, steps, words)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            key: pool.submit(play, *key)
            for topic in sorted(topics(), key=lambda name: name not in SLOW)
            for api, client, system in WORLDS
            for key in [(topic, api, client, system)]
        }


@pytest.mark.parametrize("topic", topics())
@pytest.mark.parametrize(("api", "client", "system"), WORLDS)
def test_prints_what_is_to_be_seen(outcomes, api, client, system, topic):
    steps, found = outcomes[topic, api, client, system].result()
    if isinstance(found, Exception):
        raise found
    where = f"{api}/{client}/{system}/{topic}"
    rows = [row for row in EXPLAINED if re.fullmatch(row["where"], where)]
    unused = {row["difference"] for row in rows if not row.get("sometimes")}
    unexplained = []
    for part, outcome in zip(steps, found, strict=True):
        for difference in differences(part.wanted, outcome):
            reasons = {
                row["difference"] for row in rows if re.search(row["difference"], difference)
            }
            unused -= reasons
            if not reasons:
                unexplained.append(difference)
    assert not unexplained, "\n".join(unexplained)
    assert not unused, f"explained in differences.yaml, and no longer so: {unused}"
