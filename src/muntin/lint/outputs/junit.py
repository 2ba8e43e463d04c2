"""JUnit's XML: a suite for each file, in which every finding is a test that failed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from muntin.lint.findings import Finding

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(findings: Sequence[Finding], files: Sequence[str]) -> str:
    """The text; a file without findings has one test that passed."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    total = f'tests="{sum(max(1, _count(findings, file)) for file in files)}"'
    lines.append(f'<testsuites name="muntin lint" {total} failures="{len(findings)}">')
    for file in files:
        mine = [finding for finding in findings if finding.file == file]
        counts = f'tests="{max(1, len(mine))}" failures="{len(mine)}"'
        lines.append(f"  <testsuite name={_attribute(file)} {counts}>")
        for finding in mine:
            name = _attribute(f"{finding.rule} at {finding.line}:{finding.column}")
            lines.append(f"    <testcase name={name} classname={_attribute(file)}>")
            message = _attribute(finding.sentence())
            lines.append(f'      <failure type="{finding.severity}" message={message}/>')
            lines.append("    </testcase>")
        if not mine:
            lines.append(f'    <testcase name="muntin lint" classname={_attribute(file)}/>')
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"])


def _count(findings: Sequence[Finding], file: str) -> int:
    return sum(finding.file == file for finding in findings)


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\ufffd", text))
