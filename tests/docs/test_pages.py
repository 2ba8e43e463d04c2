"""Pages agree with the repository: links resolve, named files, targets and commands exist."""

import re
from pathlib import Path

import click
import pytest

from muntin.cli.main import cli

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
ids = [str(page.relative_to(ROOT)) for page in PAGES]


def commands(group: click.Group, prefix: str = "") -> set[str]:
    with click.Context(group) as context:
        return {prefix + name for name in group.list_commands(context)}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_resolve(page):
    links = re.findall(r"\]\(([^)\s]+)\)|click \w+ \"([^\"]+)\"", page.read_text())
    local = [a or b for a, b in links if not (a or b).startswith(("http://", "https://", "#"))]
    missing = [link for link in local if not (page.parent / link.split("#")[0]).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_named_files_exist(page):
    named = re.findall(r"`((?:src|scripts|tests|docs|examples|bench)/[\w./-]+)`", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_named_commands_exist(page):
    text = page.read_text()
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`", text)) - targets == set()
    known = commands(cli)
    assert {word for word in re.findall(r"muntin ([a-z-]+)\b", text) if f"`muntin {word}" in text
            } - known == set()  # fmt: skip


def test_the_readme_is_at_most_two_screens():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 60
