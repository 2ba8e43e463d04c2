"""Write docs/reference/api-versions.md from the table of resources."""

from pathlib import Path

from muntin.model.resources.page import markdown

if __name__ == "__main__":
    page = Path(__file__).parent.parent / "docs/reference/api-versions.md"
    page.write_text(markdown(), encoding="utf-8")
