"""Lists and watches: versions, pages, beginnings, and what a client that never relists sees."""

import asyncio
import json
import random
import socket
from contextlib import asynccontextmanager
from urllib.parse import quote

import pytest
from api_in_process import JSON, KEY, MAPS, Api, config_map, run
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, Request, TextMessage

from muntin.apiserver import watchers
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.kit.clock import FakeClock
from muntin.seams.store.endpoints import Endpoint
from muntin.seams.store.etcd import EtcdStore
from muntin.seams.store.memory import MemoryStore
from muntin.seams.store.sqlite import SqliteStore

NOT_OLDER = "resourceVersionMatch=NotOlderThan"


STORES = ["memory", "sqlite", "etcd"]


@asynccontextmanager
async def opened(kind, request, directory):
    """A store of that kind without ConfigMaps; etcd is one for all tests."""
    if kind == "etcd":
        store = EtcdStore([Endpoint(path=request.getfixturevalue("etcd"))])
        for one in (await store.list("/registry/core/configmaps/default/")).records:
            await store.delete(one.key, one.mod_revision)
    else:
        store = MemoryStore() if kind == "memory" else await SqliteStore.open(directory / "db")
    try:
        yield store
    finally:
        await store.close()


def served(store):
    config = ApiServerConfig(kubernetes_version="1.34", service_account_key=KEY)
    return ApiServer(config, store)


def admin_of(server):
    return Api(server.user("admin", "system:masters"))


def names(page):
    return [item["metadata"]["name"] for item in page["items"]]


# -- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "field", "text"),
    [
        ("resourceVersionMatch=Exact", "resourceVersionMatch",
         "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"),
        ("resourceVersionMatch=Exact&resourceVersion=0", "resourceVersionMatch",
         'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
        ("resourceVersionMatch=Some&resourceVersion=1", "resourceVersionMatch",
         'Unsupported value: "Some": supported values: "Exact", "NotOlderThan", ""'),
        (f"{NOT_OLDER}&resourceVersion=1&continue=abc", "resourceVersionMatch",
         "Forbidden: resourceVersionMatch is forbidden when continue is provided"),
        ("sendInitialEvents=true", "sendInitialEvents",
         "Forbidden: sendInitialEvents is forbidden for list"),
        ("watch=true&sendInitialEvents=true", "resourceVersionMatch",
         "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
        (f"watch=true&{NOT_OLDER}", "resourceVersionMatch",
         "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
         "provided"),
    ],
)  # fmt: skip
def test_parameters_that_do_not_go_together(query, field, text):
    async def scenario(server, api):
        error = await api("GET", f"{MAPS}?{query}", code=422)
        assert error["message"] == f'ListOptions.meta.k8s.io "" is invalid: {field}: {text}'
        assert error["details"]["kind"] == "ListOptions"
        assert error["details"]["causes"][0]["field"] == field

    run(scenario)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("%25", "continue key is not valid: illegal base64 data at input byte 0"),
        ("x", "continue key is not valid: illegal base64 data at input byte 0"),
        ("nonsense", "invalid character '\\u009e' looking for beginning of value"),
        ("e30", "does not recognize this encoded version "),
        ("eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6ImEifQ", "does not recognize this encoded version x"),
        ("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0", "resourceVersion"),
        ("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiIuLi9hIn0", "../a"),
    ],
)
def test_tokens_that_are_none(token, text):
    async def scenario(server, api):
        error = await api("GET", f"{MAPS}?continue={token}", code=400)
        assert error["message"].startswith("invalid continue token: ")
        assert text in error["message"]

    run(scenario)


