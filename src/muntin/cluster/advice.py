"""The linter as an adviser of the cluster's own API server: for the profiles of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from muntin.cluster.config import ClusterConfig
from muntin.kit.errors import Invalid

if TYPE_CHECKING:
    from muntin.lint.run import Linter


class _OnNodes(Mapping[str, frozenset[int]]):
    """The builds of images on Windows nodes: any build, unless the name includes one."""

    def __init__(self, images: Callable[[], frozenset[str]]) -> None:
        self._images = images

    def __getitem__(self, image: str) -> frozenset[int]:
        from muntin.lint.rules.images import build_of
        from muntin.seams.oci.reference import parse

        if build_of(image) is not None:
            raise KeyError(image)
        try:
            name = str(parse(image))
        except Invalid as err:
            raise KeyError(image) from err
        if name not in self._images():
            raise KeyError(image)
        return frozenset({0})

    def __iter__(self) -> Iterator[str]:
        return iter(self._images())

    def __len__(self) -> int:
        return len(self._images())


class Adviser:
    """Says what an object will meet on the cluster's Windows nodes; loaded when first asked."""

    def __init__(self, config: ClusterConfig) -> None:
        self._nodes = [node for node in config.nodes if node.profile is not None]
        self._linter: Linter | None = None

    def __call__(
        self, obj: dict[str, Any], old: dict[str, Any] | None, images: Callable[[], frozenset[str]]
    ) -> list[str]:
        """Warnings about ``obj``; for an update, only the new ones.

        ``images`` gives the names of the images that Windows nodes have.
        """
        from muntin.lint.review import changed, warnings_of

        if self._linter is None:
            self._linter = self._made()
        return warnings_of(changed(self._linter, obj, old, _OnNodes(images)))

    def _made(self) -> Linter:
        from muntin.lint.profiles import Named
        from muntin.lint.run import Linter

        named: list[Named] = []
        for node in self._nodes:
            assert node.profile is not None
            if all(known.profile != node.profile for known in named):
                named.append(Named(node.name, node.profile))
        return Linter(named, judges=False)


def adviser(config: ClusterConfig) -> Adviser | None:
    """The adviser of a cluster that has Windows nodes and wants one."""
    has_windows = any(node.profile is not None for node in config.nodes)
    return Adviser(config) if config.lint and has_windows else None
