"""Write docs/reference/clients.md from the suites of clients and the lists of what passes."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests/cluster/clients"))

if __name__ == "__main__":
    from clients_page import markdown

    (ROOT / "docs/reference/clients.md").write_text(markdown(), encoding="utf-8")
