"""Who may do what: reviews, messages, escalation, nodes, and a remote authorizer."""

import asyncio
import json

import pytest
from access_lab import access, free_port, remote, service
from api_in_process import JSON, PODS, Api, pod, run

from muntin.apiserver.access_config import AuthorizationWebhookConfig
from muntin.apiserver.bootstrap import objects

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"


def user(name):
    return {"apiGroup": GROUP, "kind": "User", "name": name}


async def grant(api, name, subject, *rules):
    await api("POST", f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": list(rules)})
    ref = {"apiGroup": GROUP, "kind": "ClusterRole", "name": name}
    body = {"metadata": {"name": name}, "roleRef": ref, "subjects": [user(subject)]}
    await api("POST", f"{RBAC}/clusterrolebindings", body)


def rule(verbs, resources, group="", **more):
    return {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split(), **more}


@pytest.mark.parametrize(
    "method, path, message",
    [
        ("GET", "/api/v1/namespaces/y/pods",
         'pods is forbidden: User "x" cannot list resource "pods" in API group "" in the '
         'namespace "y"'),
        ("GET", "/apis/apps/v1/deployments",
         'deployments.apps is forbidden: User "x" cannot list resource "deployments" in API '
         'group "apps" at the cluster scope'),
        ("GET", "/api/v1/namespaces/y/pods/p/log",
         'pods "p" is forbidden: User "x" cannot get resource "pods/log" in API group "" in the '
         'namespace "y"'),
        ("DELETE", "/api/v1/namespaces/y/pods",
         'pods is forbidden: User "x" cannot deletecollection resource "pods" in API group "" in '
         'the namespace "y"'),
        ("GET", "/api/v1/pods?watch=1",
         'pods is forbidden: User "x" cannot watch resource "pods" in API group "" at the cluster '
         "scope"),
        ("GET", "/api/v1/namespaces/y",
         'namespaces "y" is forbidden: User "x" cannot get resource "namespaces" in API group "" '
         'in the namespace "y"'),
        ("GET", "/metrics", 'forbidden: User "x" cannot get path "/metrics"'),
        ("POST", "/logs/a<b>", 'forbidden: User "x" cannot post path "/logs/a&lt;b&gt;"'),
    ],
)  # fmt: skip
def test_refusals_are_in_upstreams_words(method, path, message):
    async def scenario(server, api):
        found = await Api(server.user("x"))(method, path, code=403)
        assert found["message"] == message
        assert (found["status"], found["reason"]) == ("Failure", "Forbidden")

    run(scenario)


def test_a_missing_role_is_named():
    async def scenario(server, api):
        ref = {"apiGroup": GROUP, "kind": "Role", "name": "gone"}
        body = {"metadata": {"name": "b"}, "roleRef": ref, "subjects": [user("x")]}
        await api("POST", f"{RBAC}/namespaces/default/rolebindings", body)
        found = await Api(server.user("x"))("GET", PODS, code=403)
        assert found["message"].endswith(
            'in the namespace "default": RBAC: role.rbac.authorization.k8s.io "gone" not found'
        )

    run(scenario)


def test_nobody_hands_out_what_they_do_not_have():
    async def scenario(server, api):
        rbac = rule("create update", "clusterroles roles clusterrolebindings rolebindings", GROUP)
        await grant(api, "author", "jane", rbac, rule("get list", "pods"))
        jane = Api(server.user("jane", "dev"))
        roles, bindings = f"{RBAC}/clusterroles", f"{RBAC}/clusterrolebindings"
        small = {"metadata": {"name": "small"}, "rules": [rule("get", "pods")]}
        await jane("POST", roles, small, code=201)
        big = {"metadata": {"name": "big"}, "rules": [rule("get delete", "pods secrets")]}
        found = await jane("POST", roles, big, code=403)
        assert found["message"] == (
            'clusterroles.rbac.authorization.k8s.io "big" is forbidden: user "jane" (groups=["dev" '
            '"system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
            '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
            '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}'
        )
        picks = [{"matchLabels": {"a": "b"}}]
        total = {"metadata": {"name": "sum"}, "rules": [],
                 "aggregationRule": {"clusterRoleSelectors": picks}}  # fmt: skip
        found = await jane("POST", roles, total, code=403)
        assert "must have cluster-admin privileges to use the aggregationRule" in found["message"]

        def bound(role, **more):
            ref = {"apiGroup": GROUP, "kind": "ClusterRole", "name": role}
            return {"metadata": {"name": role}, "roleRef": ref, "subjects": [user("bob")], **more}

        await jane("POST", bindings, bound("small"), code=201)
        assert (
            "RBAC permissions not currently held"
            in (await jane("POST", bindings, bound("cluster-admin"), code=403))["message"]
        )
        found = await jane("POST", bindings, bound("nowhere"), code=404)
        assert found["message"] == 'clusterrole.rbac.authorization.k8s.io "nowhere" not found'
        await grant(api, "binder", "jane",
                    rule("bind", "clusterroles", GROUP, resourceNames=["edit"]))  # fmt: skip
        await jane("POST", bindings, bound("edit"), code=201)
        await jane("POST", bindings, bound("admin"), code=403)
        await grant(api, "escalator", "jane", rule("escalate", "clusterroles", GROUP))
        await jane("POST", roles, big, code=201)

    run(scenario)


def test_reviews_of_access():
    async def scenario(server, api):
        await grant(api, "reader", "jane", rule("get list", "pods", resourceNames=["one"]),
                    {"verbs": ["get"], "nonResourceURLs": ["/logs/*"]})  # fmt: skip

        async def ask(code=201, kind="subjectaccessreviews", **spec):
            return await api("POST", f"{REVIEWS}/{kind}", {"spec": spec}, code=code)

        pods = {"verb": "get", "resource": "pods", "namespace": "default"}
        named = await ask(user="jane", resourceAttributes={**pods, "name": "one"})
        assert named["status"] == {
            "allowed": True,
            "reason": 'RBAC: allowed by ClusterRoleBinding "reader" of ClusterRole "reader" '
                      'to User "jane"',
        }  # fmt: skip
        assert (await ask(user="jane", resourceAttributes=pods))["status"] == {"allowed": False}
        path = {"verb": "get", "path": "/logs/kern.log"}
        assert (await ask(user="jane", nonResourceAttributes=path))["status"]["allowed"]
        masters = await ask(groups=["system:masters"], resourceAttributes=pods)
        assert masters["status"]["allowed"]
        wrong = await ask(422, user="jane", resourceAttributes=pods, nonResourceAttributes=path)
        assert "cannot be specified in combination" in wrong["message"]
        assert (
            "at least one of user or group" in (await ask(422, resourceAttributes=pods))["message"]
        )
        assert "exactly one of" in (await ask(422, user="jane"))["message"]
        local = f"{REVIEWS}/namespaces/default/localsubjectaccessreviews"
        spec = {"user": "jane", "resourceAttributes": {**pods, "name": "one"}}
        assert (await api("POST", local, {"spec": spec}))["status"]["allowed"]
        spec["resourceAttributes"]["namespace"] = "other"
        await api("POST", local, {"spec": spec}, code=400)
        mine = f"{REVIEWS}/selfsubjectaccessreviews"
        jane = Api(server.user("jane"))
        asked = {"spec": {"resourceAttributes": {**pods, "name": "one"}}}
        assert (await jane("POST", mine, asked))["status"]["allowed"]
        rules = f"{REVIEWS}/selfsubjectrulesreviews"
        found = (await jane("POST", rules, {"spec": {"namespace": "default"}}))["status"]
        assert found["incomplete"] is False
        assert {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"],
                "resourceNames": ["one"]} in found["resourceRules"]  # fmt: skip
        assert {"verbs": ["get"], "nonResourceURLs": ["/logs/*"]} in found["nonResourceRules"]
        await jane("POST", rules, {"spec": {}}, code=400)
        node = Api(server.user("system:node:n1", "system:nodes"))
        found = (await node("POST", rules, {"spec": {"namespace": "default"}}))["status"]
        assert found["incomplete"] is True
        assert found["evaluationError"] == "node authorizer does not support user rule resolution"

    run(scenario)


def test_selectors_are_part_of_the_question():
    async def scenario(server, api):
        async def allowed(**selector):
            spec = {
                "user": "system:node:n1", "groups": ["system:nodes"],
                "resourceAttributes": {"verb": "list", "resource": "pods", **selector},
            }  # fmt: skip
            answer = await api("POST", f"{REVIEWS}/subjectaccessreviews", {"spec": spec})
            return answer["status"]["allowed"]

        assert not await allowed()
        assert await allowed(fieldSelector={"rawSelector": "spec.nodeName=n1"})
        requirement = {"key": "spec.nodeName", "operator": "In", "values": ["n1"]}
        assert await allowed(fieldSelector={"requirements": [requirement]})
        requirement["values"] = ["n2"]
        assert not await allowed(fieldSelector={"requirements": [requirement]})

    run(scenario)


def test_a_node_reads_what_its_pods_name_from_the_moment_they_do():
    async def scenario(server, api):
        secrets = "/api/v1/namespaces/default/secrets"
        for name in ("s", "deep", "other"):
            await api("POST", secrets, {"metadata": {"name": name}})
        node = Api(server.user("system:node:n1", "system:nodes"))
        refused = await node("GET", f"{secrets}/s", code=403)
        assert refused["message"] == (
            'secrets "s" is forbidden: User "system:node:n1" cannot get resource "secrets" in API '
            'group "" in the namespace "default": no relationship found between node \'n1\' and '
            "this object"
        )
        volume = {
            "metadata": {"name": "pv"},
            "spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                "claimRef": {"namespace": "default", "name": "claim"},
                "csi": {"driver": "d", "volumeHandle": "h",
                        "nodePublishSecretRef": {"name": "deep", "namespace": "default"}},
            },
        }  # fmt: skip
        await api("POST", "/api/v1/persistentvolumes", volume)
        claim = {
            "metadata": {"name": "claim"},
            "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pv",
                     "resources": {"requests": {"storage": "1Gi"}}},
        }  # fmt: skip
        await api("POST", "/api/v1/namespaces/default/persistentvolumeclaims", claim)
        volumes = [
            {"name": "a", "secret": {"secretName": "s"}},
            {"name": "b", "persistentVolumeClaim": {"claimName": "claim"}},
        ]
        await api("POST", PODS, pod("p", nodeName="n1", volumes=volumes))
        await node("GET", f"{secrets}/s")
        await node("GET", f"{secrets}/deep")
        await node("GET", "/api/v1/persistentvolumes/pv")
        await node("GET", f"{secrets}/other", code=403)
        other = Api(server.user("system:node:n2", "system:nodes"))
        await other("GET", f"{secrets}/s", code=403)
        await api("DELETE", f"{PODS}/p?gracePeriodSeconds=0")
        await node("GET", f"{secrets}/s", code=403)
        await node("GET", "/api/v1/persistentvolumes/pv", code=403)

    run(scenario)


