"""Whose deletion is answered by the object that is gone, and not by a Status.

Source: ReturnDeletedObject in kubernetes v1.34 pkg/registry/*/*/storage/storage.go.
"""

from __future__ import annotations

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version
from muntin.model.resources import Resource

_SHOWN = frozenset(
    {
        ("", "persistentvolumeclaims"),
        ("", "persistentvolumes"),
        ("", "pods"),
        ("", "podtemplates"),
        ("", "resourcequotas"),
        ("", "serviceaccounts"),
        ("policy", "podsecuritypolicies"),
        ("storage.k8s.io", "csidrivers"),
        ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "storageclasses"),
        ("storage.k8s.io", "volumeattachments"),
        ("storage.k8s.io", "volumeattributesclasses"),
        ("resource.k8s.io", "deviceclasses"),
        ("resource.k8s.io", "resourceclaims"),
        ("resource.k8s.io", "resourceclaimtemplates"),
        ("resource.k8s.io", "resourceslices"),
    }
)


def is_shown(row: Resource, api: Version) -> bool:
    """Whether deleting an object of ``row`` answers with it, in an API of that version."""
    if (row.group, row.plural) == ("", "services"):
        return is_in(ApiFeature.DELETED_SERVICES_SHOWN, api)
    return (row.group, row.plural) in _SHOWN
