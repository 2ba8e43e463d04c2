"""Versions of a custom resource that a webhook converts, over real TLS.

In ``v1`` a host is ``spec.host`` and ``spec.port``, in ``v1beta1`` it is ``spec.hostPort``.
"""

import asyncio
from copy import deepcopy

from api_in_process import MERGE, run
from crontabs import CRDS, GROUP, NAME, define, definition, established, version
from webhook_server import AUTHORITY, webhook_server

from muntin.apiserver.items import encode, key_of
from muntin.model.resources import SERVICES

OLD = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": {"hostPort": {"type": "string"}}},
    },
}
NEW = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "host": {"type": "string"},
                "port": {"type": "string", "default": "80"},
                "zone": {"type": "string"},
            },
        },
    },
}
V1 = f"/apis/{GROUP}/v1/namespaces/default/crontabs"
BETA = f"/apis/{GROUP}/v1beta1/namespaces/default/crontabs"


def turned(obj, wanted):
    """What a good webhook makes of an object."""
    new = deepcopy(obj)
    spec = new.get("spec") or {}
    if wanted.endswith("/v1") and "hostPort" in spec:
        host, _, port = spec["hostPort"].partition(":")
        new["spec"] = {"host": host, "port": port}
    elif wanted.endswith("/v1beta1") and "host" in spec:
        new["spec"] = {"hostPort": f"{spec['host']}:{spec['port']}"}
    new["apiVersion"] = wanted
    return new


def good(asked):
    objects = [turned(obj, asked["desiredAPIVersion"]) for obj in asked["objects"]]
    return {"result": {"status": "Success"}, "convertedObjects": objects}


def changing(change):
    """A webhook that does more than it may."""

    def answer(asked):
        found = good(asked)
        for obj in found["convertedObjects"]:
            change(obj)
        return found

    return answer


def versions():
    return version("v1beta1", storage=False, schema=OLD), version(schema=NEW)


def conversion(client):
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1", "v1beta1"]}
    return {"strategy": "Webhook", "webhook": webhook}


def with_hooks(scenario, *names, answer=good):
    async def both(server, api):
        async with webhook_server(*names) as hooks:
            hooks.answers["/convert"] = answer
            client = hooks.client_config("/convert")
            await define(api, *versions(), conversion=conversion(client))
            await scenario(server, api, hooks)

    run(both)


def beta(name="one", **metadata):
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "CronTab",
        "metadata": {"name": name, **metadata},
        "spec": {"hostPort": "a:8080"},
    }


def test_objects_are_stored_in_one_version_and_shown_in_each():
    async def scenario(server, api, hooks):
        made = await api("POST", BETA, beta())
        assert made["apiVersion"] == f"{GROUP}/v1beta1"
        assert made["spec"] == {"hostPort": "a:8080"}
        record = await server.core.store.get(f"/registry/{GROUP}/crontabs/default/one")
        assert b'"spec":{"host":"a","port":"8080"}' in record.value
        assert (await api("GET", f"{V1}/one"))["spec"] == {"host": "a", "port": "8080"}
        assert (await api("GET", f"{BETA}/one"))["spec"] == {"hostPort": "a:8080"}
        patch = {"spec": {"hostPort": "b:9090"}}
        await api("PATCH", f"{BETA}/one", patch, headers=MERGE)
        assert (await api("GET", f"{V1}/one"))["spec"] == {"host": "b", "port": "9090"}
        listed = await api("GET", BETA)
        assert [row["spec"] for row in listed["items"]] == [{"hostPort": "b:9090"}]
        calls = len(hooks.reviews)
        await api("GET", BETA)
        assert len(hooks.reviews) == calls  # it is known what it looks like
        review = hooks.reviews[0]
        assert (review["kind"], review["apiVersion"]) == (
            "ConversionReview", "apiextensions.k8s.io/v1"
        )  # fmt: skip
        await api("DELETE", f"{BETA}/one")
        await api("GET", f"{V1}/one", code=404)

    with_hooks(scenario)


def test_watches_see_each_version():
    async def scenario(server, api, hooks):
        await api("POST", V1, {**beta("a"), "apiVersion": f"{GROUP}/v1", "spec": {"host": "x"}})
        async with api.watch(f"{BETA}?watch=true") as old, api.watch(f"{V1}?watch=true") as new:
            assert (await old.next())["object"]["spec"] == {"hostPort": "x:80"}
            assert (await new.next())["object"]["spec"] == {"host": "x", "port": "80"}
            for name in ("b", "c", "d"):
                await api("POST", BETA, beta(name))
            seen = [await old.next() for _ in range(3)]
            assert [row["object"]["metadata"]["name"] for row in seen] == ["b", "c", "d"]
            assert {row["object"]["spec"]["hostPort"] for row in seen} == {"a:8080"}
            assert (await new.next())["object"]["spec"] == {"host": "a", "port": "8080"}
            await api("DELETE", f"{V1}/b")
            gone = await old.next()
            assert gone["type"] == "DELETED"
            assert gone["object"]["apiVersion"] == f"{GROUP}/v1beta1"

    with_hooks(scenario)


