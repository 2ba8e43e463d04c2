"""The page docs/reference/validation.md as a function of the catalogue of rules."""

from __future__ import annotations

from itertools import groupby

from muntin.model.validation.catalogue import Rule, rules

_HEAD = """# Which validation rules hold

This page is made from `src/muntin/model/data/validation.tsv` by `make gen`; change it there.
A rule is one path of a kind that is refused with one reason, on creation (`create`), on a change
(`update`, `status` or a subresource). A rule counts as covered if the tests have an object that the
validation refuses with that path, reason and text. The rows of covered rules were taken from those
examples, the others were written down from upstream's source: a rule of upstream's that was
overlooked is in neither column.

How much is overlooked was measured beside kube-apiserver 1.36: 67 full objects of 53 kinds, with
one field at a time dropped, emptied, doubled, added or given a bad value, were sent to both to be
created, to replace the object, and as its status. Of these 23,188 requests 22,508 (97.1 %) were
answered with the same status, reason and wrong fields, and all but 8 of those that were taken with
the same warnings. What was mended after that is in the table. Beside kube-apiserver 1.20 it was
16,987 of 17,907 (94.9 %). Many of the texts differ where upstream prints a Go structure.
"""


def markdown() -> str:
    """The whole page."""
    kinds = [
        (kind, list(group))
        for kind, group in groupby(sorted(rules(), key=lambda rule: rule.kind), lambda r: r.kind)
    ]
    return "\n".join([_HEAD, *_counts(kinds), "", *_gaps(kinds), ""])


def _counts(kinds: list[tuple[str, list[Rule]]]) -> list[str]:
    lines = ["## Counts", "", "| kind | rules | covered | not covered |", "|---|---|---|---|"]
    total = missing = 0
    for kind, group in kinds:
        gaps = sum(1 for rule in group if rule.gap)
        lines.append(f"| {kind} | {len(group)} | {len(group) - gaps} | {gaps} |")
        total, missing = total + len(group), missing + gaps
    return [*lines, f"| all | {total} | {total - missing} | {missing} |"]


def _gaps(kinds: list[tuple[str, list[Rule]]]) -> list[str]:
    lines = [
        "## Not covered",
        "",
        "| kind | operation | path | reason | upstream's function | what is missing |",
        "|---|---|---|---|---|---|",
    ]
    for kind, group in kinds:
        lines += [
            f"| {kind} | {rule.operation} | `{rule.path}` | {rule.reason} | `{rule.source}` "
            f"| {rule.gap} |"
            for rule in group
            if rule.gap
        ]
    return lines
