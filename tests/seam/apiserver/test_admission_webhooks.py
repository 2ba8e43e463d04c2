"""Admission webhooks against a real HTTPS server: who is asked what, and what answers do."""

import asyncio
import json

import pytest
from api_in_process import JSON, MAPS, MERGE, PODS, config_map, pod, run
from webhook_server import (
    AUTHORITY,
    MUTATING,
    VALIDATING,
    configuration,
    hook,
    patch,
    rule,
    webhook_server,
)

from muntin.apiserver.items import encode, key_of
from muntin.kit.http.messages import Response
from muntin.model.resources import ENDPOINTS

MAP_RULE = rule(("configmaps",))


def with_server(scenario, *names, version="1.34", **config):
    """Run ``scenario(api, hooks)`` with an API server and a webhook server."""

    async def both(server, api):
        async with webhook_server(*names) as hooks:
            api.server = server
            await scenario(api, hooks)

    run(both, version=version, **config)


def label(key, value):
    return {"op": "add", "path": f"/metadata/labels/{key}", "value": value}


def managers_of(obj):
    return sorted(row["manager"] for row in obj["metadata"].get("managedFields", []))


def test_webhooks_may_change_managed_fields_but_not_spoil_them():
    async def scenario(api, hooks):
        await api("POST", MUTATING, configuration("Mutating", hook(hooks, "/change")))
        rename = {"op": "replace", "path": "/metadata/managedFields/0/manager", "value": "hook"}
        hooks.answers["/change"] = lambda _: patch(rename)
        made = await api("POST", f"{PODS}?fieldManager=me", pod("one"), code=201)
        assert managers_of(made) == ["hook"]
        spoil = {"op": "replace", "path": "/metadata/managedFields/0/operation", "value": "x"}
        hooks.answers["/change"] = lambda _: patch(spoil)
        kept = await api(
            "PATCH", f"{PODS}/one", {"metadata": {"labels": {"a": "b"}}}, headers=MERGE
        )
        assert "hook" in managers_of(kept)
        hooks.answers["/change"] = lambda _: patch(
            {"op": "remove", "path": "/metadata/managedFields"}
        )
        bare = await api(
            "PATCH", f"{PODS}/one", {"metadata": {"labels": {"a": "c"}}}, headers=MERGE
        )
        assert managers_of(bare) == []

    with_server(scenario)


def test_a_review_says_all_that_upstream_says():
    async def scenario(api, hooks):
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/see")))
        made = await api("POST", f"{PODS}?fieldManager=me", pod("one"), code=201)
        (asked,) = hooks.seen["/see"]
        assert hooks.reviews[0]["apiVersion"] == "admission.k8s.io/v1"
        assert hooks.reviews[0]["kind"] == "AdmissionReview"
        assert hooks.queries == ["timeout=10s"]
        shown = {key: asked[key] for key in asked if key not in ("uid", "object", "userInfo")}
        assert shown == {
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "requestResource": {"group": "", "version": "v1", "resource": "pods"},
            "name": "one",
            "namespace": "default",
            "operation": "CREATE",
            "oldObject": None,
            "dryRun": False,
            "options": {
                "kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me",
            },
        }  # fmt: skip
        assert asked["userInfo"]["username"] == "admin"
        assert "system:masters" in asked["userInfo"]["groups"]
        assert asked["object"]["metadata"]["uid"] == made["metadata"]["uid"]
        assert asked["object"]["kind"] == "Pod"
        await api("PATCH", f"{PODS}/one", {"metadata": {"labels": {"a": "b"}}}, headers=MERGE)
        await api("DELETE", f"{PODS}/one", {"gracePeriodSeconds": 0})
        _, changed, gone = hooks.seen["/see"]
        assert changed["operation"] == "UPDATE"
        assert changed["object"]["metadata"]["labels"] == {"a": "b"}
        assert changed["oldObject"]["metadata"].get("labels") is None
        assert changed["options"]["kind"] == "UpdateOptions"
        for shown, wanted in ((asked["object"], ["me"]), (changed["oldObject"], ["me"]),
                              (changed["object"], ["me", "unknown"]),
                              (gone["oldObject"], ["me", "unknown"])):  # fmt: skip
            assert managers_of(shown) == wanted
        assert (gone["operation"], gone["object"]) == ("DELETE", None)
        assert gone["oldObject"]["metadata"]["name"] == "one"
        assert gone["options"] == {
            "kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", "gracePeriodSeconds": 0,
        }  # fmt: skip

    with_server(scenario)


