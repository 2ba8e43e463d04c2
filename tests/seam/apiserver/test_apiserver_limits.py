"""What the server takes on: seats and queues, sizes, times, large answers, and its own end."""

import asyncio
import gzip
import json
import re

import pytest
from api_in_process import JSON, KEY, MAPS, PODS, Api, config_map, pod, run

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.flowcontrol.queues import deal
from muntin.apiserver.limits_config import LimitsConfig
from muntin.apiserver.loop import ApiServer
from muntin.kit.http.client import HttpClient
from muntin.seams.store.memory import MemoryStore

FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1"


class SlowStore(MemoryStore):
    """Writes wait while the gate is shut, as they do for a slow disk."""

    def __init__(self):
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = 0

    async def create(self, key, value):
        self.waiting += 1
        try:
            await self.gate.wait()
        finally:
            self.waiting -= 1
        return await super().create(key, value)


def serve(scenario, *, store=None, version="1.34", **limits):
    async def main():
        found = store or SlowStore()
        config = ApiServerConfig(
            kubernetes_version=version,
            service_account_key=KEY,
            advertise_address="192.0.2.1",
            limits=LimitsConfig(**limits),
        )
        async with ApiServer(config, found) as server:
            api = Api(server.user("admin", "system:masters"))
            await grant(api)
            await asyncio.wait_for(scenario(server, api, found), 20)

    asyncio.run(main())


