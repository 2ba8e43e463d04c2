"""For programs: docs/reference/lint-findings.schema.json says what is in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from muntin.lint.findings import Finding


def document(findings: Sequence[Finding]) -> dict[str, Any]:
    """All findings, each with every field."""
    return {"findings": [entry(finding) for finding in findings]}


def entry(finding: Finding) -> dict[str, Any]:
    """One finding."""
    return {
        "rule": finding.rule,
        "severity": str(finding.severity),
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "object": finding.object,
        "field": finding.field,
        "summary": finding.summary,
        "message": finding.message,
        "advice": finding.advice,
        "where": finding.where,
        "profiles": list(finding.profiles),
        "source": finding.source,
        "fixable": finding.fixable,
    }


def write(findings: Sequence[Finding]) -> str:
    """The text."""
    return json.dumps(document(findings), indent=2, ensure_ascii=False)