@pytest.mark.parametrize(
    ("status", "code", "reason", "message"),
    [
        ({"message": "not today"}, 400, None, ": not today"),
        ({"reason": "Forbidden", "code": 403}, 403, "Forbidden", ": Forbidden"),
        ({"code": 200, "message": "odd"}, 400, None, ": odd"),
        (None, 400, None, " without explanation"),
    ],
)
def test_a_refusal_is_passed_on(status, code, reason, message):
    async def scenario(api, hooks):
        answer = {"allowed": False} | ({"status": status} if status else {})
        hooks.answers["/no"] = lambda _: answer
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/no", MAP_RULE)))
        found = await api("POST", MAPS, config_map("a"), code=code)
        text = 'admission webhook "no.example.com" denied the request'
        assert found["message"] == text + message
        assert found.get("reason") == reason
        assert found["code"] == code
        await api("GET", f"{MAPS}/a", code=404)

    with_server(scenario)


def test_a_patch_is_applied_decoded_and_defaulted():
    async def scenario(api, hooks):
        hooks.answers["/inject"] = lambda _: patch(
            {"op": "add", "path": "/metadata/labels", "value": {"by": "hook"}},
            {
                "op": "add",
                "path": "/spec/containers/-",
                "value": {"name": "side", "image": "busybox", "unknownField": 1},
            },
        )
        mutating = configuration("Mutating", hook(hooks, "/inject", rule(operations=("CREATE",))))
        await api("POST", MUTATING, mutating)
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/see")))
        made = await api("POST", PODS, pod("one"), code=201)
        assert made["metadata"]["labels"] == {"by": "hook"}
        side = made["spec"]["containers"][1]
        assert side["imagePullPolicy"] == "Always"  # a default, filled in after the patch
        assert "unknownField" not in side
        assert side["volumeMounts"]  # of the ServiceAccount plugin, which ran again
        assert hooks.seen["/see"][0]["object"]["spec"]["containers"][1] == side

    with_server(scenario)


def test_what_a_patch_makes_wrong_is_invalid():
    async def scenario(api, hooks):
        hooks.answers["/bad"] = lambda _: patch(
            {"op": "replace", "path": "/spec/containers/0/image", "value": ""}
        )
        await api("POST", MUTATING, configuration("Mutating", hook(hooks, "/bad")))
        found = await api("POST", PODS, pod("one"), code=422)
        assert "spec.containers[0].image" in found["message"]
        hooks.answers["/bad"] = lambda _: patch({"op": "remove", "path": "/spec/none"})
        found = await api("POST", PODS, pod("one"), code=500)
        assert found["reason"] == "InternalError"
        hooks.answers["/bad"] = lambda _: patch(
            {"op": "replace", "path": "/spec/containers", "value": "text"}
        )
        await api("POST", PODS, pod("one"), code=500)

    with_server(scenario)


def test_a_change_of_an_update_counts_as_a_change():
    async def scenario(api, hooks):
        await api("POST", "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT, code=201)
        hooks.answers["/two"] = lambda _: patch(
            {"op": "replace", "path": "/spec/replicas", "value": 2}
        )
        rules = rule(("deployments",), ("UPDATE",), ("apps",))
        await api("POST", MUTATING, configuration("Mutating", hook(hooks, "/two", rules)))
        path = "/apis/apps/v1/namespaces/default/deployments/web"
        found = await api("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, headers=MERGE)
        assert (found["spec"]["replicas"], found["metadata"]["generation"]) == (2, 2)

    with_server(scenario)


DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "main", "image": "busybox"}]},
        },
    },
}


