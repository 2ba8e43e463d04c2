"""The audit log: what a policy has written down, where, and what it looks like."""

import asyncio
import json

import pytest
from access_lab import access, free_port, remote, service
from api_in_process import KEY, MAPS, MERGE, Api, config_map

from muntin.apiserver.access_config import AccessConfig, AuditConfig, AuditLogConfig
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.kit.clock import FakeClock
from muntin.kit.http.messages import Request
from muntin.seams.store.memory import MemoryStore

SECRETS = "/api/v1/namespaces/default/secrets"
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "users": ["system:apiserver"]},
        {"level": "None", "nonResourceURLs": ["/healthz*", "/version"]},
        {"level": "Metadata", "resources": [{"group": "", "resources": ["secrets"]}]},
        {"level": "Request", "verbs": ["patch"]},
        {
            "level": "RequestResponse",
            "omitManagedFields": True,
            "resources": [{"group": "", "resources": ["configmaps"]}],
            "namespaces": ["default"],
        },
        {"level": "Metadata", "omitStages": []},
    ],
}


def audited(scenario, tmp_path, *, policy=POLICY, clock=None, **log):
    path = tmp_path / "audit.log"

    async def main():
        audit = AuditConfig(policy=policy, log=AuditLogConfig(path=str(path), **log))
        config = ApiServerConfig(
            kubernetes_version="1.34",
            service_account_key=KEY,
            advertise_address="192.0.2.1",
            access=AccessConfig(audit=audit),
        )
        async with ApiServer(config, MemoryStore(), clock) as server:
            await asyncio.wait_for(scenario(server), 20)

    asyncio.run(main())
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_event_is_one_line_whatever_form_its_object_came_in(tmp_path):
    async def scenario(server):
        text = json.dumps(config_map("a"), indent=2).encode()
        transport = server.user("admin", "system:masters")
        headers = {"content-type": "application/json"}
        answer = await transport.request("POST", MAPS, headers=headers, body=text)
        assert answer.status == 201

    rules = [
        {"level": "RequestResponse", "resources": [{"group": "", "resources": ["configmaps"]}]}
    ]
    events = audited(scenario, tmp_path, policy={**POLICY, "rules": rules})
    [event] = [one for one in events if one["user"]["username"] == "admin"]
    assert event["requestObject"]["metadata"]["name"] == "a"
    assert event["responseObject"]["metadata"]["uid"]


def test_levels_and_members(tmp_path):
    async def scenario(server):
        api = Api(server.user("admin", "system:masters"))
        await api("POST", SECRETS, {"metadata": {"name": "s"}, "stringData": {"a": "hidden"}})
        await api("POST", MAPS, config_map("a"))
        await api("PATCH", f"{MAPS}/a", {"data": {"x": "y"}}, headers=MERGE)
        await api("GET", "/version")
        await api("GET", f"{MAPS}/none", code=404)
        await Api(server.user("bob"))("GET", SECRETS, code=403)
        await api("GET", "/apis/nowhere.example.com/v1/things", code=404)

    secret, created, patched, missing, refused, unknown = audited(scenario, tmp_path)
    assert "hidden" not in json.dumps(secret)
    assert list(secret) == [
        "kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user",
        "sourceIPs", "objectRef", "responseStatus", "requestReceivedTimestamp", "stageTimestamp",
        "annotations",
    ]  # fmt: skip
    assert (secret["kind"], secret["apiVersion"]) == ("Event", "audit.k8s.io/v1")
    assert (secret["level"], secret["stage"]) == ("Metadata", "ResponseComplete")
    assert secret["user"] == {
        "username": "admin", "groups": ["system:masters", "system:authenticated"],
    }  # fmt: skip
    assert secret["objectRef"] == {
        "resource": "secrets", "namespace": "default", "name": "s", "apiVersion": "v1",
    }  # fmt: skip
    assert secret["responseStatus"] == {"metadata": {}, "code": 201}
    assert secret["annotations"]["authorization.k8s.io/decision"] == "allow"
    assert created["level"] == "RequestResponse"
    assert created["requestObject"]["data"] == {"a": "b"}
    assert created["responseObject"]["metadata"]["uid"]
    assert "managedFields" not in created["responseObject"]["metadata"]
    assert patched["level"] == "Request"
    assert patched["requestObject"] == {"data": {"x": "y"}}
    assert "responseObject" not in patched
    assert missing["responseStatus"]["reason"] == "NotFound"
    assert missing["responseStatus"]["code"] == 404
    assert refused["annotations"] == {
        "authorization.k8s.io/decision": "forbid",
        "authorization.k8s.io/reason": "",
    }
    assert refused["responseStatus"]["message"].startswith("secrets is forbidden")
    assert unknown["objectRef"] == {
        "resource": "things",
        "apiGroup": "nowhere.example.com",
        "apiVersion": "v1",
    }
    assert (unknown["verb"], unknown["responseStatus"]["code"]) == ("list", 404)


