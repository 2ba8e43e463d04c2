"""Which informer serves whom: one of a kind for all, wherever that is enough."""

import asyncio

import orjson

from muntin.controllers.caches import NAMESPACE, OWNER, UID, Caches
from muntin.controllers.catalog import Catalog
from muntin.kit.clock import FakeClock
from muntin.model.resources import CONFIG_MAPS, PODS
from muntin.seams.kube import Response


def caches():
    return Caches(None, FakeClock())  # nobody asks a server


def pod(version, **meta):
    shown = {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": str(version), **meta}
    return {"metadata": shown, "spec": {"priority": 0}}


def test_who_needs_metadata_alone_shares_what_others_read_whole():
    found = caches()
    whole = found.use(PODS, NAMESPACE)
    assert found.use(PODS, UID, OWNER, slim=True) is whole
    assert found.use(CONFIG_MAPS, slim=True) is found.use(CONFIG_MAPS, slim=True)
    assert len(list(found)) == 2


def test_whoever_comes_later_and_needs_the_whole_gets_the_whole():
    found = caches()
    slim = found.use(PODS, UID, slim=True)
    whole = found.use(PODS)
    assert whole is not slim
    found.observe(PODS, pod(7, labels={"app": "a"}, managedFields=[{"manager": "m"}]))
    assert slim.get("ns/a")["metadata"] == pod(7)["metadata"]
    assert "spec" not in slim.get("ns/a")
    assert whole.get("ns/a")["spec"] == {"priority": 0}
    assert whole.get("ns/a")["metadata"] == pod(7, labels={"app": "a"})["metadata"]
    found.observe_deletion(PODS, pod(7))
    assert all("deletionTimestamp" in i.get("ns/a")["metadata"] for i in (slim, whole))
    found.drop(PODS)
    assert list(found) == []


def test_a_discovered_resource_is_the_row_of_the_table():
    def group(name, *resources):
        shown = [
            {
                "resource": plural,
                "responseKind": {"kind": kind},
                "scope": "Namespaced",
                "verbs": ["create", "delete", "get", "list", "watch"],
            }
            for plural, kind in resources
        ]
        return {"metadata": {"name": name}, "versions": [{"version": "v1", "resources": shown}]}

    documents = {
        "/api": [group("", ("pods", "Pod"))],
        "/apis": [group("example.com", ("pods", "Pod"), ("webs", "Web"))],
    }

    class Server:
        async def raw(self, path, *, accept):
            shown = {"kind": "APIGroupDiscoveryList", "items": documents[path]}
            return Response(200, {}, orjson.dumps(shown))

    found = asyncio.run(Catalog(Server(), FakeClock(), 30.0).deletable())
    assert found[0] is PODS
    assert [(row.group, row.plural) for row in found[1:]] == [
        ("example.com", "pods"),
        ("example.com", "webs"),
    ]
