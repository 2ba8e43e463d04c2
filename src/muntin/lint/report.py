"""Everything about one run: what was found, what was let stand, and what could not be linted."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from muntin.lint import ignores
from muntin.lint.findings import RANKS, Finding
from muntin.lint.problems import PROBLEMS
from muntin.lint.profiles import Named
from muntin.lint.run import linter, problem_finding
from muntin.lint.settings import Ignored
from muntin.lint.sources import Source
from muntin.model.gates import Severity
from muntin.model.windows import Feature


@dataclass(slots=True)
class Report:
    """``ignored`` counts findings that comments or the settings let stand, ``hidden`` those below
    the level asked for; ``broken``: something could not be linted.
    """

    findings: list[Finding] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    ignored: int = 0
    hidden: int = 0
    broken: bool = False

    def reaches(self, severity: Severity) -> bool:
        """Whether a finding is as bad as that, or worse."""
        return any(RANKS[one.severity] <= RANKS[severity] for one in self.findings)

    def count(self, severity: Severity) -> int:
        """How many findings are of that severity."""
        return sum(one.severity is severity for one in self.findings)


def make(
    sources: Sequence[Source],
    profiles: Sequence[Named],
    *,
    level: Severity = Severity.INFO,
    ignore: Sequence[Ignored] = (),
) -> Report:
    """Lint all sources together."""
    report = Report(files=[source.name for source in sources])
    problems = {source.name: list(source.problems) for source in sources}
    comments = {}
    for source in sources:
        text = source.documents[0].text if source.documents else ""
        comments[source.name], more = ignores.of_text(text, is_rule)
        problems[source.name] += more
    documents = [document for source in sources for document in source.documents]
    found = linter(tuple(profiles)).lint(documents)
    found += [problem_finding(problem, name) for name, some in problems.items() for problem in some]
    report.broken = any(problem.fatal for some in problems.values() for problem in some)
    for finding in sorted(found, key=Finding.order):
        comment = comments.get(finding.file, [])
        if ignores.ignored(finding.rule, finding.line, comment) or _set(finding, ignore):
            report.ignored += 1
        elif RANKS[finding.severity] > RANKS[level]:
            report.hidden += 1
        else:
            report.findings.append(finding)
    return report


def is_rule(name: str) -> bool:
    """Whether findings can have that rule."""
    return name in PROBLEMS or name in Feature._value2member_map_


def _set(finding: Finding, ignore: Iterable[Ignored]) -> bool:
    return any(
        one.rule == finding.rule
        and (not one.paths or any(fnmatch.fnmatch(finding.file, path) for path in one.paths))
        for one in ignore
    )
