"""Rules on security contexts: what Windows ignores, what the API refuses, HostProcess, users.

A field that a pod for Windows cannot have is refused where the pod says that it is for Windows
(``spec.os.name``), and ignored where it does not: never both are found.
"""

from __future__ import annotations

from collections.abc import Iterator

from muntin.lint.fields import find, patterns
from muntin.lint.places import Fix, Place, Put
from muntin.lint.rule import (
    SPEAKING,
    Profiles,
    Rule,
    Test,
    equals,
    is_there,
    on_linux_pods,
    on_pods,
    remove,
    remove_unsafe,
)
from muntin.lint.views import Map, Pod, mapping, text
from muntin.model.gates import State
from muntin.model.windows import GATES, Feature

_ADMINISTRATOR = "ContainerAdministrator"
# They are refused only where they are switched on, or not empty.
_IF_ON = (Feature.FORBIDS_HOSTPID, Feature.FORBIDS_HOSTIPC, Feature.FORBIDS_PSC_SYSCTLS)
_REFUSALS = {
    path: feature
    for feature, row in GATES.items()
    if feature.startswith("os-windows-forbids-")
    for path in row.applies_to
}


def says(pod: Pod) -> str:
    """The system that the pod says it is for, which the API judges it by."""
    return text(mapping(pod.spec.get("os")).get("name"))


def _not_refused(pod: Pod, path: str, profiles: Profiles) -> Profiles:
    """The profiles whose API takes the field."""
    refusal = _REFUSALS.get(path)
    if refusal is None or says(pod) != "windows":
        return profiles
    return tuple(one for one in profiles if GATES[refusal].state(one) is not State.SHUT)


def ignored(feature: Feature, where: Test = is_there) -> Rule:
    """The fields of the row, where the API does not refuse them already."""

    def check(pod: Pod, profiles: Profiles) -> Iterator[Place]:
        for applies_to in GATES[feature].applies_to:
            meant = _not_refused(pod, applies_to, profiles)
            for pattern in patterns(applies_to) if meant else ():
                for path, value in find(pod.data, pattern, pod.path):
                    if where(value):
                        yield Place(path, remove(path, value), profiles=meant)

    return on_pods(check)


def _refused(feature: Feature) -> Rule:
    where: Test = bool if feature in _IF_ON else is_there

    def check(pod: Pod, profiles: Profiles) -> Iterator[Place]:
        if says(pod) != "windows":
            return
        for applies_to in GATES[feature].applies_to:
            for pattern in patterns(applies_to):
                for path, value in find(pod.data, pattern, pod.path):
                    if where(value):
                        yield Place(path, remove(path, value))

    return on_pods(check)


def _for_linux(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """windowsOptions in a pod that says it is for Linux."""
    if says(pod) == "linux":
        for applies_to in GATES[Feature.POD_OS_LINUX_WINDOWSOPTIONS].applies_to:
            for pattern in patterns(applies_to):
                for path, value in find(pod.data, pattern, pod.path):
                    if is_there(value):
                        yield Place(path, remove_unsafe(path, value))


def _contexts(pod: Pod) -> Iterator[tuple[tuple[str | int, ...], Map, Map]]:
    """(path of the container, its security context, that of the pod)."""
    whole = mapping(pod.spec.get("securityContext"))
    for container in pod.containers:
        yield container.path, mapping(container.data.get("securityContext")), whole


def _users(pod: Pod) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The users that containers name which must not run as root."""
    found = set()
    for path, own, whole in _contexts(pod):
        if own.get("runAsNonRoot", whole.get("runAsNonRoot")) is not True:
            continue
        for where, context in ((path, own), (pod.at("spec"), whole)):
            user = mapping(context.get("windowsOptions")).get("runAsUserName")
            if isinstance(user, str):
                place = (*where, "securityContext", "windowsOptions", "runAsUserName")
                if place not in found:
                    found.add(place)
                    yield place, user
                break


def _administrators(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    any_case = GATES[Feature.NON_ROOT_IN_ANY_CASE]
    refusing = GATES[Feature.RUN_AS_NON_ROOT]
    for path, user in _users(pod):
        if user.casefold() != _ADMINISTRATOR.casefold():
            continue
        meant = tuple(
            one
            for one in profiles
            if refusing.is_open(one) and (user == _ADMINISTRATOR or any_case.is_open(one))
        )
        if meant:
            fix = Fix((Put(path, "ContainerUser"),), safe=False)
            yield Place(path, fix, profiles=meant)


def _spelt_otherwise(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for path, user in _users(pod):
        if user != _ADMINISTRATOR and user.casefold() == _ADMINISTRATOR.casefold():
            yield Place(path)


def _root_on_the_node(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    places = set()
    for container in pod.containers:
        if not pod.host_process(container):
            continue
        for where, data in ((container.path, container.data), (pod.at("spec"), pod.spec)):
            if mapping(data.get("securityContext")).get("runAsNonRoot") is True:
                places.add((*where, "securityContext", "runAsNonRoot"))
    for place in sorted(places, key=str):
        yield Place(place, remove_unsafe(place, True))


def _without_network(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    if any(map(pod.host_process, pod.containers)) and pod.spec.get("hostNetwork") is not True:
        path = pod.at("spec", "hostNetwork")
        yield Place(path, Fix((Put(path, True),), safe=False))


def _mixed(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    kinds = [pod.host_process(container) for container in pod.containers]
    if any(kinds) and not all(kinds):
        for container, is_host in zip(pod.containers, kinds, strict=True):
            if not is_host:
                yield Place((*container.path, "name"))


RULES: dict[Feature, Rule] = {
    **{
        feature: ignored(feature)
        for feature in (
            Feature.RUN_AS_USER,
            Feature.RUN_AS_GROUP,
            Feature.SUPPLEMENTAL_GROUPS,
            Feature.FS_GROUP,
            Feature.SELINUX_OPTIONS,
            Feature.SECURITY_PROFILES,
            Feature.CAPABILITIES,
            Feature.PRIVILEGE_ESCALATION,
            Feature.PROC_MOUNT,
            Feature.SYSCTLS,
        )
    },
    Feature.PRIVILEGED: ignored(Feature.PRIVILEGED, bool),
    Feature.READ_ONLY_ROOT: ignored(Feature.READ_ONLY_ROOT, bool),
    **{feature: _refused(feature) for feature in dict.fromkeys(_REFUSALS.values())},
    Feature.POD_OS_LINUX_WINDOWSOPTIONS: on_linux_pods(_for_linux),
    Feature.RUN_AS_NON_ROOT: on_pods(_administrators, states=SPEAKING),
    Feature.NON_ROOT_IN_ANY_CASE: on_pods(_spelt_otherwise),
    Feature.HOST_PROCESS: on_pods(where=equals(True)),
    Feature.HOSTPROCESS_PSS: on_pods(where=equals(True)),
    Feature.HOSTPROCESS_RUNASNONROOT: on_pods(_root_on_the_node),
    Feature.HOSTPROCESS_NEEDS_HOSTNETWORK: on_pods(_without_network),
    Feature.HOSTPROCESS_ALL_OR_NONE: on_pods(_mixed),
}
