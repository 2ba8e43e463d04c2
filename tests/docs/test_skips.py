"""tests/SKIPS.md lists every place that skips or expects to fail, and no other."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
_SKIPS = re.compile(r"pytest\.(?:skip|xfail|importorskip)\(|mark\.(?:skip|skipif|xfail)\b")


def test_every_skip_is_listed():
    skipping = {
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if path != Path(__file__) and _SKIPS.search(path.read_text())
    }
    rows = re.findall(r"^\| `?([\w/.]+\.py)", (TESTS / "SKIPS.md").read_text(), re.MULTILINE)
    assert skipping == set(rows)
