"""Evictions: budgets, preconditions, dry runs, and what goes without asking."""

import pytest
from api_in_process import PODS, pod, run

BUDGETS = "/apis/policy/{}/namespaces/default/poddisruptionbudgets"
CANNOT = "Cannot evict pod as it would violate the pod's disruption budget."


async def running(api, name="one", *, ready=True, phase="Running"):
    """A pod on a node, as its kubelet would say."""
    body = pod(name, nodeName="n1")
    body["metadata"]["labels"] = {"app": "web"}
    made = await api("POST", PODS, body)
    state = {"type": "Ready", "status": "True" if ready else "False"}
    made["status"] |= {"phase": phase, "conditions": [state]}
    return await api("PUT", f"{PODS}/{name}/status", made)


async def budget(api, name="b", version="v1", spec=None, **status):
    path = BUDGETS.format(version)
    selector = {"matchLabels": {"app": "web"}}
    made = await api("POST", path, {"metadata": {"name": name}, "spec": {
        "minAvailable": 1, "selector": selector, **(spec or {})}})  # fmt: skip
    numbers = {"currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1, "disruptionsAllowed": 0}
    made["status"] = {"observedGeneration": 1, **numbers, **status}
    await api("PUT", f"{path}/{name}/status", made)


async def evict(api, name="one", code=201, version="v1", query="", **options):
    body = {"apiVersion": f"policy/{version}", "kind": "Eviction", "metadata": {"name": name}}
    if options:
        body["deleteOptions"] = options
    return await api("POST", f"{PODS}/{name}/eviction{query}", body, code=code)


async def left(api, name="b", version="v1"):
    found = await api("GET", f"{BUDGETS.format(version)}/{name}")
    return found["status"]["disruptionsAllowed"]


def test_without_a_budget_a_pod_just_goes_and_says_why():
    async def scenario(server, api):
        await running(api)
        done = await evict(api)
        assert (done["kind"], done["status"], done["code"]) == ("Status", "Success", 201)
        found = await api("GET", f"{PODS}/one")
        assert found["metadata"]["deletionTimestamp"]
        (row,) = [c for c in found["status"]["conditions"] if c["type"] == "DisruptionTarget"]
        assert (row["status"], row["reason"]) == ("True", "EvictionByEvictionAPI")

    run(scenario)


def test_a_used_up_budget_answers_429_without_saying_when():
    async def scenario(server, api):
        await running(api)
        await budget(api)
        error = await evict(api, code=429)
        assert error["message"] == CANNOT
        (cause,) = error["details"]["causes"]
        assert cause["reason"] == "DisruptionBudget"
        assert cause["message"] == (
            "The disruption budget b needs 1 healthy pods and has 1 currently"
        )
        assert "retry-after" not in api.headers

    run(scenario)


def test_a_budget_that_is_not_counted_yet_says_when_to_ask_again():
    async def scenario(server, api):
        await running(api)
        await budget(api, observedGeneration=0)
        error = await evict(api, code=429)
        assert error["details"]["retryAfterSeconds"] == 10
        assert api.headers["retry-after"] == "10"
        assert "still being processed" in error["details"]["causes"][0]["message"]

    run(scenario)


@pytest.mark.parametrize("version", ["1.34", "1.20"])
def test_an_eviction_takes_one_from_the_budget_once(version):
    api_version = "v1beta1" if version == "1.20" else "v1"

    async def scenario(server, api):
        for name in ("one", "two"):
            await running(api, name)
        await budget(api, version=api_version, disruptionsAllowed=1)
        await evict(api, "one", version="v1beta1")
        assert await left(api, version=api_version) == 0
        found = await api("GET", f"{BUDGETS.format(api_version)}/b")
        assert list(found["status"]["disruptedPods"]) == ["one"]
        await evict(api, "two", code=429, version="v1beta1")

    run(scenario, version=version)


def test_several_budgets_are_too_many():
    async def scenario(server, api):
        await running(api)
        await budget(api, "a", disruptionsAllowed=1)
        await budget(api, "b", disruptionsAllowed=1)
        error = await evict(api, code=500)
        assert error["message"] == (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support."
        )
        assert await left(api, "a") == 1

    run(scenario)


@pytest.mark.parametrize("where", ["query", "options"])
def test_dry_runs_ask_and_take_nothing(where):
    async def scenario(server, api):
        await running(api)
        await budget(api, disruptionsAllowed=1)
        if where == "query":
            await evict(api, query="?dryRun=All")
        else:
            await evict(api, dryRun=["All"])
        assert await left(api) == 1
        assert "deletionTimestamp" not in (await api("GET", f"{PODS}/one"))["metadata"]
        found = await api("GET", f"{BUDGETS.format('v1')}/b")
        found["status"]["disruptionsAllowed"] = 0
        await api("PUT", f"{BUDGETS.format('v1')}/b/status", found)
        await evict(api, code=429, query="?dryRun=All")

    run(scenario)


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_pods_that_do_not_run_go_past_the_budget(phase):
    async def scenario(server, api):
        await running(api, phase=phase, ready=False)
        await budget(api)
        await evict(api)

    run(scenario)


def test_pods_that_go_already_may_be_evicted_again():
    async def scenario(server, api):
        await running(api)
        await budget(api, disruptionsAllowed=1)
        await evict(api)
        await evict(api)
        assert await left(api) == 0

    run(scenario)


@pytest.mark.parametrize(
    ("spec", "healthy", "code"),
    [({}, 1, 201), ({}, 0, 429), ({"unhealthyPodEvictionPolicy": "AlwaysAllow"}, 0, 201)],
)
def test_pods_that_are_not_ready(spec, healthy, code):
    async def scenario(server, api):
        await running(api, ready=False)
        await budget(api, spec=spec, currentHealthy=healthy)
        await evict(api, code=code)

    run(scenario)


def test_preconditions_are_kept():
    async def scenario(server, api):
        made = await running(api)
        await budget(api, disruptionsAllowed=1)
        error = await evict(api, code=409, preconditions={"uid": "other"})
        assert "the UID in the precondition (other) does not match" in error["message"]
        await evict(api, code=409, preconditions={"resourceVersion": "1"})
        assert await left(api) == 1
        await evict(api, preconditions={"uid": made["metadata"]["uid"]}, gracePeriodSeconds=7)
        found = await api("GET", f"{PODS}/one")
        assert found["metadata"]["deletionGracePeriodSeconds"] == 7

    run(scenario)


def test_wrong_evictions():
    async def scenario(server, api):
        await running(api)
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "other"}}
        error = await api("POST", f"{PODS}/one/eviction", body, code=400)
        assert error["message"] == "name in URL does not match name in Eviction object"
        await evict(api, "none", code=404)

    run(scenario)
