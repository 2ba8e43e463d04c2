"""The five documents' own manifests, configurations and commands, against a key typed by hand."""

from pathlib import Path

import pytest
import yaml

from muntin.lint.profiles import named
from muntin.lint.run import lint_text
from muntin.model.gates import Severity

DOCUMENTS = Path(__file__).parent / "documents"
KEY = yaml.safe_load((DOCUMENTS / "key.yaml").read_text())


@pytest.mark.parametrize("profile, name", [(one, name) for name in KEY for one in KEY[name]])
def test_what_is_found_is_what_the_key_says(name, profile):
    text = (DOCUMENTS / name).read_text(encoding="utf-8")
    some = lint_text(text, profiles=[named(profile)], file=name)
    found = {(one.line, one.rule) for one in some if one.severity is not Severity.INFO}
    wanted = {(int(line), rule) for line, rule in (row.split() for row in KEY[name][profile])}
    assert found == wanted


def test_the_key_has_all_of_them():
    assert set(KEY) == {path.name for path in DOCUMENTS.iterdir()} - {"key.yaml"}
