"""Jobs and CronJobs on both systems, through kubectl: all are started first, then looked at."""

from __future__ import annotations

import json
from typing import Any

import pytest
from samples import BUSYBOX, SERVERCORE
from whole_cluster import Cluster, eventually

INDEX = "batch.kubernetes.io/job-completion-index"
SHOW_INDEX = {
    "lin": ["sh", "-c", "echo $JOB_COMPLETION_INDEX on $(hostname)"],
    "win": ["cmd", "/c", "echo %JOB_COMPLETION_INDEX% on %COMPUTERNAME%"],
}
ENDS = {"lin": ["sh", "-c", "exit {}"], "win": ["cmd", "/c", "exit {}"]}
NAMES = {"lin": "linux", "win": "windows"}


def template(system: str, command: list[str]) -> dict[str, Any]:
    image = SERVERCORE if system == "win" else BUSYBOX
    return {
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "nodeSelector": {"kubernetes.io/os": NAMES[system]},
            "containers": [{"name": "main", "image": image, "command": command}],
        }
    }


def job(name: str, system: str, command: list[str], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template(system, command), **spec},
    }


def ending(system: str, code: int) -> list[str]:
    return [word.format(code) for word in ENDS[system]]


def jobs() -> list[dict[str, Any]]:
    several = {"completionMode": "Indexed", "completions": 3, "parallelism": 2}
    fatal = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    shown = [job(f"indexed-{system}", system, SHOW_INDEX[system], **several) for system in NAMES]
    return [
        *shown,
        *(job(f"fails-{each}", each, ending(each, 3), backoffLimit=0) for each in NAMES),
        *(
            job(f"fatal-{each}", each, ending(each, 42), podFailurePolicy={"rules": [fatal]})
            for each in NAMES
        ),
        job("retried", "lin", ending("lin", 1), backoffLimit=1),
        job("suspended", "lin", ["sleep", "1000"], suspend=True),
        job("brief", "lin", ending("lin", 0), ttlSecondsAfterFinished=1),
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "clockwork"},
            "spec": {
                "schedule": "@every 2s",
                "concurrencyPolicy": "Forbid",
                "jobTemplate": {"spec": {"template": template("lin", ending("lin", 0))}},
            },
        },
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "by-hand"},
            "spec": {
                "schedule": "0 0 31 2 *",
                "suspend": True,
                "jobTemplate": {"spec": {"template": template("win", ending("win", 0))}},
            },
        },
    ]


@pytest.fixture(scope="module")
def working(cluster: Cluster) -> Any:
    """The namespace in which all of `jobs` are under way."""
    cluster.kubectl("create", "namespace", "jobs")
    items = {"apiVersion": "v1", "kind": "List", "items": jobs()}
    cluster.kubectl("create", "-n", "jobs", "-f", "-", input=json.dumps(items))
    yield "jobs"
    cluster.kubectl("delete", "namespace", "jobs", "--wait=false")


@pytest.fixture
def kube(cluster: Cluster, working: str) -> Any:
    def run(*args: str, **kwargs: Any) -> str:
        return str(cluster.kubectl(*args, "-n", working, **kwargs).stdout)

    return run


def found(kube: Any, *args: str) -> Any:
    return json.loads(kube("get", *args, "-o", "json"))


def wait_for(kube: Any, condition: str, name: str) -> None:
    kube("wait", f"--for=condition={condition}", name, "--timeout=120s", timeout_s=130)


def reasons(kube: Any, name: str) -> set[str]:
    rows = found(kube, "events", f"--field-selector=involvedObject.name={name}")["items"]
    return {row["reason"] for row in rows}


@pytest.mark.parametrize("system", NAMES)
def test_an_indexed_job_completes_each_index(kube, system):
    name = f"indexed-{system}"
    wait_for(kube, "complete", f"job/{name}")
    status = found(kube, "job", name)["status"]
    assert (status["succeeded"], status["completedIndexes"]) == (3, "0-2")
    pods = found(kube, "pods", "-l", f"batch.kubernetes.io/job-name={name}")["items"]
    said = {}
    for pod in pods:
        index = pod["metadata"]["labels"][INDEX]
        assert pod["metadata"]["annotations"][INDEX] == index
        assert pod["spec"]["hostname"] == f"{name}-{index}"
        assert "finalizers" not in pod["metadata"]
        said[index] = kube("logs", pod["metadata"]["name"]).split()[0]
    assert said == {"0": "0", "1": "1", "2": "2"}
    eventually(lambda: "Completed" in reasons(kube, name))


