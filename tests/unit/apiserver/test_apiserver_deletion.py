import pytest

from muntin.apiserver import deletion, status
from muntin.apiserver.deletion import Options
from muntin.model.resources import CONFIG_MAPS, NAMESPACES, PODS

NOW = 1_700_000_000.0


def pod(phase="Running", node="n", **metadata):
    return {
        "metadata": {"name": "a", **metadata},
        "spec": {"nodeName": node, "terminationGracePeriodSeconds": 30},
        "status": {"phase": phase},
    }


@pytest.mark.parametrize(
    ("obj", "options"),
    [
        (pod(node=""), Options()),
        (pod("Succeeded"), Options()),
        (pod("Failed"), Options()),
        (pod(), Options(grace_period_s=0)),
    ],
)
def test_pods_with_nothing_to_stop_go_at_once(obj, options):
    assert deletion.plan(PODS, obj, options, NOW).remove


@pytest.mark.parametrize(
    ("options", "seconds", "stamp"),
    [
        (Options(), 30, "2023-11-14T22:13:50Z"),
        (Options(grace_period_s=5), 5, "2023-11-14T22:13:25Z"),
        (Options(grace_period_s=-1), 1, "2023-11-14T22:13:21Z"),
    ],
)
def test_running_pods_get_time(options, seconds, stamp):
    plan = deletion.plan(PODS, pod(), options, NOW)
    assert not plan.remove
    metadata = plan.store["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == seconds
    assert metadata["deletionTimestamp"] == stamp


def test_grace_is_never_made_longer():
    going = {"deletionTimestamp": "2023-11-14T22:13:21Z", "deletionGracePeriodSeconds": 5}
    assert deletion.plan(PODS, pod(**going), Options(grace_period_s=60), NOW).store is None


def test_namespaces_wait_for_their_content():
    obj = {"metadata": {"name": "a"}, "spec": {"finalizers": ["kubernetes"]}}
    plan = deletion.plan(NAMESPACES, obj, Options(), NOW)
    assert plan.store["status"]["phase"] == "Terminating"


def test_a_policy_replaces_the_finalizer_of_the_other():
    obj = {"metadata": {"name": "a", "finalizers": ["orphan", "x"]}}
    plan = deletion.plan(CONFIG_MAPS, obj, Options(propagation="Foreground"), NOW)
    assert plan.store["metadata"]["finalizers"] == ["x", "foregroundDeletion"]


def test_options_of_body_and_query():
    found = deletion.options_of(
        {"preconditions": {"uid": "u"}, "orphanDependents": True}, {"gracePeriodSeconds": ["3"]}
    )
    assert found == Options(grace_period_s=3, propagation="Orphan", uid="u")
    with pytest.raises(status.ApiError, match="propagationPolicy"):
        deletion.options_of({"propagationPolicy": "Sideways"}, {})
