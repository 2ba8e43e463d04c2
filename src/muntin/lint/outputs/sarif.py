"""SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from muntin.lint.findings import Finding
from muntin.model.gates import Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def document(findings: Sequence[Finding], version: str) -> dict[str, Any]:
    """One run, with the rules that found something."""
    rules = list({finding.rule: finding for finding in findings}.values())
    index = {finding.rule: number for number, finding in enumerate(rules)}
    driver = {
        "name": "muntin",
        "version": version,
        "rules": [_rule(finding) for finding in rules],
    }
    results = [_result(finding, index[finding.rule]) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def _rule(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.rule,
        "shortDescription": {"text": finding.summary},
        "help": {"text": finding.advice or finding.summary},
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
    }


def _result(finding: Finding, index: int) -> dict[str, Any]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    place: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(finding.file)},
            "region": region,
        }
    }
    if finding.field:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.field}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.sentence()},
        "locations": [place],
    }


def write(findings: Sequence[Finding], version: str) -> str:
    """The text."""
    return json.dumps(document(findings, version), indent=2, ensure_ascii=False)
