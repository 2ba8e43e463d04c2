"""Every rule of upstream's that is said to hold has an object here that breaks it."""

from __future__ import annotations

from collections import defaultdict

import pytest
from validation_examples import every_case
from validation_examples.case import Case

from muntin.model.validation.catalogue import Rule, rules

CASES = every_case()
RULES: dict[tuple[str, str], list[Rule]] = defaultdict(list)
for rule in rules():
    RULES[rule.kind, rule.operation].append(rule)


def same(text: str, wanted: str) -> bool:
    return text.startswith(wanted[:-1]) if wanted.endswith("…") else text == wanted


def name(case: Case) -> str:
    return f"{case.resource.kind}-{case.operation}-{case.source}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_what_is_wrong_is_found(case: Case) -> None:
    texts = [f"{cause.field}: {cause.message}" for cause in case.causes()]
    assert len(texts) == len(case.expected), texts
    assert all(map(same, texts, case.expected)), texts


def test_each_rule_has_an_example_or_a_named_gap() -> None:
    proved, unknown = set(), []
    for case in CASES:
        for cause in case.causes():
            known = {r for r in RULES[case.resource.kind, case.operation] if r.gives(cause)}
            proved |= known
            if not known:
                unknown.append((case.resource.kind, case.operation, cause))
    assert not unknown, "no row of model/data/validation.tsv says this"
    missing = [rule for rule in rules() if not rule.gap and rule not in proved]
    assert not missing, "no example breaks these rules"
    closed = [rule for rule in proved if rule.gap]
    assert not closed, "these have an example: remove the gap"


def test_no_rule_is_listed_twice() -> None:
    listed = rules()
    assert len(set(listed)) == len(listed)
