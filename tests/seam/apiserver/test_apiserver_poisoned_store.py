"""Objects that are in the store already and would be refused today: they can be read and deleted.

An older version of this server accepted some of them, another server over the same etcd may write
anything. And objects of configuration that name what cannot be called.
"""

import asyncio
import base64
import json

import orjson
import poisoned_requests
import pytest
from apiserver_process import ServerProcess
from poisoned_requests import CORE, GROUPS, MANY, deep, merged
from test_apiserver_poisoned_input import Client, seed, unexpected

from muntin.seams.store.sqlite import SqliteStore

CRONTABS = "/apis/stable.example.com/v1/namespaces/default/crontabs"
LONGEST = 2**63 - 1
# What is changed behind the server's back, by its collection and name.
STORED = (
    (f"{CORE}/pods", "run", {
        "metadata__deletionTimestamp": "2024-01-01T00:00:00+99:99",
        "metadata__deletionGracePeriodSeconds": LONGEST}),
    (f"{CORE}/pods", "old", {"metadata__creationTimestamp": "soon", "status__startTime": "²",
                             "spec__terminationGracePeriodSeconds": LONGEST}),
    (f"{CORE}/pods", "cost", {"metadata__annotations": {
        "controller.kubernetes.io/pod-deletion-cost": MANY}}),
    (GROUPS["deployments"], "sets", {
        "spec__strategy__rollingUpdate__maxUnavailable": f"{MANY}%",
        "metadata__annotations": {"deployment.kubernetes.io/revision": MANY}}),
    (GROUPS["budgets"], "budget", {"spec__minAvailable": f"{MANY}%"}),
    (GROUPS["cronjobs"], "cron", {"spec__schedule": f"{MANY} * * * *", "spec__timeZone": "²/.."}),
    (GROUPS["leases"], "lease", {"spec__renewTime": "never", "spec__leaseDurationSeconds": -1}),
    (GROUPS["nodes"], "broken", {"spec__podCIDR": "a]b", "status__addresses": [
        {"type": "InternalIP", "address": "http://["}], "status__capacity": {"cpu": MANY}}),
    (f"{CORE}/configmaps", "one", None),  # nothing that this server would write
    (CRONTABS, "one", {"spec__any": json.loads(deep(230, "maps")),
                       "metadata__creationTimestamp": MANY}),
)  # fmt: skip
OBJECTS = (
    (f"{CORE}/pods", poisoned_requests.pod("old")),
    (f"{CORE}/pods", poisoned_requests.pod("cost")),
    (GROUPS["deployments"], merged({"spec": poisoned_requests.WORKLOAD},
                                   {"metadata__name": "sets"})),
    (GROUPS["budgets"], merged(poisoned_requests.BUDGET, {"metadata__name": "budget"})),
    (GROUPS["cronjobs"], merged(poisoned_requests.CRON, {"metadata__name": "cron"})),
    (GROUPS["leases"], {"metadata": {"name": "lease"}, "spec": {}}),
    (GROUPS["nodes"], {"metadata": {"name": "broken"}}),
)  # fmt: skip
FORMS = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
)
URLS = ("https://a]b/", "https://x:99999/", "https://²/", "https://127.0.0.1:1/%00", "https://[::1",
        "https://" + "a" * 300 + "/", "https://a..b/", "https://.",
        "https://user:p@x:1/#f")  # fmt: skip
BUNDLES = (b"", b"no PEM", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
           b"\xff\x00" * 50)  # fmt: skip


@pytest.fixture
def process(tmp_path):
    server = ServerProcess(tmp_path, version="1.36")
    server.start()
    yield server
    server.stop()


