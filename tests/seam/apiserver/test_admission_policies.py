"""ValidatingAdmissionPolicy through the API: what is refused, warned of, and noted."""

import pytest
from api_in_process import MAPS, MERGE, PODS, config_map, pod, run
from policy_objects import (
    BINDINGS,
    DEPLOYMENTS,
    POLICIES,
    apply,
    binding,
    deployment,
    policy,
    rules,
)


def test_the_documented_example():
    async def scenario(server, api):
        await apply(api, policy({"expression": "object.spec.replicas <= 5"}), binding())
        await api("POST", DEPLOYMENTS, deployment("small", 5), code=201)
        found = await api("POST", DEPLOYMENTS, deployment("large", 6), code=422)
        text = (
            "ValidatingAdmissionPolicy 'demo' with binding 'bound' denied request: failed "
            "expression: object.spec.replicas <= 5"
        )
        assert found["message"] == f'deployments.apps "large" is forbidden: {text}'
        assert found["reason"] == "Invalid"
        assert found["details"] == {
            "name": "large", "group": "apps", "kind": "deployments", "causes": [{"message": text}],
        }  # fmt: skip
        path = f"{DEPLOYMENTS}/small"
        await api("PATCH", path, {"spec": {"replicas": 7}}, headers=MERGE, code=422)
        await api("DELETE", f"{BINDINGS}/bound")
        await api("PATCH", path, {"spec": {"replicas": 7}}, headers=MERGE)

    run(scenario)


@pytest.mark.parametrize(
    ("validation", "code", "reason", "message"),
    [
        ({"expression": "false", "message": "no"}, 422, "Invalid", "no"),
        ({"expression": "false", "message": "no", "reason": "Forbidden"}, 403, "Forbidden", "no"),
        (
            {"expression": "false", "messageExpression": "'got ' + string(object.spec.replicas)"},
            422, "Invalid", "got 1",
        ),
        (
            {"expression": "false", "message": "plain", "messageExpression": "object.missing + ''"},
            422, "Invalid", "plain",
        ),
        (
            {"expression": "object.spec.missing == 1"},
            422, "Invalid",
            "expression 'object.spec.missing == 1' resulted in error: no such key: missing",
        ),
    ],
)  # fmt: skip
def test_what_a_denial_says(validation, code, reason, message):
    async def scenario(server, api):
        await apply(api, policy(validation), binding())
        found = await api("POST", DEPLOYMENTS, deployment(), code=code)
        assert found["reason"] == reason
        assert found["message"].endswith(f"denied request: {message}")

    run(scenario)


def test_failures_may_be_ignored():
    async def scenario(server, api):
        wrong = {"expression": "object.spec.missing == 1"}
        await apply(api, policy(wrong, failurePolicy="Ignore"), binding())
        await api("POST", DEPLOYMENTS, deployment(), code=201)

    run(scenario)


def test_warnings_and_annotations_instead_of_denials():
    async def scenario(server, api):
        made = policy(
            {"expression": "false", "message": "mind this"},
            auditAnnotations=[{"key": "count", "valueExpression": "string(object.spec.replicas)"}],
        )
        await apply(api, made, binding("Warn", "Audit"))
        await api("POST", DEPLOYMENTS, deployment(), code=201)
        assert api.headers["warning"] == (
            "299 - \"Validation failed for ValidatingAdmissionPolicy 'demo' with binding 'bound': "
            'mind this"'
        )

    run(scenario)


