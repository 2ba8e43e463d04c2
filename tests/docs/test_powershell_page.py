"""The reference page of powershell.exe equals the table it is generated from."""

from pathlib import Path

from muntin.winruntime.inside.powershell.constructs import page

PAGE = Path(__file__).parents[2] / "docs/reference/powershell.md"


def test_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), "run scripts/gen_powershell_doc.py"
