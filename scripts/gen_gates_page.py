"""Write docs/reference/windows-gates.md from the gates table."""

from pathlib import Path

from muntin.model.gates_page import markdown

if __name__ == "__main__":
    page = Path(__file__).parent.parent / "docs/reference/windows-gates.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(markdown(), encoding="utf-8")
