"""What clients rely on, asked in process: versions, watches, paging, deletion, admission."""

import asyncio
import json

import pytest
from api_in_process import JSON, KEY, MAPS, MERGE, PODS, SERVICES, Api, config_map, pod, run

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.kit import errors
from muntin.kit.clock import SystemClock
from muntin.seams.store.memory import MemoryStore


def test_versions_guard_updates():
    async def scenario(server, api):
        first = await api("POST", MAPS, config_map("a"), code=201)
        second = await api("PUT", f"{MAPS}/a", {**first, "data": {"a": "c"}})
        assert int(second["metadata"]["resourceVersion"]) > int(
            first["metadata"]["resourceVersion"]
        )
        error = await api("PUT", f"{MAPS}/a", {**first, "data": {}}, code=409)
        assert error["reason"] == "Conflict"
        assert error["details"] == {"name": "a", "kind": "configmaps"}
        same = await api("PUT", f"{MAPS}/a", second)
        assert same["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]
        del second["metadata"]["resourceVersion"]
        assert (await api("PUT", f"{MAPS}/a", {**second, "data": {}})).get("data") is None
        wrong = {**first, "metadata": {"name": "a", "uid": "other"}}
        assert "UID" in (await api("PUT", f"{MAPS}/a", wrong, code=409))["message"]

    run(scenario)


def test_an_update_that_changes_only_the_order_is_not_stored():
    async def scenario(server, api):
        first = await api("POST", MAPS, {**config_map("a"), "data": {"x": "1", "y": "2"}})
        turned = {key: first[key] for key in reversed(first)}
        turned["data"] = {"y": "2", "x": "1"}
        turned["metadata"] = dict(reversed(first["metadata"].items()))
        for sent in (turned, {**turned, "metadata": {"name": "a", "labels": {}}}):
            same = await api("PUT", f"{MAPS}/a", sent)
            assert same["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        swapped = {**turned, "data": {"y": "1", "x": "2"}}
        other = await api("PUT", f"{MAPS}/a", swapped)
        assert other["metadata"]["resourceVersion"] > first["metadata"]["resourceVersion"]

    run(scenario)


def test_patches_at_once_are_all_applied():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        await asyncio.gather(
            *(api("PATCH", f"{MAPS}/a", {"data": {f"k{n}": "v"}}, headers=MERGE) for n in range(20))
        )
        assert len((await api("GET", f"{MAPS}/a"))["data"]) == 21

    run(scenario)


def test_a_watch_sees_what_enters_and_leaves_its_selector():
    async def scenario(server, api):
        version = (await api("GET", MAPS))["metadata"]["resourceVersion"]
        path = f"{MAPS}?watch=1&labelSelector=tier%3Dfront&resourceVersion={version}"
        async with api.watch(path) as events:
            await api("POST", MAPS, config_map("a", tier="back"))
            await api("POST", MAPS, config_map("b", tier="front"))
            assert await events.short() == ("ADDED", "b")
            await api("PATCH", f"{MAPS}/a", {"metadata": {"labels": {"tier": "front"}}},
                      headers=MERGE)  # fmt: skip
            assert await events.short() == ("ADDED", "a")
            gone = await api("PATCH", f"{MAPS}/a", {"metadata": {"labels": {"tier": "back"}}},
                             headers=MERGE)  # fmt: skip
            event = await events.next()
            assert event["type"] == "DELETED"
            assert event["object"]["metadata"]["labels"] == {"tier": "front"}
            assert (
                event["object"]["metadata"]["resourceVersion"]
                == gone["metadata"]["resourceVersion"]
            )
            await api("DELETE", f"{MAPS}/a")
            await api("DELETE", f"{MAPS}/b")
            event = await events.next()
            assert (event["type"], event["object"]["metadata"]["name"]) == ("DELETED", "b")
            assert int(event["object"]["metadata"]["resourceVersion"]) > int(version)
            assert await events.silent()
        async with api.watch(path) as again:
            seen = [await again.short() for _ in range(4)]
        assert seen == [("ADDED", "b"), ("ADDED", "a"), ("DELETED", "a"), ("DELETED", "b")]

    run(scenario)


def test_a_watch_without_a_version_begins_with_what_is_there():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        async with api.watch(f"{MAPS}?watch=true") as events:
            assert await events.short() == ("ADDED", "a")
            await api("DELETE", f"{MAPS}/a")
            assert await events.short() == ("DELETED", "a")

    run(scenario)


def test_streaming_list_ends_with_a_bookmark():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        path = (
            f"{MAPS}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
            "&resourceVersionMatch=NotOlderThan"
        )
        async with api.watch(path) as events:
            assert await events.short() == ("ADDED", "a")
            event = await events.next()
            assert event["type"] == "BOOKMARK"
            metadata = event["object"]["metadata"]
            assert metadata["annotations"] == {"k8s.io/initial-events-end": "true"}
            assert metadata["resourceVersion"] == str(server.core.cache.revision)
        wrong = f"{MAPS}?watch=true&sendInitialEvents=true"
        assert (await api("GET", wrong, code=422))["reason"] == "Invalid"

    run(scenario)


def test_a_watch_ends_in_time_with_a_last_bookmark():
    async def scenario(server, api):
        path = f"{MAPS}?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=1"
        store_version = server.core.cache.of(server.core.registry.rows[3])
        assert store_version is not None
        version = server.core.cache.revision
        async with api.watch(path.replace("=1&allow", "=1&x=&allow").replace(
            "resourceVersion=1", f"resourceVersion={version}")) as events:  # fmt: skip
            assert (await events.next())["type"] == "BOOKMARK"
            with pytest.raises(StopAsyncIteration):
                await events.next()

    run(scenario)


def test_a_version_too_old_is_an_error_event_of_410():
    async def scenario(server, api):
        maps = server.core.cache.by_storage["configmaps"]
        await api("POST", MAPS, config_map("a"))
        maps.ring_floor = server.core.cache.revision
        async with api.watch(f"{MAPS}?watch=1&resourceVersion=2") as events:
            event = await events.next()
            assert event["type"] == "ERROR"
            assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
            with pytest.raises(StopAsyncIteration):
                await events.next()

    run(scenario)


def test_pages_are_cut_from_one_snapshot():
    async def scenario(server, api):
        for n in range(5):
            await api("POST", MAPS, config_map(f"c{n}"))
        first = await api("GET", f"{MAPS}?limit=2")
        assert first["metadata"]["remainingItemCount"] == 3
        await api("DELETE", f"{MAPS}/c3")
        await api("POST", MAPS, config_map("c9"))
        token = first["metadata"]["continue"]
        second = await api("GET", f"{MAPS}?limit=2&continue={token}")
        third = await api("GET", f"{MAPS}?limit=2&continue={second['metadata']['continue']}")
        names = [
            item["metadata"]["name"] for page in (first, second, third) for item in page["items"]
        ]
        assert names == ["c0", "c1", "c2", "c3", "c4"]
        versions = {page["metadata"]["resourceVersion"] for page in (first, second, third)}
        assert len(versions) == 1
        assert "continue" not in third["metadata"]
        server.core.snapshots._kept.clear()  # as after a restart: history has it
        assert await api("GET", f"{MAPS}?limit=2&continue={token}") == second
        await server.core.store.compact(server.core.cache.revision)
        server.core.snapshots._kept.clear()
        error = await api("GET", f"{MAPS}?limit=2&continue={token}", code=410)
        assert error["reason"] == "Expired"
        again = error["metadata"]["continue"]  # goes on with what is there now
        rest = await api("GET", f"{MAPS}?limit=9&continue={again}")
        assert [item["metadata"]["name"] for item in rest["items"]] == ["c2", "c4", "c9"]
        assert (await api("GET", f"{MAPS}?continue=x", code=400))["reason"] == "BadRequest"

    run(scenario)


def test_lists_know_the_past_and_wait_for_the_future():
    async def scenario(server, api):
        first = await api("POST", MAPS, config_map("a"))
        version = first["metadata"]["resourceVersion"]
        await api("DELETE", f"{MAPS}/a")
        past = await api("GET", f"{MAPS}?resourceVersion={version}&resourceVersionMatch=Exact")
        assert [item["metadata"]["name"] for item in past["items"]] == ["a"]
        assert past["metadata"]["resourceVersion"] == version
        future = server.core.cache.revision + 1
        waiting = asyncio.ensure_future(api("GET", f"{MAPS}?resourceVersion={future}"))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await api("POST", MAPS, config_map("b"))
        assert len((await waiting)["items"]) == 1

    run(scenario)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("labelSelector=a%3D%3D%3Db", "unable to parse requirement"),
        ("fieldSelector=spec.x%3Dy", '"spec.x" is not a known field selector'),
        ("resourceVersion=x", "invalid resource version"),
        ("limit=x", "strconv.ParseInt"),
    ],
)
def test_bad_queries_are_bad_requests(query, text):
    async def scenario(server, api):
        error = await api("GET", f"{MAPS}?{query}", code=400)
        assert error["reason"] == "BadRequest"
        assert text in error["message"]

    run(scenario)


