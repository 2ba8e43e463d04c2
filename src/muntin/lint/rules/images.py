"""Rules on images: the Windows build that a tag names, and the one of the nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from muntin.lint.binding import BUILD_LABEL
from muntin.lint.places import Fix, Place, Put
from muntin.lint.rule import SPEAKING, Profiles, Rule, on_pods
from muntin.lint.views import Container, Pod, mapping, text
from muntin.model.gates import Profile, State
from muntin.model.windows import GATES, Feature, image_runs, release_of
from muntin.model.windows_releases import BASE_REPOSITORIES, WindowsBuild, build_of_tag

_OWN_ROWS = (
    Feature.IMAGE_MATCH_LTSC2016,
    Feature.IMAGE_MATCH_1709,
    Feature.IMAGE_MATCH_1803,
)
_ANY = 0
# Where a tag says more than the build, the build is a part of it: 8.0-nanoserver-ltsc2022.
_PARTS = re.compile(r"[-_]")


def _split(image: str) -> tuple[str, str]:
    """Name and tag."""
    plain = image.partition("@")[0]
    name, colon, tag = plain.rpartition(":")
    return (name, tag) if colon and "/" not in tag else (plain, "")


def build_of(image: str) -> WindowsBuild | None:
    """The release that the image is built for, as far as its name tells."""
    name, tag = _split(image)
    if name in BASE_REPOSITORIES:
        return build_of_tag(tag)
    named = [build_of_tag(part) for part in _PARTS.split(tag) if len(part) > 3]
    known = [row for row in named if row is not None]
    return known[-1] if known else None


def _mismatches(
    pod: Pod, profiles: Profiles
) -> Iterator[tuple[Container, WindowsBuild | None, Profiles]]:
    """Containers, the builds that their names tell, and the profiles that do not run them."""
    for container in pod.containers:
        if pod.host_process(container):
            continue
        build = build_of(container.image)
        told = pod.object.document.builds.get(container.image)
        if told is None and build is not None:
            told = frozenset({build.build})
        if told is None or _ANY in told:
            continue
        meant = _meant(pod, profiles)
        wrong = tuple(one for one in meant if not any(image_runs(own, one) for own in told))
        if wrong:
            yield container, build, wrong


def _meant(pod: Pod, profiles: Profiles) -> Profiles:
    """The profiles whose nodes the pod can get to, if it selects a build."""
    wanted = text(mapping(pod.spec.get("nodeSelector")).get(BUILD_LABEL))
    rows = [(one, release_of(one)) for one in profiles]
    return tuple(one for one, row in rows if not wanted or (row and row.version == wanted))


def _fix(container: Container, build: WindowsBuild | None, wrong: Profiles) -> Fix | None:
    """The tag of the node's release; safe for base images, which are there for each."""
    rows = {row.build: row for one in wrong if (row := release_of(one)) is not None}
    if build is None or len(rows) != 1 or "@" in container.image:
        return None
    [row] = rows.values()
    name, tag = _split(container.image)
    base = name in BASE_REPOSITORIES
    if base and build_of_tag(tag) is not None:
        new = _tag(name, row)
    else:
        old = next((part for part in _PARTS.split(tag) if build_of_tag(part) == build), "")
        if not old:
            return None
        new = tag.replace(old, _tag(name, row))
    return Fix((Put((*container.path, "image"), f"{name}:{new}"),), safe=base)


def _tag(name: str, row: WindowsBuild) -> str:
    """The tag under which that release's images are published."""
    short = [tag for tag in row.tags if tag.startswith("sac") and name.endswith("nanoserver")]
    lasting = [tag for tag in row.tags if tag.startswith("ltsc")]
    return (short or lasting or list(row.tags))[0]


def _exact(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Builds that must be equal, where no row of the release itself says so."""
    for container, build, wrong in _mismatches(pod, profiles):
        rest = tuple(one for one in wrong if not _has_own_row(one))
        if rest:
            path = (*container.path, "image")
            yield Place(path, _fix(container, build, wrong), profiles=rest)


def _has_own_row(profile: Profile) -> bool:
    return any(GATES[feature].state(profile) is not State.SILENT for feature in _OWN_ROWS)


def _of_release(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for container, build, wrong in _mismatches(pod, profiles):
        path = (*container.path, "image")
        yield Place(path, _fix(container, build, wrong), profiles=wrong)


def _out_of_range(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """On nodes that run older images too: one that is newer, or too old."""
    ranged = tuple(one for one in profiles if GATES[Feature.OLDER_IMAGES].is_open(one))
    for container, build, wrong in _mismatches(pod, ranged):
        path = (*container.path, "image")
        yield Place(path, _fix(container, build, wrong), profiles=wrong)


def _no_build(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for container in pod.containers:
        name, tag = _split(container.image)
        if name in BASE_REPOSITORIES and tag in ("", "latest") and "@" not in container.image:
            yield Place((*container.path, "image"))


def _administrators(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Base images whose default user is the administrator, where no user is named."""
    for container in pod.containers:
        name, _ = _split(container.image)
        if name not in BASE_REPOSITORIES or name.endswith("nanoserver"):
            continue
        if not any(_user(holder) for holder in (pod.spec, container.data)):
            yield Place((*container.path, "image"))


def _user(holder: object) -> str:
    context = mapping(mapping(holder).get("securityContext"))
    return text(mapping(context.get("windowsOptions")).get("runAsUserName"))


RULES: dict[Feature, Rule] = {
    Feature.OS_MUST_MATCH_OR_NOT_START: on_pods(_exact),
    Feature.IMAGE_MATCH_LTSC2016: on_pods(_of_release),
    Feature.IMAGE_MATCH_1709: on_pods(_of_release),
    Feature.IMAGE_MATCH_1803: on_pods(_of_release),
    Feature.OLDER_IMAGES: on_pods(_out_of_range, states=SPEAKING),
    Feature.LATEST_TAG_CONFLICT: on_pods(_no_build),
    Feature.DEFAULT_USER_SERVERCORE: on_pods(_administrators),
}
