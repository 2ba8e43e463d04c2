"""Server-side apply and managed fields, asked in process by a user with RBAC's rights only."""

import json

import pytest
from api_in_process import JSON, MAPS, MERGE, PODS, Api, config_map, pod, run

from muntin.seams.store.memory import MemoryStore

APPLY = {"content-type": "application/apply-patch+yaml"}
JSON_PATCH = {"content-type": "application/json-patch+json"}
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
INGRESSES = "namespaces/default/ingresses"
FORCE = "fieldManager=m&force=true"


async def user(server, admin, *verbs, name="alice"):
    """A user who may do ``verbs`` on anything in the namespace."""
    role = {"metadata": {"name": name}, "rules": [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": list(verbs or "*")}
    ]}  # fmt: skip
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    await admin("POST", f"{rbac}/roles", role)
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "User", "name": name}],
    }
    await admin("POST", f"{rbac}/rolebindings", binding)
    return Api(server.user(name))


def scenario_of(steps, **options):
    async def scenario(server, admin):
        await steps(server, await user(server, admin))

    run(scenario, **options)


def applied(name="a", **data):
    found = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return {**found, "data": data} if data else found


def entries(obj):
    return {
        (row["manager"], row["operation"], row.get("subresource", "")): row["fieldsV1"]
        for row in obj["metadata"].get("managedFields", ())
    }


def test_an_apply_creates_changes_and_takes_away():
    async def steps(server, api):
        made = await api("PATCH", f"{MAPS}/a?fieldManager=m", applied(x="1", y="2"), headers=APPLY,
                         code=201)  # fmt: skip
        assert entries(made) == {("m", "Apply", ""): {"f:data": {"f:x": {}, "f:y": {}}}}
        path = f"{MAPS}/a?fieldManager=m"
        same = await api("PATCH", path, applied(x="1", y="2"), headers=APPLY, code=200)
        assert same == made
        less = await api("PATCH", path, applied(x="3"), headers=APPLY)
        assert less["data"] == {"x": "3"}
        assert await api("GET", f"{MAPS}/a") == less
        member = {key: value for key, value in less.items() if key not in ("kind", "apiVersion")}
        assert member in (await api("GET", MAPS))["items"]

    scenario_of(steps)


def test_conflicts_name_their_managers_and_are_forced():
    async def steps(server, api):
        await api("POST", f"{MAPS}?fieldManager=maker", config_map("a"))
        path = f"{MAPS}/a?fieldManager=m"
        error = await api("PATCH", path, applied(a="c"), headers=APPLY, code=409)
        assert error["reason"] == "Conflict"
        assert error["message"] == (
            'Apply failed with 1 conflict: conflict with "maker" using v1: .data.a'
        )
        assert error["details"]["causes"] == [
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "maker" using v1',
                "field": ".data.a",
            }
        ]
        forced = await api("PATCH", f"{path}&force=true", applied(a="c"), headers=APPLY)
        assert entries(forced) == {
            ("m", "Apply", ""): {"f:data": {"f:a": {}}},
            ("maker", "Update", ""): {"f:data": {}},
        }

    scenario_of(steps)


@pytest.mark.parametrize(
    ("query", "body", "code", "why"),
    [
        ("", applied(), 422, "fieldManager: Required value: is required for apply patch"),
        ("fieldManager=" + "x" * 129, applied(), 422, "Too long: may not be more than 128 bytes"),
        ("fieldManager=a%07", applied(), 422, "invalid character U+0007 (at position 1)"),
        ("fieldManager=m&dryRun=x", applied(), 422, 'supported values: "All"'),
        ("fieldManager=m", {**applied(), "kind": "Secret"}, 400,
         "invalid object type: /v1, Kind=Secret"),
        ("fieldManager=m", {}, 400, "invalid object type: /, Kind="),
        ("fieldManager=m", [], 400, "cannot unmarshal array"),
        ("fieldManager=m", {**applied(), "nope": 1}, 400,
         "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .nope: field not"),
        ("fieldManager=m", applied("b"), 400, "does not match the name on the URL"),
        ("fieldManager=m", {"apiVersion": "v1", "kind": "ConfigMap"}, 400, "undeterminable"),
        ("fieldManager=m", {**applied(), "metadata": {"name": "a", "managedFields": []}}, 400,
         "metadata.managedFields must be nil"),
        ("fieldManager=m", {**applied(), "metadata": {"name": "a", "uid": "u"}}, 409,
         "uid mismatch: the provided object specified uid u, and no existing object was found"),
        ("fieldManager=m", {**applied(), "immutable": "x"}, 400, "expected boolean, got &{x}"),
    ],
)  # fmt: skip
def test_bad_configurations_leave_nothing(query, body, code, why):
    async def steps(server, api):
        error = await api("PATCH", f"{MAPS}/a?{query}", body, headers=APPLY, code=code)
        assert why in error["message"]
        await api("GET", f"{MAPS}/a", code=404)

    scenario_of(steps)


