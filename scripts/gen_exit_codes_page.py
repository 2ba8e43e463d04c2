"""Write docs/reference/exit-codes.md from the table of exit codes."""

from pathlib import Path

from muntin.cli.exit_codes import page

if __name__ == "__main__":
    target = Path(__file__).parent.parent / "docs/reference/exit-codes.md"
    target.write_text(page(), encoding="utf-8")
