"""Rules on users in containers and on gMSA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from muntin.lint.places import Path, Place
from muntin.lint.rule import Profiles, Rule, on_pods
from muntin.lint.views import Map, Pod, mapping, text
from muntin.model import names
from muntin.model.windows import Feature
from muntin.model.windows_releases import BASE_REPOSITORIES

_USERS = ("containeruser", "containeradministrator")
_AUTHORITIES = ("nt authority\\", "builtin\\", "user manager\\")


def options(pod: Pod) -> Iterator[tuple[Path, Map]]:
    """The windowsOptions of the pod and of its containers, with their paths."""
    for path, holder in (
        (pod.at("spec"), pod.spec),
        *((container.path, container.data) for container in pod.containers),
    ):
        found = mapping(mapping(holder.get("securityContext")).get("windowsOptions"))
        if found:
            yield (*path, "securityContext", "windowsOptions"), found


# The API server's own rules are asked; they are read when something is to be asked of them.
def _malformed_user(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for path, found in options(pod):
        user = found.get("runAsUserName")
        if not isinstance(user, str):
            continue
        from muntin.model.validation.windows_options import run_as_user_name

        if problems := run_as_user_name(user):
            yield Place((*path, "runAsUserName"), values={"problem": problems[0]})


def _unknown_user(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """A user that no base image has. What other images have, their names do not tell."""
    plain = all(_is_base(container.image) for container in pod.containers) and pod.containers
    for path, found in options(pod):
        user = text(found.get("runAsUserName")).lower()
        gives_user = "gmsaCredentialSpecName" in found or "gmsaCredentialSpec" in found
        known = user in _USERS or user.startswith(_AUTHORITIES)
        whole = path[: len(pod.path) + 2] == pod.at("spec", "securityContext")
        base = plain if whole else _is_base(_image(pod, path))
        if user and base and not known and not gives_user and not pod.host_process():
            yield Place((*path, "runAsUserName"))


def _image(pod: Pod, path: Path) -> str:
    owner = next((one for one in pod.containers if path[: len(one.path)] == one.path), None)
    return owner.image if owner else ""


def _is_base(image: str) -> bool:
    return image.partition("@")[0].partition(":")[0] in BASE_REPOSITORIES


def _no_host_user(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    whole = mapping(mapping(pod.spec.get("securityContext")).get("windowsOptions"))
    for container in pod.containers:
        own = mapping(mapping(container.data.get("securityContext")).get("windowsOptions"))
        user = own.get("runAsUserName", whole.get("runAsUserName"))
        if pod.host_process(container) and not user:
            yield Place((*container.path, "securityContext", "windowsOptions", "runAsUserName"))


def _bad_spec(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for path, found in options(pod):
        if _is_bad_content(found.get("gmsaCredentialSpec")):
            yield Place((*path, "gmsaCredentialSpec"))
        name = found.get("gmsaCredentialSpecName")
        if isinstance(name, str) and names.dns1123_subdomain(name):
            yield Place((*path, "gmsaCredentialSpecName"))


def _is_bad_content(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    from muntin.model.validation.windows_options import SPEC_BYTES

    return not 0 < len(value.encode()) <= SPEC_BYTES


RULES: dict[Feature, Rule] = {
    Feature.RUN_AS_USER_NAME: on_pods(),
    Feature.RUNASUSERNAME_VALIDATION: on_pods(_malformed_user),
    Feature.RUNASUSERNAME_UNKNOWN_USER: on_pods(_unknown_user),
    Feature.HOSTPROCESS_USER_REQUIRED: on_pods(_no_host_user),
    Feature.GUIDE_GMSA_1_14: on_pods(),
    Feature.GMSA_CREDSPEC_VALIDATION: on_pods(_bad_spec),
    Feature.GMSA_CRD_WEBHOOKS: on_pods(),
    Feature.GMSA_CONTAINERD_NETWORK_SHARES: on_pods(),
}
