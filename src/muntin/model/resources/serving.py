"""Which rows a server serves: by the version of its API, and by what its runtime config says.

The runtime config is upstream's ``--runtime-config``: ``group/version`` or
``group/version/resource`` (``v1`` and ``v1/pods`` of the core group), or ``api/all``, ``api/ga``,
``api/beta``, to true or false; the narrower word wins. Beyond upstream, a version that was
removed can be had again: its objects are converted like those of any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from muntin.kit.errors import Invalid
from muntin.model.resources.lifecycle import Version, has_part, life_of, version_of
from muntin.model.resources.row import Resource, Subresource
from muntin.model.resources.table import RESOURCES

RuntimeConfig = Mapping[str, bool]
_STAGES = ("api/all", "api/ga", "api/beta")


class Types(Protocol):
    """What is asked of the schema of an API version."""

    @property
    def version(self) -> str:
        """The API version, as two numbers with a dot."""

    def has_kind(self, group: str, version: str, kind: str) -> bool:
        """Whether the types of a kind are known in this version."""


def served(
    types: Types, runtime_config: RuntimeConfig | None = None,
    resources: Iterable[Resource] = RESOURCES,
) -> tuple[Resource, ...]:  # fmt: skip
    """The rows that an API server of the version of ``types`` serves, in discovery order."""
    version, config = version_of(types.version), runtime_config or {}
    return tuple(
        _fitted(row, version)
        for row in resources
        if types.has_kind(row.group, row.version, row.kind) and _is_on(row, version, config)
    )


def check(runtime_config: RuntimeConfig, types: Types) -> None:
    """Raise Invalid for a word that names nothing that could be served, as upstream does."""
    rows = [
        row
        for row in RESOURCES
        if types.has_kind(row.group, row.version, row.kind)
        and life_of(row.api_version, row.kind).introduced <= version_of(types.version)
    ]
    words = {word for row in rows for word in (row.api_version, _path(row))}
    unknown = sorted(runtime_config.keys() - words - set(_STAGES))
    if unknown:
        raise Invalid(
            f"runtime config: unknown api groups or versions {', '.join(unknown)}; "
            f"known ones: {', '.join(sorted({row.api_version for row in rows}))}"
        )


def _path(row: Resource) -> str:
    return f"{row.api_version}/{row.plural}"


def _is_on(row: Resource, version: Version, config: RuntimeConfig) -> bool:
    life = life_of(row.api_version, row.kind)
    if version < life.introduced:
        return False
    for word in (_path(row), row.api_version):
        if word in config:
            return config[word]
    if life.is_removed(version):
        return False
    stage = "api/beta" if "beta" in row.version else "api/ga"
    return config.get(stage, config.get("api/all", True))


def _fitted(row: Resource, version: Version) -> Resource:
    """``row`` without the verbs and subresources that came later than ``version``.

    A version that is gone by then has no short names: those are for what took its place.
    """
    verbs = tuple(verb for verb in row.verbs if has_part(row.plural, verb, version))
    subresources = tuple(
        _fitted_subresource(sub, version)
        for sub in row.subresources
        if has_part(f"{row.plural}/{sub.name}", "*", version)
    )
    gone = life_of(row.api_version, row.kind).is_removed(version)
    short_names = () if gone else row.short_names
    if (verbs, subresources, short_names) == (row.verbs, row.subresources, row.short_names):
        return row
    return replace(row, verbs=verbs, subresources=subresources, short_names=short_names)


def _fitted_subresource(sub: Subresource, version: Version) -> Subresource:
    """An Eviction was of the beta version before it was of the stable one."""
    if not sub.kind or life_of(sub.api_version, sub.kind).introduced <= version:
        return sub
    return replace(sub, version=f"{sub.version}beta1")