def test_reinvocation():
    async def scenario(api, hooks):
        hooks.answers["/first"] = lambda asked: patch(
            {"op": "add", "path": "/data/seen", "value": str(sorted(asked["object"]["data"]))}
        )
        hooks.answers["/second"] = lambda _: patch(
            {"op": "add", "path": "/data/second", "value": "x"}
        )
        webhooks = (
            hook(hooks, "/first", MAP_RULE, reinvocationPolicy="IfNeeded"),
            hook(hooks, "/never", MAP_RULE),
            hook(hooks, "/second", MAP_RULE),
            hook(hooks, "/last", MAP_RULE, reinvocationPolicy="IfNeeded"),
        )
        await api("POST", MUTATING, configuration("Mutating", *webhooks))
        made = await api("POST", MAPS, config_map("one"), code=201)
        assert made["data"]["seen"] == "['a', 'second', 'seen']"
        calls = {path: len(asked) for path, asked in hooks.seen.items()}
        assert calls == {"/first": 2, "/never": 1, "/second": 1, "/last": 1}

    with_server(scenario)


def test_what_the_server_adds_on_top_is_shown_again():
    """The token of a container that a webhook has added is mounted by a built-in plugin."""

    async def scenario(api, hooks):
        hooks.answers["/inject"] = lambda asked: patch(
            {"op": "add", "path": "/spec/containers/1", "value": {"name": "s", "image": "i"}}
        )
        last = hook(hooks, "/last", reinvocationPolicy="IfNeeded")
        webhooks = (hook(hooks, "/inject"), last)
        await api("POST", MUTATING, configuration("Mutating", *webhooks))
        await api("POST", PODS, pod("one"), code=201)
        before, after = (asked["object"]["spec"]["containers"][1] for asked in hooks.seen["/last"])
        assert "volumeMounts" not in before
        assert after["volumeMounts"]

    with_server(scenario)


def test_no_change_is_no_reason_to_ask_again():
    async def scenario(api, hooks):
        hooks.answers["/same"] = lambda _: patch({"op": "test", "path": "/kind", "value": "Pod"})
        webhooks = (
            hook(hooks, "/first", reinvocationPolicy="IfNeeded"),
            hook(hooks, "/same"),
        )
        await api("POST", MUTATING, configuration("Mutating", *webhooks))
        await api("POST", PODS, pod("one"), code=201)
        assert [len(asked) for asked in hooks.seen.values()] == [1, 1]

    with_server(scenario)


def test_configurations_are_asked_in_order_of_name():
    async def scenario(api, hooks):
        for name in ("b", "a"):
            hooks.answers[f"/{name}"] = lambda asked: patch(
                {"op": "add", "path": "/data/order",
                 "value": asked["object"]["data"].get("order", "") + "x"}
            )  # fmt: skip
            made = configuration("Mutating", hook(hooks, f"/{name}", MAP_RULE), name=name)
            await api("POST", MUTATING, made)
        await api("POST", MAPS, config_map("one"), code=201)
        assert list(hooks.seen) == ["/a", "/b"]
        assert (await api("GET", f"{MAPS}/one"))["data"]["order"] == "xx"

    with_server(scenario)


@pytest.mark.parametrize(
    ("rules", "matches"),
    [
        (rule(("configmaps",), ("CREATE",)), True),
        (rule(("configmaps",), ("UPDATE", "DELETE")), False),
        (rule(("*",)), True),
        (rule(("*/*",)), True),
        (rule(("configmaps/status",)), False),
        (rule(("configmaps",), groups=("apps",)), False),
        (rule(("configmaps",), groups=("*",), versions=("v1",)), True),
        (rule(("configmaps",), versions=("v2",)), False),
        (rule(("configmaps",), scope="Cluster"), False),
        (rule(("configmaps",), scope="Namespaced"), True),
        (rule(("secrets",)), False),
    ],
)
def test_rules(rules, matches):
    async def scenario(api, hooks):
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/see", rules)))
        await api("POST", MAPS, config_map("one"), code=201)
        assert bool(hooks.seen) is matches

    with_server(scenario)


