"""For people: findings grouped by file and object, coloured on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from muntin.lint.findings import Finding
from muntin.model.gates import Severity

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}


def write(findings: Sequence[Finding], *, colour: bool = False) -> str:
    """The text; empty where nothing was found."""
    return "\n".join(_lines(findings, colour))


def _lines(findings: Sequence[Finding], colour: bool) -> Iterator[str]:
    paint = _paint if colour else _plain
    group: tuple[str, str] | None = None
    for finding in findings:
        if (finding.file, finding.object) != group:
            if group is not None:
                yield ""
            group = (finding.file, finding.object)
            yield paint("1", f"{finding.file}: {finding.object}" if group[1] else finding.file)
        severity = paint(_COLOURS[finding.severity], str(finding.severity))
        place = f"{finding.line}:{finding.column}"
        yield f"  {place}  {severity}  {finding.rule}  {finding.field}".rstrip()
        yield f"      {finding.summary}"
        if finding.message:
            yield f"      it says: {finding.message}"
        if finding.advice:
            yield f"      instead: {finding.advice}"
        about = [f"on {', '.join(finding.profiles)}"] if finding.profiles else []
        about += [f"works: {finding.where}"] if finding.where else []
        about += [f"source: {finding.source}"] if finding.source else []
        if about:
            yield "      " + paint("2", "; ".join(about))


def _plain(code: str, text: str) -> str:
    return text


def _paint(code: str, text: str) -> str:
    return f"\033[{code}m{text}\033[0m"
