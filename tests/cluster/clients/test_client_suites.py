"""Test suites of client libraries, run unchanged: what passed once passes now.

`make check` runs the suites and versions that suites.yaml has under ``check``, `make clients`
(``--all-clients``) every one. They start at once, two at a time: they sleep more than they work.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from client_suite import outcomes
from suite_sources import is_to_be_had
from suite_table import Suite, suites


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every = metafunc.config.getoption("--all-clients", default=False)
    chosen = [one for one in suites() if (one.in_check or every) and is_to_be_had(one)]
    metafunc.parametrize("suite", chosen, ids=lambda one: one.id)


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, Future[dict[str, str]]]]:
    """The outcomes to be, by the suites' ids; only of suites that tests of this run ask for."""
    chosen = [
        item.callspec.params["suite"]
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    ]
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield {
            one.id: pool.submit(outcomes, one, tmp_path_factory.mktemp(one.name)) for one in chosen
        }


def test_a_client_finds_what_it_expects(suite: Suite, runs, request) -> None:
    found = runs[suite.id].result()
    assert found, "no test was collected"
    passed = {name for name, outcome in found.items() if outcome in ("passed", "xfailed")}
    if request.config.getoption("--update"):
        suite.passed_file.write_text("".join(f"{name}\n" for name in sorted(passed)))
    others = {name: how for name, how in found.items() if name not in passed}
    expected = dict.fromkeys(suite.skipped, "skipped")
    expected |= dict.fromkeys(suite.deselected, "deselected")
    assert others == expected
    assert sorted(passed) == sorted(suite.passed()), "--update writes it anew"
