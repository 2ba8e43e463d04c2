"""Linting: documents and profiles in, findings out. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from muntin.lint import binding, commands, flags, views
from muntin.lint.api import UNKNOWN, Api, apis, said_of
from muntin.lint.configs import config_of, embedded
from muntin.lint.documents import Document, Problem
from muntin.lint.fields import patterns
from muntin.lint.findings import Finding
from muntin.lint.json_text import place as place_of
from muntin.lint.places import Fix, Place, path_text
from muntin.lint.problems import PROBLEMS
from muntin.lint.profiles import Named, default
from muntin.lint.rule import Rule, Target
from muntin.lint.rules import RULES
from muntin.lint.texts import read_text
from muntin.model.gates import Gate, Severity
from muntin.model.windows import GATES, Feature

_BRACES = re.compile(r"\{([\w-]+)\}")


class Linter:
    """The rules that say something for some profiles, chosen once.

    ``judges``: what the API would refuse is said as well; it says so itself to those who write.
    """

    def __init__(self, profiles: Sequence[Named] = (), *, judges: bool = True) -> None:
        self._judges = judges
        self.profiles = tuple(profiles) or (default(),)
        self._active: dict[Target, list[_Active]] = {target: [] for target in Target}
        for feature, rule in RULES.items():
            row = GATES[feature]
            meant = tuple(one for one in self.profiles if row.state(one.profile) in rule.states)
            if meant:
                self._active[rule.target].append(_Active(feature, row, rule, meant))

    def lint(self, documents: Iterable[Document]) -> list[Finding]:
        """What is found in documents that belong together, in order of their places."""
        given = gather(documents)
        found = list(self._walk(given))
        known = {(one.file, one.line, one.field) for one in found if one.severity is Severity.ERROR}
        for item in given.objects:
            for one in self._of_api(item):
                if (one.file, one.line, one.field) not in known:  # a row says more of it
                    found.append(one)
        found += [one for item in given.commands for one in flags.of_command(item, self.profiles)]
        return sorted(found, key=Finding.order)

    @cached_property
    def _apis(self) -> list[Api]:
        return apis(self.profiles) if self._judges else []

    def _of_api(self, item: views.Object) -> Iterator[Finding]:
        if item.document.partial:
            return
        for said in said_of(self._apis, item):
            line, column = item.document.mark((*item.path, *said.path))
            yield Finding(
                rule=said.rule,
                severity=Severity.WARNING if said.rule == UNKNOWN else Severity.ERROR,
                file=item.document.file,
                line=line,
                column=column,
                field=path_text(said.path),
                object=item.describe(),
                summary=PROBLEMS[said.rule],
                message=said.message,
                profiles=said.profiles,
                index=item.document.index,
            )

    def _walk(self, given: views.Given) -> Iterator[Finding]:
        for pod in given.pods:
            target = Target.POD if pod.os == binding.WINDOWS else Target.LINUX_POD
            yield from self._ask(target, pod, pod.object)
        for service in given.services:
            if service.os == binding.WINDOWS:
                yield from self._ask(Target.SERVICE, service, service.object)
        for item in given.objects:
            yield from self._ask(Target.OBJECT, item, item, item.kind)
        for config in given.configs:
            yield from self._ask(Target.CONFIG, config, config.object, config.form)
        for command in given.commands:
            if command.os == binding.WINDOWS:
                yield from self._ask(Target.COMMAND, command, command.object, command.program)

    def _ask(
        self, target: Target, view: views.View, item: views.Object | None, kind: str = ""
    ) -> Iterator[Finding]:
        document = view_document(view)
        held = _held(view)
        for active in self._active[target]:
            if active.wants is not None and active.wants.isdisjoint(held):
                continue
            if not active.rule.kinds or kind in active.rule.kinds:
                yield from active.findings(view, document, item)


def view_document(view: views.View) -> Document:
    """The document a view is of."""
    if isinstance(view, views.Pod | views.Service):
        return view.object.document
    return view.document


def _held(view: views.View) -> set[str]:
    """Which fields a pod has, and which its containers, so that rules on others are passed over."""
    if not isinstance(view, views.Pod):
        return set()
    held = set(view.spec)
    for container in view.containers:
        held.update(f"containers.{name}" for name in container.data)
    return held


def gather(documents: Iterable[Document]) -> views.Given:
    """All that documents hold: those of ConfigMaps' texts and the commands too."""
    items: list[views.Object] = []
    configs: list[views.Config] = []
    scripts: list[Document] = []
    for document in documents:
        if document.script:
            scripts.append(document)
        elif (config := config_of(document)) is not None:
            configs.append(config)
        else:
            items += views.objects(document)
    for item in list(items):
        for inner in embedded(item):
            config = config_of(inner, item)
            if config is not None:
                configs.append(config)
            items += views.objects(inner)
    given = binding.given(items)
    given.configs = configs
    for script in scripts:
        given.commands += commands.of_script(script)
    for pod in given.pods:
        given.commands += commands.of_pod(pod)
    for item in items:
        given.commands += commands.of_object(item)
    return given


