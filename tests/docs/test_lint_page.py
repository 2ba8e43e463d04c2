"""The page on the linter shows what really happens, and its hook and action run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from muntin.lint import lint_text, profile, settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/lint.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
MANIFEST, SETTINGS = (text for kind, text in BLOCKS if kind == "yaml")
SESSIONS = [
    text for kind, text in BLOCKS if kind == "console" and "exit code" in text
]  # the others need a chart or a cluster
MUNTIN = (sys.executable, "-m", "muntin")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "web.yaml").write_text(MANIFEST)
    rules = {one.rule for one in lint_text(MANIFEST)}
    comments = "".join(f"# muntin: ignore {rule} of the page\n" for rule in sorted(rules))
    (tmp_path / "ignored.yaml").write_text(comments + MANIFEST)
    return tmp_path


def run(folder, *words):
    return subprocess.run(
        (*MUNTIN, *words), cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("session", SESSIONS, ids=lambda text: text.splitlines()[0])
def test_sessions(folder, session):
    command, *lines = session.splitlines()
    result = run(folder, *command.removeprefix("$ muntin ").split())
    rest = result.stdout
    for line in lines[:-1]:
        wanted = re.escape(line).replace(r"\.\.\.", ".*")
        match = re.search(wanted, rest, re.DOTALL if line.strip() == "..." else 0)
        assert match, f"{line!r} is not in {rest!r}"
        rest = rest[match.end() :] if line.strip() != "..." else rest
    assert f"exit code {result.returncode}" == lines[-1]


def test_the_settings_are_ones():
    found = settings.decode(SETTINGS, "page")
    assert found.profiles == ("1.34/2022",)
    assert found.ignore[0].rule == "mount-propagation"


def test_the_function_of_python_is_there():
    (code,) = (text for kind, text in BLOCKS if kind == "python")
    scope = {"text": MANIFEST, "print": lambda *words: said.append(words)}
    said: list[tuple[object, ...]] = []
    exec("\n".join(line[2:] for line in code.splitlines()), scope)
    assert {"mount-propagation"} <= {words[2] for words in said}
    assert profile("1.34/2022").name == "1.34/2022"


def test_the_hook_runs_what_it_says(folder):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "muntin lint"
    assert re.search(hook["files"], "web.yaml")
    assert not re.search(hook["files"], "web.py")
    assert run(folder, *hook["entry"].split()[1:], "web.yaml").returncode == 1


def test_the_action_runs(folder):
    """Its last step, as the runner would start it."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    *_, step = action["runs"]["steps"]
    inputs = {name: given["default"] for name, given in action["inputs"].items()}
    inputs |= {"paths": "web.yaml", "profiles": "1.34/2019 v1.20"}
    values = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], text)
        for name, text in step["env"].items()
    }
    bin_dir = folder / "bin"
    bin_dir.mkdir()
    command = bin_dir / "muntin"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m muntin "$@"\n')
    command.chmod(0o755)
    bash = shutil.which("bash")
    assert bash
    result = subprocess.run(
        [bash, "-e", "-c", step["run"]], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **values, "PATH": f"{bin_dir}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert result.returncode == 1, result.stderr
    assert "::warning file=web.yaml,line=20," in result.stdout
    assert "1.34/2019, v1.20" in result.stdout