def test_a_remote_authorizer(tmp_path):
    port, asked = free_port(), []

    def answer(path, body):
        spec = body["spec"]
        asked.append(spec)
        name = spec.get("resourceAttributes", {}).get("name")
        if name == "yes":
            return {"status": {"allowed": True, "reason": "because"}}
        return {"status": {"allowed": False, "denied": name == "no", "reason": "not you"}}

    def config(folder):
        return AuthorizationWebhookConfig(remote=remote(folder, port))

    maps = "/api/v1/namespaces/default/configmaps"

    async def scenario(lab):
        lab.authority.pair("jane", "jane", "dev")
        for name in ("yes", "no"):
            await lab.make(maps, {"metadata": {"name": name}})
        async with service(tmp_path, answer, port):
            for _ in range(2):
                assert (await lab("GET", f"{maps}/yes", pair="jane"))[0] == 200
            assert len(asked) == 1
            attributes = {"namespace": "default", "verb": "get", "version": "v1",
                          "resource": "configmaps", "name": "yes"}  # fmt: skip
            assert asked[0]["resourceAttributes"] == attributes
            assert (asked[0]["user"], asked[0]["groups"]) == (
                "jane", ["dev", "system:authenticated"],
            )  # fmt: skip
            code, error = await lab("GET", f"{maps}/no", pair="jane")
            assert code == 403
            assert error["message"].endswith(": not you")
            path = f"{maps}?fieldSelector=metadata.name%3Dx&labelSelector=a%3Db"
            assert (await lab("GET", path, pair="jane"))[0] == 403
            assert asked[-1]["resourceAttributes"]["labelSelector"] == {"rawSelector": "a=b"}
            assert (await lab("GET", "/version", pair="jane"))[0] == 200, "RBAC allows it before"
            spec = {"user": "jane", "resourceAttributes": {
                "verb": "get", "resource": "pods", "name": "no"}}  # fmt: skip
            found = await lab.make(f"{REVIEWS}/subjectaccessreviews", {"spec": spec})
            assert found["status"] == {"allowed": False, "denied": True, "reason": "not you"}

    access(
        scenario,
        tmp_path,
        authorization_modes=("Node", "RBAC", "Webhook"),
        authorization_webhook=config,
    )


