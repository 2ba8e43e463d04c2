"""Write docs/reference/windows-gates.md from the gates table and the tests that show its rows."""

from pathlib import Path

from muntin.model.gates_page import markdown, reproduced

if __name__ == "__main__":
    root = Path(__file__).parent.parent
    tests = sorted((root / "tests").rglob("*.py"))
    shown = reproduced(path.read_text(encoding="utf-8") for path in tests)
    page = root / "docs/reference/windows-gates.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(markdown(shown), encoding="utf-8")
