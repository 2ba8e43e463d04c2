"""MutatingAdmissionPolicy through the API: order, second rounds, failures, parameters."""

from api_in_process import MAPS, config_map, run

VERSION = "v1.36.0"
GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{GROUP}/mutatingadmissionpolicies"
BINDINGS = f"{GROUP}/mutatingadmissionpolicybindings"
RULES = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
         "resources": ["configmaps"]}  # fmt: skip


def policy(name, expression, **spec):
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
    return {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [RULES]},
            "reinvocationPolicy": "Never",
            "mutations": [mutation],
            **spec,
        },
    }


def label(key, value):
    return f"Object{{metadata: Object.metadata{{labels: {{'{key}': {value}}}}}}}"


async def apply(api, *policies, **spec):
    for obj in policies:
        name = obj["metadata"]["name"]
        await api("POST", POLICIES, obj, code=201)
        binding = {"metadata": {"name": name}, "spec": {"policyName": name, **spec}}
        await api("POST", BINDINGS, binding, code=201)


COUNT = "string(has(object.metadata.labels) ? size(object.metadata.labels) : 0)"


def test_policies_see_what_those_before_have_made():
    async def scenario(server, api):
        await apply(api, policy("a", label("one", COUNT)), policy("b", label("two", COUNT)))
        made = await api("POST", MAPS, config_map("c"), code=201)
        assert made["metadata"]["labels"] == {"one": "0", "two": "1"}

    run(scenario, version=VERSION)


def test_a_policy_that_asks_for_it_is_applied_again_when_others_changed_the_object():
    async def scenario(server, api):
        again = policy("a", label("one", COUNT), reinvocationPolicy="IfNeeded")
        await apply(api, again, policy("b", label("two", COUNT)))
        made = await api("POST", MAPS, config_map("c"), code=201)
        assert made["metadata"]["labels"] == {"one": "2", "two": "1"}

    run(scenario, version=VERSION)


def test_a_failure_denies_the_request_or_is_passed_over():
    async def scenario(server, api):
        broken = label("one", "string(1 / (size(object.data) - 1))")
        await apply(
            api, policy("a", broken, failurePolicy="Ignore"), policy("b", label("b", "'x'"))
        )
        made = await api("POST", MAPS, config_map("c"), code=201)
        assert made["metadata"]["labels"] == {"b": "x"}
        await apply(api, policy("strict", broken))
        refused = await api("POST", MAPS, config_map("d"), code=403)
        assert refused["reason"] == "Invalid"
        assert refused["message"] == (
            "policy 'strict' with binding 'strict' denied request: "
            f"expression '{broken}' resulted in error: division by zero"
        )

    run(scenario, version=VERSION)


def test_parameters():
    async def scenario(server, api):
        await api("POST", MAPS, config_map("team"), code=201)
        kind = {"apiVersion": "v1", "kind": "ConfigMap"}
        ref = {"name": "team", "parameterNotFoundAction": "Deny"}
        mine = policy("a", label("team", "params.data.a"), paramKind=kind)
        await apply(api, mine, paramRef=ref)
        made = await api("POST", MAPS, config_map("c"), code=201)
        assert made["metadata"]["labels"] == {"team": "b"}

    run(scenario, version=VERSION)
