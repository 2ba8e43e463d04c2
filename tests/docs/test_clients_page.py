"""The page of the clients' suites equals what the suites' runs are compared with."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _modules_of_the_suites(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "tests/cluster/clients"), *sys.path])


def test_the_page_is_what_make_gen_writes():
    from clients_page import markdown

    assert (ROOT / "docs/reference/clients.md").read_text() == markdown(), "run `make gen`"


def test_every_test_is_either_passed_or_named_with_a_reason():
    from suite_table import suites

    for suite in suites():
        named = [*suite.passed(), *suite.deselected, *suite.skipped]
        assert len(named) == len(set(named)), suite.id
        assert suite.passed(), suite.id
        assert all({**suite.deselected, **suite.skipped}.values()), suite.id


def test_check_runs_every_client_that_an_archive_holds():
    from suite_table import suites

    archived = {suite.name for suite in suites() if not suite.checkout}
    assert archived == {suite.name for suite in suites() if suite.in_check}