def test_every_answer_names_the_request(tmp_path):
    seen = []

    async def scenario(server):
        api = Api(server.user("admin", "system:masters"))
        await api("GET", MAPS)
        seen.append(api.headers["audit-id"])
        await api("GET", MAPS, headers={"audit-id": "mine"})
        seen.append(api.headers["audit-id"])
        request = Request("GET", "/api", headers={"authorization": "Bearer nonsense"})
        answer = await server.handler(request)
        assert answer.status == 401
        seen.append(answer.headers["Audit-Id"])

    first, second, third = audited(scenario, tmp_path)
    assert [event["auditID"] for event in (first, second, third)] == seen
    assert seen[1] == "mine"
    assert len(seen[0]) == 36
    assert third["user"] == {}
    assert third["responseStatus"]["code"] == 401


def test_a_watch_is_told_when_it_starts_and_when_it_ends(tmp_path):
    async def scenario(server):
        api = Api(server.user("admin", "system:masters"))
        async with api.watch(f"{MAPS}?watch=1") as seen:
            await api("POST", MAPS, config_map("a"))
            assert await seen.short() == ("ADDED", "a")

    policy = {**POLICY, "omitStages": []}
    events = audited(scenario, tmp_path, policy=policy)
    watch = [event for event in events if event["verb"] == "watch"]
    assert [event["stage"] for event in watch] == [
        "RequestReceived", "ResponseStarted", "ResponseComplete",
    ]  # fmt: skip
    assert len({event["auditID"] for event in watch}) == 1


def test_who_acts_as_whom(tmp_path):
    async def scenario(server):
        from muntin.apiserver.request import User

        request = Request("GET", MAPS, remote="192.0.2.9", headers={"x-forwarded-for": "10.1.1.1"})
        jane, bob = User("jane", ("ops",)), User("bob", ("dev",))
        await server.handler.as_user(request, bob, jane)

    (event,) = audited(scenario, tmp_path)
    assert event["user"]["username"] == "jane"
    assert event["impersonatedUser"] == {"username": "bob", "groups": ["dev"]}
    assert event["sourceIPs"] == ["10.1.1.1", "192.0.2.9"]
    assert event["responseStatus"]["code"] == 403


def test_files_are_rotated_and_old_ones_removed(tmp_path):
    clock = FakeClock(1_800_000_000.0)

    async def scenario(server):
        api = Api(server.user("admin", "system:masters"))
        big = {"metadata": {"name": "big"}, "data": {"x": "y" * 400_000}}
        await api("POST", MAPS, big)
        for number in range(8):
            await clock.advance(2.0)
            await api("PUT", f"{MAPS}/big", {**big, "data": {"x": str(number) * 400_000}})

    audited(scenario, tmp_path, clock=clock, max_size_mb=1, max_backups=2)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) == 3
    assert files[0].startswith("audit-2027-01-15T")
    assert files[-1] == "audit.log"


def test_a_batch_is_whole_after_the_end(tmp_path):
    async def scenario(server):
        api = Api(server.user("admin", "system:masters"))
        for number in range(50):
            await api("POST", MAPS, config_map(f"m{number}"))

    assert len(audited(scenario, tmp_path, mode="batch")) == 50


