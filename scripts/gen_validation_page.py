"""Write docs/reference/validation.md from the catalogue of validation rules."""

from pathlib import Path

from muntin.model.validation_page import markdown

if __name__ == "__main__":
    page = Path(__file__).parent.parent / "docs/reference/validation.md"
    page.write_text(markdown(), encoding="utf-8")
