"""Images that are never fetched: names that stand for our own base, by repository and tag. Pure.

Images of Microsoft are neither shipped nor fetched; a reference to one of their base images gives
the emulated base of that Windows release instead.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import orjson

from muntin.kit.errors import NotFound
from muntin.model.gates import Profile
from muntin.model.windows import Feature, image_runs, is_open, release_of
from muntin.model.windows_releases import (
    ALL_BUILDS_REPOSITORIES,
    BASE_REPOSITORIES,
    WindowsBuild,
    build_of_tag,
)
from muntin.seams.oci.reference import Reference

CMD = r"c:\windows\system32\cmd.exe"
PAUSE = r"C:\pause.exe"
_NANO = "nanoserver"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownImage:
    """One base image as this node sees it."""

    reference: Reference
    build: int
    revision: int
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    user: str = ""
    is_pause: bool = False

    @property
    def id(self) -> str:
        """The digest of a configuration that says just this."""
        document = [self.reference.name, self.build, self.revision]
        return "sha256:" + hashlib.sha256(orjson.dumps(document)).hexdigest()

    @property
    def digest(self) -> str:
        """The digest that stands for its manifest."""
        return "sha256:" + hashlib.sha256(self.id.encode()).hexdigest()


def known_image(reference: Reference, profile: Profile) -> KnownImage | None:
    """The base image that ``reference`` names, None if it is no name of ours.

    Raises:
        NotFound: the repository is known, the tag is not, or is that of a release that the node
            cannot run; in the words of the node's runtime.
    """
    if reference.name in ALL_BUILDS_REPOSITORIES:
        build = _host_row(profile)
        return KnownImage(
            reference=reference, build=build.build, revision=build.revision,
            entrypoint=(PAUSE,), user="ContainerUser", is_pause=True,
        )  # fmt: skip
    if reference.name not in BASE_REPOSITORIES:
        return None
    row = build_of_tag(reference.tag)
    if row is None:
        raise NotFound(f'failed to resolve reference "{reference}": {reference}: not found')
    if not image_runs(row.build, profile):
        raise NotFound(no_match_text(reference, row, profile))
    plain = reference.name.endswith(_NANO) or is_open(Feature.DEFAULT_USER_SERVERCORE, profile)
    user = "ContainerUser" if plain else "ContainerAdministrator"
    return KnownImage(
        reference=reference, build=row.build, revision=row.revision, cmd=(CMD,), user=user
    )


def no_match_text(reference: Reference, image: WindowsBuild, profile: Profile) -> str:
    """What users of real nodes read when an image is only there for another release."""
    if is_open(Feature.CONTAINERD_PULL_ERRORS, profile):
        return "no match for platform in manifest: not found"
    return (
        f"no matching manifest for windows/amd64 {_host_row(profile).version} "
        "in the manifest list entries"
    )


def _host_row(profile: Profile) -> WindowsBuild:
    row = release_of(profile)
    assert row is not None  # `muntin up` takes known releases only
    return row
