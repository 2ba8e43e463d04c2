"""Programs of others at work on one hybrid cluster, side by side, with nothing to complain of.

`make check` lets them work for a minute, `make programs` for ten (``--programs-seconds``). Each
has rights of its own, those that its documentation or chart gives it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import debian_archive
import program_dask
import program_kopf
import program_prometheus
import pytest
from program import Program, Stay
from whole_cluster import Cluster

SECONDS = 60
WORKERS = {
    **({"prometheus": program_prometheus.work} if debian_archive.is_there() else {}),
    "dask-operator": program_dask.work,
    "kopf-examples": program_kopf.work,
}


@pytest.fixture(scope="module")
def stays(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, Future[Program]]]:
    seconds = request.config.getoption("--programs-seconds", default=SECONDS)
    cluster = Cluster(f"p{os.getpid()}", tmp_path_factory.mktemp("programs"))
    programs: list[Program] = []
    try:
        cluster.up("--windows-nodes", "1", "--taint", "win01:os=windows:NoSchedule")
        end = time.monotonic() + seconds

        def stay(name: str) -> Stay:
            folder = tmp_path_factory.mktemp(name)
            return Stay(cluster=cluster, folder=folder, end=end, programs=programs)

        with ThreadPoolExecutor() as pool:
            yield {name: pool.submit(work, stay(name)) for name, work in WORKERS.items()}
    finally:
        for program in programs:
            program.end()
        cluster.down()


@pytest.mark.parametrize("name", WORKERS)
def test_works_without_complaint(stays: dict[str, Future[Program]], name: str) -> None:
    program = stays[name].result()
    said = program.log.read_text()
    assert program.is_at_work, said[-3000:]
    assert said, "it said nothing at all"
    assert not program.complaints()