def test_a_webhook_that_fails_says_so_in_a_watch():
    async def scenario(server, api, hooks):
        async with api.watch(f"{BETA}?watch=true") as events:
            hooks.answers["/convert"] = lambda _: {
                "result": {"status": "Failure", "message": "no more"}
            }
            body = {**beta("a"), "apiVersion": f"{GROUP}/v1", "spec": {"host": "x"}}
            await api("POST", V1, body)
            event = await events.next()
            assert event["type"] == "ERROR"
            assert event["object"]["message"].endswith("failed: no more")

    with_hooks(scenario)


def test_failures_are_errors_of_the_request():
    async def scenario(server, api, hooks):
        failure = {"result": {"status": "Failure", "message": "cannot read it"}}
        hooks.answers["/convert"] = lambda _: failure
        answer = await api("POST", BETA, beta(), code=500)
        assert answer["message"] == (
            "conversion webhook for stable.example.com/v1beta1, Kind=CronTab failed: cannot read it"
        )
        hooks.answers["/convert"] = lambda _: {"result": {"status": "Success"}}
        answer = await api("POST", BETA, beta(), code=500)
        assert answer["message"].endswith("returned 0 objects, expected 1")
        await hooks.http.close(0.1)
        answer = await api("POST", BETA, beta(), code=500)
        assert 'failed: Post "https://127.0.0.1' in answer["message"]
        found = await server.core.store.list(f"/registry/{GROUP}/")
        assert found.records == []

    with_hooks(scenario)


def test_metadata_is_not_the_webhooks_to_change():
    async def scenario(server, api, hooks):
        await api("POST", V1, {**beta("a"), "apiVersion": f"{GROUP}/v1", "spec": {"host": "x"}})
        hooks.answers["/convert"] = changing(lambda obj: obj["metadata"].update(name="b"))
        answer = await api("GET", f"{BETA}/a", code=500)
        assert answer["message"].endswith("must have the same name: a != b")
        hooks.answers["/convert"] = changing(lambda obj: obj.update(kind="Other"))
        answer = await api("GET", f"{BETA}/a", code=500)
        assert "invalid kind (expected CronTab, received Other)" in answer["message"]
        hooks.answers["/convert"] = changing(
            lambda obj: obj["metadata"].update(labels={"seen": "yes"}, finalizers=["x/y"])
        )
        found = await api("GET", f"{BETA}/a")
        assert found["metadata"]["labels"] == {"seen": "yes"}
        assert "finalizers" not in found["metadata"]

    with_hooks(scenario)


def test_what_the_webhook_gives_is_pruned_and_validated():
    async def scenario(server, api, hooks):
        hooks.answers["/convert"] = changing(lambda obj: obj["spec"].update(odd=1))
        await api("POST", BETA, beta())
        record = await server.core.store.get(f"/registry/{GROUP}/crontabs/default/one")
        assert b"odd" not in record.value

    with_hooks(scenario)


def test_a_service_leads_to_the_webhook():
    name = "convert.hooks.svc"

    async def scenario(server, api):
        async with webhook_server(name) as hooks:
            hooks.answers["/convert"] = good
            await api("POST", "/api/v1/namespaces", {"metadata": {"name": "hooks"}})
            service = {
                "metadata": {"name": "convert"},
                "spec": {"ports": [{"port": 443}]},
            }
            path = "/api/v1/namespaces/hooks/services"
            made = await api("POST", path, service)
            place = {"name": "convert", "namespace": "hooks", "path": "/convert"}
            client = {"service": place, "caBundle": AUTHORITY.bundle}
            made = definition(*versions(), conversion=conversion(client))
            found = await api("POST", CRDS, made)
            shown = found["spec"]["conversion"]["webhook"]["clientConfig"]["service"]
            assert shown["port"] == 443
            await established(api)
            # What a proxy on the node would do, the test does: the service is on loopback.
            item = server.core.cache.get(SERVICES, "hooks", "convert")
            obj = item.object()
            obj["spec"] |= {"type": "ExternalName", "externalName": "127.0.0.1"}
            obj["spec"]["ports"] = [{"port": hooks.port, "protocol": "TCP"}]
            key = key_of(SERVICES, "hooks", "convert")
            await server.core.store.update(key, encode(obj, SERVICES), item.revision)
            found = await api("GET", f"{CRDS}/{NAME}")
            config = found["spec"]["conversion"]["webhook"]["clientConfig"]
            config["service"]["port"] = hooks.port
            await api("PUT", f"{CRDS}/{NAME}", found)
            await api("POST", BETA, beta())
            assert (await api("GET", f"{V1}/one"))["spec"] == {"host": "a", "port": "8080"}

    run(scenario)


def test_server_side_apply_in_two_versions():
    async def scenario(server, api, hooks):
        headers = {"content-type": "application/apply-patch+yaml"}
        await api("PATCH", f"{BETA}/one?fieldManager=old", beta(), headers=headers)
        zone = {**beta(), "apiVersion": f"{GROUP}/v1", "spec": {"zone": "z"}}
        found = await api("PATCH", f"{V1}/one?fieldManager=new", zone, headers=headers)
        assert found["spec"] == {"host": "a", "port": "8080", "zone": "z"}
        managers = {row["manager"]: row["apiVersion"] for row in found["metadata"]["managedFields"]}
        assert managers == {"old": f"{GROUP}/v1beta1", "new": f"{GROUP}/v1"}
        await asyncio.sleep(0)

    with_hooks(scenario)