def test_dry_run_does_everything_but_store():
    async def scenario(server, api):
        version = server.core.cache.revision
        made = await api("POST", f"{SERVICES}?dryRun=All", {
            "metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]},
        }, code=201)  # fmt: skip
        assert made["spec"]["clusterIP"]
        assert made["spec"]["ports"][0]["nodePort"]
        taken = server.core.allocator._ports.taken, server.core.allocator._addresses.taken
        assert taken == (0, 1)
        await api("POST", MAPS, config_map("a"))
        version = server.core.cache.revision
        await api("PATCH", f"{MAPS}/a?dryRun=All", {"data": {"x": "y"}}, headers=MERGE)
        await api("DELETE", f"{MAPS}/a?dryRun=All")
        assert server.core.cache.revision == version
        assert (await api("GET", f"{MAPS}/a"))["data"] == {"a": "b"}

    run(scenario)


def test_unknown_and_duplicate_fields():
    async def scenario(server, api):
        body = b'{"metadata":{"name":"a"},"data":{"x":"1","x":"2"},"dataa":{}}'

        async def send(how):
            path = f"{MAPS}?fieldValidation={how}&dryRun=All"
            return await api.transport.request("POST", path, headers=JSON, body=body)

        strict = await send("Strict")
        assert strict.status == 400
        message = json.loads(strict.body)["message"]
        assert 'unknown field "dataa"' in message
        assert 'duplicate field "data.x"' in message
        text = b"metadata: {name: a}\ndataz: {}\ndata:\n  x: '1'\n  x: '2'\ndataa: {}"
        path = f"{MAPS}?fieldValidation=Strict"
        headers = {"content-type": "application/yaml"}
        strict = await api.transport.request("POST", path, headers=headers, body=text)
        assert json.loads(strict.body)["message"].endswith(
            'strict decoding error: yaml: unmarshal errors:\n  line 5: key "x" already set in map, '
            'unknown field "dataa", unknown field "dataz"'
        )
        path = f"{MAPS}?fieldValidation=Warn&dryRun=All"
        warned = await api.transport.request("POST", path, headers=headers, body=text)
        assert 'line 5: key \\"x\\" already set in map' in warned.headers["warning"]
        warned = await send("Warn")
        assert warned.status == 201
        assert 'unknown field \\"dataa\\"' in warned.headers["warning"]
        ignored = await send("Ignore")
        assert ignored.status == 201
        assert "warning" not in ignored.headers
        assert (await send("Perhaps")).status == 422

    run(scenario)


