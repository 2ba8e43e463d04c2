"""Errors at the command line: two lines, the documented code, a next step."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from muntin.cli.exit_codes import EXIT_CODES, exit_code
from muntin.cli.main import COMMANDS, cli
from muntin.kit import errors


def muntin(*args, **kwargs):
    return subprocess.run(
        [sys.executable, "-m", "muntin", *args],
        capture_output=True,
        text=True,
        timeout=30,
        **kwargs,
    )


def test_every_code_is_said_once():
    codes = [row.code for row in EXIT_CODES]
    assert len(set(codes)) == len(codes)
    classes = [row.error for row in EXIT_CODES if row.error]
    assert len(set(classes)) == len(classes)


def test_codes_of_errors():
    assert exit_code(errors.Invalid("x")) == 3
    assert exit_code(errors.Forbidden("x")) == 4
    assert exit_code(errors.Internal("x")) == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(name):
    command = cli.get_command(None, name)
    assert command.name == name
    assert command.short_help
    assert command.name == "version" or "Example" in (command.help or "")


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (["up", "--nonsense"], 2, "No such option"),
        (["up", "--config", "/nonexistent.yaml"], 8, "/nonexistent.yaml"),
        (["up", "--pod-subnet", "10.96.0.0/16"], 3, "overlaps"),
        (["down", "--name", "../x"], 3, "'../x' must be"),
        (["frobnicate"], 2, "No such command"),
        (["shell", "--name", "absent", "lin01"], 8, "there is no cluster absent"),
        (["logs", "--name", "absent", "lin01"], 8, "there is no cluster absent"),
        (["status", "--name", "absent"], 8, "there is no cluster absent"),
        (["kubeconfig", "--name", "absent"], 8, "there is no cluster absent"),
    ],
)
def test_bad_input(args, code, text):
    if os.geteuid() and code == 8 and "absent" in args:
        code, text = 4, "root"
    done = muntin(*args)
    assert (done.returncode, done.stdout) == (code, "")
    assert text in done.stderr
    assert 1 <= len(done.stderr.splitlines()) <= 2


def test_a_broken_file_names_its_line(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("apiVersion: muntin.dev/v1alpha1\nkind: Cluster\nnodes:\n- oz: linux\n")
    done = muntin("up", "--config", str(path))
    assert done.returncode == 3
    assert done.stderr == (f"muntin: {path}:4:3: nodes[0]: os is missing; add `os: windows`\n")


def test_down_of_nothing_is_fine(tmp_path):
    env = {
        **os.environ,
        "MUNTIN_STATE_DIR": str(tmp_path / "a"),
        "MUNTIN_RUN_DIR": str(tmp_path / "b"),
    }
    done = muntin("down", "--name", "never-was", env=env)
    if os.geteuid():
        assert done.returncode == 4
    else:
        assert (done.returncode, done.stdout) == (0, "There is no cluster never-was.\n")
