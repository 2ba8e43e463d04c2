"""Every rule finds what the bad file of its folder has, and nothing in the good one.

``# profile: NAME, NAME`` says for which profiles the file is linted; ``# here`` marks the lines
where the rule's findings stand.
"""

import re
from pathlib import Path

import pytest

from muntin.lint import lint_text
from muntin.lint.profiles import named
from muntin.lint.rules import RULES

CORPUS = Path(__file__).parents[2] / "lint_corpus"
FOLDERS = sorted(path for path in CORPUS.iterdir() if path.is_dir())


def lines_found(path: Path) -> list[int]:
    """Lines at which the rule of the folder finds something."""
    text = path.read_text(encoding="utf-8")
    names = re.findall(r"profile: *(.*)", text)
    profiles = [named(name.strip()) for line in names for name in line.split(",")]
    found = lint_text(text, profiles=profiles, file=path.name)
    return sorted(one.line for one in found if one.rule == path.parent.name)


def marked(path: Path) -> list[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if line.rstrip().endswith("# here")]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_bad_is_found_and_good_is_not(folder):
    bad, good = sorted(folder.glob("bad.*")), sorted(folder.glob("good.*"))
    assert bad
    assert good
    for path in bad:
        assert marked(path) == lines_found(path) != [], path.name
    for path in good:
        assert lines_found(path) == [], path.name


def test_every_rule_has_its_folder():
    assert {folder.name for folder in FOLDERS} == {str(feature) for feature in RULES}
