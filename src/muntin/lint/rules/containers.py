"""Rules on containers: variables, commands, probes and hooks, signals, exit codes, messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from muntin.lint.places import Fix, Path, Place, Put
from muntin.lint.rule import Profiles, Rule, is_there, on_pods
from muntin.lint.views import Container, Map, Pod, listing, mapping, text
from muntin.model.windows import Feature

_DRIVE_WITH_SLASHES = re.compile(r"\b[A-Za-z]:/")
_SUBSTITUTED = re.compile(r"(?<!\$)\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")
_SIGNAL = re.compile(r"\b(trap|kill)\b.*\b(SIG)?(TERM|HUP|INT|QUIT|USR1|USR2)\b|\bkill -\d")
_CODES_OF_SIGNALS = (137, 143)
_FROM_LOGS = "FallbackToLogsOnError"


def _has_colon(name: Any) -> bool:
    return isinstance(name, str) and ":" in name


def _with_underscores(path: Path, name: Any) -> Fix:
    """What .NET reads as the same key."""
    return Fix((Put(path, name.replace(":", "__")),), safe=False)


def _words(container: Container) -> Iterator[tuple[Path, str]]:
    """The words of its command line, with their places."""
    for field in ("command", "args"):
        for index, word in enumerate(listing(container.data.get(field))):
            if isinstance(word, str):
                yield (*container.path, field, index), word


def _hooks(container: Container) -> Iterator[tuple[Path, str]]:
    """The words of commands that its probes and hooks run."""
    holders: list[tuple[Path, Map]] = [
        ((name,), mapping(container.data.get(name)))
        for name in ("livenessProbe", "readinessProbe", "startupProbe")
    ]
    lifecycle = mapping(container.data.get("lifecycle"))
    holders += [
        (("lifecycle", name), mapping(lifecycle.get(name))) for name in ("postStart", "preStop")
    ]
    for steps, holder in holders:
        command = listing(mapping(holder.get("exec")).get("command"))
        for index, word in enumerate(command):
            if isinstance(word, str):
                yield (*container.path, *steps, "exec", "command", index), word


def _program(container: Container) -> str:
    for _, word in _words(container):
        return re.split(r"[\\/]", word)[-1].casefold().removesuffix(".exe")
    return ""


def _slashes_for_cmd(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for container in pod.containers:
        if _program(container) == "cmd":
            for path, word in _words(container):
                if _DRIVE_WITH_SLASHES.search(word):
                    yield Place(path)


def _dollars(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """``$(NAME)`` for PowerShell that the kubelet takes for one of the container's variables."""
    for container in pod.containers:
        if _program(container) not in ("powershell", "pwsh"):
            continue
        names = {text(mapping(one).get("name")) for one in listing(container.data.get("env"))}
        for path, word in _words(container):
            if any(name in names for name in _SUBSTITUTED.findall(word)):
                yield Place(path)


def _signals(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for container in pod.containers:
        for path, word in (*_words(container), *_hooks(container)):
            if _SIGNAL.search(word):
                yield Place(path)


def _exit_codes(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """A Job that tells the end of its pods by signals."""
    policy = mapping(mapping(pod.object.data.get("spec")).get("podFailurePolicy"))
    for index, rule in enumerate(listing(policy.get("rules"))):
        values = listing(mapping(mapping(rule).get("onExitCodes")).get("values"))
        for number, value in enumerate(values):
            if value in _CODES_OF_SIGNALS:
                steps = ("rules", index, "onExitCodes", "values", number)
                yield Place((*pod.object.path, "spec", "podFailurePolicy", *steps))


def _messages(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for container in pod.containers:
        if container.data.get("terminationMessagePolicy") == _FROM_LOGS:
            continue
        if is_there(container.data.get("terminationMessagePath")):
            yield Place((*container.path, "terminationMessagePath"))


RULES: dict[Feature, Rule] = {
    Feature.DOTNET_ENV_COLON: on_pods(where=_has_colon, fix=_with_underscores),
    Feature.API_PATH_SEPARATOR: on_pods(_slashes_for_cmd),
    Feature.GUIDE_POWERSHELL_DOLLAR_ESCAPE: on_pods(_dollars),
    Feature.PROBES_SUPPORTED: on_pods(),
    Feature.STARTUP_PROBES: on_pods(),
    Feature.GRPC_PROBES: on_pods(),
    Feature.LIFECYCLE_HOOKS_SUPPORTED: on_pods(),
    Feature.API_SIGNALS: on_pods(_signals),
    Feature.API_EXIT_CODES: on_pods(_exit_codes),
    Feature.TERMINATION_MESSAGE: on_pods(_messages),
}
