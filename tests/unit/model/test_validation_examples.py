"""Every example of a wrong object is refused in upstream's words, as the table of rules says."""

from __future__ import annotations

import pytest
from validation_examples import every_case
from validation_examples.case import Case

from muntin.kit.errors import Cause
from muntin.model.validation.catalogue import rules

CASES = every_case()
RULES = rules()


def _is(cause: Cause, expected: str) -> bool:
    text = f"{cause.field}: {cause.message}"
    if expected.endswith("…"):
        return text.startswith(expected[:-1])
    return text == expected


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{c.resource.kind}-{c.operation}-{n}" for n, c in enumerate(CASES)]
)
def test_an_example_is_refused(case: Case) -> None:
    found = case.causes()
    texts = [f"{cause.field}: {cause.message}" for cause in found]
    assert len(texts) == len(case.expected), texts
    wrong = [
        t for t, cause, e in zip(texts, found, case.expected, strict=True) if not _is(cause, e)
    ]
    assert not wrong


def test_a_covered_rule_has_an_example_and_each_example_a_rule() -> None:
    given = {(case.resource.kind, case.operation) for case in CASES}
    causes = [
        (case.resource.kind, case.operation, cause) for case in CASES for cause in case.causes()
    ]
    proved = set()
    nowhere = []
    for kind, operation, cause in causes:
        known = [
            rule for rule in RULES
            if rule.kind == kind and rule.operation == operation and rule.gives(cause)
        ]  # fmt: skip
        proved.update(known)
        if not known:
            nowhere.append(f"{kind} {operation} {cause.field} {cause.reason}: {cause.message}")
    unproved = [rule for rule in RULES if not rule.gap and rule not in proved]
    assert given
    assert not nowhere
    assert not unproved
