"""One rule in words: all that its row of the gates table says."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.lint.problems import PROBLEMS
from muntin.lint.rules import RULES
from muntin.model.gates import Gate
from muntin.model.windows import GATES, Feature


def explain(rule: str) -> str | None:
    """The text; None for a rule that is not there."""
    if rule in PROBLEMS:
        return f"{rule}: {PROBLEMS[rule]}"
    try:
        feature = Feature(rule)
    except ValueError:
        return None
    return "\n".join(_lines(feature, GATES[feature])) if feature in GATES else None


def _lines(feature: Feature, row: Gate) -> Iterator[str]:
    yield f"{feature}: {row.summary}"
    yield ""
    severity = str(row.calls_it()) if feature in RULES else "none: the linter does not look for it"
    facts = {
        "severity": severity,
        "touches": ", ".join(row.applies_to),
        "speaks of": row.scope_text(),
        "works": row.where(),
        "elsewhere": f"{row.otherwise}" + (f": {row.message}" if row.message else ""),
        "instead": row.advice,
        "evidence": f"{row.evidence}; {row.source}",
    }
    for name, value in facts.items():
        if value:
            yield f"  {name + ':':<11}{value}"
