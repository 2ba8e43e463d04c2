"""How deep values may nest, counted from the text where it can be."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from muntin.kit import depth
from muntin.kit.errors import Invalid


def nested(levels: int, wide: int) -> tuple[Any, str]:
    """A value, and its JSON text, which no encoder writes for more than 254 levels."""
    value: Any = "x"
    text = '"x"'
    for level in range(levels):
        if level % 2:
            value, text = [value, *[[]] * (wide - 1)], f"[{text}{',[]' * (wide - 1)}]"
        else:
            value, text = {"[{": value}, f'{{"[{{": {text}}}'
    return value, text


@pytest.mark.parametrize("wide", [1, 5])
@pytest.mark.parametrize("levels", [1, 2, 100, 199, 200, 201, 202, 300, 1000])
def test_the_limit_is_exact(levels: int, wide: int) -> None:
    value, text = nested(levels, wide)
    if levels <= depth.MAX_DEPTH:
        assert depth.loads(text) == value
        depth.check(value)
        return
    with pytest.raises(Invalid, match="max depth of 200"):
        depth.loads(text)
    with pytest.raises(Invalid, match="max depth of 200"):
        depth.check(value)


def test_brackets_in_text_do_not_count() -> None:
    value = {"a": "[{" * 100_000}
    assert depth.loads(orjson.dumps(value)) == value
    assert depth.loads(orjson.dumps([[{}]] * 10_000)) == [[{}]] * 10_000


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(Invalid):
        depth.check(value)