_ON_PODS = (Target.POD, Target.LINUX_POD)


def _wants(row: Gate) -> frozenset[str] | None:
    """The fields of a pod, or of its containers, that a row speaks of; None if of others too."""
    found = set()
    for pattern in (one for text in row.applies_to for one in patterns(text)):
        if pattern[0] != "spec" or len(pattern) == 1:
            return None
        deep = pattern[1] in views.CONTAINER_LISTS and len(pattern) > 3
        found.add(f"containers.{pattern[3]}" if deep else str(pattern[1]))
    return frozenset(found)


class _Active:
    """One rule with those of the profiles that its row speaks of.

    ``wants``: the rule finds nothing in a pod that holds none of these fields (`_held`).
    """

    __slots__ = ("feature", "meant", "profiles", "row", "rule", "wants")

    def __init__(self, feature: Feature, row: Gate, rule: Rule, meant: tuple[Named, ...]) -> None:
        self.feature, self.row, self.rule, self.meant = feature, row, rule, meant
        self.profiles = tuple(one.profile for one in meant)
        self.wants = _wants(row) if rule.check is None and rule.target in _ON_PODS else None

    def findings(
        self, view: Any, document: Document, item: views.Object | None
    ) -> Iterator[Finding]:
        for place in self.rule.places(self.row, view, self.profiles):
            yield self._finding(place, document, item)

    def _finding(self, place: Place, document: Document, item: views.Object | None) -> Finding:
        row = self.row
        if place.span is not None:
            line, column = place_of(document.text, place.span[0])
            field = document.text[slice(*place.span)]
        else:
            line, column = document.mark(place.path)
            own = item is not None and item.document is document
            field = path_text(place.path[len(item.path) :] if item and own else place.path)
        if document.inside:
            field = f"{document.inside}: {field}"
        meant = place.profiles
        names = tuple(one.name for one in self.meant if meant is None or one.profile in meant)
        return Finding(
            rule=str(self.feature),
            severity=row.calls_it(),
            file=document.file,
            line=line,
            column=column,
            field=field,
            object=item.describe() if item else "",
            summary=row.summary,
            message=_fill(row.message, {"field": field, **place.values}),
            advice=row.advice,
            where=row.where(),
            source=row.source,
            profiles=names,
            index=document.index,
            fix=_possible(document, place.fix),
        )


def _possible(document: Document, fix: Fix | None) -> Fix | None:
    """The fix, if its edits can be made in that text."""
    if fix is None:
        return None
    from muntin.lint.edits import changes

    return fix if changes(document, fix) is not None else None


def lint_text(text: str, *, profiles: Sequence[Named] = (), file: str = "<text>") -> list[Finding]:
    """What is found in the text of a manifest (or several), for these profiles."""
    documents, problems = read_text(text, file)
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