def test_finalizers_keep_an_object_until_they_are_gone():
    async def scenario(server, api):
        obj = config_map("a")
        obj["metadata"]["finalizers"] = ["example.com/wait"]
        await api("POST", MAPS, obj)
        going = await api("DELETE", f"{MAPS}/a")
        assert going["metadata"]["deletionTimestamp"]
        version = going["metadata"]["resourceVersion"]
        again = await api("DELETE", f"{MAPS}/a")
        assert again["metadata"]["resourceVersion"] == version
        await api("PATCH", f"{MAPS}/a", {"metadata": {"finalizers": None}}, headers=MERGE)
        await api("GET", f"{MAPS}/a", code=404)

    run(scenario)


@pytest.mark.parametrize(
    ("policy", "finalizer"), [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")]
)
def test_propagation_is_left_to_the_garbage_collector(policy, finalizer):
    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        going = await api("DELETE", f"{MAPS}/a", {"propagationPolicy": policy})
        assert going["metadata"]["finalizers"] == [finalizer]

    run(scenario)


def test_deletion_preconditions():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        error = await api("DELETE", f"{MAPS}/a", {"preconditions": {"uid": "x"}}, code=409)
        assert "the UID in the precondition (x)" in error["message"]
        done = await api("DELETE", f"{MAPS}/a")
        assert (done["kind"], done["status"]) == ("Status", "Success")

    run(scenario)


NODE = {"metadata": {"name": "n1"}, "status": {"capacity": {"cpu": "1"}}}


async def bind(api, name, node="n1"):
    body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
    return await api("POST", f"{PODS}/{name}/binding", body, code=201)


def test_pods_go_gracefully():
    async def scenario(server, api):
        await api("POST", PODS, pod())
        await bind(api, "one")
        error = await api("POST", f"{PODS}/one/binding", {"target": {"name": "n2"}}, code=409)
        assert 'already assigned to node "n1"' in error["message"]
        going = await api("DELETE", f"{PODS}/one", {"gracePeriodSeconds": 7})
        assert going["metadata"]["deletionGracePeriodSeconds"] == 7
        shorter = await api("DELETE", f"{PODS}/one", {"gracePeriodSeconds": 3})
        assert shorter["metadata"]["deletionGracePeriodSeconds"] == 3
        await api("DELETE", f"{PODS}/one", {"gracePeriodSeconds": 0})
        await api("GET", f"{PODS}/one", code=404)
        await api("POST", PODS, pod("unbound"))
        await api("DELETE", f"{PODS}/unbound")
        await api("GET", f"{PODS}/unbound", code=404)

    run(scenario)


def test_status_and_spec_are_written_apart():
    async def scenario(server, api):
        made = await api("POST", PODS, {**pod(), "status": {"phase": "Running"}})
        assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
        made["status"] = {"phase": "Running"}
        made["metadata"]["labels"] = {"x": "y"}
        kept = await api("PUT", f"{PODS}/one", made)
        assert kept["status"]["phase"] == "Pending"
        assert kept["metadata"]["labels"] == {"x": "y"}
        kept["status"]["phase"] = "Running"
        kept["spec"]["activeDeadlineSeconds"] = 5
        done = await api("PUT", f"{PODS}/one/status", kept)
        assert done["status"]["phase"] == "Running"
        assert "activeDeadlineSeconds" not in done["spec"]

    run(scenario)


def test_services_keep_and_give_back_what_they_have():
    async def scenario(server, api):
        spec = {"type": "NodePort", "ports": [{"port": 80}], "selector": {"a": "b"}}
        made = await api("POST", SERVICES, {"metadata": {"name": "s"}, "spec": spec})
        address, port = made["spec"]["clusterIP"], made["spec"]["ports"][0]["nodePort"]
        again = await api("PUT", f"{SERVICES}/s", {"metadata": {"name": "s"}, "spec": spec})
        assert again["spec"]["clusterIP"] == address
        assert again["spec"]["ports"][0]["nodePort"] == port
        await api("POST", SERVICES, {"metadata": {"name": "s"}, "spec": {
            "clusterIP": address, "ports": [{"port": 80}]}}, code=409)  # fmt: skip
        wanted = {"metadata": {"name": "t"}, "spec": {**spec, "ports": [
            {"port": 80, "nodePort": port}]}}  # fmt: skip
        error = await api("POST", SERVICES, wanted, code=422)
        assert error["details"]["causes"][0]["field"] == "spec.ports[0].nodePort"
        assert "already allocated" in error["message"]
        await api("PATCH", f"{SERVICES}/s", {"spec": {"type": "ClusterIP"}}, headers=MERGE)
        await api("POST", SERVICES, wanted)
        outside = {"metadata": {"name": "u"}, "spec": {"clusterIP": "192.0.2.1",
                                                       "ports": [{"port": 1}]}}  # fmt: skip
        assert (
            "does not match the current range"
            in (await api("POST", SERVICES, outside, code=422))["message"]
        )
        headless = {"metadata": {"name": "h"}, "spec": {"clusterIP": "None"}}
        assert (await api("POST", SERVICES, headless))["spec"]["clusterIPs"] == ["None"]

    run(scenario)


def test_what_was_given_out_is_known_after_a_restart():
    store = MemoryStore()
    given = {}

    async def first(server, api):
        spec = {"type": "NodePort", "ports": [{"port": 80}]}
        made = await api("POST", SERVICES, {"metadata": {"name": "s"}, "spec": spec})
        given.update(made["spec"])

    run(first, store=store)
    store._feed = type(store._feed)()

    async def second(server, api):
        found = server.core.allocator
        assert found._addresses.taken == 2
        spec = {"clusterIP": given["clusterIP"], "ports": [{"port": 80}]}
        await api("POST", SERVICES, {"metadata": {"name": "t"}, "spec": spec}, code=422)
        version = (await api("GET", f"{SERVICES}/s"))["metadata"]["resourceVersion"]
        async with api.watch(f"{SERVICES}?watch=1&resourceVersion={int(version) - 1}") as events:
            assert await events.short() == ("ADDED", "s")

    async def main():
        config = ApiServerConfig(
            kubernetes_version="1.34", service_account_key=KEY, advertise_address="192.0.2.1"
        )
        async with ApiServer(config, store) as server:
            await second(server, Api(server.user("admin", "system:masters")))

    asyncio.run(main())


def test_a_cache_that_missed_history_catches_up():
    class Forgetful(MemoryStore):
        lost = False

        async def watch(self, prefix, after):
            async for batch in super().watch(prefix, after):
                if self.lost:
                    self.lost = False
                    await self.compact(self._revision)
                    raise errors.Gone("compacted")
                yield batch

    store = Forgetful()

    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        await api("POST", MAPS, config_map("b"))
        version = server.core.cache.revision
        async with api.watch(f"{MAPS}?watch=1&resourceVersion={version}") as events:
            store.lost = True
            await asyncio.gather(api("DELETE", f"{MAPS}/a"), api("POST", MAPS, config_map("c")))
            assert {await events.short(), await events.short()} == {
                ("DELETED", "a"),
                ("ADDED", "c"),
            }
        names = [item["metadata"]["name"] for item in (await api("GET", MAPS))["items"]]
        assert names == ["b", "c"]

    run(scenario, store=store)


def test_a_second_start_writes_nothing():
    store = MemoryStore()

    async def main():
        config = ApiServerConfig(
            kubernetes_version="1.34", service_account_key=KEY, advertise_address="192.0.2.1"
        )
        revisions = []
        for _ in range(2):
            async with ApiServer(config, store):
                revisions.append(await store.current_revision())
        assert revisions[0] == revisions[1]

    asyncio.run(main())


def test_nodes_are_held_to_themselves():
    async def scenario(server, api):
        node = Api(server.user("system:node:n1", "system:nodes"))
        made = await node("POST", "/api/v1/nodes", NODE, code=201)
        assert made["spec"]["taints"][0]["key"] == "node.kubernetes.io/not-ready"
        assert made["status"]["capacity"] == {"cpu": "1"}
        other = {**NODE, "metadata": {"name": "n2"}}
        assert (await node("POST", "/api/v1/nodes", other, code=403))["reason"] == "Forbidden"
        await api("POST", MAPS, config_map("used"))
        await api("POST", MAPS, config_map("secret"))
        volumes = [{"name": "v", "configMap": {"name": "used"}}]
        await api("POST", PODS, pod(volumes=volumes))
        await node("GET", f"{MAPS}/used", code=403)
        await bind(api, "one")
        await node("GET", f"{MAPS}/used")
        error = await node("GET", f"{MAPS}/secret", code=403)
        assert "no relationship found" in error["message"]
        await node("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1")
        found = await api("GET", f"{PODS}/one")
        found["status"]["phase"] = "Running"
        await node("PUT", f"{PODS}/one/status", found)
        stranger = Api(server.user("system:node:n2", "system:nodes"))
        found = await api("GET", f"{PODS}/one")
        await stranger("PUT", f"{PODS}/one/status", found, code=403)
        lease = {"metadata": {"name": "n1"}, "spec": {"holderIdentity": "n1"}}
        leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        await node("POST", leases, lease, code=201)
        await stranger("PUT", f"{leases}/n1", lease, code=403)

    run(scenario)


def test_tokens_are_bound_to_their_pod():
    async def scenario(server, api):
        await api("POST", PODS, pod())
        uid = (await api("GET", f"{PODS}/one"))["metadata"]["uid"]
        await bind(api, "one")
        await api("POST", "/api/v1/nodes", NODE)
        node = Api(server.user("system:node:n1", "system:nodes"))
        path = "/api/v1/namespaces/default/serviceaccounts/default/token"
        ref = {"kind": "Pod", "apiVersion": "v1", "name": "one", "uid": uid}
        asked = {"spec": {"audiences": ["a"], "boundObjectRef": ref}}
        assert (await node("POST", path, {"spec": {}}, code=403))["reason"] == "Forbidden"
        made = await node("POST", path, asked, code=201)
        review = {"spec": {"token": made["status"]["token"], "audiences": ["a", "b"]}}
        reviews = "/apis/authentication.k8s.io/v1/tokenreviews"
        found = (await api("POST", reviews, review))["status"]
        assert found["authenticated"]
        assert found["audiences"] == ["a"]
        assert found["user"]["username"] == "system:serviceaccount:default:default"
        assert found["user"]["extra"]["authentication.kubernetes.io/pod-name"] == ["one"]
        other = {"spec": {**review["spec"], "audiences": ["c"]}}
        assert not (await api("POST", reviews, other))["status"].get("authenticated")
        await api("DELETE", f"{PODS}/one", {"gracePeriodSeconds": 0})
        assert not (await api("POST", reviews, review))["status"].get("authenticated")

    run(scenario)


def test_nobody_grants_more_than_they_have():
    async def scenario(server, api):
        roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
        await api("POST", f"{roles}/rolebindings", {
            "metadata": {"name": "b"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                          "name": "ann"}],
        })  # fmt: skip
        ann = Api(server.user("ann"))
        pods = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
        nodes = {"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"]}
        await ann("POST", f"{roles}/roles", {"metadata": {"name": "p"}, "rules": [pods]})
        error = await ann(
            "POST", f"{roles}/roles", {"metadata": {"name": "n"}, "rules": [nodes]}, code=403
        )
        assert "attempting to grant RBAC permissions not currently held" in error["message"]
        await ann("GET", "/api/v1/nodes", code=403)
        review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods",
                                                  "namespace": "default"}}}  # fmt: skip
        access = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        assert (await ann("POST", access, review))["status"]["allowed"]
        await api("DELETE", f"{roles}/rolebindings/b")
        assert not (await ann("POST", access, review))["status"]["allowed"]

    run(scenario)