def test_a_remote_authorizer_is_asked_who_may_escalate_and_bind_and_by_expressions(tmp_path):
    port, asked = free_port(), []

    def answer(path, body):
        found = body["spec"].get("resourceAttributes", {})
        asked.append((found.get("verb"), found.get("resource"), found.get("name")))
        no = found.get("name") in ("little", "closed")
        return {"status": {"allowed": not (no and found["verb"] in ("escalate", "bind", "paint"))}}

    def config(folder):
        return AuthorizationWebhookConfig(
            remote=remote(folder, port), authorized_s=0, unauthorized_s=0
        )

    roles = f"{RBAC}/namespaces/default/roles"
    check = "authorizer.group('').resource('pods').name(object.metadata.name).check('paint')"
    policy = {
        "metadata": {"name": "painted"},
        "spec": {
            "matchConstraints": {"resourceRules": [
                rule("*", "configmaps") | {"operations": ["CREATE"], "apiVersions": ["v1"]}]},
            "validations": [{"expression": f"{check}.allowed()"}],
        },
    }  # fmt: skip
    del policy["spec"]["matchConstraints"]["resourceRules"][0]["verbs"]
    binding = {"metadata": {"name": "painted"},
               "spec": {"policyName": "painted", "validationActions": ["Deny"]}}  # fmt: skip
    admission = "/apis/admissionregistration.k8s.io/v1"

    async def scenario(lab):
        lab.authority.pair("jane", "jane", "dev")
        await lab.make(f"{admission}/validatingadmissionpolicies", policy)
        await lab.make(f"{admission}/validatingadmissionpolicybindings", binding)
        async with service(tmp_path, answer, port):
            for name, wanted in (("big", 201), ("little", 403)):
                role = {"metadata": {"name": name}, "rules": [rule("get", "secrets")]}
                assert (await lab("POST", roles, role, pair="jane"))[0] == wanted
                assert ("escalate", "roles", name) in asked
            await lab.make(roles, {"metadata": {"name": "little"}, "rules": [rule("get", "pods")]})
            for name, wanted in (("big", 201), ("little", 403)):
                given = {"metadata": {"name": name}, "subjects": [user("bob")],
                         "roleRef": {"kind": "Role", "name": name,
                                     "apiGroup": "rbac.authorization.k8s.io"}}  # fmt: skip
                path = roles.replace("/roles", "/rolebindings")
                assert (await lab("POST", path, given, pair="jane"))[0] == wanted
                assert ("bind", "roles", name) in asked
            for name, wanted in (("open", 201), ("closed", 422)):
                path = "/api/v1/namespaces/default/configmaps"
                found = await lab("POST", path, {"metadata": {"name": name}}, pair="jane")
                assert found[0] == wanted, found
                assert ("paint", "pods", name) in asked

    access(
        scenario,
        tmp_path,
        authorization_modes=("Node", "RBAC", "Webhook"),
        authorization_webhook=config,
    )