def test_versions_of_a_list():
    async def scenario(server, api):
        first = (await api("POST", MAPS, config_map("a")))["metadata"]["resourceVersion"]
        second = (await api("POST", MAPS, config_map("b")))["metadata"]["resourceVersion"]
        exact = await api("GET", f"{MAPS}?resourceVersion={first}&resourceVersionMatch=Exact")
        assert names(exact) == ["a"]
        assert exact["metadata"]["resourceVersion"] == first
        legacy = await api("GET", f"{MAPS}?resourceVersion={first}&limit=5")
        assert names(legacy) == ["a"]  # a limit makes it exact
        newer = await api("GET", f"{MAPS}?resourceVersion={first}")
        assert names(newer) == ["a", "b"]
        assert int(newer["metadata"]["resourceVersion"]) >= int(second)
        assert names(await api("GET", f"{MAPS}?resourceVersion=0")) == ["a", "b"]
        token = (await api("GET", f"{MAPS}?limit=1"))["metadata"]["continue"]
        wrong = await api("GET", f"{MAPS}?resourceVersion={first}&continue={token}", code=400)
        assert wrong["message"] == "specifying resource version is not allowed when using continue"
        await server.core.store.compact(int(second))
        gone = await api(
            "GET", f"{MAPS}?resourceVersion={first}&resourceVersionMatch=Exact", code=410
        )
        assert gone["reason"] == "Expired"
        assert gone["message"] == "The resourceVersion for the provided list is too old."

    run(scenario)


@pytest.mark.parametrize(
    "path", [f"{MAPS}?resourceVersion=99999", f"{MAPS}/a?resourceVersion=99999"]
)
def test_a_version_that_nobody_wrote_yet(path, monkeypatch):
    from muntin.apiserver import list_options

    monkeypatch.setattr(list_options, "WAIT_S", 0.05)

    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        error = await api("GET", path, code=504)
        assert error["reason"] == "Timeout"
        assert error["message"].startswith("Timeout: Too large resource version: 99999, current: ")
        assert error["details"]["retryAfterSeconds"] == 1
        (cause,) = error["details"]["causes"]
        assert cause == {
            "reason": "ResourceVersionTooLarge",
            "message": "Too large resource version",
        }

    run(scenario)


