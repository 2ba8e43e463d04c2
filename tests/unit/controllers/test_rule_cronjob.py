"""CronJob: starts, misses, policies; cases from the API's comments and the documentation."""

import pytest
from objects import meta, said, status_of

from muntin.controllers.rules import cronjob as rules
from muntin.controllers.rules.actions import Again, Create, Note
from muntin.kit.clock import parse_rfc3339
from muntin.model.features import ApiFeature, features_of

NOON = parse_rfc3339("2024-05-01T12:00:00Z")
LAST = "2024-05-01T11:00:00Z"
NEWEST = frozenset(ApiFeature)


def cron(status=None, schedule="0 * * * *", created="2024-05-01T10:30:00Z", **spec):
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}
    given = {
        "schedule": schedule,
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {"metadata": {"labels": {"l": "m"}}, "spec": {"template": template}},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": meta("c", creationTimestamp=created),
        "spec": {**given, **spec},
        "status": status if status is not None else {"lastScheduleTime": LAST},
    }


def made(name, outcome="", started="2024-05-01T09:00:00Z", **fields):
    status = {"startTime": started}
    if outcome:
        status["conditions"] = [{"type": outcome, "status": "True"}]
    if outcome == "Complete":
        status["completionTime"] = started
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta(name, **fields),
        "spec": {},
        "status": status,
    }


def active(*names):
    return [{"name": name, "namespace": "ns", "uid": f"uid-{name}"} for name in names]


def decide(owner, *jobs, now=NOON, features=NEWEST, rescheduled=False):
    snapshot = rules.Snapshot(cron_job=owner, jobs=jobs, features=features, rescheduled=rescheduled)
    return rules.reconcile(snapshot, now)


def done(actions):
    return [word for word in said(actions) if not word.startswith("again")]


def again_s(actions):
    return [round(each.delay_s, 3) for each in actions if isinstance(each, Again)]


NAME = f"c-{int(NOON) // 60}"


@pytest.mark.parametrize(
    "owner, jobs, expected",
    [
        (cron(), (), [f"create job {NAME}"]),
        (cron({}, created="2024-05-01T11:59:59Z"), (), [f"create job {NAME}"]),
        (cron({}, created="2024-05-01T12:00:00Z"), (), []),
        (cron({"lastScheduleTime": "2024-05-01T12:00:00Z"}), (), []),
        (cron(suspend=True), (), []),
        (cron({}, schedule="59 23 31 2 *"), (), ["note InvalidSchedule"]),
        (cron(schedule="TZ=UTC 0 * * * *"), (), ["note UnsupportedSchedule", f"create job {NAME}"]),
        (cron(timeZone="Nowhere/At"), (), ["note UnknownTimeZone"]),
        (cron(schedule="x"), (), ["note UnparseableSchedule"]),
        # those that run already
        (
            cron({"lastScheduleTime": LAST, "active": active("a")}),
            (made("a"),),
            [f"create job {NAME}"],
        ),
        (
            cron({"lastScheduleTime": LAST, "active": active("a")}, concurrencyPolicy="Forbid"),
            (made("a"),),
            ["note JobAlreadyActive"],
        ),
        (
            cron({"lastScheduleTime": LAST, "active": active("a")}, concurrencyPolicy="Replace"),
            (made("a"),),
            ["delete job a", f"create job {NAME}", "update cronjob/status c"],
        ),
        (
            cron({"lastScheduleTime": "2024-05-01T12:00:00Z"}),
            (made("by-hand"),),
            ["note UnexpectedJob"],
        ),
        (
            cron({"lastScheduleTime": "2024-05-01T12:00:00Z", "active": active("gone")}),
            (),
            ["note MissingJob", "update cronjob/status c"],
        ),
    ],
)
def test_what_is_started_and_what_is_not(owner, jobs, expected):
    assert done(decide(owner, *jobs)) == expected


def test_a_job_is_made_of_the_template_and_named_after_the_minute():
    (create,) = [
        each for each in decide(cron(timeZone="Asia/Kathmandu")) if isinstance(each, Create)
    ]
    found = create.obj["metadata"]
    assert found["name"] == f"c-{int(NOON) // 60 - 45}"
    assert found["labels"] == {"l": "m"}
    key = "batch.kubernetes.io/cronjob-scheduled-timestamp"
    # the full hour of that zone
    assert found["annotations"] == {key: "2024-05-01T17:00:00+05:45"}
    assert found["ownerReferences"][0]["kind"] == "CronJob"


