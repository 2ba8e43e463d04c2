"""The table of resources and its look-ups."""

from __future__ import annotations

import pytest

from muntin.model import resources, schema
from muntin.model.resources import PODS, RESOURCES


def test_look_ups_agree() -> None:
    for row in RESOURCES:
        assert resources.by_path(row.group, row.version, row.plural) is row
        assert resources.by_kind(row.api_version, row.kind) is row


@pytest.mark.parametrize(
    ("name", "plural"),
    [
        ("po", "pods"),
        ("pod", "pods"),
        ("Pods", "pods"),
        ("deploy", "deployments"),
        ("deployments.apps", "deployments"),
        ("ep", "endpoints"),
        ("events", "events"),
        ("netpol", "networkpolicies"),
    ],
)
def test_names_that_people_use(name: str, plural: str) -> None:
    row = resources.named(name)
    assert row is not None
    assert row.plural == plural


def test_paths() -> None:
    assert PODS.path() == "/api/v1/pods"
    assert PODS.path("a", "ns", "log") == "/api/v1/namespaces/ns/pods/a/log"
    assert resources.NODES.path("n") == "/api/v1/nodes/n"
    assert resources.LEASES.root == "/apis/coordination.k8s.io/v1"


def test_events_of_both_groups_are_stored_as_core_events() -> None:
    assert resources.EVENTS_V1.storage_name == resources.EVENTS.storage_name == "events"
    assert resources.storage_version(resources.EVENTS_V1) is resources.EVENTS


def test_short_names_are_unique_within_a_group_version() -> None:
    seen: dict[tuple[str, str, str], str] = {}
    for row in RESOURCES:
        for name in row.short_names:
            assert seen.setdefault((row.group, row.version, name), row.plural) == row.plural


def test_kubectl_get_all_shows_the_same_kinds_as_upstream() -> None:
    kinds = {row.kind for row in RESOURCES if "all" in row.categories}
    assert kinds == {
        "Pod", "Service", "ReplicationController", "Deployment", "ReplicaSet", "DaemonSet",
        "StatefulSet", "HorizontalPodAutoscaler", "Job", "CronJob",
    }  # fmt: skip


def test_stored_kinds_have_a_type_with_metadata() -> None:
    types = schema.load("1.34")
    for row in resources.served(types):
        if row.is_stored:
            assert "metadata" in types.type_of(row).fields, row
