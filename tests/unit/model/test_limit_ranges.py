"""Limit ranges: what is filled in, and each bound in upstream's words."""

import pytest

from muntin.model import limit_ranges


def limits(kind="Container", **rule):
    return {"metadata": {"name": "l"}, "spec": {"limits": [{"type": kind, **rule}]}}


def pod(*resources, init=(), **spec):
    rows = [{"name": f"c{n}", "resources": found} for n, found in enumerate(resources)]
    inits = [{"name": f"i{n}", **found} for n, found in enumerate(init)]
    return {
        "metadata": {"name": "p"},
        "spec": {"containers": rows, "initContainers": inits, **spec},
    }


def test_defaults_fill_what_is_missing_and_say_so():
    found = pod({}, {"requests": {"cpu": "1"}}, init=[{}])
    rule = limits(default={"cpu": "500m"}, defaultRequest={"cpu": "0.1", "memory": "64Mi"})
    limit_ranges.fill_in(rule, found)
    first, second = (row["resources"] for row in found["spec"]["containers"])
    assert first == {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "500m"}}
    assert second["requests"] == {"cpu": "1", "memory": "64Mi"}
    assert found["spec"]["initContainers"][0]["resources"]["limits"] == {"cpu": "500m"}
    assert found["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu, memory request for container "
        "c0; cpu limit for container c0; memory request for container c1; cpu limit for "
        "container c1; cpu, memory request for init container i0; cpu limit for init container i0"
    }


def test_nothing_to_fill_in_leaves_no_mark():
    found = pod({"requests": {"cpu": "1"}})
    limit_ranges.fill_in(limits(defaultRequest={"cpu": "2"}), found)
    limit_ranges.fill_in(limits(max={"cpu": "2"}), found)
    assert "annotations" not in found["metadata"]


REQUEST = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "4", "memory": "1Gi"}}


@pytest.mark.parametrize(
    ("resources", "rule", "text"),
    [
        ({}, {"min": {"cpu": "1"}},
         "minimum cpu usage per Container is 1.  No request is specified"),
        (REQUEST, {"min": {"cpu": "2"}},
         "minimum cpu usage per Container is 2, but request is 1"),
        ({}, {"max": {"memory": "1Gi"}},
         "maximum memory usage per Container is 1Gi.  No limit is specified"),
        (REQUEST, {"max": {"cpu": "2"}}, "maximum cpu usage per Container is 2, but limit is 4"),
        (REQUEST, {"max": {"cpu": "4"}}, ""),
        (REQUEST, {"maxLimitRequestRatio": {"cpu": "2"}},
         "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"),
        (REQUEST, {"maxLimitRequestRatio": {"cpu": "4"}}, ""),
        ({"limits": {"cpu": "1"}}, {"maxLimitRequestRatio": {"cpu": "4"}},
         "cpu max limit to request ratio per Container is 4, but no request is specified or "
         "request is 0"),
        ({"requests": {"cpu": "1"}}, {"maxLimitRequestRatio": {"cpu": "4"}},
         "cpu max limit to request ratio per Container is 4, but no limit is specified or "
         "limit is 0"),
    ],
)  # fmt: skip
def test_bounds_of_containers(resources, rule, text):
    problems = limit_ranges.pod_problems(limits(**rule), pod(resources))
    assert problems == ([text] if text else [])


def test_several_problems_become_one_text():
    problems = limit_ranges.pod_problems(limits(min={"cpu": "1", "memory": "1Gi"}), pod({}))
    assert limit_ranges.summary(problems) == (
        "[minimum cpu usage per Container is 1.  No request is specified, minimum memory usage "
        "per Container is 1Gi.  No request is specified]"
    )


@pytest.mark.parametrize(
    ("found", "bad"),
    [
        (pod(REQUEST), False),
        (pod(REQUEST, REQUEST), True),
        (pod(REQUEST, init=[{"resources": {"limits": {"cpu": "6"}}}]), True),
        (pod(REQUEST, init=[{"resources": REQUEST, "restartPolicy": "Always"}]), True),
        (pod(REQUEST, resources={"limits": {"cpu": "8"}}), True),
    ],
)
def test_bounds_of_pods_count_all_that_runs_at_once(found, bad):
    problems = limit_ranges.pod_problems(limits("Pod", max={"cpu": "5"}), found)
    assert bool(problems) is bad
    assert all(text.startswith("maximum cpu usage per Pod is 5, but limit is") for text in problems)


@pytest.mark.parametrize(
    ("storage", "text"),
    [
        ("1Gi", "minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi"),
        ("5Gi", "maximum storage usage per PersistentVolumeClaim is 4Gi, but request is 5Gi"),
        ("3Gi", ""),
    ],
)
def test_bounds_of_claims(storage, text):
    claim = {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": storage}}}}
    rule = limits("PersistentVolumeClaim", min={"storage": "2Gi"}, max={"storage": "4Gi"})
    assert limit_ranges.claim_problems(rule, claim) == ([text] if text else [])