@pytest.mark.parametrize("system", NAMES)
def test_a_failing_job_reaches_its_limit(kube, system):
    wait_for(kube, "failed", f"job/fails-{system}")
    status = found(kube, "job", f"fails-{system}")["status"]
    assert (status["failed"], status.get("active", 0)) == (1, 0)
    assert {row["reason"] for row in status["conditions"]} == {"BackoffLimitExceeded"}
    eventually(lambda: "BackoffLimitExceeded" in reasons(kube, f"fails-{system}"))


@pytest.mark.parametrize("system", NAMES)
def test_an_exit_code_fails_the_job_at_once(kube, system):
    wait_for(kube, "failed", f"job/fatal-{system}")
    status = found(kube, "job", f"fatal-{system}")["status"]
    assert status["failed"] == 1
    (message,) = {row["message"] for row in status["conditions"]}
    assert message.startswith("Container main for pod jobs/")
    assert message.endswith("failed with exit code 42 matching FailJob rule at index 0")


def test_a_suspended_job_runs_when_it_is_resumed(kube):
    wait_for(kube, "suspended", "job/suspended")
    selector = ("pods", "-l", "job-name=suspended")
    assert found(kube, *selector)["items"] == []
    kube("patch", "job", "suspended", "-p", '{"spec": {"suspend": false}}')
    kube("wait", "--for=jsonpath={.status.ready}=1", "job/suspended", "--timeout=60s")
    kube("patch", "job", "suspended", "-p", '{"spec": {"suspend": true}}')
    eventually(lambda: not found(kube, *selector)["items"], 60, "the pod goes")
    status = found(kube, "job", "suspended")["status"]
    assert "failed" not in status
    wanted = {"Suspended", "Resumed", "SuccessfulDelete"}
    eventually(lambda: wanted <= reasons(kube, "suspended"))


def test_a_cron_job_is_fired_again_and_again(kube):
    def fired() -> Any:
        return found(kube, "cronjob", "clockwork")["status"].get("lastSuccessfulTime")

    eventually(fired, 120, "the cron job has had a success")
    (owner,) = {
        row["metadata"]["ownerReferences"][0]["name"]
        for row in found(kube, "jobs")["items"]
        if row["metadata"]["name"].startswith("clockwork-")
    }
    assert owner == "clockwork"
    eventually(lambda: "SawCompletedJob" in reasons(kube, "clockwork"), 30)
    kube("delete", "cronjob", "clockwork")


def test_a_job_of_a_cron_job_by_hand(kube):
    kube("create", "job", "once", "--from=cronjob/by-hand")
    wait_for(kube, "complete", "job/once")
    assert "clockwork" not in kube("get", "job", "once")


def test_finished_jobs_go_when_their_time_is_up(kube):
    def gone() -> bool:
        jobs = found(kube, "jobs", "--field-selector=metadata.name=brief")["items"]
        return not jobs and not found(kube, "pods", "-l", "job-name=brief")["items"]

    eventually(gone, 90, "the job goes with its pod")


def test_a_failed_pod_is_replaced_after_a_while(kube):
    wait_for(kube, "failed", "job/retried")
    assert found(kube, "job", "retried")["status"]["failed"] == 2
    pods = found(kube, "pods", "-l", "job-name=retried")["items"]
    assert [pod["status"]["phase"] for pod in pods] == ["Failed", "Failed"]


def test_pods_of_a_deleted_job_go_with_it(kube):
    name = "job-name=indexed-lin"
    assert found(kube, "pods", "-l", name)["items"]
    kube("delete", "job", "indexed-lin")
    eventually(lambda: not found(kube, "pods", "-l", name)["items"], 60, "its pods go")