def test_selectors_of_namespaces_and_objects():
    async def scenario(api, hooks):
        wanted = {"matchLabels": {"team": "a"}}
        webhooks = (
            hook(hooks, "/space", rule(("configmaps", "namespaces")), namespaceSelector=wanted),
            hook(hooks, "/object", MAP_RULE, objectSelector=wanted),
        )
        await api("POST", VALIDATING, configuration("Validating", *webhooks))
        space = {"metadata": {"name": "team", "labels": {"team": "a"}}}
        await api("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}}, code=201)
        assert hooks.seen == {}
        await api("POST", "/api/v1/namespaces", space, code=201)
        (asked,) = hooks.seen.pop("/space")
        assert (asked["namespace"], asked["name"]) == ("team", "team")
        await api("POST", "/api/v1/namespaces/team/configmaps", config_map("one"), code=201)
        assert [*hooks.seen] == ["/space"]
        await api("POST", MAPS, config_map("two", team="a"), code=201)
        assert len(hooks.seen["/object"]) == 1
        await api("PUT", f"{MAPS}/two", config_map("two"))  # the old object is selected
        await api("PUT", f"{MAPS}/two", config_map("two", team="b"))
        assert len(hooks.seen["/object"]) == 2

    with_server(scenario)


def test_equivalent_versions_are_converted_for_a_webhook():
    async def scenario(api, hooks):
        old = rule(("deployments",), groups=("extensions",), versions=("v1beta1",))
        webhooks = (
            hook(hooks, "/equivalent", old, matchPolicy="Equivalent"),
            hook(hooks, "/exact", old, matchPolicy="Exact"),
        )
        await api("POST", VALIDATING, configuration("Validating", *webhooks))
        events = "/api/v1/namespaces/default/events"
        rules = rule(("events",), groups=("events.k8s.io",), versions=("v1",))
        made = configuration("Mutating", hook(hooks, "/event", rules))
        hooks.answers["/event"] = lambda asked: patch(
            {"op": "add", "path": "/note", "value": asked["object"].get("note", "") + "!"}
        )
        await api("POST", MUTATING, made)
        event = {
            "metadata": {"name": "e"},
            "involvedObject": {"kind": "Pod", "name": "one", "namespace": "default"},
            "message": "hello",
            "reason": "Test",
            "type": "Normal",
        }
        found = await api("POST", events, event, code=201)
        (asked,) = hooks.seen["/event"]
        assert asked["kind"] == {"group": "events.k8s.io", "version": "v1", "kind": "Event"}
        assert asked["requestKind"] == {"group": "", "version": "v1", "kind": "Event"}
        assert asked["object"]["apiVersion"] == "events.k8s.io/v1"
        assert asked["object"]["note"] == "hello"
        assert found["message"] == "hello!"

    with_server(scenario)


def test_failure_policies():
    async def scenario(api, hooks):
        hooks.answers["/broken"] = lambda _: Response(500, {}, b"oh no")
        broken = hook(hooks, "/broken", MAP_RULE, failurePolicy="Fail")
        await api("POST", VALIDATING, configuration("Validating", broken))
        found = await api("POST", MAPS, config_map("one"), code=500)
        assert found["reason"] == "InternalError"
        assert found["message"] == (
            'Internal error occurred: failed calling webhook "broken.example.com": failed to call '
            'webhook: an error on the server ("oh no") has prevented the request from succeeding'
        )
        broken["failurePolicy"] = "Ignore"
        changed = configuration("Validating", broken)
        before = await api("GET", f"{VALIDATING}/hooks")
        changed["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"]
        await api("PUT", f"{VALIDATING}/hooks", changed)
        await api("POST", MAPS, config_map("one"), code=201)

    with_server(scenario)


def test_why_a_webhook_cannot_be_reached():
    async def scenario(api, hooks):
        slow = hook(hooks, "/slow", MAP_RULE, timeoutSeconds=1)
        hooks.answers["/slow"] = lambda _: asyncio.sleep(30)
        closed = hook(hooks, "/closed", MAP_RULE)
        closed["clientConfig"]["url"] = "https://127.0.0.1:1/closed"
        stranger = hook(hooks, "/stranger", MAP_RULE)
        del stranger["clientConfig"]["caBundle"]
        missing = hook(hooks, "/missing", MAP_RULE)
        missing["clientConfig"] = {"service": {"namespace": "default", "name": "none", "port": 443}}
        expected = {
            "slow": f'Post "https://127.0.0.1:{hooks.port}/slow?timeout=1s": '
            "context deadline exceeded",
            "closed": 'Post "https://127.0.0.1:1/closed?timeout=10s": dial tcp 127.0.0.1:1: '
            "connect: connection refused",
            "stranger": f'Post "https://127.0.0.1:{hooks.port}/stranger?timeout=10s": tls: failed '
            "to verify certificate: x509: certificate signed by unknown authority",
            "missing": 'Post "https://none.default.svc:443/?timeout=10s": service "none" not found',
        }
        for webhook in (slow, closed, stranger, missing):
            name = webhook["name"].partition(".")[0]
            await api("POST", VALIDATING, configuration("Validating", webhook, name=name))
            found = await api("POST", MAPS, config_map("one"), code=500)
            assert found["message"] == (
                f'Internal error occurred: failed calling webhook "{name}.example.com": failed to '
                f"call webhook: {expected[name]}"
            )
            await api("DELETE", f"{VALIDATING}/{name}")
        await api("POST", MAPS, config_map("one"), code=201)

    with_server(scenario)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"uid": "other", "allowed": True}, "expected response.uid="),
        ({"allowed": True, "patch": "e30="}, "response.patch but not response.patchType"),
        ({"allowed": True, "patchType": "JSONPatch"}, "response.patchType but not response.patch"),
    ],
)
def test_answers_that_are_none(answer, message):
    async def scenario(api, hooks):
        hooks.answers["/odd"] = lambda _: answer
        await api("POST", MUTATING, configuration("Mutating", hook(hooks, "/odd", MAP_RULE)))
        found = await api("POST", MAPS, config_map("one"), code=500)
        assert "received invalid webhook response" in found["message"]
        assert message in found["message"]

    with_server(scenario)