@pytest.mark.parametrize("modes, code", [(("AlwaysAllow",), 200), (("AlwaysDeny",), 403)])
def test_modes_that_need_no_thought(tmp_path, modes, code):
    async def scenario(lab):
        lab.authority.pair("jane", "jane")
        found, error = await lab("GET", "/api/v1/secrets", pair="jane")
        assert found == code
        if code == 403:
            assert error["message"].endswith(": Everything is forbidden.")

    access(scenario, tmp_path, authorization_modes=modes)


def test_a_start_adds_what_is_missing_and_keeps_what_is_the_users():
    async def scenario(server, api):
        view = await api("GET", f"{RBAC}/clusterroles/system:basic-user")
        mine = rule("get", "mine", "example.com")
        view["rules"] = [mine]
        await api("PUT", f"{RBAC}/clusterroles/system:basic-user", view)
        own = await api("GET", f"{RBAC}/clusterroles/system:discovery")
        own["metadata"]["annotations"]["rbac.authorization.kubernetes.io/autoupdate"] = "false"
        own["rules"] = []
        await api("PUT", f"{RBAC}/clusterroles/system:discovery", own)
        binding = await api("GET", f"{RBAC}/clusterrolebindings/system:basic-user")
        binding["subjects"] = [user("bob")]
        await api("PUT", f"{RBAC}/clusterrolebindings/system:basic-user", binding)
        await api("DELETE", f"{RBAC}/clusterroles/system:heapster")
        await objects.run(server.core, server.transport(objects.USER))
        found = await api("GET", f"{RBAC}/clusterroles/system:basic-user")
        assert found["rules"][0] == mine
        assert len(found["rules"]) == 3
        assert not (await api("GET", f"{RBAC}/clusterroles/system:discovery")).get("rules")
        subjects = (await api("GET", f"{RBAC}/clusterrolebindings/system:basic-user"))["subjects"]
        assert [row["name"] for row in subjects] == ["bob", "system:authenticated"]
        await api("GET", f"{RBAC}/clusterroles/system:heapster")
        version = found["metadata"]["resourceVersion"]
        await objects.run(server.core, server.transport(objects.USER))
        again = await api("GET", f"{RBAC}/clusterroles/system:basic-user")
        assert again["metadata"]["resourceVersion"] == version

    run(scenario)


def test_decisions_are_kept_until_a_role_changes():
    async def scenario(server, api):
        jane = Api(server.user("jane"))
        await jane("GET", PODS, code=403)
        await grant(api, "reader", "jane", rule("list", "pods"))
        await jane("GET", PODS)
        calls = []
        rbac = server.core.authorizer._rbac
        inner = rbac._decide
        rbac._decide = lambda asked: calls.append(asked) or inner(asked)
        await asyncio.gather(*(jane("GET", PODS) for _ in range(5)))
        assert calls == []
        headers = {**JSON, "content-type": "application/merge-patch+json"}
        body = json.dumps({"rules": []}).encode()
        answer = await server.user("admin", "system:masters").request(
            "PATCH", f"{RBAC}/clusterroles/reader", headers=headers, body=body
        )
        assert answer.status == 200
        await jane("GET", PODS, code=403)

    run(scenario)
