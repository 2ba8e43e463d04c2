"""What is seen of objects on a running cluster: from answers, pods and events alone."""

import json

import pytest

from muntin.cluster.proof import (
    Observation,
    Stage,
    in_order,
    is_settled,
    missing,
    of_answer,
    of_event,
    of_pod,
    subject,
)


def pod(status, **metadata):
    meta = {"name": "web-1", "namespace": "shop", "uid": "u1", **metadata}
    return {"metadata": meta, "status": status}


def warning(name="web-1", kind="Pod", uid="u1", **more):
    about = {"kind": kind, "namespace": "shop", "name": name, "uid": uid}
    return {"type": "Warning", "involvedObject": about, **more}


def container(state, restarts=0, **more):
    return {"name": "c", "restartCount": restarts, "state": state, **more}


def test_a_refusal_has_the_servers_reason_and_words():
    body = json.dumps({"kind": "Status", "reason": "Invalid", "message": "spec.hostPID: no"})
    assert of_answer("Pod shop/web", 422, body.encode(), "") == [
        Observation(
            subject="Pod shop/web", stage=Stage.REFUSED, reason="Invalid", text="spec.hostPID: no"
        )
    ]


def test_an_answer_that_is_no_status():
    (seen,) = of_answer("Pod shop/web", 502, b"bad gateway", "")
    assert (seen.reason, seen.text) == ("502", "bad gateway")


def test_warnings_are_told_apart_and_unescaped():
    header = '299 - "one, \\"two\\"", 299 - "three"'
    seen = of_answer("Pod shop/web", 201, b"{}", header)
    assert [(row.stage, row.text) for row in seen] == [
        (Stage.WARNED, 'one, "two"'),
        (Stage.WARNED, "three"),
    ]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"conditions": [{"type": "Ready", "status": "True"}]}, [(Stage.READY, "", None)]),
        (
            {
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
                ]
            },
            [(Stage.UNSCHEDULABLE, "Unschedulable", None)],
        ),
        (
            {"containerStatuses": [container({"waiting": {"reason": "ErrImagePull"}})]},
            [(Stage.WAITING, "ErrImagePull", None)],
        ),
        (
            {"containerStatuses": [container({"terminated": {"reason": "Error", "exitCode": 3}})]},
            [(Stage.ENDED, "Error", 3)],
        ),
        (
            {
                "containerStatuses": [
                    container(
                        {"waiting": {"reason": "CrashLoopBackOff"}},
                        lastState={"terminated": {"reason": "Error", "exitCode": 1}},
                    )
                ]
            },
            [(Stage.WAITING, "CrashLoopBackOff", None), (Stage.ENDED, "Error", 1)],
        ),
        (
            {"phase": "Failed", "reason": "PodOSNotSupported"},
            [(Stage.REJECTED, "PodOSNotSupported", None)],
        ),
        (
            {"containerStatuses": [container({"waiting": {"reason": "ContainerCreating"}})]},
            [(Stage.NOT_READY, "", None)],
        ),
    ],
)
def test_how_far_a_pod_came(status, expected):
    assert [(row.stage, row.reason, row.exit_code) for row in of_pod(pod(status))] == expected
    assert all(row.subject == "Pod shop/web-1" for row in of_pod(pod(status)))


def test_events_that_warn_are_told():
    seen = of_event(warning(reason="FailedMount", message="no medium"))
    assert seen == Observation(
        subject="Pod shop/web-1", stage=Stage.EVENT, reason="FailedMount", text="no medium"
    )
    assert of_event({"type": "Normal", "reason": "Pulled"}) is None


@pytest.mark.parametrize(
    ("status", "settled"),
    [
        ({"phase": "Pending"}, False),
        ({"phase": "Running", "containerStatuses": [container({"running": {}})]}, False),
        ({"phase": "Running", "containerStatuses": [container({"running": {}}, restarts=1)]}, True),
        ({"phase": "Succeeded"}, True),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, True),
        ({"containerStatuses": [container({"waiting": {"reason": "ContainerCreating"}})]}, False),
        ({"containerStatuses": [container({"waiting": {"reason": "ImagePullBackOff"}})]}, True),
    ],
)
def test_when_nothing_new_is_to_be_expected(status, settled):
    assert is_settled(pod(status), []) is settled


def test_a_warning_settles_its_own_pod_alone():
    assert is_settled(pod({"phase": "Pending"}), [warning()])
    assert not is_settled(pod({"phase": "Pending"}), [warning(uid="u2")])


def deployment(**spec):
    template = {"metadata": {"labels": {"app": "web"}}}
    return {
        "kind": "Deployment",
        "metadata": {"namespace": "shop", "name": "web-front"},
        "spec": {"template": template, **spec},
    }


def test_a_workload_without_pods_is_waited_for():
    other = pod({}, labels={"app": "other"})
    assert missing([deployment()], [other], []) == ["Deployment shop/web-front"]
    assert missing([deployment()], [pod({}, labels={"app": "web", "x": "y"})], []) == []
    assert missing([deployment(replicas=0)], [], []) == []


def test_a_workload_whose_replica_set_complains_is_not():
    event = warning(kind="ReplicaSet", name="web-front-5d4f", uid="r", reason="FailedCreate")
    assert missing([deployment()], [], [event]) == []


def test_a_job_knows_its_pods_by_its_name():
    job = {"kind": "Job", "metadata": {"namespace": "shop", "name": "once"}, "spec": {}}
    assert missing([job], [pod({}, labels={"job-name": "once"})], []) == []
    assert missing([job], [pod({}, labels={"job-name": "twice"})], []) == ["Job shop/once"]


def test_what_others_need_comes_first():
    kinds = ["Pod", "ConfigMap", "Deployment", "Namespace"]
    made = in_order([{"kind": kind} for kind in kinds])
    assert [row["kind"] for row in made] == ["Namespace", "ConfigMap", "Pod", "Deployment"]


def test_subjects():
    assert subject({"kind": "Namespace", "metadata": {"name": "shop"}}) == "Namespace shop"
    generated = {"kind": "Pod", "metadata": {"namespace": "shop", "generateName": "web-"}}
    assert subject(generated) == "Pod shop/web-"