def test_dry_runs_reach_only_webhooks_without_side_effects():
    async def scenario(api, hooks):
        webhooks = (
            hook(hooks, "/none", MAP_RULE),
            hook(hooks, "/dry", MAP_RULE, sideEffects="NoneOnDryRun"),
        )
        await api("POST", VALIDATING, configuration("Validating", *webhooks))
        await api("POST", f"{MAPS}?dryRun=All", config_map("one"), code=201)
        assert [asked["dryRun"] for asked in hooks.seen["/none"] + hooks.seen["/dry"]] == [True] * 2
        await api("GET", f"{MAPS}/one", code=404)

    with_server(scenario)


def test_a_webhook_with_side_effects_forbids_dry_runs():
    async def scenario(api, hooks):
        old = configuration(
            "Validating",
            hook(hooks, "/some", MAP_RULE, sideEffects="Some", admissionReviewVersions=["v1beta1"]),
        )
        old["apiVersion"] = "admissionregistration.k8s.io/v1beta1"
        await api("POST", VALIDATING.replace("/v1/", "/v1beta1/"), old, code=201)
        found = await api("POST", f"{MAPS}?dryRun=All", config_map("one"), code=400)
        assert found["message"] == 'admission webhook "some.example.com" does not support dry run'
        await api("POST", MAPS, config_map("one"), code=201)
        assert hooks.reviews[0]["apiVersion"] == "admission.k8s.io/v1beta1"

    with_server(scenario, version="1.20")


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"sideEffects": "Some"}, "sideEffects",
         'Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'),
        ({"sideEffects": None}, "sideEffects", "must specify one of None, NoneOnDryRun"),
        ({"name": "short"}, "name", "should be a domain with at least three segments"),
        ({"timeoutSeconds": 31}, "timeoutSeconds",
         "the timeout value must be between 1 and 30 seconds"),
        ({"admissionReviewVersions": ["v9"]}, "admissionReviewVersions",
         "must include at least one of v1, v1beta1"),
        ({"admissionReviewVersions": []}, "admissionReviewVersions",
         "must specify one of v1, v1beta1"),
        ({"clientConfig": {}}, "clientConfig", "exactly one of url or service is required"),
        ({"clientConfig": {"url": "http://x/"}}, "clientConfig.url",
         "'https' is the only allowed URL scheme; desired format: https://host[/path]"),
        ({"clientConfig": {"url": "https://x/?a=b"}}, "clientConfig.url",
         "query parameters are not permitted in the URL"),
        ({"clientConfig": {"service": {"name": "a", "namespace": "b", "path": "x"}}},
         "clientConfig.service.path", "must start with a '/'"),
        ({"failurePolicy": "Maybe"}, "failurePolicy",
         'Unsupported value: "Maybe": supported values: "Fail", "Ignore"'),
        ({"rules": [rule(("*", "pods"))]}, "rules[0].resources",
         "if '*' is present, must not specify other resources without subresources"),
        ({"rules": [rule(operations=("*", "CREATE"))]}, "rules[0].operations",
         "if '*' is present, must not specify other operations"),
        ({"rules": [rule(operations=("READ",))]}, "rules[0].operations[0]",
         'Unsupported value: "READ"'),
        ({"matchConditions": [{"name": "a", "expression": "1 +"}]},
         "matchConditions[0].expression", "compilation failed: ERROR: <input>:1:4: Syntax error"),
    ],
)  # fmt: skip
def test_what_no_configuration_may_say(change, field, message):
    async def scenario(api, hooks):
        webhook = {**hook(hooks, "/see"), **change}
        found = await api("POST", VALIDATING, configuration("Validating", webhook), code=422)
        causes = {row["field"]: row["message"] for row in found["details"]["causes"]}
        assert message in causes[f"webhooks[0].{field}"]

    with_server(scenario)