def test_yaml_and_its_duplicates():
    async def steps(server, api):
        async def send(text, query=""):
            path = f"{MAPS}/a?fieldManager=m{query}"
            answer = await api.transport.request("PATCH", path, headers=APPLY, body=text.encode())
            return answer.status, json.loads(answer.body), answer.headers

        good = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  on: 'yes'\n"
        assert (await send(good))[0] == 201
        twice = good + "  key: '1'\n  key: '2'\n"
        status, error, _ = await send(twice, "&fieldValidation=Strict")
        assert status == 400
        assert error["message"] == (
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
            '  line 8: key "key" already set in map'
        )
        status, _, headers = await send(twice, "&fieldValidation=Warn")
        assert status == 200
        assert 'key \\"key\\" already set in map' in headers["warning"]

    scenario_of(steps)


def test_creating_needs_its_own_right_and_versions_are_preconditions():
    async def scenario(server, admin):
        api = await user(server, admin, "patch", "get")
        path = f"{MAPS}/a?fieldManager=m"
        assert (await api("PATCH", path, applied(a="b"), headers=APPLY, code=403))["reason"] == (
            "Forbidden"
        )
        await admin("POST", MAPS, config_map("a"))
        stale = {**applied(z="1"), "metadata": {"name": "a", "resourceVersion": "1"}}
        error = await api("PATCH", path, stale, headers=APPLY, code=409)
        assert "the object has been modified" in error["message"]
        await api("PATCH", f"{path}&dryRun=All", applied(z="1"), headers=APPLY)
        assert "z" not in (await api("GET", f"{MAPS}/a"))["data"]

    run(scenario)


def test_updates_are_counted_to_program_and_subresource():
    async def steps(server, api):
        agent = {**JSON, "user-agent": "kubelet/v1.34 (linux/amd64)"}
        await api("POST", f"{PODS}?fieldManager=maker", pod())
        await api("PATCH", f"{PODS}/one/status", {"status": {"phase": "Running"}},
                  headers={**MERGE, "user-agent": agent["user-agent"]})  # fmt: skip
        found = await api("PATCH", f"{PODS}/one", {"metadata": {"labels": {"a": "b"}}},
                          headers={**MERGE, "user-agent": "tool"})  # fmt: skip
        known = entries(found)
        assert known[("kubelet", "Update", "status")] == {"f:status": {"f:phase": {}}}
        assert known[("tool", "Update", "")] == {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}
        mine = known[("maker", "Update", "")]["f:spec"]
        assert mine["f:restartPolicy"] == {}
        # What admission has added is nobody's.
        assert "f:tolerations" not in mine
        assert "f:serviceAccountName" not in mine
        assert "f:tolerations" not in str(known)

    scenario_of(steps)


def test_a_scale_is_applied_and_its_replicas_are_taken():
    async def steps(server, api):
        body = {
            "metadata": {"name": "d"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "m", "image": "i"}]},
                },
            },
        }
        await api("POST", f"{DEPLOYMENTS}?fieldManager=maker", body)
        scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"},
                 "spec": {"replicas": 3}}  # fmt: skip
        path = f"{DEPLOYMENTS}/d/scale?fieldManager=hpa"
        error = await api("PATCH", path, scale, headers=APPLY, code=409)
        assert error["details"]["causes"][0]["field"] == ".spec.replicas"
        found = await api("PATCH", f"{path}&force=true", scale, headers=APPLY)
        assert (found["kind"], found["spec"]) == ("Scale", {"replicas": 3})
        known = entries(await api("GET", f"{DEPLOYMENTS}/d"))
        assert known[("hpa", "Apply", "scale")] == {"f:spec": {"f:replicas": {}}}
        assert "f:replicas" not in known[("maker", "Update", "")]["f:spec"]
        assert "f:template" in known[("maker", "Update", "")]["f:spec"]
        # None are left out of a Scale, so that they are nobody's.
        await api("PATCH", f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 0}}, headers=MERGE)
        assert "f:replicas" not in str(entries(await api("GET", f"{DEPLOYMENTS}/d")))

    scenario_of(steps)


def test_status_is_applied_apart_from_the_rest():
    async def steps(server, api):
        await api("POST", f"{PODS}?fieldManager=maker", pod())
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "one"},
            "spec": {"priority": 7},
            "status": {"message": "x"},
        }
        found = await api("PATCH", f"{PODS}/one/status?fieldManager=s", body, headers=APPLY)
        assert found["status"]["message"] == "x"
        assert found["spec"]["priority"] == 0
        assert entries(found)[("s", "Apply", "status")] == {"f:status": {"f:message": {}}}
        body["status"]["message"] = "y"
        del body["spec"]
        found = await api("PATCH", f"{PODS}/one?fieldManager=m", body, headers=APPLY)
        assert found["status"]["message"] == "x"
        assert ("m", "Apply", "") not in entries(found)
        path = f"{PODS}/two/status?fieldManager=s"
        await api("PATCH", path, {**body, "metadata": {"name": "two"}}, headers=APPLY, code=404)

    scenario_of(steps)