def test_a_strict_log_that_cannot_be_written_lets_nothing_happen(tmp_path):
    async def scenario(server):
        api = Api(server.user("admin", "system:masters"))
        (tmp_path / "audit.log").unlink(missing_ok=True)
        server.core.auditor.backends[0]._file._path = tmp_path / "folder"
        (tmp_path / "folder").mkdir()
        error = await api("POST", MAPS, config_map("a"), code=503)
        assert "audit log" in error["message"]
        (tmp_path / "folder").rmdir()
        await api("GET", f"{MAPS}/a", code=404)
        (tmp_path / "folder").rename(tmp_path / "audit.log")

    policy = {**POLICY, "omitStages": []}
    assert audited(scenario, tmp_path, policy=policy, mode="blocking-strict")


@pytest.mark.parametrize("path, verb, held", [("/version", "get", False), ("/api", "get", True)])
def test_paths_follow_the_rules_of_paths(tmp_path, path, verb, held):
    async def scenario(server):
        api = Api(server.user("admin", "system:masters"))
        await api("GET", path)
        await api("GET", MAPS)

    events = audited(scenario, tmp_path)
    assert [event["requestURI"] for event in events] == ([path, MAPS] if held else [MAPS])


def test_events_are_sent_to_a_webhook(tmp_path):
    port, lists, delivered = free_port(), [], asyncio.Event()

    def answer(path, body):
        lists.append(body)
        if len(lists) == 1:
            return 503
        delivered.set()
        return {}

    def config(folder):
        return AuditConfig(policy=POLICY, webhook=remote(folder, port))

    async def scenario(lab):
        async with service(tmp_path, answer, port):
            await lab.make(MAPS, config_map("a"))
            await asyncio.wait_for(delivered.wait(), 10)

    access(scenario, tmp_path, audit=config)
    refused, found = lists[:2]
    assert refused == found, "what was refused is sent again"
    assert (found["kind"], found["apiVersion"]) == ("EventList", "audit.k8s.io/v1")
    assert [event["objectRef"]["name"] for event in found["items"]] == ["default", "a"]


def test_who_acts_as_somebody_within_bounds_is_told_with_the_bound(tmp_path):
    path, group = tmp_path / "audit.log", "rbac.authorization.k8s.io"
    api = f"/apis/{group}/v1"

    async def scenario(lab):
        lab.authority.pair("jane", "jane")
        rules = [
            {"verbs": ["impersonate:user-info"], "apiGroups": ["authentication.k8s.io"],
             "resources": ["users"]},
            {"verbs": ["impersonate-on:user-info:list"], "apiGroups": [""],
             "resources": ["configmaps"]},
        ]  # fmt: skip
        await lab.make(f"{api}/clusterroles", {"metadata": {"name": "act"}, "rules": rules})
        ref = {"apiGroup": group, "kind": "ClusterRole", "name": "act"}
        who = {"apiGroup": group, "kind": "User", "name": "jane"}
        binding = {"metadata": {"name": "act"}, "roleRef": ref, "subjects": [who]}
        await lab.make(f"{api}/clusterrolebindings", binding)
        code, body = await lab("GET", MAPS, pair="jane", headers={"Impersonate-User": "bob"})
        assert code == 403
        assert 'User "bob" cannot list' in body["message"]

    log = AuditLogConfig(path=str(path))
    access(scenario, tmp_path, version="1.36", audit=AuditConfig(policy=POLICY, log=log))
    told = json.loads(path.read_text().splitlines()[-1])
    assert told["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}
    assert (told["user"]["username"], told["impersonatedUser"]["username"]) == ("jane", "bob")


def test_authentication_that_fails_and_who_may_not_act_are_told(tmp_path):
    path = tmp_path / "audit.log"
    log = AuditLogConfig(path=str(path))

    async def scenario(lab):
        lab.authority.pair("jane", "jane")
        assert (await lab("GET", MAPS, token="junk"))[0] == 401
        headers = {"Impersonate-User": "bob", "User-Agent": "probe/1"}
        assert (await lab("GET", MAPS, pair="jane", headers=headers))[0] == 403

    access(scenario, tmp_path, audit=AuditConfig(policy=POLICY, log=log))
    events = [json.loads(line) for line in path.read_text().splitlines()][-2:]
    assert [(e["user"].get("username"), e["responseStatus"]["code"]) for e in events] == [
        (None, 401), ("jane", 403),
    ]  # fmt: skip
    assert events[1]["userAgent"] == "probe/1"
    assert events[1]["sourceIPs"] == ["127.0.0.1"]
    assert events[1]["objectRef"] == {"resource": "configmaps", "namespace": "default"}