def test_warnings_reach_the_client():
    async def scenario(api, hooks):
        hooks.answers["/warn"] = lambda _: {"allowed": True, "warnings": ["mind the gap"]}
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/warn", MAP_RULE)))
        await api("POST", MAPS, config_map("one"), code=201)
        assert api.headers["warning"] == '299 - "mind the gap"'

    with_server(scenario)


def test_the_configuration_of_admission_is_not_admitted():
    async def scenario(api, hooks):
        hooks.answers["/no"] = lambda _: {"allowed": False}
        everything = rule(("*/*",), groups=("*",))
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/no", everything)))
        await api("POST", MAPS, config_map("one"), code=400)
        await api("DELETE", f"{VALIDATING}/hooks")
        await api("POST", MAPS, config_map("one"), code=201)

    with_server(scenario)


def test_match_conditions():
    async def scenario(api, hooks):
        conditions = [
            {"name": "no-leases", "expression": "request.resource.resource != 'leases'"},
            {"name": "not-mine", "expression": "!('mine' in object.metadata.labels)"},
            {
                "name": "may-not",
                "expression": "!authorizer.group('').resource('secrets').namespace("
                "request.namespace).check('get').allowed()",
            },
        ]
        webhook = hook(hooks, "/see", MAP_RULE, matchConditions=conditions)
        await api("POST", VALIDATING, configuration("Validating", webhook))
        user = type(api)(api.server.user("jane", "developers"))
        binding = {
            "metadata": {"name": "jane"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "edit"},
            "subjects": [{"kind": "User", "name": "jane",
                          "apiGroup": "rbac.authorization.k8s.io"}],
        }  # fmt: skip
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        role = {"metadata": {"name": "maps"}, "rules": [
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]}  # fmt: skip
        await api("POST", f"{rbac}/clusterroles", role)
        binding["roleRef"]["name"] = "maps"
        await api("POST", f"{rbac}/clusterrolebindings", binding)
        await api("POST", MAPS, config_map("of-admin", a="b"), code=201)  # may get secrets
        assert hooks.seen == {}
        await user("POST", MAPS, config_map("mine", mine="yes"), code=201)
        assert hooks.seen == {}
        await user("POST", MAPS, config_map("other", a="b"), code=201)
        assert len(hooks.seen["/see"]) == 1
        unlabelled = {"metadata": {"name": "bare"}}
        found = await user("POST", MAPS, unlabelled, code=403)
        assert "no such key: labels" in found["message"]

    with_server(scenario)