def test_the_variables_of_an_expression():
    async def scenario(server, api):
        await api("PATCH", "/api/v1/namespaces/default", {"metadata": {"labels": {"env": "test"}}},
                  headers=MERGE)  # fmt: skip
        expressions = [
            "request.operation == 'CREATE' && oldObject == null || oldObject.spec.replicas == 1",
            "request.userInfo.username == 'admin' && 'system:masters' in request.userInfo.groups",
            "request.kind.kind == 'Deployment' && request.resource.resource == 'deployments'",
            "request.name == object.metadata.name && request.namespace == 'default'",
            "namespaceObject.metadata.labels['env'] == 'test'",
            "namespaceObject.metadata.creationTimestamp < timestamp('2999-01-01T00:00:00Z')",
            "authorizer.group('apps').resource('deployments').check('create').allowed()",
            "authorizer.requestResource.check('update').allowed()",
            "variables.first == 'main' && variables.second",
            "request.dryRun == false",
            "has(request.options) && object.metadata.?annotations.orValue({}).size() < 9",
        ]
        made = policy(
            *({"expression": text} for text in expressions),
            variables=[
                {
                    "name": "names",
                    "expression": "object.spec.template.spec.containers.map(c, c.name)",
                },
                {"name": "first", "expression": "variables.names[0]"},
                {"name": "second", "expression": "size(variables.names) == 1"},
            ],
        )
        await apply(api, made, binding())
        await api("POST", DEPLOYMENTS, deployment(), code=201)
        path = f"{DEPLOYMENTS}/web"
        await api("PATCH", path, {"spec": {"replicas": 3}}, headers=MERGE)
        await api("PATCH", path, {"spec": {"replicas": 4}}, headers=MERGE, code=422)

    run(scenario)


def test_a_variable_that_fails_says_so_where_it_is_used():
    async def scenario(server, api):
        made = policy(
            {"expression": "variables.unused == 1 || true"},
            {"expression": "variables.bad > 1"},
            variables=[
                {"name": "unused", "expression": "object.spec.nothing"},
                {"name": "bad", "expression": "object.spec.missing"},
            ],
        )
        await apply(api, made, binding())
        found = await api("POST", DEPLOYMENTS, deployment(), code=422)
        assert (
            "expression 'variables.bad > 1' resulted in error: composited variable"
            in (found["message"])
        )
        assert "no such key: missing" in found["message"]

    run(scenario)


@pytest.mark.parametrize(
    ("more", "refused"),
    [
        ({"match": rules(resourceNames=["web"])}, True),
        ({"match": rules(resourceNames=["other"])}, False),
        ({"match": rules(operations=("DELETE",))}, False),
        ({"matchConditions": [{"name": "a", "expression": "object.metadata.name == 'x'"}]}, False),
        ({"matchConditions": [{"name": "a", "expression": "object.metadata.name == 'web'"}]}, True),
    ],
)
def test_what_a_policy_is_for(more, refused):
    async def scenario(server, api):
        await apply(api, policy({"expression": "false"}, **more), binding())
        await api("POST", DEPLOYMENTS, deployment(), code=422 if refused else 201)

    run(scenario)


def test_what_a_binding_is_for():
    async def scenario(server, api):
        wanted = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
        made = binding(matchResources=wanted)
        await apply(api, policy({"expression": "false"}), made)
        await api("POST", DEPLOYMENTS, deployment(), code=201)
        space = {"metadata": {"name": "prod", "labels": {"env": "prod"}}}
        await api("POST", "/api/v1/namespaces", space, code=201)
        path = DEPLOYMENTS.replace("default", "prod")
        await api("POST", path, deployment(), code=422)

    run(scenario)


def test_excluded_resources():
    async def scenario(server, api):
        made = policy({"expression": "false"}, match=rules("*", "*"))
        made["spec"]["matchConstraints"]["excludeResourceRules"] = [rules("deployments")]
        await apply(api, made, binding())
        await api("POST", DEPLOYMENTS, deployment(), code=201)
        review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        await api("POST", path, review, code=201)
        await api("POST", "/api/v1/namespaces/default/serviceaccounts",
                  {"metadata": {"name": "x"}}, code=422)  # fmt: skip

    run(scenario)


PARAM_KIND = {"apiVersion": "v1", "kind": "ConfigMap"}
LIMIT = {"expression": "object.spec.replicas <= int(params.data.most)"}


