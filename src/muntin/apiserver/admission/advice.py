"""What the writer of an object is told beside what the API itself has to say of it."""

from __future__ import annotations

import logging

from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.cache import Cache
from muntin.apiserver.config import Advise
from muntin.apiserver.items import Item
from muntin.kit.log import fields
from muntin.model.resources import NODES

log = logging.getLogger(__name__)

_SPOKEN_OF = ("CREATE", "UPDATE")
# Kinds that hold pods or lead to them.
_RESOURCES = frozenset(
    {
        "pods", "podtemplates", "replicationcontrollers", "services",
        "apps/daemonsets", "apps/deployments", "apps/replicasets", "apps/statefulsets",
        "batch/cronjobs", "batch/jobs",
    }
)  # fmt: skip
_COMPONENTS = "system:"  # whom nobody reads the warnings of


class WindowsImages:
    """The names of the images in the status of the Windows nodes in ``cache``."""

    def __init__(self, cache: Cache) -> None:
        self._nodes = cache.of(NODES)
        self._known: dict[str, tuple[int, frozenset[str]]] = {}  # by node: revision and names

    def __call__(self) -> frozenset[str]:
        """All names; a node is only parsed again after it has changed."""
        self._known = {
            item.name: self._of(item)
            for item in self._nodes.select()
            if item.labels.get("kubernetes.io/os") == "windows"
        }
        return frozenset().union(*(names for _, names in self._known.values()))

    def _of(self, item: Item) -> tuple[int, frozenset[str]]:
        known = self._known.get(item.name)
        if known is not None and known[0] == item.revision:
            return known
        rows = (item.object().get("status") or {}).get("images") or ()
        names = (name for row in rows for name in row.get("names") or ())
        return item.revision, frozenset(str(name) for name in names)


class Advice(Silent):
    """Adds the warnings of ``advise``, which may be wrong: what fails in it hinders no write."""

    def __init__(self, advise: Advise, images: WindowsImages) -> None:
        self._advise = advise
        self._images = images

    def validate(self, attributes: Attributes) -> None:
        """Warn; nothing is refused."""
        if attributes.operation not in _SPOKEN_OF or attributes.subresource:
            return
        if attributes.user.name.startswith(_COMPONENTS):
            return
        if attributes.resource.storage_name not in _RESOURCES:
            return
        try:
            warnings = self._advise(attributes.obj, attributes.old, self._images)
            attributes.request.warnings.extend(warnings)
        except Exception as err:  # a mistake in advice is no reason to lose a write
            log.exception("no advice", **fields(object=attributes.name, error=err))