def test_subresources_and_connections_are_asked_about():
    async def scenario(api, hooks):
        rules = rule(("pods/*", "deployments/scale", "serviceaccounts/token"), groups=("*",))
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/see", rules)))
        await api("POST", "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT, code=201)
        await api("POST", PODS, pod("one"), code=201)
        assert [asked.get("subResource") for asked in hooks.seen.pop("/see")] == [None]
        path = "/apis/apps/v1/namespaces/default/deployments/web/scale"
        await api("PATCH", path, {"spec": {"replicas": 3}}, headers=MERGE)
        binding = {"metadata": {"name": "one"}, "target": {"kind": "Node", "name": "n"}}
        await api("POST", f"{PODS}/one/binding", binding, code=201)
        await api("PATCH", f"{PODS}/one/status", {"status": {"phase": "Running"}}, headers=MERGE)
        account = "/api/v1/namespaces/default/serviceaccounts/default/token"
        await api("POST", account, {"spec": {}}, code=201)
        query = "command=sh&command=-c&stdout=true&container=main"
        await api("GET", f"{PODS}/one/exec?{query}", code=404)  # there is no such node
        eviction = {"metadata": {"name": "one"}, "deleteOptions": {"gracePeriodSeconds": 0}}
        await api("POST", f"{PODS}/one/eviction", eviction, code=201)
        found = [
            (asked["operation"], asked["resource"]["resource"], asked["subResource"],
             asked["kind"]["kind"])
            for asked in hooks.seen["/see"]
        ]  # fmt: skip
        assert found == [
            ("UPDATE", "deployments", "scale", "Scale"),
            ("CREATE", "pods", "binding", "Binding"),
            ("UPDATE", "pods", "status", "Pod"),
            ("CREATE", "serviceaccounts", "token", "TokenRequest"),
            ("CONNECT", "pods", "exec", "PodExecOptions"),
            ("CREATE", "pods", "eviction", "Eviction"),
        ]
        scale, exec_ = hooks.seen["/see"][0], hooks.seen["/see"][4]
        assert (scale["oldObject"]["spec"], scale["object"]["spec"]) == (
            {"replicas": 1}, {"replicas": 3},
        )  # fmt: skip
        assert exec_["object"] == {
            "kind": "PodExecOptions", "apiVersion": "v1", "stdout": True, "container": "main",
            "command": ["sh", "-c"],
        }  # fmt: skip

    with_server(scenario)


def test_a_webhook_may_change_a_scale():
    async def scenario(api, hooks):
        hooks.answers["/most"] = lambda _: patch(
            {"op": "replace", "path": "/spec/replicas", "value": 2}
        )
        rules = rule(("deployments/scale",), groups=("apps",))
        await api("POST", MUTATING, configuration("Mutating", hook(hooks, "/most", rules)))
        await api("POST", "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT, code=201)
        path = "/apis/apps/v1/namespaces/default/deployments/web/scale"
        found = await api("PATCH", path, {"spec": {"replicas": 9}}, headers=MERGE)
        assert found["spec"]["replicas"] == 2

    with_server(scenario)


def test_a_connection_can_be_refused():
    async def scenario(api, hooks):
        hooks.answers["/no"] = lambda _: {"allowed": False, "status": {"message": "no shells"}}
        rules = rule(("pods/exec",), ("CONNECT",))
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/no", rules)))
        await api("POST", PODS, pod("one"), code=201)
        found = await api("GET", f"{PODS}/one/exec?command=sh&stdout=true", code=400)
        assert found["message"].endswith("denied the request: no shells")

    with_server(scenario)


def test_validating_webhooks_are_asked_at_once():
    async def scenario(api, hooks):
        together = asyncio.Barrier(3)

        async def meet(_):
            await together.wait()  # returns when all three are here
            return {"allowed": True}

        for path in ("/a", "/b", "/c"):
            hooks.answers[path] = meet
        webhooks = [hook(hooks, path, MAP_RULE) for path in ("/a", "/b", "/c")]
        await api("POST", VALIDATING, configuration("Validating", *webhooks))
        await api("POST", MAPS, config_map("one"), code=201)

    with_server(scenario)


def test_connections_are_kept():
    async def scenario(api, hooks):
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/see", MAP_RULE)))
        for name in "abcdef":
            await api("POST", MAPS, config_map(name), code=201)
        assert len(hooks.seen["/see"]) == 6
        assert hooks.http.connections == 1

    with_server(scenario)


def test_deleting_a_collection_asks_about_each_object():
    async def scenario(api, hooks):
        for name in ("keep", "drop"):
            await api("POST", MAPS, config_map(name, set="x"), code=201)
        rules = rule(("configmaps",), ("DELETE",))
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/see", rules)))
        await api("DELETE", f"{MAPS}?labelSelector=set%3Dx")
        names = sorted(asked["oldObject"]["metadata"]["name"] for asked in hooks.seen["/see"])
        assert names == ["drop", "keep"]

    with_server(scenario)


def test_a_service_leads_to_its_endpoints():
    async def scenario(api, hooks):
        service = {"metadata": {"name": "hooks"}, "spec": {"ports": [{"port": 443}]}}
        await api("POST", "/api/v1/namespaces/default/services", service, code=201)
        found = hook(hooks, "/see", MAP_RULE)
        found["clientConfig"] = {
            "service": {"namespace": "default", "name": "hooks", "path": "/see"},
            "caBundle": AUTHORITY.bundle,
        }
        await api("POST", VALIDATING, configuration("Validating", found))
        answer = await api("POST", MAPS, config_map("one"), code=500)
        assert 'no endpoints available for service "hooks"' in answer["message"]
        assert "https://hooks.default.svc:443/see?timeout=10s" in answer["message"]
        endpoints = {
            "metadata": {"name": "hooks", "namespace": "default", "uid": "1"},
            "subsets": [{"addresses": [{"ip": "127.0.0.1"}], "ports": [{"port": hooks.port}]}],
        }
        # Straight into the store: the API takes no loopback address for an endpoint.
        core = api.server.core
        revision = await core.store.create(
            key_of(ENDPOINTS, "default", "hooks"), encode(endpoints, ENDPOINTS)
        )
        await core.cache.wait(revision)
        await api("POST", MAPS, config_map("one"), code=201)
        assert len(hooks.seen["/see"]) == 1

    with_server(scenario, "hooks.default.svc")


def test_the_certificate_must_be_of_the_service():
    async def scenario(api, hooks):
        found = hook(hooks, "/see", MAP_RULE)
        found["clientConfig"]["url"] = f"https://localhost:{hooks.port}/see"
        await api("POST", VALIDATING, configuration("Validating", found))
        answer = await api("POST", MAPS, config_map("one"), code=500)
        assert "tls: failed to verify certificate: x509: " in answer["message"]
        assert "localhost" in answer["message"]

    with_server(scenario, "other.default.svc")


def test_nothing_configured_means_nothing_loaded():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("one"), code=201)
        assert "_calls" not in vars(server.core.admission._dynamic)
        assert "_versions" not in vars(server.core.admission._dynamic)

    run(scenario)


def test_json_is_json():
    """The reviews are what any JSON parser reads."""

    async def scenario(api, hooks):
        await api("POST", VALIDATING, configuration("Validating", hook(hooks, "/see", MAP_RULE)))
        await api("POST", MAPS, {**config_map("one"), "data": {"a": "ä\u2028 \U0001f600"}},
                  headers=JSON, code=201)  # fmt: skip
        assert json.dumps(hooks.seen["/see"][0]["object"]["data"], ensure_ascii=False) == (
            '{"a": "ä\u2028 \U0001f600"}'
        )

    with_server(scenario)


DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "default": 3},
                                    "color": {"type": "string"},
                                },
                            }
                        },
                    }
                },
            }
            for name in ("v1", "v1beta1")
        ],
    },
}


def test_custom_objects_are_admitted_like_any_other():
    async def scenario(api, hooks):
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        await api("POST", definitions, DEFINITION, code=201)
        widgets = "/apis/example.com/v1/namespaces/default/widgets"
        for _ in range(100):
            answer = await api.transport.request("GET", widgets, headers={})
            if answer.status == 200:
                break
            await asyncio.sleep(0.02)
        hooks.answers["/paint"] = lambda asked: patch(
            {"op": "add", "path": "/spec", "value": {"color": "red", "unknown": 1}}
        )
        rules = rule(("widgets",), groups=("example.com",), versions=("v1beta1",))
        await api("POST", MUTATING, configuration("Mutating", hook(hooks, "/paint", rules)))
        widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}}
        made = await api("POST", widgets, widget, code=201)
        (asked,) = hooks.seen["/paint"]
        assert asked["object"]["apiVersion"] == "example.com/v1beta1"
        assert asked["requestKind"]["version"] == "v1"
        assert made["apiVersion"] == "example.com/v1"
        assert made["spec"] == {"color": "red", "size": 3}  # pruned, and defaulted anew

    with_server(scenario)