def test_parameters_by_name():
    async def scenario(server, api):
        ref = {"name": "limits", "parameterNotFoundAction": "Deny"}
        await apply(api, policy(LIMIT, paramKind=PARAM_KIND), binding(paramRef=ref))
        found = await api("POST", DEPLOYMENTS, deployment("a", 2), code=422)
        assert found["message"].endswith(
            "failed to configure binding: no params found for policy binding with `Deny` "
            "parameterNotFoundAction"
        )
        await api("POST", MAPS, {"metadata": {"name": "limits"}, "data": {"most": "2"}}, code=201)
        await api("POST", DEPLOYMENTS, deployment("a", 2), code=201)
        await api("POST", DEPLOYMENTS, deployment("b", 3), code=422)
        await api("PATCH", f"{MAPS}/limits", {"data": {"most": "3"}}, headers=MERGE)
        await api("POST", DEPLOYMENTS, deployment("b", 3), code=201)

    run(scenario)


def test_parameters_by_labels_are_tried_one_by_one():
    async def scenario(server, api):
        ref = {"selector": {"matchLabels": {"limits": "yes"}}, "parameterNotFoundAction": "Allow",
               "namespace": "default"}  # fmt: skip
        await apply(api, policy(LIMIT, paramKind=PARAM_KIND), binding(paramRef=ref))
        await api("POST", DEPLOYMENTS, deployment("a", 9), code=201)
        for name, most in (("one", "5"), ("two", "2")):
            made = {**config_map(name, limits="yes"), "data": {"most": most}}
            await api("POST", MAPS, made, code=201)
        await api("POST", DEPLOYMENTS, deployment("b", 4), code=422)
        await api("POST", DEPLOYMENTS, deployment("c", 2), code=201)

    run(scenario)


def test_a_kind_of_parameters_that_is_not_there():
    async def scenario(server, api):
        kind = {"apiVersion": "example.com/v1", "kind": "Limit"}
        ref = {"name": "x", "parameterNotFoundAction": "Allow"}
        made = policy({"expression": "params == null"}, paramKind=kind)
        await apply(api, made, binding(paramRef=ref))
        found = await api("POST", DEPLOYMENTS, deployment(), code=422)
        assert "failed to find resource referenced by paramKind" in found["message"]
        assert "example.com/v1, Kind=Limit" in found["message"]

    run(scenario)


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (
            {"validations": [{"expression": "object.x >"}]},
            "spec.validations[0].expression",
            'Invalid value: "object.x >": compilation failed: ERROR: <input>:1:11: Syntax error',
        ),
        (
            {"validations": [{"expression": "objct.x == 1"}]},
            "spec.validations[0].expression",
            "undeclared reference to 'objct' (in container '')\n | objct.x == 1\n | ^",
        ),
        (
            {"validations": [{"expression": "request.foo == 1"}]},
            "spec.validations[0].expression",
            "undefined field 'foo'",
        ),
        (
            {"validations": [{"expression": "params.x == 1"}]},
            "spec.validations[0].expression",
            "undeclared reference to 'params'",
        ),
        (
            {"validations": [{"expression": "'text'"}]},
            "spec.validations[0].expression",
            "must evaluate to bool",
        ),
        (
            {"validations": [{"expression": "true", "messageExpression": "1"}]},
            "spec.validations[0].messageExpression",
            "must evaluate to string",
        ),
        (
            {"validations": [{"expression": "true", "reason": "Odd"}]},
            "spec.validations[0].reason",
            'Unsupported value: "Odd": supported values: "Forbidden", "Invalid", '
            '"RequestEntityTooLarge"',
        ),
        ({"validations": []}, "spec.validations", "must contain at least one item"),
        ({"matchConstraints": None}, "spec.matchConstraints", "Required value"),
        (
            {"variables": [{"name": "if", "expression": "1"}]},
            "spec.variables[0].name",
            "must be a valid CEL identifier",
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "1"}]},
            "spec.matchConditions[0].expression",
            "must evaluate to bool",
        ),
        (
            {"paramKind": {"apiVersion": "a/b/c", "kind": "X"}},
            "spec.paramKind.apiVersion",
            "unexpected GroupVersion string: a/b/c",
        ),
    ],
)
def test_what_no_policy_may_say(change, field, message):
    async def scenario(server, api):
        made = policy({"expression": "true"})
        made["spec"].update(change)
        found = await api("POST", POLICIES, made, code=422)
        (cause,) = (row for row in found["details"]["causes"] if row["field"] == field)
        assert message in cause["message"]

    run(scenario)


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"policyName": ""}, "spec.policyName", "Required value"),
        ({"validationActions": []}, "spec.validationActions", "at least one validation action"),
        ({"validationActions": ["Deny", "Warn"]}, "spec.validationActions", "both Deny and Warn"),
        ({"validationActions": ["No"]}, "spec.validationActions[0]", 'Unsupported value: "No"'),
        ({"paramRef": {}}, "spec.paramRef", "one of name or selector must be specified"),
        (
            {"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}},
            "spec.paramRef.name",
            "name and selector are mutually exclusive",
        ),
    ],
)
def test_what_no_binding_may_say(spec, field, message):
    async def scenario(server, api):
        made = binding()
        made["spec"].update(spec)
        found = await api("POST", BINDINGS, made, code=422)
        (cause,) = (row for row in found["details"]["causes"] if row["field"] == field)
        assert message in cause["message"]

    run(scenario)


