"""Image references: ``[registry/]repository[:tag][@digest]``, completed as Docker completes them.

Source: github.com/distribution/reference v0.6 reference.go (grammar) and normalize.go
(docker.io, library/, latest).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from muntin.kit.errors import Invalid

DEFAULT_REGISTRY = "docker.io"
_LEGACY_REGISTRY = "index.docker.io"
_OFFICIAL = "library/"
_LONGEST_NAME = 255

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_LABEL = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_REGISTRY = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}")


@dataclass(frozen=True, slots=True)
class Reference:
    """One image name, complete; ``tag`` or ``digest`` is set, or both."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def name(self) -> str:
        """``registry/repository``."""
        return f"{self.registry}/{self.repository}"

    @property
    def wanted(self) -> str:
        """What to ask a registry for: the digest where there is one."""
        return self.digest or self.tag

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.name}{tag}{f'@{self.digest}' if self.digest else ''}"


def parse(text: str) -> Reference:
    """The complete reference that ``text`` stands for; ``nginx`` is docker.io/library/nginx:latest.

    Raises:
        Invalid: with Docker's own words for what is wrong.
    """
    rest, _, digest = text.partition("@")
    if "@" in text and not _DIGEST.fullmatch(digest):
        raise Invalid(f"invalid reference format: {text!r} has no valid digest")
    if digest.startswith("sha256:") and len(digest) != len("sha256:") + 64:
        raise Invalid(f"invalid checksum digest length: {text!r}")
    registry, rest = _split_registry(rest)
    repository, colon, tag = rest.partition(":")
    if colon and not _TAG.fullmatch(tag):
        raise Invalid(f"invalid reference format: {text!r}")
    if not _REPOSITORY.fullmatch(repository):
        if _REPOSITORY.fullmatch(repository.lower()):
            raise Invalid(
                f"invalid reference format: repository name ({repository}) must be lowercase"
            )
        raise Invalid(f"invalid reference format: {text!r}")
    if registry == DEFAULT_REGISTRY and "/" not in repository:
        repository = _OFFICIAL + repository
    if len(registry) + 1 + len(repository) > _LONGEST_NAME:
        raise Invalid(f"repository name must not be more than {_LONGEST_NAME} characters")
    if not tag and not digest:
        tag = "latest"
    return Reference(registry, repository, tag, digest)


def _split_registry(text: str) -> tuple[str, str]:
    """A first part with a dot, a port or the name localhost is a registry."""
    first, slash, rest = text.partition("/")
    is_registry = "." in first or ":" in first or first == "localhost" or first != first.lower()
    if not slash or not is_registry or not _REGISTRY.fullmatch(first):
        return DEFAULT_REGISTRY, text
    return (DEFAULT_REGISTRY if first == _LEGACY_REGISTRY else first), rest
