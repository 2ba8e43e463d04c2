"""The page of what each version of the API serves equals the table."""

from pathlib import Path

from muntin.model.resources.page import markdown

PAGE = Path(__file__).parent.parent.parent / "docs/reference/api-versions.md"


def test_the_page_is_the_table():
    assert PAGE.read_text(encoding="utf-8") == markdown(), "run `make gen`"


def test_the_page_says_where_a_version_is_served():
    rows = [line.split(" | ") for line in markdown().splitlines() if line.startswith("| `")]
    where = {row[0].strip("|` "): row[2].strip(" |") for row in rows if "cronjobs" in row[1]}
    assert where["batch/v1beta1"] == "1.20"
    assert where["batch/v1"] == "1.25 to 1.37"