async def grant(api):
    """Everybody may do anything: what is allowed is not what these tests are about."""
    binding = {
        "metadata": {"name": "all"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [
            {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "Group",
                "name": "system:authenticated",
            }
        ],
    }
    await api("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)


async def level(api, name, shares, **queuing):
    """A priority level that lends and borrows nothing; without ``queuing`` it rejects."""
    response = {"type": "Queue", "queuing": queuing} if queuing else {"type": "Reject"}
    limited = {
        "nominalConcurrencyShares": shares,
        "borrowingLimitPercent": 0,
        "limitResponse": response,
    }
    spec = {"type": "Limited", "limited": limited}
    return await api(
        "POST", f"{FLOW}/prioritylevelconfigurations", {"metadata": {"name": name}, "spec": spec}
    )


async def schema(api, name, to, user, *, by="ByUser", precedence=50):
    spec = {
        "priorityLevelConfiguration": {"name": to},
        "matchingPrecedence": precedence,
        "distinguisherMethod": {"type": by},
        "rules": [
            {
                "subjects": [{"kind": "User", "user": {"name": user}}],
                "resourceRules": [
                    {
                        "verbs": ["*"],
                        "apiGroups": ["*"],
                        "resources": ["*"],
                        "namespaces": ["*"],
                        "clusterScope": True,
                    }
                ],
            }
        ],
    }
    return await api("POST", f"{FLOW}/flowschemas", {"metadata": {"name": name}, "spec": spec})


# So few that a level of one share gets one seat.
FEW = {"requests_in_flight": 150, "mutating_requests_in_flight": 50}


def one_seat(server, name):
    """The level of that name, which has one seat."""
    server.core.limits.flow.refresh()
    found = server.core.limits.flow.pool.levels[name]
    assert (found.nominal, found.most) == (1, 1)
    return found


async def create(transport, name):
    body = json.dumps(config_map(name)).encode()
    return await transport.request("POST", MAPS, headers=JSON, body=body)


async def settled(condition):
    for _ in range(200):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to that")


def test_a_level_without_queues_turns_away():
    async def scenario(server, api, store):
        made = await level(api, "narrow", 1)
        flow = await schema(api, "alice", "narrow", "alice")
        found = one_seat(server, "narrow")
        alice = server.user("alice")
        store.gate.clear()
        first = asyncio.create_task(create(alice, "a"))
        await settled(lambda: store.waiting == 1)
        assert found.in_use == 1
        refused = await create(alice, "b")
        assert refused.status == 429
        assert refused.body == b"Too many requests, please try again later.\n"
        assert refused.headers["retry-after"] == "1"
        assert refused.headers["x-kubernetes-pf-flowschema-uid"] == flow["metadata"]["uid"]
        assert refused.headers["x-kubernetes-pf-prioritylevel-uid"] == made["metadata"]["uid"]
        others = await server.user("bob").request("GET", MAPS, headers={})
        assert others.status == 200  # of another level
        store.gate.set()
        assert (await first).status == 201
        assert (await create(alice, "b")).status == 201
        assert found.in_use == 0
        text = server.core.metrics.text()
        labels = 'priority_level="narrow",flow_schema="alice"'
        name = "apiserver_flowcontrol_rejected_requests_total"
        assert f'{name}{{{labels},reason="concurrency-limit"}} 1' in text
        assert f"apiserver_flowcontrol_dispatched_requests_total{{{labels}}} 2" in text

    serve(scenario, **FEW)


def test_queued_requests_run_in_turn_and_the_queue_has_an_end():
    async def scenario(server, api, store):
        await level(api, "narrow", 1, queues=1, handSize=1, queueLengthLimit=2)
        await schema(api, "alice", "narrow", "alice")
        found = one_seat(server, "narrow")
        alice = server.user("alice")
        store.gate.clear()
        running = [asyncio.create_task(create(alice, "a"))]
        await settled(lambda: store.waiting == 1)
        for name in ("b", "c"):
            running.append(asyncio.create_task(create(alice, name)))
        await settled(lambda: found.waiting == 2)
        assert store.waiting == 1
        refused = await create(alice, "d")
        assert refused.status == 429
        store.gate.set()
        assert [answer.status for answer in await asyncio.gather(*running)] == [201] * 3
        versions = [
            json.loads(answer.body)["metadata"]["resourceVersion"]
            for answer in await asyncio.gather(*running)
        ]
        assert versions == sorted(versions, key=int)
        text = server.core.metrics.text()
        assert 'flow_schema="alice",reason="queue-full"} 1' in text
        waits = "apiserver_flowcontrol_request_wait_duration_seconds_count"
        assert f'{waits}{{priority_level="narrow",flow_schema="alice",execute="true"}} 2' in text

    serve(scenario, **FEW)


def test_a_request_waits_a_quarter_of_its_time_at_most():
    async def scenario(server, api, store):
        await level(api, "narrow", 1, queues=1, handSize=1, queueLengthLimit=9)
        await schema(api, "alice", "narrow", "alice")
        found = one_seat(server, "narrow")
        alice = server.user("alice")
        store.gate.clear()
        first = asyncio.create_task(create(alice, "a"))
        await settled(lambda: store.waiting == 1)
        answer = await alice.request("GET", f"{MAPS}?timeout=200ms", headers={})
        assert answer.status == 429
        assert found.waiting == 0
        assert 'reason="time-out"} 1' in server.core.metrics.text()
        store.gate.set()
        await first

    serve(scenario, **FEW)


def test_a_flood_of_one_user_does_not_starve_another():
    async def scenario(server, api, store):
        await level(api, "narrow", 1, queues=64, handSize=1, queueLengthLimit=50)
        await schema(api, "everybody", "narrow", "*")
        found = one_seat(server, "narrow")
        store.gate.clear()
        order = []
        flood_hand = deal(hash(("everybody", "flood")), 64, 1)

        async def named(user, name):
            assert (await create(server.user(user), name)).status == 201
            order.append(user)

        tasks = [asyncio.create_task(named("flood", f"f{n}")) for n in range(40)]
        await settled(lambda: found.waiting == 39)
        names = ("quiet", "calm", "still", "silent")
        quiet = next(n for n in names if deal(hash(("everybody", n)), 64, 1) != flood_hand)
        tasks.append(asyncio.create_task(named(quiet, "q")))
        await settled(lambda: found.waiting == 40)
        store.gate.set()
        await asyncio.gather(*tasks)
        assert order.index(quiet) < 8  # not behind all forty

    serve(scenario, **FEW)


def test_masters_are_exempt():
    async def scenario(server, api, store):
        store.gate.clear()
        admin = server.user("root", "system:masters")
        tasks = [asyncio.create_task(create(admin, f"m{n}")) for n in range(30)]
        await settled(lambda: store.waiting == 30)
        store.gate.set()
        answers = await asyncio.gather(*tasks)
        assert {answer.status for answer in answers} == {201}
        exempt = (await api("GET", f"{FLOW}/flowschemas/exempt"))["metadata"]["uid"]
        assert answers[0].headers["x-kubernetes-pf-flowschema-uid"] == exempt

    serve(scenario, requests_in_flight=4, mutating_requests_in_flight=2)


def test_levels_borrow_what_others_do_not_use():
    async def scenario(server, api, store):
        store.gate.clear()
        alice = server.user("alice")  # of the level global-default: a twelfth of the seats
        tasks = [asyncio.create_task(create(alice, f"m{n}")) for n in range(8)]
        await settled(lambda: store.waiting == 8)
        found = server.core.limits.flow.pool.levels["global-default"]
        assert found.in_use == 8 > found.nominal
        store.gate.set()
        assert {answer.status for answer in await asyncio.gather(*tasks)} == {201}

    serve(scenario, requests_in_flight=40, mutating_requests_in_flight=20)


def test_a_list_is_as_wide_as_it_is_long():
    async def scenario(server, api, store):
        for n in range(250):
            await create(server.user("root", "system:masters"), f"c{n}")
        flow = server.core.limits.flow
        handler = server.handler
        from muntin.apiserver.request import User
        from muntin.kit.http.messages import Request

        alice = User("alice", ("system:authenticated",))

        def seats(query=""):
            request = handler.resolve(Request("GET", MAPS, query), alice)
            _, seat = flow.enter(request)
            width = seat.seats
            seat.leave()
            return width

        assert seats() == 3
        assert seats("limit=100") == 1
        assert seats("fieldSelector=metadata.name%3Dc1") == 1

    serve(scenario)


def test_default_objects_are_kept_right():
    async def scenario(server, api, store):
        names = {
            row["metadata"]["name"] for row in (await api("GET", f"{FLOW}/flowschemas"))["items"]
        }
        assert {"exempt", "catch-all", "probes", "global-default", "system-nodes"} <= names
        path = f"{FLOW}/flowschemas/catch-all"
        changed = await api("GET", path)
        changed["spec"]["matchingPrecedence"] = 1234
        await api("PUT", path, changed)
        for _ in range(200):
            if (await api("GET", path))["spec"]["matchingPrecedence"] == 10000:
                break
            await asyncio.sleep(0.01)
        else:
            raise AssertionError("the mandatory schema was not brought back")
        path = f"{FLOW}/flowschemas/service-accounts"
        suggested = await api("GET", path)
        suggested["metadata"]["annotations"]["apf.kubernetes.io/autoupdate-spec"] = "false"
        suggested["spec"]["matchingPrecedence"] = 8999
        await api("PUT", path, suggested)
        await api("DELETE", f"{FLOW}/flowschemas/probes")
        for _ in range(200):
            answer = await server.user("root", "system:masters").request(
                "GET", f"{FLOW}/flowschemas/probes", headers={}
            )
            if answer.status == 200:
                break
            await asyncio.sleep(0.01)
        else:
            raise AssertionError("the suggested schema did not come back")
        assert (await api("GET", path))["spec"]["matchingPrecedence"] == 8999

    serve(scenario)


@pytest.mark.parametrize(
    ("version", "served", "shares"),
    [
        ("1.20", "v1beta1", "assuredConcurrencyShares"),
        ("1.25", "v1beta2", "assuredConcurrencyShares"),
        ("1.26", "v1beta3", "nominalConcurrencyShares"),
        ("1.28", "v1beta3", "nominalConcurrencyShares"),
        ("1.29", "v1", "nominalConcurrencyShares"),
        ("1.36", "v1", "nominalConcurrencyShares"),
    ],
)
def test_default_objects_are_written_in_the_version_that_is_served(version, served, shares):
    async def scenario(server, api, store):
        group = f"{FLOW.rpartition('/')[0]}/{served}"
        levels = (await api("GET", f"{group}/prioritylevelconfigurations"))["items"]
        found = {row["metadata"]["name"]: row for row in levels}
        assert len(found) == (7 if version == "1.20" else 8)
        limited = found["workload-low"]["spec"]["limited"]
        assert limited[shares] == 100
        assert ("lendablePercent" in limited) == (version not in ("1.20", "1.25"))
        assert ("exempt" in found["exempt"]["spec"]) == (version in ("1.28", "1.29", "1.36"))
        for row in (await api("GET", f"{group}/flowschemas"))["items"]:
            managers = {entry["manager"]: entry for entry in row["metadata"]["managedFields"]}
            assert set(managers) == {
                f"api-priority-and-fairness-config-{part}-v1" for part in ("producer", "consumer")
            }
            written = {entry["apiVersion"] for entry in managers.values()}
            assert written == {group.removeprefix("/apis/")}
            assert row["status"]["conditions"][0]["reason"] == "Found"
        exempt = (await api("GET", f"{group}/flowschemas/exempt"))["metadata"]["uid"]
        assert api.headers["x-kubernetes-pf-flowschema-uid"] == exempt

    serve(scenario, version=version)


def test_an_old_api_suggests_once():
    """What a user took away or changed stays so; what is mandatory does not."""

    async def scenario(server, api, store):
        path = f"{FLOW}beta1/flowschemas"
        await api("DELETE", f"{path}/global-default")
        for name in ("service-accounts", "catch-all"):
            changed = await api("GET", f"{path}/{name}")
            changed["spec"]["matchingPrecedence"] = 8999
            await api("PUT", f"{path}/{name}", changed)
        for _ in range(200):
            if (await api("GET", f"{path}/catch-all"))["spec"]["matchingPrecedence"] == 10000:
                break
            await asyncio.sleep(0.01)
        rows = {row["metadata"]["name"]: row["spec"] for row in (await api("GET", path))["items"]}
        assert rows["catch-all"]["matchingPrecedence"] == 10000
        assert rows["service-accounts"]["matchingPrecedence"] == 8999
        assert "global-default" not in rows

    serve(scenario, version="1.20")


def test_a_schema_that_leads_nowhere_dangles():
    async def scenario(server, api, store):
        await schema(api, "lost", "nowhere", "alice")

        async def condition():
            found = await api("GET", f"{FLOW}/flowschemas/lost")
            return (found.get("status", {}).get("conditions") or [{}])[0]

        for _ in range(200):
            if (await condition()).get("status") == "True":
                break
            await asyncio.sleep(0.01)
        found = await condition()
        assert (found["type"], found["reason"]) == ("Dangling", "NotFound")
        assert found["message"] == (
            "This FlowSchema references the PriorityLevelConfiguration object named "
            '"nowhere" but there is no such object'
        )
        await level(api, "nowhere", 1)
        for _ in range(200):
            if (await condition()).get("status") == "False":
                break
            await asyncio.sleep(0.01)
        assert (await condition())["reason"] == "Found"

    serve(scenario)


# -- time and size ----------------------------------------------------------------------------


def test_a_request_that_takes_too_long_is_told_so():
    async def scenario(server, api, store):
        store.gate.clear()
        answer = await server.user("alice").request(
            "POST", f"{MAPS}?timeout=50ms", headers=JSON, body=json.dumps(config_map("a")).encode()
        )
        error = json.loads(answer.body)
        assert (answer.status, error["reason"]) == (504, "Timeout")
        assert error["message"] == ("Timeout: request did not complete within the allotted timeout")
        flow = server.core.limits.flow
        assert flow.pool.levels["global-default"].in_use == 0
        store.gate.set()
        wrong = await api("GET", f"{MAPS}?timeout=soon", code=400)
        assert wrong["message"] == (
            'invalid timeout specified in the request URL - time: invalid duration "soon"'
        )

    serve(scenario)


def test_the_server_has_a_limit_of_its_own():
    async def scenario(server, api, store):
        store.gate.clear()
        answer = await create(server.user("alice"), "a")
        assert answer.status == 504
        name = "apiserver_request_terminations_total"
        (line,) = [row for row in server.core.metrics.text().splitlines() if row.startswith(name)]
        assert 'verb="POST"' in line
        assert 'code="504"' in line

    serve(scenario, request_timeout_s=1.0)


def test_an_object_that_etcd_would_not_take():
    async def scenario(server, api):
        body = {"metadata": {"name": "big"}, "data": {"a": "x" * 1_000_000}}
        await api("POST", MAPS, body)
        # Each part passes its own check; the object as a whole is what is too large.
        wide = pod("wide")
        wide["spec"]["containers"][0]["env"] = [
            {"name": f"E{n}", "value": "x" * 1000} for n in range(1700)
        ]
        error = await api("POST", PODS, wide, code=413)
        assert error["reason"] == "RequestEntityTooLarge"
        assert error["message"] == "etcdserver: request is too large"

    run(scenario)


async def over_tcp(scenario, **limits):
    config = ApiServerConfig(
        kubernetes_version="1.34", service_account_key=KEY, limits=LimitsConfig(**limits)
    )
    async with ApiServer(config, SlowStore()) as server:
        await grant(Api(server.user("admin", "system:masters")))
        await grant_anonymous(server)
        port = await server._http.listen_tcp("127.0.0.1", 0)
        client = HttpClient()
        try:
            await asyncio.wait_for(scenario(server, client, f"http://127.0.0.1:{port}"), 20)
        finally:
            await client.close()


async def grant_anonymous(server):
    api = Api(server.user("admin", "system:masters"))
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/all"
    binding = await api("GET", path)
    binding["subjects"][0]["name"] = "system:unauthenticated"
    await api("PUT", path, binding)


def test_a_body_that_is_too_large():
    async def scenario(server, client, url):
        answer = await client.request("POST", url + MAPS, headers=JSON, body=b"x" * 3_145_729)
        error = json.loads(answer.body)
        assert (answer.status, error["reason"]) == (413, "RequestEntityTooLarge")
        assert error["message"] == "Request entity too large: limit is 3145728"

    asyncio.run(over_tcp(scenario))


def test_large_answers_are_compressed_for_those_who_take_it():
    async def scenario(server, client, url):
        admin = server.user("admin", "system:masters")
        for n in range(200):
            body = {"metadata": {"name": f"c{n}"}, "data": {"a": "b" * 1000}}
            await admin.request("POST", MAPS, headers=JSON, body=json.dumps(body).encode())
        plain = await client.request("GET", url + MAPS)
        assert "content-encoding" not in plain.headers
        packed = await client.request("GET", url + MAPS, headers={"Accept-Encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        assert len(packed.body) < len(plain.body) / 5
        unpacked = json.loads(gzip.decompress(packed.body))
        assert unpacked == json.loads(plain.body)
        small = await client.request("GET", f"{url}{MAPS}/c1", headers={"Accept-Encoding": "gzip"})
        assert "content-encoding" not in small.headers
        page = await client.request(
            "GET", f"{url}{MAPS}?limit=120", headers={"Accept-Encoding": "gzip, deflate"}
        )
        assert len(json.loads(gzip.decompress(page.body))["items"]) == 120

    asyncio.run(over_tcp(scenario))


def test_who_was_let_in_is_counted():
    async def scenario(server, client, url):
        assert (await client.request("GET", f"{url}{MAPS}")).status == 200
        wrong = {"Authorization": "Bearer nonsense"}
        assert (await client.request("GET", f"{url}{MAPS}", headers=wrong)).status == 401
        nobody = await server.user("nobody").request("GET", "/metrics", headers={})
        body = json.dumps(config_map("c")).encode()
        await client.request("POST", url + MAPS, headers=JSON, body=body)
        text = server.core.metrics.text()
        assert 'authentication_attempts{result="success"} 2' in text
        assert 'authentication_attempts{result="failure"} 1' in text
        assert 'authenticated_user_requests{username="other"} 2' in text
        assert 'authorization_attempts_total{result="allowed"} ' in text
        assert nobody.status == 403
        assert 'authorization_attempts_total{result="no-opinion"} 1' in text
        name = "apiserver_admission_step_admission_duration_seconds_count"
        assert f'{name}{{type="validate",operation="CREATE",rejected="false"}}' in text

    asyncio.run(over_tcp(scenario))


def test_connections_beyond_the_bound_are_dropped():
    async def scenario(server, client, url):
        host, port = url.removeprefix("http://").split(":")
        kept = [await asyncio.open_connection(host, int(port)) for _ in range(3)]
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        try:
            answer = await reader.read()
        except ConnectionError:
            answer = b""
        assert answer == b""
        for _, open_writer in kept:
            open_writer.close()
        writer.close()

    asyncio.run(over_tcp(scenario, connections=3))


# -- health and the end -----------------------------------------------------------------------


def test_health_checks_by_name():
    async def scenario(server, api, store):
        admin = server.user("nobody")

        async def text(path):
            answer = await admin.request("GET", path, headers={})
            return answer.status, answer.body.decode()

        assert await text("/livez") == (200, "ok")
        code, body = await text("/readyz?verbose")
        assert code == 200
        lines = body.splitlines()
        assert lines[:4] == ["[+]ping ok", "[+]log ok", "[+]etcd ok", "[+]etcd-readiness ok"]
        assert "[+]informer-sync ok" in lines
        assert "[+]poststarthook/rbac/bootstrap-roles ok" in lines
        assert "[+]autoregister-completion ok" in lines
        assert lines[-2:] == ["[+]shutdown ok", "readyz check passed"]
        code, body = await text("/livez?verbose&exclude=etcd&exclude=nothing")
        assert "[+]etcd excluded: ok" in body
        assert 'warn: some health checks cannot be excluded: no matches for "nothing"' in body
        assert "]informer-sync" not in body
        assert await text("/livez/poststarthook/rbac/bootstrap-roles") == (200, "ok")
        assert (await text("/livez/none"))[0] == 404

        async def broken(key, revision=0):
            raise OSError("the disk is gone")

        store.get = broken
        code, body = await text("/livez")
        assert code == 500
        assert "[-]etcd failed: reason withheld" in body
        assert body.endswith("livez check failed\n")
        assert "disk" not in body
        assert (await text("/livez?exclude=etcd"))[0] == 200
        assert await text("/healthz/etcd") == (
            500, "internal server error: the disk is gone\n"
        )  # fmt: skip

    serve(scenario)


def test_a_follower_that_ended_is_seen():
    async def scenario(server, api, store):
        server._tasks[0].cancel()
        await asyncio.sleep(0)
        answer = await server.user("admin", "system:masters").request("GET", "/readyz", headers={})
        assert answer.status == 500
        assert b"[-]informer-sync failed" in answer.body

    serve(scenario)


def test_the_server_ends_gracefully():
    async def main():
        config = ApiServerConfig(
            kubernetes_version="1.34",
            service_account_key=KEY,
            limits=LimitsConfig(shutdown_delay_s=2.0, shutdown_grace_s=5.0),
        )
        store = SlowStore()
        client = HttpClient()
        server = ApiServer(config, store)
        await server.__aenter__()
        await grant(Api(server.user("admin", "system:masters")))
        await grant_anonymous(server)
        port = await server._http.listen_tcp("127.0.0.1", 0)
        url = f"http://127.0.0.1:{port}"
        watching = asyncio.create_task(client.request("GET", f"{url}{MAPS}?watch=true"))
        store.gate.clear()
        body = json.dumps(config_map("late")).encode()
        writing = asyncio.create_task(client.request("POST", url + MAPS, headers=JSON, body=body))
        await settled(lambda: store.waiting == 1)
        ending = asyncio.create_task(server.__aexit__(None, None, None))
        await asyncio.sleep(0.05)
        unready = await client.request("GET", url + "/readyz")
        assert unready.status == 500
        assert b"[-]shutdown failed" in unready.body
        assert (await client.request("GET", url + "/livez")).status == 200
        await asyncio.sleep(2.2)
        store.gate.set()
        assert (await writing).status == 201
        assert (await watching).status == 200  # its body came to a proper end
        await ending
        await client.close()

    asyncio.run(asyncio.wait_for(main(), 20))


def test_version_and_metrics():
    async def scenario(server, api, store):
        info = await api("GET", "/version")
        assert (info["major"], info["minor"], info["gitVersion"]) == ("1", "34", "v1.34.0")
        assert all(info.values())
        assert len(info["gitCommit"]) == 40
        await create(server.user("alice"), "a")
        await server.user("alice").request("GET", f"{MAPS}/none", headers={})
        async with api.watch(f"{MAPS}?watch=true&resourceVersion=0") as events:
            while await events.short() != ("ADDED", "a"):
                pass
            running = server.core.metrics.text()
        text = server.core.metrics.text()
        what = 'group="",version="v1",resource="configmaps",subresource=""'
        assert (
            f'apiserver_request_total{{verb="POST",dry_run="",{what},scope="resource",'
            'component="apiserver",code="201"}' in text
        ) or f'apiserver_request_total{{verb="POST",dry_run="",{what},scope="namespace"' in text
        assert (
            f'verb="GET",dry_run="",{what},scope="resource",component="apiserver",code="404"'
            in text
        )
        assert 'apiserver_current_inflight_requests{request_kind="mutating"} 0' in text
        scope = 'scope="namespace",component="apiserver"'
        gauge = f'apiserver_longrunning_requests{{verb="WATCH",{what},{scope}}}'
        assert f"{gauge} 1" in running
        await settled(lambda: f"{gauge} 0" in server.core.metrics.text())
        assert 'apiserver_watch_events_total{group="",version="v1",resource="configmaps"}' in text
        assert 'apiserver_storage_objects{resource="configmaps"} ' in text
        assert 'apiserver_storage_durability{engine="memory",' in text
        assert 'etcd_request_duration_seconds_count{operation="create",type="configmaps"}' in text
        assert 'git_version="v1.34.0"' in text
        for name in ("process_resident_memory_bytes", "process_start_time_seconds"):
            assert f"\n{name} " in text
        sample = re.compile(r'[a-z_:]+(\{([a-z_]+="([^"\\\n]|\\.)*",?)+\})? [-+0-9.einf]+', re.I)
        for line in text.splitlines():
            assert line.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(line), line

    serve(scenario)
