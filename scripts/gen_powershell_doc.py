"""Write docs/reference/powershell.md from the table of constructs (``--check``: only compare)."""

from __future__ import annotations

import sys
from pathlib import Path

from muntin.winruntime.inside.powershell.constructs import page

PAGE = Path(__file__).parents[1] / "docs/reference/powershell.md"


def main() -> int:
    if "--check" in sys.argv:
        return 0 if PAGE.read_text(encoding="utf-8") == page() else 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