def test_nobody_has_parameters_read_that_they_may_not_read():
    async def scenario(server, api):
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        everything = {
            "apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["*"],
        }  # fmt: skip
        role = {"metadata": {"name": "policies"}, "rules": [everything]}
        await api("POST", f"{rbac}/clusterroles", role, code=201)
        bound = {
            "metadata": {"name": "policies"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "policies"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                          "name": "jane"}],
        }  # fmt: skip
        await api("POST", f"{rbac}/clusterrolebindings", bound, code=201)
        jane = type(api)(server.user("jane"))
        made = policy(LIMIT, paramKind={"apiVersion": "v1", "kind": "Secret"})
        found = await jane("POST", POLICIES, made, code=422)
        (cause,) = found["details"]["causes"]
        assert cause["field"] == "spec.paramKind"
        assert 'must have "get" permission' in cause["message"]
        await apply(api, made)
        ref = {"name": "x", "namespace": "kube-system", "parameterNotFoundAction": "Deny"}
        found = await jane("POST", BINDINGS, binding(paramRef=ref), code=422)
        assert found["details"]["causes"][0]["field"] == "spec.paramRef"
        role["rules"].append({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]})
        await api("PUT", f"{rbac}/clusterroles/policies", role)
        await jane("POST", BINDINGS, binding(paramRef=ref), code=201)

    run(scenario)


def test_types_are_checked_and_the_status_says_so():
    async def scenario(server, api):
        made = policy(
            {
                "expression": "object.spec.replicas > 'a'",
                "messageExpression": "'x' + object.missing",
            },
            {"expression": "object.spec.replicas > 0"},
        )
        await apply(api, made)
        async with api.watch(f"{POLICIES}?watch=true") as events:
            while True:
                event = await events.next()
                checked = event["object"].get("status", {}).get("typeChecking")
                if checked is not None:
                    break
        rows = checked["expressionWarnings"]
        assert [row["fieldRef"] for row in rows] == [
            "spec.validations[0].expression",
            "spec.validations[0].messageExpression",
        ]
        assert rows[0]["warning"].startswith(
            "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' "
            "applied to '(int, string)'"
        )
        assert "undefined field 'missing'" in rows[1]["warning"]
        assert event["object"]["status"]["observedGeneration"] == 1

    run(scenario)


def test_a_policy_sees_custom_fields_of_pods_through_connections():
    async def scenario(server, api):
        made = policy(
            {"expression": "!object.command.exists(c, c == 'sh')", "message": "no shells"},
            match=rules("pods/exec", "", ("CONNECT",)),
        )
        await apply(api, made, binding())
        await api("POST", PODS, pod("one"), code=201)
        found = await api("GET", f"{PODS}/one/exec?command=sh&stdout=true", code=422)
        assert found["message"].endswith("no shells")
        found = await api("GET", f"{PODS}/one/exec?command=ls&stdout=true", code=400)
        assert "does not have a host assigned" in found["message"]

    run(scenario)


def test_older_apis_have_no_policies():
    async def scenario(server, api):
        await api("GET", POLICIES, code=404)
        await api("POST", MAPS, config_map("one"), code=201)

    run(scenario, version="1.29")