def test_times_are_read_in_their_zone_across_a_change_of_clocks():
    """A daily job at nine in Berlin, over the last Sunday in March: 8:00 UTC, then 7:00 UTC."""
    now = parse_rfc3339("2024-03-30T06:00:00Z")
    owner = cron({}, "0 9 * * *", created="2024-03-30T06:00:00Z", timeZone="Europe/Berlin")
    starts = []
    while len(starts) < 3:
        actions = decide(owner, now=now)
        created = [each for each in actions if isinstance(each, Create)]
        for each in created:
            minutes = int(each.obj["metadata"]["name"].removeprefix("c-"))
            starts.append(minutes * 60)
            job = {
                **each.obj,
                "metadata": {**each.obj["metadata"], "uid": "u", "resourceVersion": "7"},
            }
            owner = {**owner, "status": status_of(decide(owner, job, now=now))}
            owner["status"]["active"] = []
        now += again_s(actions)[0]
    moments = ["2024-03-30T08:00:00Z", "2024-03-31T07:00:00Z", "2024-04-01T07:00:00Z"]
    assert starts == [parse_rfc3339(each) for each in moments]


def test_the_next_look_is_shortly_after_it_is_due():
    assert again_s(decide(cron({"lastScheduleTime": "2024-05-01T12:00:00Z"}))) == [3600.1]
    assert again_s(decide(cron(), now=NOON - 10)) == [10.1]
    assert again_s(decide(cron())) == [3600.1]


def test_a_new_schedule_does_not_start_what_it_would_have_started():
    actions = decide(cron(schedule="30 * * * *"), rescheduled=True)
    assert [type(each) for each in actions] == [Again]


def test_what_was_created_is_found_by_its_name():
    job = made(NAME)
    status = status_of(decide(cron(), job, now=NOON + 0.2))
    assert status == {
        "lastScheduleTime": "2024-05-01T12:00:00Z",
        "active": [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "namespace": "ns",
                "name": NAME,
                "uid": f"uid-{NAME}",
                "resourceVersion": "1",
            }
        ],
    }
    assert done(decide(cron(status), job, now=NOON + 0.3)) == []


@pytest.mark.parametrize(
    "deadline_s, late_s, expected",
    [(None, 1800, "create"), (200, 100, "create"), (100, 1800, "none"), (0, 0, "none")],
)
def test_a_start_can_be_too_late(deadline_s, late_s, expected):
    spec = {} if deadline_s is None else {"startingDeadlineSeconds": deadline_s}
    words = done(decide(cron(**spec), now=NOON + late_s))
    assert words == ([f"create job {NAME}"] if expected == "create" else [])


def test_only_the_last_of_those_missed_is_started():
    owner = cron({"lastScheduleTime": "2024-05-01T08:00:00Z"})
    assert done(decide(owner, now=NOON + 60)) == [f"create job {NAME}"]
    owner = cron({"lastScheduleTime": "2024-04-20T08:00:00Z"})
    actions = decide(owner, now=NOON + 60)
    assert done(actions) == ["note TooManyMissedTimes", f"create job {NAME}"]
    (note,) = [each for each in actions if isinstance(each, Note)]
    assert note.message == (
        "too many missed start times. "
        "Set or decrease .spec.startingDeadlineSeconds or check clock skew"
    )


def test_ended_jobs_leave_the_status_and_go_when_there_are_too_many():
    status = {"lastScheduleTime": "2024-05-01T12:00:00Z", "active": active("d", "f")}
    hours = [f"2024-05-01T0{hour}:00:00Z" for hour in range(6)]
    jobs = [made(name, "Complete", hour) for name, hour in zip("abcd", hours, strict=False)]
    jobs += [made("e", "Failed", hours[4]), made("f", "Failed", hours[5])]
    actions = decide(cron(status), *jobs)
    assert done(actions) == [
        "delete job a",
        "delete job e",
        "note SawCompletedJob",
        "note SawCompletedJob",
        "update cronjob/status c",
    ]
    assert status_of(actions) == {
        "lastScheduleTime": "2024-05-01T12:00:00Z",
        "lastSuccessfulTime": hours[3],
    }
    words = [each.message for each in actions if isinstance(each, Note)]
    assert words == [
        "Saw completed job: d, condition: Complete",
        "Saw completed job: f, condition: Failed",
    ]


def test_an_api_of_1_20_names_by_the_second_and_starts_nothing_after_many_misses():
    old = features_of((1, 20))
    (create,) = [each for each in decide(cron(), features=old) if isinstance(each, Create)]
    assert create.obj["metadata"]["name"] == f"c-{int(NOON)}"
    assert create.obj["metadata"]["ownerReferences"][0]["apiVersion"] == "batch/v1beta1"
    assert "annotations" not in create.obj["metadata"]
    owner = cron({"lastScheduleTime": "2024-04-20T08:00:00Z"})
    assert done(decide(owner, features=old)) == ["note FailedNeedsStart"]


def test_a_deleted_cron_job_starts_nothing():
    owner = cron()
    owner["metadata"]["deletionTimestamp"] = LAST
    assert decide(owner) == []
