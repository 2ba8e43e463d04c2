"""The user's kubeconfig: ours goes in beside the rest, and out again without a trace."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import warnings
from pathlib import Path

import pytest
import yaml

from muntin.cluster import kubeconfig
from muntin.cluster.kubeconfig import Access
from muntin.kit.errors import Conflict, Invalid

OURS = Access(
    name="muntin-a", server="https://127.0.0.1:6443", ca=b"CA", certificate=b"CRT", key=b"KEY"
)
THEIRS = """\
# a comment of the user's
apiVersion: v1
kind: Config
clusters:
- {name: work, cluster: {server: "https://work:6443", insecure-skip-tls-verify: true}}
contexts:
- {name: work, context: {cluster: work, user: me, namespace: dev}}
users:
- {name: me, user: {token: abc}}
current-context: work
"""


@pytest.fixture
def undo(tmp_path: Path) -> Path:
    return tmp_path / "undo"


def load(path: Path):
    return yaml.safe_load(path.read_text())


def test_a_new_file_and_its_folder_go_away_again(tmp_path, undo):
    path = tmp_path / ".kube" / "config"
    kubeconfig.install(OURS, path, undo)
    content = load(path)
    assert content["current-context"] == "muntin-a"
    assert content["users"][0]["user"]["client-key-data"] == "S0VZ"
    assert path.stat().st_mode & 0o777 == 0o600
    kubeconfig.uninstall(undo)
    assert not path.parent.exists()
    assert not undo.exists()


def test_an_untouched_file_comes_back_byte_for_byte(tmp_path, undo):
    path = tmp_path / "config"
    path.write_text(THEIRS)
    path.chmod(0o640)
    kubeconfig.install(OURS, path, undo)
    content = load(path)
    assert [row["name"] for row in content["contexts"]] == ["work", "muntin-a"]
    assert content["clusters"][0]["cluster"]["insecure-skip-tls-verify"] is True
    assert content["current-context"] == "muntin-a"
    assert path.stat().st_mode & 0o777 == 0o640
    kubeconfig.install(OURS, path, undo)  # a second `up`
    kubeconfig.uninstall(undo)
    assert path.read_text() == THEIRS
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_others_wrote_in_between_stays(tmp_path, undo):
    path = tmp_path / "config"
    path.write_text(THEIRS)
    kubeconfig.install(OURS, path, undo)
    content = load(path)
    content["contexts"].append({"name": "third", "context": {"cluster": "work", "user": "me"}})
    path.write_text(yaml.safe_dump(content))
    kubeconfig.uninstall(undo)
    left = load(path)
    assert [row["name"] for row in left["contexts"]] == ["work", "third"]
    assert [row["name"] for row in left["clusters"]] == ["work"]
    assert [row["name"] for row in left["users"]] == ["me"]
    assert left["current-context"] == "work"


def test_a_context_that_the_user_chose_stays_current(tmp_path, undo):
    path = tmp_path / "config"
    kubeconfig.install(OURS, path, undo)
    path.write_text(yaml.safe_dump({**load(path), "current-context": "mine"}))
    kubeconfig.uninstall(undo)
    assert not path.exists(), "nothing but ours was in it, and we made it"


def test_another_file_moves_the_entries(tmp_path, undo):
    first, second = tmp_path / "one", tmp_path / "two"
    kubeconfig.install(OURS, first, undo)
    kubeconfig.install(OURS, second, undo)
    assert not first.exists()
    kubeconfig.uninstall(undo)
    assert not second.exists()


@pytest.mark.parametrize("text", ["[1, 2]", "clusters: {a: b}", "kind: Pod", "{{{"])
def test_a_broken_file_is_left_alone(tmp_path, undo, text):
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(Invalid, match="--kubeconfig"):
        kubeconfig.install(OURS, path, undo)
    assert path.read_text() == text
    assert not undo.exists()
    assert not path.with_name("config.lock").exists()


def test_the_lock_of_client_go_is_respected(tmp_path, undo, monkeypatch):
    monkeypatch.setattr(kubeconfig, "_LOCK_WAIT_S", 0.0)
    path = tmp_path / "config"
    path.with_name("config.lock").touch()
    with pytest.raises(Conflict, match=r"config\.lock exists"):
        kubeconfig.install(OURS, path, undo)
    assert not path.exists()


def killed_at(step, work):
    """Whether ``work`` was killed when it came to its line number ``step``, of those that write."""
    left = step

    reads = {"read", "_model", "opened", "__init__", "_parse", "document", "encoded", "_remembered"}
    reads |= {"merged", "without", "dump", "is_empty", "<genexpr>", "<listcomp>", "<setcomp>"}

    def writes(code):
        by_hand = code.co_filename.endswith(("kubeconfig.py", "files.py"))
        by_hand = by_hand and code.co_name not in reads
        return by_hand or code.co_name in ("write_text", "write_bytes", "touch", "unlink")

    def trace(frame, event, _):
        nonlocal left
        if event == "call":
            return trace if writes(frame.f_code) else None
        left -= event == "line"
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fork beside threads of other tests
        pid = os.fork()
    if not pid:
        sys.settrace(trace)
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("before", [None, THEIRS])
def test_who_is_killed_at_any_line_leaves_nothing(tmp_path, before):
    """Both ways; what was there before is there again after the next ``uninstall``."""
    folder, undo = tmp_path / "kube", tmp_path / "undo"
    path = folder / "config"
    for work in (kubeconfig.install, kubeconfig.uninstall):
        is_killed, step = True, 0
        while is_killed:
            if before is not None:
                folder.mkdir(exist_ok=True)
                path.write_text(before)
            if work is kubeconfig.install:
                is_killed = killed_at(step, lambda: kubeconfig.install(OURS, path, undo))
                kubeconfig.install(OURS, path, undo)
            else:
                kubeconfig.install(OURS, path, undo)
                is_killed = killed_at(step, lambda: kubeconfig.uninstall(undo))
            kubeconfig.uninstall(undo)
            found = {str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")}
            if before is None:
                assert found <= {"kube"}, f"killed at line {step}"
            else:
                assert found == {"kube", "kube/config"}, f"killed at line {step}"
                assert path.read_text() == before
            shutil.rmtree(folder, ignore_errors=True)
            step += 1
        assert step > 30


def test_a_link_is_followed(tmp_path, undo):
    real, link = tmp_path / "real", tmp_path / "config"
    real.write_text(THEIRS)
    link.symlink_to(real)
    kubeconfig.install(OURS, link, undo)
    assert link.is_symlink()
    assert "muntin-a" in real.read_text()
    kubeconfig.uninstall(undo)
    assert real.read_text() == THEIRS


def test_which_file_is_written(tmp_path):
    there = tmp_path / "there"
    there.touch()
    listed = f"{tmp_path}/absent::{there}:{tmp_path}/last"
    home = {"HOME": "/home/u"}
    assert kubeconfig.target(Path("x"), {"KUBECONFIG": "y"}) == Path("x")
    assert kubeconfig.target(None, {"KUBECONFIG": listed}) == there
    assert kubeconfig.target(None, {"KUBECONFIG": "/no/a:/no/b"}) == Path("/no/b")
    assert kubeconfig.target(None, home) == Path("/home/u/.kube/config")
    assert kubeconfig.target(None, {**home, "KUBECONFIG": ""}) == Path("/home/u/.kube/config")


def test_half_a_record_is_none(tmp_path, undo):
    path = tmp_path / "config"
    path.write_text(THEIRS)
    undo.write_text('{"path": "/ho')
    kubeconfig.uninstall(undo)
    assert path.read_text() == THEIRS
    kubeconfig.install(OURS, path, undo)
    kubeconfig.uninstall(undo)
    assert path.read_text() == THEIRS
