"""For people: findings grouped by file and object, coloured on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from muntin.lint.findings import Finding
from muntin.lint.report import Report
from muntin.model.gates import Severity

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}


def write(report: Report, *, colour: bool = False) -> str:
    """The text: findings, then one line that counts them."""
    lines = list(_lines(report.findings, colour))
    return "\n".join([*lines, *([""] if lines else []), summary(report)])


def summary(report: Report) -> str:
    """``2 errors and 1 warning in 3 files; 1 can be mended with --fix``."""
    counts = [(report.count(severity), str(severity)) for severity in Severity]
    parts = [f"{count} {_plural(name, count)}" for count, name in counts if count]
    files = f"{len(report.files)} {_plural('file', len(report.files))}"
    text = f"{' and '.join(parts) or 'nothing found'} in {files}"
    safe = sum(one.fixable == "safe" for one in report.findings)
    unsafe = sum(one.fixable == "unsafe" for one in report.findings)
    if safe:
        text += f"; {safe} can be mended with --fix"
    if unsafe:
        text += f"; {unsafe} with --fix=unsafe"
    if report.hidden:
        text += f"; {report.hidden} of lower severity not shown (--level info)"
    return text + (f"; {report.ignored} ignored" if report.ignored else "")


def _plural(name: str, count: int) -> str:
    return name if count == 1 or name == "info" else name + "s"


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
