"""The page of the clients' suites equals what the suites' runs are compared with."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_make_gen_writes(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "tests/cluster/clients"), *sys.path])
    from clients_page import markdown

    assert (ROOT / "docs/reference/clients.md").read_text() == markdown(), "run `make gen`"
