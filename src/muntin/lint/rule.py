"""The form of a rule: which row of the gates table is asked about what, and where to look.

A rule has no text: that is the row's. It says on what it is checked and how the places are found;
most need nothing more than ``on_pods()``: the field of the row's ``applies_to`` is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from muntin.lint.fields import find, patterns
from muntin.lint.places import Fix, Path, Place, Remove
from muntin.lint.views import Command, Config, Object, Pod, Service
from muntin.model.gates import Gate, Profile, State

Profiles = tuple[Profile, ...]
PodCheck = Callable[[Pod, Profiles], Iterable[Place]]
ServiceCheck = Callable[[Service, Profiles], Iterable[Place]]
ObjectCheck = Callable[[Object, Profiles], Iterable[Place]]
ConfigCheck = Callable[[Config, Profiles], Iterable[Place]]
CommandCheck = Callable[[Command, Profiles], Iterable[Place]]
Test = Callable[[Any], bool]
Fixing = Callable[[Path, Any], Fix | None]


class Target(StrEnum):
    """What a rule is checked on."""

    POD = "pod"
    LINUX_POD = "linux pod"
    SERVICE = "service"
    OBJECT = "object"
    CONFIG = "configuration"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Rule:
    """``check`` gets the view and the profiles for which the row is in one of ``states``.

    Without a check, the fields that ``applies_to`` names are looked up; ``test`` says which of
    their values count, and ``fix`` how to mend one. ``kinds``: of objects, forms of configurations,
    programs; all if empty.
    """

    target: Target
    check: Callable[[Any, Profiles], Iterable[Place]] | None = None
    test: Test = bool
    fix: Fixing | None = None
    states: frozenset[State] = frozenset({State.SHUT})
    kinds: frozenset[str] = frozenset()

    def places(self, row: Gate, view: Any, profiles: Profiles) -> Iterator[Place]:
        """Where the view touches what the row speaks of."""
        if self.check is not None:
            yield from self.check(view, profiles)
            return
        if isinstance(view, Command):
            yield from self._flags(row, view)
            return
        for applies_to in row.applies_to:
            for pattern in patterns(applies_to):
                for path, value in find(view.data, pattern, view.path):
                    if self.test(value):
                        yield Place(path, self.fix(path, value) if self.fix else None)

    def _flags(self, row: Gate, command: Command) -> Iterator[Place]:
        for applies_to in row.applies_to:
            programs, _, names = applies_to.partition(" ")
            wanted = {name.partition("=")[0].rstrip(",") for name in names.split()}
            if command.program in programs.split("/"):
                for flag in command.flags:
                    if flag.name in wanted and self.test(flag.value):
                        yield Place(flag.path, span=flag.span)


SHUT = frozenset({State.SHUT})
SPEAKING = frozenset({State.SHUT, State.OPEN})
"""For rows whose check compares something itself: a tag with the build, a value with a limit."""


def on_pods(
    check: PodCheck | None = None,
    *,
    where: Test = bool,
    fix: Fixing | None = None,
    states: frozenset[State] = SHUT,
) -> Rule:
    """Of pods (and templates) that are bound for Windows nodes."""
    return Rule(Target.POD, check, where, fix, states)


def on_linux_pods(
    check: PodCheck | None = None, *, where: Test = bool, fix: Fixing | None = None
) -> Rule:
    """Of pods that are not bound for Windows nodes: for clusters that have both."""
    return Rule(Target.LINUX_POD, check, where, fix)


def on_services(
    check: ServiceCheck | None = None,
    *,
    where: Test = bool,
    fix: Fixing | None = None,
    states: frozenset[State] = SHUT,
) -> Rule:
    """Of Services that select pods of the given set that are bound for Windows nodes."""
    return Rule(Target.SERVICE, check, where, fix, states)


def on_objects(
    *kinds: str,
    check: ObjectCheck | None = None,
    where: Test = bool,
    fix: Fixing | None = None,
    states: frozenset[State] = SHUT,
) -> Rule:
    """Of objects of those kinds, whatever they are bound for."""
    return Rule(Target.OBJECT, check, where, fix, states, frozenset(kinds))


def on_configs(
    *forms: str,
    check: ConfigCheck | None = None,
    where: Test = bool,
    states: frozenset[State] = SHUT,
) -> Rule:
    """Of configurations of those forms: `configs.CNI`, `configs.FLANNEL`."""
    return Rule(Target.CONFIG, check, where, None, states, frozenset(forms))


def on_flags(
    check: CommandCheck | None = None,
    *,
    programs: tuple[str, ...] = (),
    where: Test = lambda value: True,
    states: frozenset[State] = SHUT,
) -> Rule:
    """Of command lines on Windows nodes. ``applies_to`` is ``kubelet --hairpin-mode``.

    ``where`` gets the flag's value as text, None where none is written.
    """
    return Rule(Target.COMMAND, check, where, None, states, frozenset(programs))


# Tests of a value, for ``where``. The default, ``bool``: it is there and neither false nor empty.
def is_there(value: Any) -> bool:
    """Any value that is not null, ``false``, 0 and ``{}`` too: as the API tests for pointers."""
    return value is not None


def equals(*wanted: Any) -> Test:
    """It is one of those values."""
    return lambda value: value in wanted and not isinstance(value, dict | list)


# Fixes, for ``fix``.
def remove(path: Path, value: Any) -> Fix:
    """The field is taken away: it has no effect, or the API refuses it."""
    return Fix((Remove(path),))


def remove_unsafe(path: Path, value: Any) -> Fix:
    """The field is taken away, and with it something that may have been meant."""
    return Fix((Remove(path),), safe=False)
