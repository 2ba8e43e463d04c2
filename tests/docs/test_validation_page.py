"""The page of the validation rules equals their table."""

from pathlib import Path

from muntin.model.validation_page import markdown

PAGE = Path(__file__).parent.parent.parent / "docs/reference/validation.md"


def test_the_page_is_what_make_gen_writes() -> None:
    assert PAGE.read_text() == markdown(), "run `make gen`"
