"""Commands of GitHub's workflows: findings appear beside the changed lines."""

from __future__ import annotations

from collections.abc import Sequence

from muntin.lint.findings import Finding
from muntin.model.gates import Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def write(findings: Sequence[Finding]) -> str:
    """One line for each finding."""
    return "\n".join(_line(finding) for finding in findings)


def _line(finding: Finding) -> str:
    place = f"file={_value(finding.file)},line={finding.line},col={finding.column}"
    title = _value(finding.rule)
    return f"::{_LEVELS[finding.severity]} {place},title={title}::{_text(finding.sentence())}"


def _text(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(value: str) -> str:
    return _text(value).replace(":", "%3A").replace(",", "%2C")