def test_head_has_no_body_and_is_not_for_resources():
    async def scenario(server, api):
        port = await server._http.listen_tcp("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HEAD /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        assert b"Content-Length: " in answer
        assert answer.endswith(b"\r\n\r\n")
        writer.close()
        found = await server.user("admin", "system:masters").request("HEAD", MAPS, headers={})
        assert found.status == 405  # as upstream, which takes it for what is proxied only

    run(scenario)


# -- pages ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STORES)
def test_page_two_after_a_thousand_writes_is_that_of_the_first_revision(kind, request, tmp_path):
    async def main():
        async with opened(kind, request, tmp_path) as store:
            async with served(store) as server:
                api = admin_of(server)
                for n in range(30):
                    await api("POST", MAPS, config_map(f"c{n:02}", n=str(n % 2)))
                whole = await api("GET", MAPS)
                odd = await api("GET", f"{MAPS}?labelSelector=n%3D1")
                first = await api("GET", f"{MAPS}?limit=10")
                first_odd = await api("GET", f"{MAPS}?limit=10&labelSelector=n%3D1")
                assert first["metadata"]["remainingItemCount"] == 20
                assert "remainingItemCount" not in first_odd["metadata"]
                await thousand_writes(api)
                token = first["metadata"]["continue"]
                token_odd = first_odd["metadata"]["continue"]
                second = await api("GET", f"{MAPS}?limit=10&continue={token}")
                assert second["items"] == whole["items"][10:20]
            async with served(store) as server:  # the same after a restart
                api = admin_of(server)
                again = await api("GET", f"{MAPS}?limit=10&continue={token}")
                assert again == second
                assert again["metadata"]["resourceVersion"] == whole["metadata"]["resourceVersion"]
                assert again["metadata"]["remainingItemCount"] == 10
                third = await api("GET", f"{MAPS}?continue={again['metadata']['continue']}")
                assert third["items"] == whole["items"][20:]
                assert "continue" not in third["metadata"]
                path = f"{MAPS}?limit=10&labelSelector=n%3D1&continue={token_odd}"
                assert (await api("GET", path))["items"] == odd["items"][10:]

    asyncio.run(asyncio.wait_for(main(), 60))


async def thousand_writes(api):
    chance = random.Random(1)
    merge = {"content-type": "application/merge-patch+json"}

    async def write(n):
        name = f"c{chance.randrange(60):02}"
        data = json.dumps({"data": {"n": str(n)}}).encode()
        answer = await api.transport.request("PATCH", f"{MAPS}/{name}", headers=merge, body=data)
        if answer.status == 404:
            body = json.dumps(config_map(name)).encode()
            await api.transport.request("POST", MAPS, headers=JSON, body=body)
        elif chance.random() < 0.3:
            await api.transport.request("DELETE", f"{MAPS}/{name}", headers={})

    for start in range(0, 1000, 50):
        await asyncio.gather(*(write(n) for n in range(start, start + 50)))


def test_pages_of_all_namespaces_and_of_cluster_scoped_kinds():
    async def scenario(server, api):
        for name in ("x", "y"):
            await api("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
            for n in range(3):
                await api("POST", f"/api/v1/namespaces/{name}/configmaps", config_map(f"c{n}"))
        for path in ("/api/v1/configmaps", "/api/v1/namespaces"):
            whole = await api("GET", path)
            found, token = [], ""
            while True:
                page = await api("GET", f"{path}?limit=2&continue={token}")
                found += page["items"]
                token = page["metadata"].get("continue", "")
                server.core.snapshots._kept.clear()  # each page from the store's history
                if not token:
                    break
            assert found == whole["items"]

    run(scenario)


# -- beginnings and ends of watches -----------------------------------------------------------


def test_beginnings_of_a_watch():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        begun = f"{MAPS}?watch=true&allowWatchBookmarks=true"
        async with api.watch(begun) as events:  # as old clients ask
            assert await events.short() == ("ADDED", "a")
            mark = await events.next()
            assert mark["object"]["metadata"]["annotations"] == {
                "k8s.io/initial-events-end": "true"
            }
            assert mark["object"]["kind"] == "ConfigMap"
        async with api.watch(f"{begun}&sendInitialEvents=false&{NOT_OLDER}") as events:
            first = asyncio.create_task(events.short())
            await asyncio.sleep(0.01)
            await api("POST", MAPS, config_map("b"))
            assert await first == ("ADDED", "b")
        version = server.core.cache.revision
        path = f"{begun}&sendInitialEvents=true&{NOT_OLDER}&resourceVersion={version}"
        async with api.watch(path) as events:
            assert [await events.short() for _ in range(2)] == [("ADDED", "a"), ("ADDED", "b")]
            assert (await events.next())["type"] == "BOOKMARK"
        async with api.watch(f"{MAPS}?watch=true&resourceVersion={version}") as events:
            await api("DELETE", f"{MAPS}/a")
            assert await events.short() == ("DELETED", "a")

    run(scenario)


def test_a_streaming_list_of_the_future_is_an_error_event(monkeypatch):
    from muntin.apiserver import list_options

    monkeypatch.setattr(list_options, "WAIT_S", 0.05)

    async def scenario(server, api):
        path = f"{MAPS}?watch=true&sendInitialEvents=true&{NOT_OLDER}&resourceVersion=99999"
        async with api.watch(path) as events:
            event = await events.next()
        assert (event["type"], event["object"]["code"]) == ("ERROR", 504)

    run(scenario)


def test_old_watch_paths_and_names():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        await api("POST", MAPS, config_map("b"))
        paths = (
            "/api/v1/watch/namespaces/default/configmaps/b",
            f"{MAPS}?watch=1&fieldSelector=metadata.name%3Db",
        )
        for n, path in enumerate(paths):
            async with api.watch(path) as events:
                assert await events.short() == ("ADDED", "b")
                await api("PUT", f"{MAPS}/a", config_map("a", x=str(n)))
                await api("PUT", f"{MAPS}/b", config_map("b", x=str(n)))
                assert await events.short() == ("MODIFIED", "b")

    run(scenario)


def test_bookmarks_come_each_minute_and_before_the_end():
    clock = FakeClock()

    async def scenario(server, api):
        version = server.core.cache.revision
        path = f"{MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion={version}"
        async with api.watch(f"{path}&timeoutSeconds=130") as events:
            first = asyncio.create_task(events.next())
            await asyncio.sleep(0.01)
            await clock.advance(59)
            assert not first.done()
            await clock.advance(1)
            assert (await first)["type"] == "BOOKMARK"
            await api("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
            await clock.advance(60)
            mark = await events.next()
            assert int(mark["object"]["metadata"]["resourceVersion"]) > version
            await clock.advance(8)
            assert (await events.next())["type"] == "BOOKMARK"  # two seconds before the end
            await clock.advance(2)
            with pytest.raises(StopAsyncIteration):
                await events.next()

    run(scenario, clock=clock)


def test_a_watch_over_a_websocket():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("a"))
        binding = {
            "metadata": {"name": "all"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "view"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                          "name": "system:unauthenticated"}],
        }  # fmt: skip
        await api("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
        port = await server._http.listen_tcp("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        client = WSConnection(ConnectionType.CLIENT)
        writer.write(client.send(Request(host="127.0.0.1", target=f"{MAPS}?watch=true")))
        texts = []

        async def receive(wanted):
            while len(texts) < wanted:
                client.receive_data(await asyncio.wait_for(reader.read(65536), 5))
                for event in client.events():
                    assert isinstance(event, AcceptConnection | TextMessage)
                    if isinstance(event, TextMessage):
                        texts.append(json.loads(event.data))

        await receive(1)
        await api("POST", MAPS, config_map("b"))
        await receive(2)
        assert [(row["type"], row["object"]["metadata"]["name"]) for row in texts] == [
            ("ADDED", "a"),
            ("ADDED", "b"),
        ]
        writer.close()
        found = server.core.cache.by_storage["configmaps"].watchers
        for _ in range(200):
            if not found:
                break
            await asyncio.sleep(0.01)
        assert not found  # it is noticed that the client left

    run(scenario)


def test_a_client_that_does_not_read_is_cut_off_before_it_costs_much():
    async def scenario(server, api):
        binding = {
            "metadata": {"name": "all"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "view"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                          "name": "system:unauthenticated"}],
        }  # fmt: skip
        await api("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
        port = await server._http.listen_tcp("127.0.0.1", 0)
        slow = socket.create_connection(("127.0.0.1", port))
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(f"GET {MAPS}?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        found = server.core.cache.by_storage["configmaps"].watchers
        for _ in range(200):
            if found:
                break
            await asyncio.sleep(0.01)
        (connection,) = server._http._connections
        most = 0
        text = "x" * 500_000
        for n in range(80):  # 40 MB
            await api("POST", MAPS, {"metadata": {"name": f"c{n}"}, "data": {"a": text}})
            await asyncio.sleep(0)
            most = max(most, connection.transport.get_write_buffer_size())
        for _ in range(200):
            if not found:
                break
            await asyncio.sleep(0.01)
        assert not found
        assert 0 < most <= 2 * watchers.MOST_UNREAD
        slow.close()

    run(scenario)


# -- what a client that never relists sees ----------------------------------------------------

SELECTIONS = (
    "",
    "labelSelector=" + quote("color=red"),
    "labelSelector=" + quote("color in (red,blue),!hidden"),
    "labelSelector=" + quote("color!=red"),
    "fieldSelector=" + quote("metadata.name=c3"),
    "fieldSelector=" + quote("metadata.name!=c1"),
)


def selects(query, obj):
    """Whether a selection (written by hand here) holds for an object."""
    labels = obj["metadata"].get("labels") or {}
    color, name = labels.get("color"), obj["metadata"]["name"]
    return {
        0: lambda: True,
        1: lambda: color == "red",
        2: lambda: color in ("red", "blue") and "hidden" not in labels,
        3: lambda: color != "red",
        4: lambda: name == "c3",
        5: lambda: name != "c1",
    }[SELECTIONS.index(query)]()


def expected(log, query, after):
    """The events of a selection, from the store's log of (revision, name, object or None)."""
    world, found = {}, []
    for revision, name, obj in log:
        before = world.get(name)
        was = before is not None and selects(query, before)
        now = obj is not None and selects(query, obj)
        if obj is None:
            world.pop(name, None)
        else:
            world[name] = obj
        if revision <= after or not (was or now):
            continue
        kind = "MODIFIED" if was and now else "ADDED" if now else "DELETED"
        shown = obj if now else before
        found.append((kind, name, revision, (shown.get("data") or {}).get("n")))
    return found


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_watch_that_goes_on_sees_exactly_the_log(kind, seed, request, tmp_path):
    chance = random.Random(seed)

    async def main():
        async with opened(kind, request, tmp_path) as store, served(store) as server:
            api = admin_of(server)
            log, watches = [], []
            follower = asyncio.create_task(follow(store, server.core.cache.revision, log))
            await asyncio.sleep(0.01)
            for step in range(12):
                query = SELECTIONS[chance.randrange(len(SELECTIONS))]
                seen = []
                after = server.core.cache.revision
                task = asyncio.create_task(watch_on(server, query, after, seen, chance))
                watches.append((query, after, seen, task))
                await operations(api, chance, step)
            await settle(server, log, watches)
            for query, after, seen, _ in watches:
                assert seen == expected(log, query, after), (query, after)
            assert len(log) > 100
            for *_, task in watches:
                task.cancel()
            follower.cancel()
            await asyncio.gather(follower, *(task for *_, task in watches), return_exceptions=True)

    asyncio.run(asyncio.wait_for(main(), 60))


async def follow(store, after, log):
    """The store's own log of the objects; managed fields stand on a line of their own."""
    async for batch in store.watch("/registry/core/configmaps/default/", after):
        for change in batch.changes:
            name = change.key.rpartition("/")[2]
            obj = None if change.value is None else json.loads(change.value.splitlines()[0])
            log.append((change.revision, name, obj))


async def watch_on(server, query, after, seen, chance):
    """Watch, break off at times and go on from the last version seen; never list."""
    api = admin_of(server)
    version = after
    while True:
        lasts = chance.choice((3, 10, 1000))
        path = f"{MAPS}?watch=1&resourceVersion={version}&allowWatchBookmarks=true&{query}"
        async with api.watch(path) as events:
            while lasts:
                event = await wait_for_ever(events)
                version = int(event["object"]["metadata"]["resourceVersion"])
                if event["type"] == "BOOKMARK":
                    continue
                obj = event["object"]
                assert event["type"] != "ERROR", obj
                data = (obj.get("data") or {}).get("n")
                seen.append((event["type"], obj["metadata"]["name"], version, data))
                lasts -= 1


async def wait_for_ever(events):
    while not events._lines:
        chunk = await anext(events._chunks)
        events._lines += [json.loads(line) for line in chunk.splitlines()]
    return events._lines.pop(0)


async def operations(api, chance, step):
    """Some writes at once, of few names, so that they meet."""

    async def one(n):
        name = f"c{chance.randrange(6)}"
        labels = {}
        if chance.random() < 0.8:
            labels["color"] = chance.choice(("red", "blue", "green"))
        if chance.random() < 0.2:
            labels["hidden"] = "yes"
        body = {"metadata": {"name": name, "labels": labels}, "data": {"n": f"{step}-{n}"}}
        method = chance.choice(("POST", "PUT", "PUT", "DELETE"))
        path = MAPS if method == "POST" else f"{MAPS}/{name}"
        data = b"" if method == "DELETE" else json.dumps(body).encode()
        answer = await api.transport.request(method, path, headers=JSON, body=data)
        assert answer.status in (200, 201, 404, 409), answer.body

    for _ in range(4):
        await asyncio.gather(*(one(n) for n in range(8)))
        if chance.random() < 0.5:
            await asyncio.sleep(0)


async def settle(server, log, watches):
    """Return when every watch has what it should have, or after a while."""
    await server.core.cache.fresh()
    for _ in range(200):
        if all(len(seen) >= len(expected(log, q, after)) for q, after, seen, _ in watches):
            break
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)  # for what should not come
