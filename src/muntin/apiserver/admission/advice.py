"""What the writer of an object is told beside what the API itself has to say of it."""

from __future__ import annotations

import logging

from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.config import Advise
from muntin.kit.log import fields

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


class Advice(Silent):
    """Adds the warnings of ``advise``, which may be wrong: what fails in it hinders no write."""

    def __init__(self, advise: Advise) -> None:
        self._advise = advise

    def validate(self, attributes: Attributes) -> None:
        """Warn; nothing is refused."""
        if attributes.operation not in _SPOKEN_OF or attributes.subresource:
            return
        if attributes.user.name.startswith(_COMPONENTS):
            return
        if attributes.resource.storage_name not in _RESOURCES:
            return
        try:
            attributes.request.warnings.extend(self._advise(attributes.obj, attributes.old))
        except Exception as err:  # a mistake in advice is no reason to lose a write
            log.exception("no advice", **fields(object=attributes.name, error=err))
