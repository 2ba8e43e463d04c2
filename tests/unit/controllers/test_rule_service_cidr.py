"""ServiceCIDRs: ready, protected, deleted."""

import pytest
from objects import NOW, at, said

from muntin.controllers.rules import service_cidr as rule

READY = {"type": "Ready", "status": "True"}


def made(name, *cidrs, deleted_s=None, finalizers=(rule.FINALIZER,), conditions=()):
    meta = {"name": name, "uid": name, "resourceVersion": "1", "finalizers": list(finalizers)}
    if deleted_s is not None:
        meta["deletionTimestamp"] = at(-deleted_s)
    return {
        "metadata": meta,
        "spec": {"cidrs": list(cidrs)},
        "status": {"conditions": list(conditions)},
    }


def address(text, managed="ipallocator"):
    return {"metadata": {"name": text, "labels": {"ipaddress.kubernetes.io/managed-by": managed}}}


def act(obj, *others, addresses=()):
    everyone = [obj, *others]
    snapshot = rule.Snapshot(service_cidr=obj, everyone=everyone, addresses=addresses)
    return rule.reconcile(snapshot, NOW)


def test_a_new_range_is_protected_and_ready():
    actions = act(made("a", "10.1.0.0/24", finalizers=["mine"]))
    assert said(actions) == ["patch servicecidr a"] * 2
    assert actions[0].patch["metadata"]["finalizers"] == ["mine", rule.FINALIZER]
    assert actions[1].subresource == "status"
    (row,) = actions[1].patch["status"]["conditions"]
    assert (row["status"], row["message"]) == ("True", "Kubernetes Service CIDR is ready")
    assert act(made("a", "10.1.0.0/24", conditions=[READY])) == []


def test_a_deleted_range_waits_for_its_addresses():
    gone = made("a", "10.1.0.0/24", deleted_s=60, conditions=[READY])
    (patch,) = act(gone, addresses=[address("10.1.0.5")])
    (row,) = patch.patch["status"]["conditions"]
    assert (row["status"], row["reason"]) == ("False", "Terminating")
    assert row["message"].startswith("There are still IPAddresses referencing the ServiceCIDR")
    (patch,) = act(gone, addresses=[address("10.2.0.5"), address("10.1.0.5", "me")])
    assert patch.patch["metadata"]["finalizers"] is None


@pytest.mark.parametrize(
    "other, goes",
    [
        ("10.1.0.0/24", True),
        ("10.0.0.0/8", True),
        ("10.1.0.0/28", True),  # it has the only address
        ("10.1.0.128/25", False),
        ("fd00::/64", False),
    ],
)
def test_addresses_that_another_one_has_do_not_hold_it(other, goes):
    gone = made("a", "10.1.0.0/24", deleted_s=60)
    (patch,) = act(gone, made("b", other), addresses=[address("10.1.0.5")])
    assert ("metadata" in patch.patch) is goes


def test_allocators_have_time_to_see_the_deletion():
    (again,) = act(made("a", "10.1.0.0/24", deleted_s=4))
    assert again.delay_s == pytest.approx(6, abs=1)
    assert act(made("a", "10.1.0.0/24", deleted_s=60, finalizers=["mine"])) == []


def test_who_is_looked_at_with_it():
    everyone = [made("a", "10.0.0.0/8"), made("b", "10.1.0.0/24"), made("c", "fd00::/64", "x")]
    assert rule.overlapping(everyone[1], everyone) == ["a", "b"]
    assert rule.containing(address("10.1.0.5"), everyone) == ["a", "b"]
    assert rule.containing(address("10.1.0.5", "me"), everyone) == []
