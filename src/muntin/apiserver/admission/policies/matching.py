"""Which operations a policy, and a binding of it, is for.

Source: apiserver v1.34 pkg/admission/plugin/policy/matching/matching.go,
pkg/kubeapiserver/admission/exclusion/resources.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.apiserver.admission.attributes import Attributes
from muntin.apiserver.admission.operation import Operation
from muntin.model.resources import Resource
from muntin.model.selectors import labels_of

# Answers to questions, which no policy may stand in the way of.
_EXCLUDED = {
    "authentication.k8s.io": frozenset({"selfsubjectreviews", "tokenreviews"}),
    "authorization.k8s.io": frozenset(
        {
            "localsubjectaccessreviews",
            "selfsubjectaccessreviews",
            "selfsubjectrulesreviews",
            "subjectaccessreviews",
        }
    ),
}


def is_excluded(attributes: Attributes) -> bool:
    """Whether policies have no say in the operation at all."""
    return attributes.resource.plural in _EXCLUDED.get(attributes.resource.group, ())


def row_for(match: Mapping[str, Any] | None, operation: Operation) -> Resource | None:
    """The row in whose version MatchResources is for the operation; None if it is not.

    Raises:
        ApiError: 404, the operation's namespace is not there.
    """
    asked = operation.attributes.request.target
    if match is None:
        return asked
    if not operation.in_namespace(labels_of(match.get("namespaceSelector") or {})):
        return None
    if not operation.selects_object(labels_of(match.get("objectSelector") or {})):
        return None
    exact = match.get("matchPolicy") == "Exact"
    excluded = match.get("excludeResourceRules")
    if excluded and operation.row_for(excluded, exact=exact) is not None:
        return None
    rules = match.get("resourceRules")
    return operation.row_for(rules, exact=exact) if rules else asked
