"""Random writers, killed again and again, over full and slow disks: what they saw is checked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from etcd_lab import EtcdLab
from orphans import end_with_parent
from store_history import History
from store_worker import WATCHES, opened

from muntin.seams.store import Change

WORKER = Path(__file__).with_name("store_worker.py")
SEED = int(os.environ.get("MUNTIN_SEED", "0")) or random.randrange(10**6)
DELAY_US = 20_000
LIMIT_S = 120


class Run:
    """Workers over one store, one after the other, and what they said."""

    def __init__(self, place: str, *, certain: bool, size: int = 0) -> None:
        self.place, self._size = place, size
        self.history = History(certain)
        self.start = asyncio.run(self._now())
        self._rounds = 0

    async def _now(self) -> int:
        store = await opened(self.place)
        revision = await store.current_revision()
        await store.close()
        return revision

    @contextmanager
    def worker(self, *before: str):
        """A worker whose lines ``take`` reads; killed at the end, its last words read."""
        self._rounds += 1
        after = [self.history.reported(prefix, self.start) for prefix in WATCHES]
        arguments = (self.place, f"{SEED}.{self._rounds}", json.dumps(after), str(self._size))
        process = subprocess.Popen(
            [*before, sys.executable, str(WORKER), *arguments],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=end_with_parent(),
        )
        self._lines = process.stdout
        assert json.loads(self._lines.readline()) == ["ready"]
        try:
            yield process
        finally:
            process.kill()
            for line in self._lines:
                self.history.read(line)
            process.wait()
            self._lines.close()

    def take(self, count: int) -> None:
        """Read ``count`` lines."""
        for _ in range(count):
            self.history.read(self._lines.readline())

    def take_until(self, outcome: str, times: int = 1, **result: str) -> None:
        """Read lines until that many writes ended so."""
        end = time.monotonic() + LIMIT_S
        while times:
            line = self._lines.readline()
            assert line, "the worker has ended"
            assert time.monotonic() < end, f"no write was {outcome} in {LIMIT_S} s"
            self.history.read(line)
            row = json.loads(line)
            if row[0] != "end" or row[3] != outcome:
                continue
            call = self.history.calls[row[1]]
            times -= call.verb in ("create", "update") and all(
                text in call.result[name] for name, text in result.items()
            )

    def check(self) -> None:
        """What was said fits the history that the store tells now."""
        log = asyncio.run(asyncio.wait_for(self._log(), 60))
        assert len(log) > 20
        print(f"seed {SEED}: {len(self.history.calls)} calls, {len(log)} changes")
        self.history.check(log, self.start)

    async def _log(self) -> list[Change]:
        store = await opened(self.place)
        newest = await store.current_revision()
        log: list[Change] = []
        watch = store.watch("/k/", self.start)
        async for batch in watch:
            log += batch.changes
            if batch.revision >= newest:
                break
        await watch.aclose()
        await store.close()
        return log


@pytest.fixture
def etcd_lab(tmp_path):
    lab = EtcdLab(tmp_path)
    try:
        yield lab
    finally:
        lab.close()


@contextmanager
def disk(folder: Path, mib: int):
    """A file system of its own with room for ``mib`` MiB."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path, leave: int) -> Path:
    """Fill a file system but for ``leave`` bytes, or to its end if others fill it meanwhile."""
    filler = folder / "filler"
    with filler.open("wb") as file, contextlib.suppress(OSError):
        size = 0
        while (free := shutil.disk_usage(folder).free) > leave:
            piece = min(free - leave, 2**20)
            os.posix_fallocate(file.fileno(), size, piece)
            size += piece
    return filler


def test_writers_of_sqlite_are_killed(tmp_path):
    chance = random.Random(SEED)
    run = Run(str(tmp_path / "db"), certain=True)
    for _ in range(5):
        with run.worker():
            run.take(chance.randrange(100, 600))
    run.check()


def test_writers_and_the_etcd_under_them_are_killed(etcd_lab):
    chance = random.Random(SEED)
    run = Run(f"{etcd_lab.ports[0]}:{etcd_lab.pki}", certain=False)
    for _ in range(2):
        with run.worker():
            for _ in range(2):
                run.take(chance.randrange(100, 500))
                etcd_lab.kill(0)
                etcd_lab.start(0)
                run.take_until("ok", 5)
    run.check()


def test_sqlite_on_a_full_disk_refuses_and_recovers(tmp_path):
    with disk(tmp_path / "disk", 64) as folder:
        run = Run(str(folder / "db"), certain=True, size=20_000)
        with run.worker():
            for _ in range(2):
                run.take(100)
                filler = fill(folder, 2_000_000)
                run.take_until("unavailable", 5, message="full")
                run.take_until("unavailable", 5, message="could not be made durable")
                filler.unlink()
                run.take_until("ok", 20)
        run.check()


def test_etcd_on_a_full_disk_ends_and_recovers(tmp_path):
    with disk(tmp_path / "disk", 200) as folder:
        lab = EtcdLab(tmp_path, data=folder)
        try:
            run = Run(f"{lab.ports[0]}:{lab.pki}", certain=False, size=20_000)
            with run.worker():
                run.take(100)
                filler = fill(folder, 500_000)
                run.take_until("unavailable", 3)
                filler.unlink()
                restart(lab)
                run.take_until("ok", 20)
            run.check()
        finally:
            lab.close()


def restart(lab: EtcdLab) -> None:
    """What the supervisor of a cluster does."""
    lab.processes[0].wait(60)
    lab.start(0)


def _slow(*more: str) -> list[str]:
    delay = f"inject=fsync,fdatasync:delay_exit={DELAY_US}"
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
            "-e", delay, *more]  # fmt: skip


def test_sqlite_on_a_slow_disk(tmp_path):
    run = Run(str(tmp_path / "db"), certain=True)
    for _ in range(2):
        with run.worker(*_slow()) as process:
            began = time.monotonic()
            run.take_until("ok", 20)
            kill_children(process.pid)
    assert time.monotonic() - began > DELAY_US / 1e6  # it was slow
    run.check()


def test_etcd_on_a_slow_disk(etcd_lab):
    run = Run(f"{etcd_lab.ports[0]}:{etcd_lab.pki}", certain=False)
    with subprocess.Popen(_slow("-p", str(etcd_lab.processes[0].pid))) as slowing:
        with run.worker():
            run.take_until("ok", 20)
        slowing.terminate()
    run.check()


def kill_children(pid: int) -> None:
    """The worker under strace, which would outlive it."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        os.kill(int(child), 9)
