import pytest

from muntin.apiserver import deletion, status
from muntin.apiserver.delete_options import Options, options_of
from muntin.apiserver.items import Item
from muntin.model.resources import CONFIG_MAPS, JOBS, NAMESPACES, PODS

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


@pytest.mark.parametrize(
    ("grace", "stamp"),
    [
        (2**63 - 1, "2023-11-14T22:13:19Z"),  # minus one second, as Go's int64 of nanoseconds
        (2**63 // 10**9, "2316-02-24T22:00:36Z"),
        (10**12, "2146-09-09T22:53:39Z"),
        (10**18, "1804-03-29T04:32:52Z"),
    ],
)
def test_very_long_grace_wraps_around_as_upstream(grace, stamp):
    """Such a pod can be deleted, and deleted again with less time."""
    obj = pod()
    obj["spec"]["terminationGracePeriodSeconds"] = grace
    plan = deletion.plan(PODS, obj, Options(), NOW)
    assert plan.store["metadata"]["deletionTimestamp"] == stamp
    assert plan.store["metadata"]["deletionGracePeriodSeconds"] == grace
    hurried = deletion.plan(PODS, plan.store, Options(grace_period_s=30), NOW)
    begun = ("2023-11-14T22:13:49Z", "2023-11-14T22:13:50Z")  # the timestamp has whole seconds
    assert hurried.store["metadata"]["deletionTimestamp"] in begun
    assert deletion.plan(PODS, plan.store, Options(grace_period_s=0), NOW).remove


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


def test_a_running_grace_period_is_made_shorter_from_its_beginning():
    going = {"deletionTimestamp": "2023-11-14T22:13:45Z", "deletionGracePeriodSeconds": 30}
    plan = deletion.plan(PODS, pod(**going), Options(grace_period_s=10), NOW)  # 5 s have passed
    metadata = plan.store["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == 10
    assert metadata["deletionTimestamp"] == "2023-11-14T22:13:25Z"
    plan = deletion.plan(PODS, pod(**going), Options(grace_period_s=3), NOW)
    metadata = plan.store["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == 1
    assert metadata["deletionTimestamp"] == "2023-11-14T22:13:20Z"


def test_a_running_grace_period_keeps_finalizers_as_they_are():
    going = {"deletionTimestamp": "2023-11-14T22:13:45Z", "deletionGracePeriodSeconds": 30}
    assert deletion.plan(PODS, pod(**going), Options(propagation="Orphan"), NOW).store is None


@pytest.mark.parametrize(
    ("finalizers", "options", "left"),
    [
        ([], Options(), ["orphan"]),
        ([], Options(propagation="Background"), None),
        (["foregroundDeletion"], Options(), ["foregroundDeletion"]),
        (["x"], Options(propagation="Foreground"), ["x", "foregroundDeletion"]),
    ],
)
def test_old_kinds_leave_their_dependents_unless_told_otherwise(finalizers, options, left):
    obj = {"metadata": {"name": "a", "finalizers": finalizers}}
    plan = deletion.plan(JOBS, obj, options, NOW, orphans=deletion.orphans_by_default(JOBS))
    assert plan.remove is (left is None)
    assert (plan.store or obj)["metadata"]["finalizers"] == (left or finalizers)


def test_what_is_in_use_by_others_is_told_in_upstreams_words():
    item = Item(PODS, "ns", "a", b'{"metadata":{"uid":"u"}}', 7)
    with pytest.raises(status.ApiError) as caught:
        deletion.check(PODS, item, Options(uid="other"))
    assert caught.value.message == (
        'Operation cannot be fulfilled on Pod "a": the UID in the precondition (other) does not '
        "match the UID in record (u). The object might have been deleted and then recreated"
    )
    with pytest.raises(status.ApiError, match=r"ResourceVersion in the precondition \(8\)"):
        deletion.check(PODS, item, Options(resource_version="8"))
    deletion.check(PODS, item, Options(uid="u", resource_version="7"))


def test_options_are_those_of_the_body_or_else_of_the_query():
    body = {"preconditions": {"uid": "u"}, "orphanDependents": True}
    query = {"gracePeriodSeconds": ["3"], "propagationPolicy": ["Foreground"], "dryRun": ["All"]}
    assert options_of(body, query) == Options(propagation="Orphan", uid="u", orphan_dependents=True)
    assert options_of({}, query) == Options(
        grace_period_s=3, propagation="Foreground", dry_run=True
    )
    unsafe = {"ignoreStoreReadErrorWithClusterBreakingPotential": True}
    assert options_of(unsafe, {}) == Options()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"propagationPolicy": "Sideways"},
         'propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", '
         '"Background", "Orphan", "nil"'),
        ({"propagationPolicy": "Orphan", "orphanDependents": True},
         'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation '
         "cannot be both set"),
        ({"dryRun": ["Some"]}, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'),
    ],
)  # fmt: skip
def test_wrong_options(body, text):
    with pytest.raises(status.ApiError) as caught:
        options_of(body, {})
    assert caught.value.message == f'DeleteOptions.meta.k8s.io "" is invalid: {text}'
    assert caught.value.code == 422


def test_a_query_that_cannot_be_read():
    with pytest.raises(status.ApiError, match='parsing "soon": invalid syntax') as caught:
        options_of({}, {"gracePeriodSeconds": ["soon"]})
    assert caught.value.code == 400
