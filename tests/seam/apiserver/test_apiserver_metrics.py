"""What /metrics counts of access, admission and watches: upstream's names, labels and meaning."""

import asyncio
import re

from access_lab import access
from api_in_process import JSON, MAPS, config_map, run
from policy_objects import apply, binding, policy, rules
from webhook_server import (
    AUTHORITY,
    MUTATING,
    VALIDATING,
    configuration,
    hook,
    rule,
    webhook_server,
)

from muntin.kit.http.messages import Response

MAP_RULE = rule(("configmaps",), ("CREATE",))


def numbers(server, name):
    """The samples of a metric whose name begins so: its labels, in order of their names."""
    found = {}
    for line in server.core.metrics.text().splitlines():
        if line.startswith(name):
            labels, number = line.rsplit(" ", 1)
            values = sorted(re.findall(r'(\w+)="([^"]*)"', labels))
            found[labels.partition("{")[0], *(value for _, value in values)] = float(number)
    return found


def test_plugins_are_timed_by_name_and_operation():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("one"), code=201)
        await api("POST", "/api/v1/namespaces", {"metadata": {"name": "going"}}, code=201)
        await api("DELETE", "/api/v1/namespaces/default", code=403)
        name = "apiserver_admission_controller_admission_duration_seconds"
        found = numbers(server, f"{name}_count")
        assert found[f"{name}_count", "NamespaceLifecycle", "CREATE", "false", "admit"] >= 2
        assert found[f"{name}_count", "NamespaceLifecycle", "DELETE", "true", "admit"] == 1
        assert found[f"{name}_count", "ResourceQuota", "CREATE", "false", "validate"] >= 2
        sums = numbers(server, f"{name}_sum")
        assert all(0 < number < 1 for number in sums.values())
        buckets = numbers(server, f"{name}_bucket")
        assert all(buckets[f"{name}_bucket", "+Inf", *key[1:]] == found[key] for key in found)

    run(scenario)


def test_webhooks_are_counted_by_what_came_of_them():
    async def scenario(server, api):
        async with webhook_server() as hooks:
            gone = hook(hooks, "/gone", MAP_RULE, name="gone.example.com", failurePolicy="Ignore")
            gone["clientConfig"] = {"url": "https://127.0.0.1:1/", "caBundle": AUTHORITY.bundle}
            ill = hook(hooks, "/ill", MAP_RULE, name="ill.example.com")
            asks = hook(hooks, "/ask", MAP_RULE)
            await api("POST", MUTATING, configuration("Mutating", gone, ill))
            await api("POST", VALIDATING, configuration("Validating", asks))
            await api("POST", MAPS, config_map("one"), code=201)
            hooks.answers["/ask"] = lambda _: {"allowed": False, "status": {"code": 418}}
            await api("POST", MAPS, config_map("two"), code=418)
            hooks.answers["/ill"] = lambda _: Response(502, {}, b"no")
            await api("POST", MAPS, config_map("three"), code=500)
        name = "apiserver_admission_webhook_"
        assert numbers(server, f"{name}request_total") == {
            (f"{name}request_total", "200", "ill.example.com", "CREATE", "false", "admit"): 2,
            (f"{name}request_total", "502", "ill.example.com", "CREATE", "true", "admit"): 1,
            (f"{name}request_total", "503", "gone.example.com", "CREATE", "false", "admit"): 3,
            (f"{name}request_total", "200", "ask.example.com", "CREATE", "false", "validating"): 1,
            (f"{name}request_total", "418", "ask.example.com", "CREATE", "true", "validating"): 1,
        }
        assert numbers(server, f"{name}rejection_count") == {
            (f"{name}rejection_count", "calling_webhook_error", "ill.example.com", "CREATE",
             "502", "admit"): 1,
            (f"{name}rejection_count", "no_error", "ask.example.com", "CREATE", "418",
             "validating"): 1,
        }  # fmt: skip
        assert numbers(server, f"{name}fail_open_count") == {
            (f"{name}fail_open_count", "gone.example.com", "admit"): 3
        }
        name += "admission_duration_seconds_count"
        assert numbers(server, name)[name, "ill.example.com", "CREATE", "false", "admit"] == 2

    run(scenario)


def test_what_webhooks_take_is_not_the_servers_own_time():
    async def scenario(server, api):
        async def slow(_):
            await asyncio.sleep(0.3)
            return {"allowed": True}

        async with webhook_server() as hooks:
            asks = hook(hooks, "/ask", MAP_RULE)
            await api("POST", VALIDATING, configuration("Validating", asks))
            hooks.answers["/ask"] = slow
            await api("POST", MAPS, config_map("one"), code=201)
        whole, own = "apiserver_request_duration_seconds", "apiserver_request_sli_duration_seconds"

        def posts(name):
            found = numbers(server, name)
            return {key: found[key] for key in found if "configmaps" in key and "POST" in key}

        ((all_s,), (own_s,)) = (posts(f"{name}_sum").values() for name in (whole, own))
        assert all_s >= 0.3
        assert 0 <= own_s <= all_s - 0.29
        buckets = {key[3]: number for key, number in posts(f"{own}_bucket").items()}
        assert len(buckets) == 22
        slow_ones = {key[4]: number for key, number in posts(f"{whole}_bucket").items()}
        assert buckets["+Inf"] == buckets["60"] == slow_ones["+Inf"] == slow_ones["0.2"] + 1

    run(scenario)


