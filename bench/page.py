"""docs/benchmarks.md: text by hand, and passages between markers that the measurements write."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def write(name: str, text: str) -> None:
    """Let the passage ``name`` of the page say ``text``, and show it.

    Raises:
        LookupError: the page has no such passage.
    """
    print(f"\n{text}\n", flush=True)
    begin, end = f"<!-- figures: {name} -->", "<!-- end of figures -->"
    found = re.compile(f"({re.escape(begin)}\n).*?({re.escape(end)})", re.DOTALL)
    page, count = found.subn(lambda match: f"{match[1]}{text}\n{match[2]}", PAGE.read_text())
    if not count:
        raise LookupError(f"{PAGE} has no line {begin}")
    PAGE.write_text(page)
