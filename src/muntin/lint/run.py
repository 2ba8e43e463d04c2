"""Linting: documents and profiles in, findings out. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from muntin.lint import binding, views
from muntin.lint.documents import Document, Problem, read
from muntin.lint.findings import Finding
from muntin.lint.places import Place, path_text
from muntin.lint.profiles import Named, default
from muntin.lint.rule import Rule, Target
from muntin.lint.rules import RULES
from muntin.model.gates import Gate, Severity
from muntin.model.windows import GATES, Feature

_BRACES = re.compile(r"\{([\w-]+)\}")


class Linter:
    """The rules that say something for some profiles, chosen once."""

    def __init__(self, profiles: Sequence[Named] = ()) -> None:
        self.profiles = tuple(profiles) or (default(),)
        self._active: dict[Target, list[_Active]] = {target: [] for target in Target}
        for feature, rule in RULES.items():
            row = GATES[feature]
            meant = tuple(one for one in self.profiles if row.state(one.profile) in rule.states)
            if meant:
                self._active[rule.target].append(_Active(feature, row, rule, meant))

    def lint(self, documents: Iterable[Document]) -> list[Finding]:
        """What is found in documents that belong together, in order of their places."""
        given = binding.given(item for document in documents for item in views.objects(document))
        return sorted(self._walk(given), key=Finding.order)

    def _walk(self, given: views.Given) -> Iterator[Finding]:
        for pod in given.pods:
            target = Target.POD if pod.os == binding.WINDOWS else Target.LINUX_POD
            for active in self._active[target]:
                yield from active.findings(pod, pod.object)
        for service in given.services:
            if service.os == binding.WINDOWS:
                for active in self._active[Target.SERVICE]:
                    yield from active.findings(service, service.object)
        for item in given.objects:
            for active in self._active[Target.OBJECT]:
                if not active.rule.kinds or item.kind in active.rule.kinds:
                    yield from active.findings(item, item)


class _Active:
    """One rule with those of the profiles that its row speaks of."""

    __slots__ = ("feature", "meant", "profiles", "row", "rule")

    def __init__(self, feature: Feature, row: Gate, rule: Rule, meant: tuple[Named, ...]) -> None:
        self.feature, self.row, self.rule, self.meant = feature, row, rule, meant
        self.profiles = tuple(one.profile for one in meant)

    def findings(self, view: Any, item: views.Object) -> Iterator[Finding]:
        for place in self.rule.places(self.row, view, self.profiles):
            yield self._finding(place, item)

    def _finding(self, place: Place, item: views.Object) -> Finding:
        row = self.row
        line, column = item.document.mark(place.path)
        meant = place.profiles
        names = tuple(one.name for one in self.meant if meant is None or one.profile in meant)
        field = path_text(place.path[len(item.path) :])
        return Finding(
            rule=str(self.feature),
            severity=row.calls_it(),
            file=item.document.file,
            line=line,
            column=column,
            field=field,
            object=item.describe(),
            summary=row.summary,
            message=_fill(row.message, {"field": field, **place.values}),
            advice=row.advice,
            where=row.where(),
            source=row.source,
            profiles=names,
            index=item.document.index,
            fix=place.fix,
        )


def lint_text(text: str, *, profiles: Sequence[Named] = (), file: str = "<text>") -> list[Finding]:
    """What is found in the text of a manifest (or several), for these profiles."""
    documents, problems = read(text, file)
    found = [problem_finding(problem, file) for problem in problems]
    return sorted(found + linter(tuple(profiles)).lint(documents), key=Finding.order)


def problem_finding(problem: Problem, file: str) -> Finding:
    """What is wrong with a text as a finding."""
    return Finding(
        rule=problem.rule,
        severity=Severity.ERROR,
        file=file,
        line=problem.line,
        column=problem.column,
        summary=problem.message,
    )


_linters: list[tuple[tuple[Named, ...], Linter]] = []


def linter(profiles: tuple[Named, ...]) -> Linter:
    """The linter for these profiles; the last few are kept."""
    for known, found in _linters:
        if known == profiles:
            return found
    made = Linter(profiles)
    _linters[:] = [(profiles, made), *_linters[:3]]
    return made


def _fill(message: str, values: dict[str, str]) -> str:
    return _BRACES.sub(lambda match: values.get(match[1], match[0]), message)