def test_poisoned_objects_of_the_store(process):
    client = Client(process)
    seed(client)
    for path, body in OBJECTS:
        code, answer = client.json("POST", path, body)
        assert code == 201, answer
    client.close()
    process.stop()
    changed = asyncio.run(poison(process.directory / "db"))
    assert changed == len(STORED)
    process.start()
    client = Client(process)
    wrong = []

    def ask(method, path, headers=None, body=b""):
        code, answer = client(method, path, headers, body)
        if code >= 500 or not code:
            wrong.append((code, method, path, headers, answer[:300]))

    ask("GET", f"{CORE}/pods?watch=1&timeoutSeconds=1")
    for path, name, changes in STORED:
        if changes is None:
            continue
        for form in FORMS:
            ask("GET", path, {"accept": form})
            if "List" not in form:
                ask("GET", f"{path}/{name}", {"accept": form})
        ask("GET", f"{path}?labelSelector=a!=b&limit=1")
        target = f"{path}/{name}"
        _, whole = client("GET", target)
        ask("PUT", target, poisoned_requests.JSON, whole)
        ask("PUT", f"{target}/status", poisoned_requests.JSON, whole)
        for kind, change in (
            ("merge-patch", b'{"metadata":{"labels":{"a":"b"}}}'),
            ("json-patch", b'[{"op":"add","path":"/metadata/labels","value":{"a":"c"}}]'),
            ("strategic-merge-patch", b'{"metadata":{"labels":{"a":"d"}}}'),
        ):
            ask("PATCH", target, poisoned_requests.PATCH[kind], change)
        applied = {key: json.loads(whole)[key] for key in ("apiVersion", "kind")}
        applied["metadata"] = {"name": name, "labels": {"a": "e"}}
        ask("PATCH", f"{target}?fieldManager=me&force=true", poisoned_requests.APPLY,
            json.dumps(applied).encode())  # fmt: skip
        ask("DELETE", f"{target}?dryRun=All")
        ask("DELETE", target)
        ask("DELETE", f"{target}?gracePeriodSeconds=0")
        assert client("GET", target)[0] == 404, target
    client_errors = unexpected(client)
    client.close()
    assert wrong == []
    assert client_errors == 0
    assert "request failed" not in process.log
    assert "stored object cannot be read, skipped" in process.log


async def poison(path):
    """Change the stored objects; returns how many were changed."""
    store = await SqliteStore.open(path)
    changed = 0
    try:
        for collection, name, changes in STORED:
            end = f"/{collection.rpartition('/')[2]}/"
            for record in (await store.list("/registry/")).records:
                if end in record.key and record.key.endswith(f"/{name}"):
                    plain, mark, managed = record.value.partition(b"\n")
                    value = (
                        b"{}"
                        if changes is None
                        else orjson.dumps(merged(json.loads(plain), changes))
                    )
                    await store.update(record.key, value + mark + managed, record.mod_revision)
                    changed += 1
    finally:
        await store.close()
    return changed


def test_webhooks_that_cannot_be_called(process):
    """What may be configured fails in upstream's words, and nothing in the server does."""
    client = Client(process)
    seed(client)
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    stored = 0
    for number, (url, bundle) in enumerate(
        [(url, BUNDLES[0]) for url in URLS] + [(URLS[3], bundle) for bundle in BUNDLES]
    ):
        config = {"url": url, "caBundle": base64.b64encode(bundle).decode()}
        hook = {
            "name": "a.example.com", "clientConfig": config, "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "timeoutSeconds": 1,
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                       "resources": ["configmaps"]}],
        }  # fmt: skip
        body = {"metadata": {"name": f"hook{number}"}, "webhooks": [hook]}
        code, answer = client.json("POST", hooks, body)
        assert code in (201, 400, 422), answer
        if code != 201:
            continue
        stored += 1
        code, answer = client.json("POST", f"{CORE}/configmaps", {"metadata": {"name": "hooked"}})
        assert code == 500, (url, answer)
        assert b"failed calling webhook" in answer
        assert client("DELETE", f"{hooks}/hook{number}")[0] == 200
    assert stored >= 3
    assert unexpected(client) == 0
    client.close()
    assert "Traceback" not in process.log