def test_policies_are_counted_by_binding_and_action():
    async def scenario(server, api):
        match = rules("configmaps", "")
        stops = policy({"expression": "false"}, name="stops", match=match)
        errs = policy({"expression": "object.data.missing == ''"}, name="errs", match=match,
                      failurePolicy="Ignore")  # fmt: skip
        await apply(api, stops, errs, binding("Deny", "Audit", name="b1", of="stops"),
                    binding("Warn", name="b2", of="errs"))  # fmt: skip
        await api("POST", MAPS, config_map("one"), code=422)
        name = "apiserver_validating_admission_policy_check_"
        counted = {
            ("deny", "no_error", "stops", "b1"): 1,
            ("audit", "no_error", "stops", "b1"): 1,
            ("allow", "invalid_error", "errs", "b2"): 1,
        }
        for metric in (f"{name}total", f"{name}duration_seconds_count"):
            assert numbers(server, metric) == {
                (metric, *labels): number for labels, number in counted.items()
            }

    run(scenario)


def test_an_annotation_that_cannot_be_made_denies_whatever_its_binding_says():
    async def scenario(server, api):
        wrong = [{"key": "note", "valueExpression": "string(object.data.missing)"}]
        made = policy(match=rules("configmaps", ""), auditAnnotations=wrong)
        await apply(api, made, binding("Warn"))
        found = await api("POST", MAPS, config_map("one"), code=422)
        assert (
            "with binding 'bound' denied request: expression 'string(object.data.missing)'"
            in (found["message"])
        )
        name = "apiserver_validating_admission_policy_check_total"
        assert numbers(server, name) == {(name, "deny", "invalid_error", "demo", "bound"): 1}

    run(scenario)


def test_decisions_are_counted_by_result():
    async def scenario(server, api):
        transport = server.user("nobody")
        assert (await transport.request("GET", MAPS, headers=JSON)).status == 403
        for name in ("authorization_attempts_total", "authorization_duration_seconds_count"):
            found = numbers(server, name)
            assert found[name, "no-opinion"] == 1
            assert found[name, "allowed"] >= 1

    run(scenario)


def test_what_it_takes_to_be_somebody_else_is_counted_by_way(tmp_path):
    async def scenario(lab):
        lab.authority.pair("jane", "jane")
        bob = {"Impersonate-User": "bob"}
        assert (await lab.whoami(pair="jane", headers=bob))[0] == 403
        rule = {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"]}
        roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
        await lab.make(roles, {"metadata": {"name": "bob"}, "rules": [rule]})
        subject = {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
        reference = {"kind": "ClusterRole", "name": "bob", "apiGroup": subject["apiGroup"]}
        given = {"metadata": {"name": "bob"}, "roleRef": reference, "subjects": [subject]}
        await lab.make(f"{roles[:-1]}bindings", given)
        assert (await lab.whoami(pair="jane", headers=bob))[0] == 201
        name = "apiserver_impersonation_attempts"
        wanted = {("denied", ""): 1, ("allowed", "legacy"): 1}
        for metric in (f"{name}_total", f"{name}_duration_seconds_count"):
            assert numbers(lab.server, metric) == {(metric, *key): wanted[key] for key in wanted}
        name = "apiserver_impersonation_authorization_attempts_total"
        assert numbers(lab.server, name) == {
            (name, "denied", "user-info"): 2,
            (name, "denied", "legacy"): 1,
            (name, "allowed", "legacy"): 1,
        }

    access(scenario, tmp_path, version="1.36")


def test_sizes_of_events_are_counted_once_for_each_watcher():
    async def scenario(server, api):
        async with api.watch(f"{MAPS}?watch=1") as one, api.watch(f"{MAPS}?watch=1") as other:
            await api("POST", MAPS, {**config_map("large"), "data": {"a": "b" * 3000}}, code=201)
            for events in (one, other):
                while await events.short() != ("ADDED", "large"):
                    pass
        name = "apiserver_watch_events_sizes"
        buckets = {
            key[2]: number
            for key, number in numbers(server, f"{name}_bucket").items()
            if "configmaps" in key
        }
        assert buckets["4096"] - buckets["2048"] == 2

    run(scenario)


def test_objects_are_counted_by_resource():
    async def scenario(server, api):
        found = numbers(server, "apiserver_resource_objects")
        assert found["apiserver_resource_objects", "", "namespaces"] >= 4
        roles = found["apiserver_resource_objects", "rbac.authorization.k8s.io", "clusterroles"]
        assert roles > 50
        name = "apiserver_storage_objects"
        assert numbers(server, name)[name, "clusterroles.rbac.authorization.k8s.io"] == roles

    run(scenario)
