"""Which form an Accept header asks for; long ones are read as far as they say something."""

from __future__ import annotations

import pytest

from muntin.apiserver.negotiation import JSON, YAML, Format, is_known, negotiated

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MANY = ",".join(f"a/b{index}" for index in range(50_000))


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("*/*", Format()),
        ("text/html, application/yaml", Format(media=YAML)),
        (f"{TABLE},application/json", Format("Table")),
        ("application/yaml;q=0.5, application/json", Format()),
        ("application/json;q=0", None),
        ("text/html", None),
        (MANY, None),
        (f"{MANY},{JSON}", Format()),
        (",".join(["application/json;as=x"] * 1000), None),
    ],
)
def test_formats(accept: str, wanted: Format | None) -> None:
    assert negotiated(accept) == wanted
    assert negotiated(accept) == wanted  # from memory, too


def test_what_has_no_table() -> None:
    assert negotiated(TABLE, has_table=False) is None
    assert negotiated(f"{TABLE},application/json", has_table=False) == Format()
    assert negotiated(TABLE) == Format("Table")  # memory tells them apart


def test_what_can_be_had_in_no_such_form_is_known_all_the_same() -> None:
    assert is_known("application/json;as=x")
    assert not is_known(MANY)
    assert not is_known("application/json;q=0")
