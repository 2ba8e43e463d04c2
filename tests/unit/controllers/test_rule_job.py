"""Job: pods, counts, ends; cases from the API's comments and the documentation of Jobs."""

import pytest
from job_objects import NEWEST, OLDEST, conditions, decide, going, indexed, job, run
from objects import NOW, at, said, status_of

from muntin.controllers.rules import job as rules
from muntin.controllers.rules import ttl_after_finished
from muntin.controllers.rules.actions import Failure, Note
from muntin.controllers.rules.job_backoff import Backoff
from muntin.controllers.rules.job_pods import FINALIZER
from muntin.model.features import features_of

RUNNING = {"startTime": at(-300), "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}
CREATE, SAY = "create pod j-", "update job/status j"


def look(owner, *some, now=NOW, **kwargs):
    return decide(owner, *some, now=now, **kwargs)


def notes(actions):
    return [(each.reason, each.message) for each in actions if isinstance(each, Note)]


@pytest.mark.parametrize(
    "owner, some, expected",
    [
        (job(), (), [CREATE]),
        (job(parallelism=3, completions=5), (), [CREATE] * 3),
        (job(parallelism=3, completions=5), (run("a"),), [CREATE] * 2),
        (job(parallelism=3, completions=2), (), [CREATE] * 2),
        (job(parallelism=0, completions=2), (), [SAY]),
        # a work queue: one success, and no more pods are started
        (job(parallelism=3), (run("a", "Succeeded"), run("b")), [SAY, "patch pod a"]),
        (job(parallelism=3), (run("a"), run("b")), [CREATE]),
        # too many: the pod that has come least far goes, and is not counted
        (
            job(parallelism=1, completions=5),
            (run("a"), run("b", "Pending")),
            ["patch pod b", "delete pod b"],
        ),
        (job(suspend=True), (run("a"),), ["patch pod a", "delete pod a"]),
        (job(managedBy="example.com/other"), (run("a", "Succeeded"),), []),
        (job(managedBy="kubernetes.io/job-controller"), (), [CREATE]),
        (job({"conditions": [{"type": "Complete", "status": "True"}]}), (), []),
        # what fits is adopted, what fits no longer is let go
        (job(), (run("a", ownerReferences=[]),), ["patch pod a"]),
        (
            job(),
            (run("a") | {"metadata": {**run("a")["metadata"], "labels": {}}},),
            ["patch pod a"],
        ),
    ],
)
def test_pods_are_created_deleted_adopted_and_counted(owner, some, expected):
    assert said(look(owner, *some)) == expected


def test_adoption_brings_the_finalizer_and_release_takes_it():
    (adopt,) = look(job(), run("a", ownerReferences=[]))
    assert adopt.patch["metadata"]["finalizers"] == [FINALIZER]
    other = run("a")
    other["metadata"]["labels"] = {}
    (release,) = look(job(), other)
    assert release.patch["metadata"]["$deleteFromPrimitiveList/finalizers"] == [FINALIZER]


def test_a_pod_that_ended_is_listed_then_freed_then_counted():
    pod = run("a", "Succeeded")
    first = look(job(RUNNING, completions=2), pod)
    assert said(first) == [CREATE]  # the other completion
    owner = job({**RUNNING, "active": 1})
    actions = look(owner, pod)
    listed = status_of(actions)
    assert said(actions) == [SAY, "patch pod a"]
    assert listed["uncountedTerminatedPods"] == {"succeeded": ["uid-a"]}
    assert "succeeded" not in listed
    assert conditions(listed) == ["SuccessCriteriaMet"]
    # the same look again changes nothing but frees the pod once more
    assert said(look(job(listed), pod)) == ["patch pod a"]
    actions = look(job(listed), run("a", "Succeeded", tracked=False))
    counted = status_of(actions)
    assert counted["succeeded"] == 1
    assert counted["uncountedTerminatedPods"] == {}
    assert conditions(counted) == ["SuccessCriteriaMet", "Complete"]
    assert counted["completionTime"] == at()
    assert notes(actions) == [("Completed", "Job completed")]


def test_counts_survive_that_the_pod_is_gone():
    listed = {**RUNNING, "uncountedTerminatedPods": {"failed": ["uid-gone", "uid-b"]}, "failed": 1}
    status = status_of(look(job(listed, backoffLimit=6), run("b", "Failed", ended=-1)))
    assert status["failed"] == 2
    assert status["uncountedTerminatedPods"] == {"failed": ["uid-b"]}


def test_the_first_status():
    assert status_of(look(job(), run("a", ready=False))) == {
        **RUNNING,
        "startTime": at(),
        "active": 1,
    }
    ready = status_of(look(job(RUNNING), run("a"), going("b", tracked=False)))
    assert (ready["active"], ready["ready"], ready["terminating"]) == (1, 1, 1)


def test_no_room_for_pods_is_no_reason_to_say_nothing():
    quota = Failure("FailedCreate", "exceeded quota")
    actions = look(job(parallelism=2, completions=2), run("a"), failure=quota)
    assert said(actions) == [CREATE, SAY]
    assert status_of(actions)["active"] == 1


@pytest.mark.parametrize(
    "failures, expected", [(1, 10), (2, 20), (3, 40), (4, 80), (7, 600), (20, 600)]
)
def test_failed_pods_are_replaced_later_and_later(failures, expected):
    pods = [run(f"p{number}", "Failed", tracked=False, ended=0) for number in range(failures)]
    actions = look(job({**RUNNING, "failed": failures}, backoffLimit=50), *pods)
    assert said(actions)[0] == f"again {expected}"
    assert CREATE in said(look(job(RUNNING, backoffLimit=50), *pods, now=NOW + expected))


@pytest.mark.parametrize("failures, expected", [(1, 0), (2, 10), (3, 20), (7, 320), (20, 360)])
def test_before_1_27_the_first_failed_pod_is_replaced_at_once(failures, expected):
    old = features_of((1, 26))
    pods = [run(f"p{number}", "Failed", tracked=False, ended=0) for number in range(failures)]
    owner = job({**RUNNING, "failed": failures}, backoffLimit=50)
    first = said(look(owner, *pods, features=old))[0]
    assert first == (f"again {expected}" if expected else CREATE)


def test_while_a_replacement_waits_nothing_is_active():
    three = {"parallelism": 3, "completions": 3}
    ended = run("c", "Failed", ended=-4)
    owner = job({**RUNNING, "active": 3, "terminating": 0}, **three)
    a, b = run("a", ready=False), run("b", ready=False)
    status = status_of(look(owner, a, b, ended))
    assert (status.get("active"), status["ready"], status["terminating"]) == (None, 0, 0)
    assert status["uncountedTerminatedPods"] == {"failed": ["uid-c"]}
    leaving = status_of(look(owner, a, going("b"), ended))
    assert (leaving.get("active"), leaving["terminating"]) == (None, 1)
    also = run("d", "Failed", ended=-4)
    assert said(look(owner, a, ended, also, features=features_of((1, 26)))) == ["again 6"]


def test_while_a_replacement_waits_beside_ready_pods_nothing_is_said():
    # recorded from kube-controller-manager 1.36, whose API server refuses what it would say:
    # "status.ready: Invalid value: 1: cannot set more ready pods than active"
    owner = job({**RUNNING, "active": 2, "ready": 2}, parallelism=2, completions=2)
    some = [run("a", ready=True), run("c", "Failed", ended=-4)]
    assert said(look(owner, *some)) == ["again 6"]
    owner["spec"]["activeDeadlineSeconds"] = 302
    assert said(look(owner, *some)) == ["again 6", "again 2"]


def test_a_success_ends_the_wait():
    bad, good = run("a", "Failed", tracked=False, ended=-5), run("b", "Succeeded", ended=-4)
    status = {**RUNNING, "failed": 1}
    assert CREATE in said(look(job(status, completions=2), bad, good))
    late = run("b", "Succeeded", ended=-6)
    assert "again 5" in said(look(job(status, completions=2), bad, late))


def end_of(owner, *some, features=NEWEST):
    """Outcome, reason and message that the Job comes to, seen from its first announcement."""
    status = status_of(look(owner, *some, features=features))
    rows = [row for row in status.get("conditions", ()) if row["status"] == "True"]
    return [(row["type"], row.get("reason"), row.get("message")) for row in rows]


LIMIT = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")


def test_past_the_backoff_limit_the_job_fails_and_its_pods_go():
    owner = job({**RUNNING, "failed": 1}, parallelism=2, completions=2, backoffLimit=1)
    actions = look(owner, run("a", "Failed"), run("b"))
    assert said(actions) == ["delete pod b", SAY, "patch pod a", "patch pod b"]
    status = status_of(actions)
    assert conditions(status) == ["FailureTarget"]
    assert status["uncountedTerminatedPods"] == {"failed": ["uid-a", "uid-b"]}
    assert status["terminating"] == 1
    # counted, but a pod still terminates: the Job has not failed yet
    left = look(job(status), run("a", "Failed", tracked=False), going("b", tracked=False))
    assert conditions(status_of(left)) == ["FailureTarget"]
    assert status_of(left)["failed"] == 3
    last = look(job(status_of(left)), run("a", "Failed", tracked=False))
    assert conditions(status_of(last)) == ["FailureTarget", "Failed"]
    assert notes(last) == [LIMIT]
    assert "completionTime" not in status_of(last)


def test_restarts_in_place_count_against_the_limit():
    pod = run("a")
    pod["status"]["containerStatuses"] = [{"name": "c", "restartCount": 2}]
    owner = job(RUNNING, restart="OnFailure", backoffLimit=2)
    assert end_of(owner, pod) == [("FailureTarget", *LIMIT)]
    assert end_of(job(RUNNING, restart="OnFailure", backoffLimit=3), pod) == []
    assert end_of(job(RUNNING, restart="OnFailure", backoffLimit=0), pod) == [
        ("FailureTarget", *LIMIT)
    ]


def test_before_1_31_restarts_end_a_job_unannounced():
    old = features_of((1, 30))
    owner = job({**RUNNING, "active": 1}, restart="OnFailure", backoffLimit=2)
    pod = run("a")
    pod["status"]["containerStatuses"] = [{"name": "c", "restartCount": 2}]
    memory = Backoff().seeing(owner, [pod])
    first = rules.reconcile(
        rules.Snapshot(job=owner, pods=[pod], backoff=memory, features=old), NOW
    )
    assert said(first)[0] == "delete pod a"
    assert conditions(status_of(first)) == []
    # the pod is gone, and with it what it told
    status = {"startTime": at(-9), "ready": 0, "failed": 1, "uncountedTerminatedPods": {}}
    left = rules.Snapshot(
        job={**owner, "status": status}, pods=[], backoff=memory.seeing(owner, []), features=old
    )
    assert conditions(status_of(rules.reconcile(left, NOW))) == ["Failed"]


def test_active_for_too_long():
    message = "Job was active longer than specified deadline"
    owner = job(RUNNING, activeDeadlineSeconds=300)
    assert end_of(owner, run("a")) == [("FailureTarget", "DeadlineExceeded", message)]
    assert said(look(job(RUNNING, activeDeadlineSeconds=310), run("a")))[-1] == "again 10"
    assert said(look(job(RUNNING, activeDeadlineSeconds=1, suspend=True))) == [
        SAY,
        "note Suspended",
    ]


def test_suspended_and_resumed():
    actions = look(job(RUNNING, suspend=True), going("a", tracked=False))
    status = status_of(actions)
    assert (status["terminating"], "startTime" in status) == (1, False)
    assert notes(actions) == [("Suspended", "Job suspended")]
    row = status["conditions"][0]
    assert (row["type"], row["status"], row["reason"]) == ("Suspended", "True", "JobSuspended")
    resumed = look(job(status))  # told at once: the pods may have ended before the next look
    assert said(resumed) == [CREATE, SAY, "note Resumed"]
    row = status_of(resumed)["conditions"][0]
    assert (row["status"], row["reason"], row["message"]) == ("False", "JobResumed", "Job resumed")
    assert status_of(resumed)["startTime"] == at()
    assert notes(resumed) == [("Resumed", "Job resumed")]
    older = status_of(look(job(RUNNING, suspend=True), features=features_of((1, 35))))
    assert older["startTime"] == RUNNING["startTime"]


IGNORE = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
FAIL = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
COUNT = {"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [7]}}
POLICY = {"rules": [IGNORE, FAIL, COUNT]}


def disrupted(pod):
    pod["status"]["conditions"].append({"type": "DisruptionTarget", "status": "True"})
    return pod


def test_the_failure_policy_ignores_counts_and_ends():
    owner = job(RUNNING, podFailurePolicy=POLICY, backoffLimit=0)
    ignored = look(owner, disrupted(run("a", "Failed", code=137, ended=-1)))
    assert status_of(ignored) is None
    assert "patch pod a" in said(ignored)
    assert end_of(owner, run("a", "Failed", code=1)) == [("FailureTarget", *LIMIT)]
    message = "Container c for pod ns/a failed with exit code 42 matching FailJob rule at index 1"
    assert end_of(owner, run("a", "Failed", code=42)) == [
        ("FailureTarget", "PodFailurePolicy", message)
    ]
    by_condition = {"rules": [{**IGNORE, "action": "FailJob"}]}
    message = "Pod ns/a has condition DisruptionTarget matching FailJob rule at index 0"
    assert end_of(job(RUNNING, podFailurePolicy=by_condition), disrupted(run("a", "Failed"))) == [
        ("FailureTarget", "PodFailurePolicy", message)
    ]


def test_what_is_being_deleted_is_replaced_at_once_or_when_it_has_failed():
    assert CREATE in said(look(job(RUNNING), going("a", ended=-100), now=NOW + 60))
    waits = job(RUNNING, podReplacementPolicy="Failed")
    assert CREATE not in said(look(waits, going("a"), now=NOW + 60))
    assert CREATE in said(look(waits, going("a", "Failed"), now=NOW + 60))


@pytest.mark.parametrize(
    "status, some, expected",
    [
        ({}, (), ["j-0-", "j-1-", "j-2-"]),
        ({}, (run("a", index=1),), ["j-0-", "j-2-"]),
        ({"completedIndexes": "0-1", "succeeded": 2}, (), ["j-2-"]),
        ({}, (run("a", "Succeeded", index=0), run("b", index=2)), ["j-1-"]),
    ],
)
def test_indexes_that_are_missing_are_created(status, some, expected):
    (batch,) = look(indexed({**RUNNING, **status}), *some)
    assert [each.obj["metadata"]["generateName"] for each in batch.actions] == expected


def test_a_pod_of_an_index_knows_it():
    owner = indexed(completions=1, annotations={"a": "b"})
    obj = look(owner)[0].actions[0].obj
    key = "batch.kubernetes.io/job-completion-index"
    assert obj["metadata"]["annotations"] == {"a": "b", key: "0"}
    assert obj["metadata"]["labels"][key] == "0"
    assert obj["metadata"]["finalizers"] == [FINALIZER]
    assert obj["spec"]["hostname"] == "j-0"
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{key}']"}}
    assert obj["spec"]["containers"][0]["env"] == [
        {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}
    ]
    assert "env" not in owner["spec"]["template"]["spec"]["containers"][0]
    older = look(owner, features=features_of((1, 27)))[0].actions[0].obj
    assert key not in older["metadata"]["labels"]
    path = older["spec"]["containers"][0]["env"][0]["valueFrom"]["fieldRef"]["fieldPath"]
    assert path == f"metadata.annotations['{key}']"
    assert owner["spec"]["template"]["metadata"]["labels"].keys().isdisjoint({key})


def test_repeated_and_foreign_indexes_go():
    pods = (run("a", index=0), run("b", "Pending", index=0), run("c", index=7), run("d"))
    assert said(look(indexed(RUNNING), *pods)) == [
        "patch pod d", "patch pod b", "patch pod c",
        "delete pod d", "delete pod b", "delete pod c",
    ]  # fmt: skip


def test_succeeded_indexes_are_written_as_spans():
    pods = [run(f"p{number}", "Succeeded", index=number) for number in (0, 1, 2, 4, 6, 7)]
    owner = indexed(RUNNING, completions=9, parallelism=0)
    status = status_of(look(owner, *pods))
    assert (status["succeeded"], status["completedIndexes"]) == (6, "0-2,4,6,7")
    assert status["uncountedTerminatedPods"] == {}


PER_INDEX = {"backoffLimitPerIndex": 1, "backoffLimit": 2**31 - 1}
FAILURES = "batch.kubernetes.io/job-index-failure-count"


def failed_once(name, index, count="0", **fields):
    return run(name, "Failed", index=index, annotations={FAILURES: count}, **fields)


def test_each_index_has_its_own_limit():
    owner = indexed(RUNNING, completions=2, **PER_INDEX)
    first, other = failed_once("a", 0, ended=-3), run("b", index=1)
    waiting = look(owner, first, other)
    assert "again 7" in said(waiting)
    assert "patch pod a" not in said(waiting)  # it stays until its number of failures is passed on
    (batch,) = look(owner, first, other, now=NOW + 7)
    assert batch.actions[0].obj["metadata"]["annotations"][FAILURES] == "1"
    second = failed_once("c", 0, count="1")
    status = status_of(look(owner, first, second, other))
    assert status["failedIndexes"] == "0"
    done = run("b", "Succeeded", index=1)
    assert end_of(indexed(status, completions=2, **PER_INDEX), second, done) == [
        ("FailureTarget", "FailedIndexes", "Job has failed indexes")
    ]


def test_too_many_failed_indexes_end_the_job():
    owner = indexed({**RUNNING, "failedIndexes": "0"}, maxFailedIndexes=1, **PER_INDEX)
    message = "Job has exceeded the specified maximal number of failed indexes"
    assert end_of(owner, failed_once("a", 1, count="1"), run("b", index=2)) == [
        ("FailureTarget", "MaxFailedIndexesExceeded", message)
    ]
    fail_index = {"rules": [{**FAIL, "action": "FailIndex"}]}
    owner = indexed(RUNNING, podFailurePolicy=fail_index, **PER_INDEX)
    status = status_of(
        look(owner, failed_once("a", 1, code=42), run("b", index=0), run("c", index=2))
    )
    assert status["failedIndexes"] == "1"


@pytest.mark.parametrize(
    "rule, expected",
    [
        ({"succeededIndexes": "0,2"}, True),
        ({"succeededIndexes": "0-2"}, False),
        ({"succeededIndexes": "0-2", "succeededCount": 2}, True),
        ({"succeededIndexes": "1,3-4", "succeededCount": 1}, False),
        ({"succeededCount": 2}, True),
        ({"succeededCount": 3}, False),
    ],
)
def test_success_policies(rule, expected):
    owner = indexed(
        {**RUNNING, "completedIndexes": "0,2", "succeeded": 2},
        completions=5,
        successPolicy={"rules": [rule]},
    )
    others = [run("a", index=1), run("b", index=3), run("c", index=4)]
    actions = look(owner, *others)
    if not expected:
        assert "delete pod a" not in said(actions)
        return
    status = status_of(actions)
    row = status["conditions"][0]
    assert (row["type"], row["reason"]) == ("SuccessCriteriaMet", "SuccessPolicy")
    assert row["message"] == "Matched rules at index 0"
    assert said(actions)[:3] == ["delete pod a", "delete pod b", "delete pod c"]
    assert status["uncountedTerminatedPods"] == {}  # nobody failed


def test_an_api_of_1_20_counts_the_pods_that_are_there():
    assert "finalizers" not in look(job(), features=OLDEST)[0].actions[0].obj["metadata"]
    pods = [run("a", "Succeeded", tracked=False), run("b", "Failed", tracked=False)]
    actions = look(job({"startTime": at(-9)}), *pods, features=OLDEST)
    status = status_of(actions)
    assert status == {
        "startTime": at(-9),
        "completionTime": at(),
        "succeeded": 1,
        "failed": 1,
        "conditions": [
            {
                "type": "Complete",
                "status": "True",
                "lastProbeTime": at(),
                "lastTransitionTime": at(),
            }
        ],
    }
    assert notes(actions) == [("Completed", "Job completed")]
    owner = job({"startTime": at(-9)}, parallelism=2, completions=2, backoffLimit=0)
    failing = look(owner, run("a", tracked=False), pods[1], features=OLDEST)
    assert said(failing) == ["delete pod a", SAY, "note BackoffLimitExceeded"]
    assert (status_of(failing)["failed"], "active" in status_of(failing)) == (2, False)


def test_an_api_of_1_20_does_not_wait_for_pods_that_are_too_many():
    good = [run(name, "Succeeded", tracked=False) for name in "abc"]
    owner = job({"startTime": at(-9)}, parallelism=2, completions=2)
    actions = look(owner, *good, run("d", tracked=False), features=OLDEST)
    status = status_of(actions)
    assert (status["active"], status["succeeded"], conditions(status)) == (1, 3, ["Complete"])
    assert [reason for reason, _ in notes(actions)] == [
        "TooManyActivePods",
        "TooManySucceededPods",
        "Completed",
    ]
    one = job({"startTime": at(-9)}, parallelism=1, completions=2)
    more = [run("d", tracked=False), run("e", tracked=False)]
    assert said(look(one, *more, features=OLDEST))[0].startswith("delete pod")


def test_before_1_31_ends_are_not_announced():
    old = features_of((1, 30))
    counted = {**RUNNING, "succeeded": 1}
    status = status_of(look(job(counted), features=old))
    assert conditions(status) == ["Complete"]
    assert "reason" not in status["conditions"][0]


def test_a_deleted_job_frees_its_pods_and_starts_none():
    owner = job(RUNNING)
    owner["metadata"]["deletionTimestamp"] = at(-1)
    assert said(look(owner, run("a"), now=NOW))[-1] == "patch pod a"
    assert CREATE not in said(look(owner))


@pytest.mark.parametrize(
    "pod, owner, expected",
    [
        (run("a", ownerReferences=[]), None, True),
        (run("a"), None, True),
        (run("a"), job({"conditions": [{"type": "Failed", "status": "True"}]}), True),
        (run("a"), job(), False),
        (run("a"), job(managedBy="example.com/other"), False),
        (run("a", tracked=False), None, False),
        (run("a", ownerReferences=[{"kind": "Other", "controller": True}]), None, False),
    ],
)
def test_pods_that_nobody_counts_are_freed(pod, owner, expected):
    assert said(rules.orphaned(pod, owner)) == (["patch pod a"] if expected else [])


@pytest.mark.parametrize(
    "ttl, ended, expected",
    [(None, -9, []), (10, -9, ["again 1"]), (9, -9, ["delete job j"]), (0, 0, ["delete job j"])],
)
def test_time_to_live(ttl, ended, expected):
    row = {"type": "Failed", "status": "True", "lastTransitionTime": at(ended)}
    owner = job({"conditions": [row]}, **({} if ttl is None else {"ttlSecondsAfterFinished": ttl}))
    assert said(ttl_after_finished.reconcile(owner, NOW)) == expected
    assert ttl_after_finished.reconcile(job(ttlSecondsAfterFinished=0), NOW) == []


@pytest.mark.parametrize("rows", [[{}], [{"type": ""}], [{"status": "True"}, {}]], ids=str)
def test_conditions_without_a_type_hold_no_job_up(rows):
    owner = job({**RUNNING, "failed": 1, "conditions": rows}, parallelism=2, backoffLimit=1)
    status = status_of(look(owner, run("a", "Failed"), run("b")))
    assert "FailureTarget" in [row.get("type") for row in status["conditions"]]