def test_managed_fields_are_set_and_forgotten_by_clients():
    async def steps(server, api):
        made = await api("POST", f"{MAPS}?fieldManager=maker", config_map("a"))
        row = {"manager": "z", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
               "time": "2020-01-01T00:00:00Z", "fieldsV1": {"f:data": {"f:a": {}}}}  # fmt: skip
        own = {**made, "metadata": {**made["metadata"], "managedFields": [row]}}
        found = await api("PUT", f"{MAPS}/a", own)
        assert entries(found) == {("z", "Apply", ""): {"f:data": {"f:a": {}}}}
        wrong = {"metadata": {"managedFields": [{**row, "operation": "Foo"}]}}
        assert entries(await api("PATCH", f"{MAPS}/a", wrong, headers=MERGE)) == entries(found)
        plain = {key: value for key, value in found["metadata"].items() if key != "managedFields"}
        kept = await api("PUT", f"{MAPS}/a", {**found, "metadata": plain})
        assert entries(kept) == entries(found)
        long = {"metadata": {"managedFields": [{**row, "manager": "x" * 129}]}}
        error = await api("PATCH", f"{MAPS}/a", long, headers=MERGE, code=422)
        assert error["details"]["causes"][0]["field"] == "metadata.managedFields[0].manager"
        reset = [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]
        none = await api("PATCH", f"{MAPS}/a", reset, headers=JSON_PATCH)
        assert "managedFields" not in none["metadata"]
        none = await api("PATCH", f"{MAPS}/a", {"data": {"b": "c"}}, headers=MERGE)
        assert "managedFields" not in none["metadata"]
        again = await api("PATCH", f"{MAPS}/a?{FORCE}", applied(b="d"), headers=APPLY)
        assert entries(again) == {
            ("m", "Apply", ""): {"f:data": {"f:b": {}}},
            ("before-first-apply", "Update", ""): {"f:data": {".": {}, "f:a": {}}},
        }

    scenario_of(steps)


def test_other_versions_of_a_kind_keep_their_entries():
    async def steps(server, api):
        older, newer = "/apis/extensions/v1beta1", "/apis/networking.k8s.io/v1"
        backend = {"serviceName": "s", "servicePort": 80}
        old = {"metadata": {"name": "i"}, "spec": {"backend": backend, "ingressClassName": "c"}}
        await api("POST", f"{older}/{INGRESSES}?fieldManager=old", old)
        new = {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": {"name": "i"},
            "spec": {"defaultBackend": {"service": {"name": "t", "port": {"number": 80}}}},
        }
        path = f"{newer}/{INGRESSES}/i?fieldManager=m"
        error = await api("PATCH", path, new, headers=APPLY, code=409)
        assert error["message"] == (
            'Apply failed with 1 conflict: conflict with "old" using extensions/v1beta1: '
            ".spec.backend.serviceName"
        )
        found = await api("PATCH", f"{path}&force=true", new, headers=APPLY)
        assert found["spec"]["defaultBackend"]["service"]["name"] == "t"
        known = entries(found)
        assert known[("old", "Update", "")]["f:spec"] == {
            "f:backend": {".": {}, "f:servicePort": {}},
            "f:ingressClassName": {},
        }

    scenario_of(steps, version="1.20")


def test_ten_updaters_at_most():
    async def steps(server, api):
        await api("POST", f"{MAPS}?fieldManager=maker", config_map("a"))
        for index in range(12):
            path = f"{MAPS}/a?fieldManager=m{index:02}"
            found = await api("PATCH", path, {"data": {f"k{index}": "v"}}, headers=MERGE)
        names = [row["manager"] for row in found["metadata"]["managedFields"]]
        assert len(names) == 10
        assert "ancient-changes" in names
        fields = [row["fieldsV1"].get("f:data", {}) for row in found["metadata"]["managedFields"]]
        assert {key for row in fields for key in row} == {
            ".", "f:a", *(f"f:k{index}" for index in range(12))
        }  # fmt: skip

    scenario_of(steps)


def test_a_database_without_managed_fields_is_read_and_kept():
    store = MemoryStore()

    async def steps(server, api):
        await api("POST", MAPS, config_map("a"))
        key = "/registry/core/configmaps/default/a"
        record = await store.get(key)
        plain, managed = record.value.split(b"\n")
        assert json.loads(managed)[0]["operation"] == "Update"
        await store.update(key, plain, record.mod_revision)
        found = await api("PATCH", f"{MAPS}/a", {"data": {"n": "1"}}, headers=MERGE)
        assert "managedFields" not in found["metadata"]
        assert b"\n" not in (await store.get(key)).value

    scenario_of(steps, store=store)