def test_eviction_obeys_budgets():
    async def scenario(server, api):
        one = pod()
        one["metadata"]["labels"] = {"app": "web"}
        await api("POST", PODS, one)
        await bind(api, "one")
        found = await api("GET", f"{PODS}/one")
        found["status"] |= {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        await api("PUT", f"{PODS}/one/status", found)
        budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
        await api("POST", budgets, {"metadata": {"name": "b"}, "spec": {
            "minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}})  # fmt: skip
        eviction = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "one"}}
        error = await api("POST", f"{PODS}/one/eviction", eviction, code=429)
        assert error["details"]["causes"][0]["reason"] == "DisruptionBudget"
        budget = await api("GET", f"{budgets}/b")
        budget["status"] = {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2,
                            "desiredHealthy": 1, "expectedPods": 2}  # fmt: skip
        await api("PUT", f"{budgets}/b/status", budget)
        await api("POST", f"{PODS}/one/eviction", eviction, code=201)
        assert (await api("GET", f"{PODS}/one"))["metadata"]["deletionTimestamp"]
        assert (await api("GET", f"{budgets}/b"))["status"]["disruptionsAllowed"] == 0

    run(scenario)


def test_a_namespace_goes_when_it_is_finalized():
    async def scenario(server, api):
        await api("POST", "/api/v1/namespaces", {"metadata": {"name": "x"}})
        going = await api("DELETE", "/api/v1/namespaces/x")
        assert going["status"]["phase"] == "Terminating"
        going["spec"]["finalizers"] = []
        await api("PUT", "/api/v1/namespaces/x/finalize", going)
        await api("GET", "/api/v1/namespaces/x", code=404)
        await api("DELETE", "/api/v1/namespaces/default", code=403)
        error = await api("POST", "/api/v1/namespaces/none/configmaps", config_map("a"), code=404)
        assert error["message"] == 'namespaces "none" not found'

    run(scenario)


def test_events_have_two_forms():
    async def scenario(server, api):
        about = {"kind": "Pod", "name": "one", "namespace": "default"}
        await api("POST", "/api/v1/namespaces/default/events", {
            "metadata": {"name": "e"}, "involvedObject": about, "message": "hello",
            "reason": "Greeting", "type": "Normal", "firstTimestamp": "2026-01-01T00:00:00Z",
            "lastTimestamp": "2026-01-01T00:00:00Z", "source": {"component": "test"},
        })  # fmt: skip
        new = await api("GET", "/apis/events.k8s.io/v1/namespaces/default/events/e")
        assert (new["note"], new["regarding"]["name"]) == ("hello", "one")
        assert new["apiVersion"] == "events.k8s.io/v1"
        listed = await api(
            "GET",
            "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Done",
        )
        assert len(listed["items"]) == 1
        newer = "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector="
        assert len((await api("GET", f"{newer}regarding.name%3Done"))["items"]) == 1
        assert len((await api("GET", f"{newer}reportingController%3Dother"))["items"]) == 0

    run(scenario)


def test_tables_and_metadata_only():
    async def scenario(server, api):
        await api("POST", PODS, pod())
        accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
        table = await api("GET", PODS, headers={"accept": accept})
        assert table["kind"] == "Table"
        assert table["rows"][0]["cells"][0] == "one"
        assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
        accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
        found = await api("GET", PODS, headers={"accept": accept})
        assert found["kind"] == "PartialObjectMetadataList"
        assert "spec" not in found["items"][0]
        error = await api("GET", PODS, headers={"accept": "text/html"}, code=406)
        assert error["reason"] == "NotAcceptable"

    run(scenario)


def test_wrong_methods_types_and_bodies():
    async def scenario(server, api):
        assert (await api("PUT", MAPS, {}, code=405))["reason"] == "MethodNotAllowed"
        assert (await api("POST", f"{MAPS}/a", {}, code=405))["reason"] == "MethodNotAllowed"
        assert (await api("GET", f"{MAPS}/a/scale", code=404))["reason"] == "NotFound"
        wrong = await api("POST", MAPS, pod(), code=201)
        assert "spec" not in wrong
        body = {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "x"}}
        assert (await api("POST", MAPS, body, code=400))["reason"] == "BadRequest"
        text = {"content-type": "text/plain"}
        error = await api("POST", MAPS, {}, headers=text, code=415)
        assert error["reason"] == "UnsupportedMediaType"
        broken = await api.transport.request("POST", MAPS, headers=JSON, body=b"{")
        assert broken.status == 400
        yaml = {"content-type": "application/yaml"}
        made = await api.transport.request(
            "POST", MAPS, headers=yaml, body=b"metadata: {name: plain}\ndata: {a: '1'}\n"
        )
        assert made.status == 201

    run(scenario)


def test_deletecollection_obeys_its_selector():
    async def scenario(server, api):
        for name, tier in (("a", "x"), ("b", "y"), ("c", "x")):
            await api("POST", MAPS, config_map(name, tier=tier))
        done = await api("DELETE", f"{MAPS}?labelSelector=tier%3Dx")
        assert len(done["items"]) == 2
        left = await api("GET", MAPS)
        assert [item["metadata"]["name"] for item in left["items"]] == ["b"]

    run(scenario)


def test_anonymous_sees_health_and_no_more():
    async def scenario(server, api):
        from muntin.apiserver.request import ANONYMOUS

        nobody = Api(server.transport(ANONYMOUS))
        answer = await nobody.transport.request("GET", "/readyz", headers={})
        assert (answer.status, answer.body) == (200, b"ok")
        error = await nobody("GET", "/api/v1/nodes", code=403)
        assert 'User "system:anonymous" cannot list resource "nodes"' in error["message"]

    run(scenario)


def test_scale_reads_and_writes_replicas():
    async def scenario(server, api):
        labels = {"app": "web"}
        await api("POST", "/apis/apps/v1/namespaces/default/deployments", {
            "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": pod()["spec"]}},
        })  # fmt: skip
        path = "/apis/apps/v1/namespaces/default/deployments/web/scale"
        scale = await api("GET", path)
        assert (scale["kind"], scale["spec"]["replicas"]) == ("Scale", 1)
        assert scale["status"]["selector"] == "app=web"
        scale["spec"]["replicas"] = 4
        assert (await api("PUT", path, scale))["spec"]["replicas"] == 4
        await api("PUT", path, scale, code=409)
        zero = await api("PATCH", path, {"spec": {"replicas": 0}}, headers=MERGE)
        assert zero["spec"].get("replicas", 0) == 0
        await api("PATCH", path, {"spec": {"replicas": -1}}, headers=MERGE, code=422)

    run(scenario)


def test_time_is_the_servers():
    class Fixed(SystemClock):
        def now(self):
            return 1_700_000_000.0

    async def scenario(server, api):
        made = await api("POST", MAPS, config_map("a"))
        assert made["metadata"]["creationTimestamp"] == "2023-11-14T22:13:20Z"

    run(scenario, clock=Fixed())
