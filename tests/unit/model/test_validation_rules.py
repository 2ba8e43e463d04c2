"""Every rule of upstream's that is said to hold has an object here that breaks it."""

from __future__ import annotations

import pytest
from validation_examples import every_case
from validation_examples.case import Case

CASES = every_case()


def same(text: str, wanted: str) -> bool:
    return text.startswith(wanted[:-1]) if wanted.endswith("…") else text == wanted


def name(case: Case) -> str:
    return f"{case.resource.kind}-{case.operation}-{case.source}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_what_is_wrong_is_found(case: Case) -> None:
    texts = [f"{cause.field}: {cause.message}" for cause in case.causes()]
    assert len(texts) == len(case.expected), texts
    assert all(map(same, texts, case.expected)), texts
