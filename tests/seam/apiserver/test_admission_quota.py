"""Quotas at the API server: what is charged, refused, and never exceeded, also by two servers."""

import asyncio

import pytest
from api_in_process import KEY, MAPS, PODS, SERVICES, Api, config_map, pod, run

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.seams.store.memory import MemoryStore

QUOTAS = "/api/v1/namespaces/default/resourcequotas"


async def set_quota(api, used=None, *, name="q", **hard):
    """A quota as its controller would have filled it in."""
    spec = {"hard": {key: str(value) for key, value in hard.items()}}
    found = await api("POST", QUOTAS, {"metadata": {"name": name}, "spec": spec})
    known = dict.fromkeys(spec["hard"], "0") | (used or {})
    found["status"] = {"hard": spec["hard"], "used": known}
    await api("PUT", f"{QUOTAS}/{name}/status", found)


async def used(api, name="q"):
    return (await api("GET", f"{QUOTAS}/{name}"))["status"]["used"]


async def attempt(api, path, body):
    """Whether the creation was let in; any refusal must be the quota's."""
    answer = await api.transport.request(
        "POST", path, headers={"content-type": "application/json"}, body=api_bytes(body)
    )
    if answer.status == 403:
        assert b"exceeded quota: q" in answer.body
        return False
    assert answer.status == 201, answer.body
    return True


def api_bytes(body):
    import orjson

    return orjson.dumps(body)


def test_what_does_not_fit_is_refused_in_upstreams_words():
    async def scenario(server, api):
        await set_quota(api, pods=1, **{"requests.cpu": "1"})
        error = await api("POST", PODS, pod("none"), code=403)
        assert error["message"] == (
            'pods "none" is forbidden: failed quota: q: must specify requests.cpu for: main'
        )
        fits = {"resources": {"requests": {"cpu": "600m"}}, "name": "main", "image": "i"}
        await api("POST", PODS, pod("one", containers=[fits]))
        assert await used(api) == {"pods": "1", "requests.cpu": "600m"}
        error = await api("POST", PODS, pod("two", containers=[fits]), code=403)
        assert error["message"] == (
            'pods "two" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=600m, '
            "used: pods=1,requests.cpu=600m, limited: pods=1,requests.cpu=1"
        )
        assert error["reason"] == "Forbidden"
        assert await used(api) == {"pods": "1", "requests.cpu": "600m"}

    run(scenario)


def test_dry_runs_and_what_fails_anyway_cost_nothing():
    async def scenario(server, api):
        await set_quota(api, configmaps=2)
        await api("POST", f"{MAPS}?dryRun=All", config_map("a"))
        assert await used(api) == {"configmaps": "0"}
        await api("POST", MAPS, config_map("a"))
        await api("POST", MAPS, config_map("a"), code=409)
        assert await used(api) == {"configmaps": "1"}
        await api("POST", MAPS, config_map("b"))
        await api("POST", f"{MAPS}?dryRun=All", config_map("c"), code=403)

    run(scenario)


def test_a_quota_without_status_says_that_it_is_not_known():
    async def scenario(server, api):
        spec = {"hard": {"configmaps": "1"}}
        found = await api("POST", QUOTAS, {"metadata": {"name": "q"}, "spec": spec})
        found["status"] = {"hard": {"configmaps": "1"}, "used": {}}
        await api("PUT", f"{QUOTAS}/q/status", found)
        error = await api("POST", MAPS, config_map("a"), code=403)
        assert error["message"] == (
            'configmaps "a" is forbidden: status unknown for quota: q, resources: configmaps'
        )

    run(scenario)


def test_updates_are_charged_for_what_they_add():
    async def scenario(server, api):
        await set_quota(api, services=2, **{"services.nodeports": 1})
        ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
        made = await api(
            "POST", SERVICES, {"metadata": {"name": "s"}, "spec": {"ports": ports[:1]}}
        )
        made["spec"] |= {"type": "NodePort", "ports": ports}
        error = await api("PUT", f"{SERVICES}/s", made, code=403)
        assert "requested: services.nodeports=2, used: services.nodeports=0" in error["message"]
        made["spec"]["ports"] = ports[:1]
        await api("PUT", f"{SERVICES}/s", made)
        assert await used(api) == {"services": "1", "services.nodeports": "1"}

    run(scenario)


def test_other_namespaces_and_other_kinds_are_free():
    async def scenario(server, api):
        await set_quota(api, {"configmaps": "1"}, configmaps=1)
        await api("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
        await api("POST", "/api/v1/namespaces/other/configmaps", config_map("a"))
        await api("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}})
        await api("POST", MAPS, config_map("a"), code=403)

    run(scenario)


def test_two_quotas_must_both_allow():
    async def scenario(server, api):
        await set_quota(api, configmaps=5)
        await set_quota(api, {"count/configmaps": "1"}, name="q2", **{"count/configmaps": 1})
        error = await api("POST", MAPS, config_map("a"), code=403)
        assert "exceeded quota: q2, requested: count/configmaps=1" in error["message"]
        assert await used(api) == {"configmaps": "0"}

    run(scenario)


def test_many_at_once_never_exceed():
    async def scenario(server, api):
        await set_quota(api, configmaps=7)
        answers = await asyncio.gather(
            *(attempt(api, MAPS, config_map(f"m{n}")) for n in range(40))
        )
        assert sum(answers) == 7
        assert len((await api("GET", MAPS))["items"]) == 7
        assert await used(api) == {"configmaps": "7"}

    run(scenario)


@pytest.mark.parametrize("limit", [1, 13])
def test_two_servers_over_one_store_never_exceed(limit):
    async def main():
        config = ApiServerConfig(
            kubernetes_version="1.34", service_account_key=KEY, advertise_address="192.0.2.1"
        )
        store = MemoryStore()
        async with ApiServer(config, store) as one, ApiServer(config, store) as two:
            apis = [Api(server.user("admin", "system:masters")) for server in (one, two)]
            await set_quota(apis[0], configmaps=limit)
            await two.core.cache.fresh()
            answers = await asyncio.gather(
                *(attempt(apis[n % 2], MAPS, config_map(f"m{n}")) for n in range(60))
            )
            assert sum(answers) == limit
            assert len((await apis[0]("GET", MAPS))["items"]) == limit
            assert await used(apis[1]) == {"configmaps": str(limit)}

    asyncio.run(asyncio.wait_for(main(), 30))
