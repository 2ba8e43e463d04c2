"""The gates table as a whole: complete, without loose ends, and with tests that see it shuffled."""

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from windows_profiles import at
from windows_states import wrong

from muntin.model import gates_page
from muntin.model.gates import Kind, Never, State
from muntin.model.windows import AREAS, GATES, Feature

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CATALOGUE = (ROOT / "tests/golden/windows/catalogue.txt").read_text().split()
# Checks of a node that have an id, and pages of this project.
CHECK = re.compile(r"WIN-(T(0[1-9]|1[0-6])|X\d\d)")
EXPECTED = {
    feature: tuple(part if isinstance(part, str) else " | ".join(part) for part in expected)
    for path in sorted(HERE.glob("test_windows_rows_*.py"))
    for feature, expected in import_module(path.stem).EXPECTED.items()
}


def test_every_name_has_a_row_in_one_area():
    assert set(GATES) == set(Feature)
    assert sum(map(len, AREAS.values())) == len(GATES)


def test_every_statement_of_the_catalogue_has_a_row():
    restated = [name for row in GATES.values() for name in row.restates]
    assert [name for name in CATALOGUE if name not in {*Feature, *restated}] == []
    assert len(restated) == len(set(restated)), "restated twice"
    assert set(restated) & set(Feature) == set(), "restated, and a row of its own"
    assert set(restated) <= set(CATALOGUE)


def test_every_row_is_whole():
    assert [name for name, row in GATES.items() if not row.summary.endswith(".")] == []
    assert [name for name, row in GATES.items() if not row.source or not row.applies_to] == []
    no_why = [name for name, row in GATES.items() if row.not_yet and row.kind is not Kind.BEHAVIOUR]
    assert no_why == []


def test_every_procedure_names_a_check_or_page_that_exists():
    pages = {name: row.page for name, row in GATES.items() if row.kind is Kind.PROCEDURE}
    assert {
        name: page
        for name, page in pages.items()
        if not CHECK.fullmatch(page) and not (page and (ROOT / page.partition("#")[0]).exists())
    } == {}


def test_what_a_row_wins_over_is_another_row_or_a_sentence_of_a_source():
    over = {name: row.overrides for name, row in GATES.items() if row.overrides}
    sentence = re.compile(r"doc20[:,] \w.+")
    unknown = {name: other for name, other in over.items() if other not in GATES}
    assert [name for name, other in unknown.items() if not sentence.fullmatch(other)] == []
    assert [name for name, other in over.items() if name == other] == []


def test_every_row_has_expectations_typed_by_hand():
    assert set(EXPECTED) == set(GATES)


@pytest.mark.parametrize("feature", GATES)
def test_each_state_that_a_row_has_is_expected_somewhere(feature):
    opens, shuts, silents = EXPECTED[feature]
    row = GATES[feature]
    if isinstance(row.holds, Never):
        assert shuts
    else:
        assert opens
    assert bool(silents) == bool(row.scope) or not silents


def typed(feature):
    """The profiles that the expectations of a row name."""
    return [at(text) for part in EXPECTED[feature] for text in part.split("|") if text.strip()]


@pytest.mark.parametrize("feature", GATES)
def test_expectations_stand_on_both_sides_of_each_version(feature):
    row = GATES[feature]
    holds = () if isinstance(row.holds, Never) else row.holds
    versions = {profile.kubernetes for profile in typed(feature)}
    for condition in (*row.scope, *holds):
        wanted = condition.kubernetes
        if wanted is None:
            continue
        if wanted.low is not None:
            assert wanted.low in versions
            assert any(version < wanted.low for version in versions) or wanted.low[1] <= 5
        if wanted.high is not None:
            assert any(version[:2] == wanted.high for version in versions)
            assert any(version > wanted.high for version in versions)


FIELDS = ["scope", "holds", "otherwise", "summary", "applies_to", "source", "evidence", "advice",
          "message"]  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_the_page_shows_each_value_that_moves_to_another_row(field, monkeypatch):
    """Every second row gets the value of the row before it: each such line must change."""
    before = lines_of_page()
    names = list(GATES)
    for one, other in zip(names[::2], names[1::2], strict=False):
        mine, theirs = getattr(GATES[one], field), getattr(GATES[other], field)
        if mine == theirs:
            continue
        row = replace(GATES[one], **{field: theirs})
        assert gates_page._line(one, row, False) != before[one]


def lines_of_page():
    return {name: gates_page._line(name, row, False) for name, row in GATES.items()}


def test_expectations_see_conditions_that_move_to_another_row(monkeypatch):
    """Ranges rotated by one row. Where two rows differ in what was not typed, in a gate or a build,
    the page sees it: they are few.
    """
    names = list(GATES)
    moved = {
        name: replace(GATES[name], scope=GATES[before].scope, holds=GATES[before].holds)
        for name, before in zip(names, names[-1:] + names[:-1], strict=True)
    }
    changed = [
        name
        for name in names
        if (moved[name].scope, moved[name].holds) != (GATES[name].scope, GATES[name].holds)
    ]
    for name in names:
        monkeypatch.setitem(GATES, name, moved[name])
    unseen = [name for name in changed if not wrong(name, EXPECTED[name])]
    assert len(changed) > len(names) // 2
    assert len(unseen) * 20 < len(changed), unseen


def test_profiles_are_read_as_they_are_written():
    profile = at("1.20 19041.610 docker plugin=calico +WinDSR -WinOverlay flannel=0.12.0 hns=10.5")
    assert (profile.kubernetes, profile.build, profile.revision) == ((1, 20), 19041, 610)
    assert (profile.runtime, profile.network_plugin, profile.hns) == ("docker", "calico", (10, 5))
    assert profile.feature_gates == {"WinDSR": True, "WinOverlay": False}
    assert profile.versions == {"flannel": (0, 12, 0)}
    assert State.OPEN in State
