"""CustomResourceDefinitions and their objects, asked in process."""

import asyncio
import json
import time

from api_in_process import JSON, MERGE, Api, run
from crontabs import (
    CRDS,
    CRON,
    GROUP,
    NAME,
    SCHEMA,
    crontab,
    define,
    definition,
    established,
    gone,
    version,
)

from muntin.seams.store.memory import MemoryStore

STATUS = {"subresources": {"status": {}}}


def causes(answer):
    return [(row["field"], row["reason"], row["message"]) for row in answer["details"]["causes"]]


# -- definitions ------------------------------------------------------------------------------


def test_a_definition_is_served_at_once():
    async def scenario(server, api):
        made = await api("POST", CRDS, definition())
        assert made["spec"]["names"]["listKind"] == "CronTabList"
        assert made["spec"]["conversion"] == {"strategy": "None"}
        assert made["status"]["storedVersions"] == ["v1"]
        found = await established(api)
        assert [(row["type"], row["status"], row["reason"]) for row in
                found["status"]["conditions"]] == [
            ("NamesAccepted", "True", "NoConflicts"),
            ("Established", "True", "InitialNamesAccepted"),
        ]  # fmt: skip
        assert found["status"]["acceptedNames"]["shortNames"] == ["ct"]
        rows = (await api("GET", f"/apis/{GROUP}/v1"))["resources"]
        assert rows[0]["name"] == "crontabs"
        assert rows[0]["singularName"] == "crontab"
        assert rows[0]["categories"] == ["all"]
        groups = [row["name"] for row in (await api("GET", "/apis"))["groups"]]
        assert groups[-1] == GROUP
        assert f"apis/{GROUP}/v1" in (await api("GET", "/openapi/v3"))["paths"]

    run(scenario)


def test_a_definition_is_published_within_a_second():
    async def seconds(api):
        start = time.monotonic()
        await define(api)
        assert GROUP in [row["name"] for row in (await api("GET", "/apis"))["groups"]]
        assert f"apis/{GROUP}/v1" in (await api("GET", "/openapi/v3"))["paths"]
        taken = time.monotonic() - start
        await api("DELETE", f"{CRDS}/{NAME}")
        await gone(api, f"{CRDS}/{NAME}")
        return taken

    async def scenario(server, api):
        # of a few, for the machine may be busy with something else
        assert min([await seconds(api) for _ in range(4)]) < 1

    run(scenario)


def test_discovery_is_not_sent_again_to_those_who_have_it():
    async def scenario(server, api):
        wanted = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
        first = await api.transport.request("GET", "/apis", headers=wanted)
        known = {**wanted, "if-none-match": first.headers["etag"]}
        assert (await api.transport.request("GET", "/apis", headers=known)).status == 304
        await define(api)
        again = await api.transport.request("GET", "/apis", headers=known)
        assert again.status == 200
        assert GROUP in json.dumps(json.loads(again.body))

    run(scenario)


def test_unknown_fields_and_formats_of_a_schema_are_told():
    async def scenario(server, api):
        made = definition()
        spec = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        spec["properties"]["ports"]["items"]["odd"] = 1
        spec["properties"]["image"]["format"] = "picture"
        strict = await api("POST", f"{CRDS}?fieldValidation=Strict", made, code=400)
        assert strict["message"].endswith(
            'unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.'
            'ports.items.odd"'
        )
        made = await api("POST", CRDS, made)
        lower = {key.lower(): value for key, value in api.headers.items()}
        assert 'unrecognized format \\"picture\\"' in lower["warning"]

    run(scenario)


def test_names_that_another_definition_has_are_not_accepted():
    async def scenario(server, api):
        await define(api)
        other = definition(plural="cronies", kind="CronTab")
        await api("POST", CRDS, other)
        name = f"cronies.{GROUP}"
        for _ in range(100):
            found = await api("GET", f"{CRDS}/{name}")
            if found["status"]["conditions"]:
                break
            await asyncio.sleep(0.01)
        rows = {row["type"]: row for row in found["status"]["conditions"]}
        assert rows["NamesAccepted"]["status"] == "False"
        assert rows["NamesAccepted"]["message"] == '"CronTabList" is already in use'
        assert rows["NamesAccepted"]["reason"] == "ListKindConflict"
        assert rows["Established"]["reason"] == "NotAccepted"
        await api("GET", f"/apis/{GROUP}/v1/cronies", code=404)
        await api("DELETE", f"{CRDS}/{NAME}")
        await gone(api, f"{CRDS}/{NAME}")
        await established(api, name)  # its names are free now

    run(scenario)


def test_deleting_a_definition_deletes_its_objects_first():
    async def scenario(server, api):
        await define(api)
        await api("POST", CRON, crontab("plain"))
        held = crontab("held")
        held["metadata"]["finalizers"] = ["example.com/hold"]
        await api("POST", CRON, held)
        await api("DELETE", f"{CRDS}/{NAME}")
        await gone(api, f"{CRON}/plain")
        found = await api("GET", f"{CRDS}/{NAME}")
        assert found["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        rows = {row["type"]: row for row in found["status"]["conditions"]}
        assert rows["Terminating"]["status"] == "True"
        refused = await api("POST", CRON, crontab("late"), code=405)
        assert refused["message"] == (
            "create not allowed while custom resource definition is terminating"
        )
        patch = {"metadata": {"finalizers": None}}
        await api("PATCH", f"{CRON}/held", patch, headers=MERGE)
        await gone(api, f"{CRDS}/{NAME}")
        await api("GET", CRON, code=404)
        assert not [row for row in server.core.registry.rows if row.group == GROUP]
        left = await server.core.store.list(f"/registry/{GROUP}/")
        assert left.records == []

    run(scenario)


def test_a_restarted_server_serves_what_was_defined():
    store = MemoryStore()

    async def first(server, api):
        await define(api, version(**STATUS))
        await api("POST", CRON, crontab())

    async def second(server, api):
        found = await api("GET", f"{CRON}/one")
        assert found["spec"]["replicas"] == 2
        await api("POST", CRON, crontab("two"))
        await api("DELETE", f"{CRDS}/{NAME}")
        await gone(api, f"{CRDS}/{NAME}")
        assert (await server.core.store.list(f"/registry/{GROUP}/")).records == []

    run(first, store=store)

    async def again(server, api):
        await second(server, api)

    run_without_account(again, store)


def run_without_account(scenario, store):
    """As `run`, over a store where the account is there already."""
    from api_in_process import KEY

    from muntin.apiserver.config import ApiServerConfig
    from muntin.apiserver.loop import ApiServer

    async def main():
        config = ApiServerConfig(
            kubernetes_version="1.34", service_account_key=KEY, advertise_address="192.0.2.1"
        )
        async with ApiServer(config, store) as server:
            api = Api(server.user("admin", "system:masters"))
            await asyncio.wait_for(scenario(server, api), 20)

    asyncio.run(main())


def test_a_deletion_that_was_interrupted_is_finished_after_a_restart():
    store = MemoryStore()

    async def first(server, api):
        await define(api)
        held = crontab("held")
        held["metadata"]["finalizers"] = ["example.com/hold"]
        await api("POST", CRON, held)
        await api("POST", CRON, crontab("other"))
        await api("DELETE", f"{CRDS}/{NAME}")

    async def second(server, api):
        await gone(api, f"{CRON}/other")
        patch = {"metadata": {"finalizers": None}}
        await api("PATCH", f"{CRON}/held", patch, headers=MERGE)
        await gone(api, f"{CRDS}/{NAME}")
        assert (await server.core.store.list(f"/registry/{GROUP}/")).records == []

    run(first, store=store)
    run_without_account(second, store)


def test_two_servers_over_one_store_serve_the_same():
    store = MemoryStore()

    async def scenario(server, api):
        async def other(second, theirs):
            await define(api)
            for _ in range(100):
                if second.core.registry.find(GROUP, "v1", "crontabs"):
                    break
                await asyncio.sleep(0.01)
            await theirs("POST", CRON, crontab())
            assert (await api("GET", f"{CRON}/one"))["spec"]["replicas"] == 2

        from api_in_process import KEY

        from muntin.apiserver.config import ApiServerConfig
        from muntin.apiserver.loop import ApiServer

        config = ApiServerConfig(
            kubernetes_version="1.34", service_account_key=KEY, advertise_address="192.0.2.1"
        )
        async with ApiServer(config, store) as second:
            await other(second, Api(second.user("admin", "system:masters")))

    run(scenario, store=store)


# -- objects ----------------------------------------------------------------------------------


def test_objects_are_pruned_defaulted_and_validated():
    async def scenario(server, api):
        await define(api)
        made = await api("POST", CRON, crontab(extra=1, any={"kept": {"deep": 1}}))
        assert made["spec"] == {
            "cronSpec": "* * * * *", "replicas": 2, "any": {"kept": {"deep": 1}}
        }  # fmt: skip
        assert made["metadata"]["generation"] == 1
        wrong = await api("POST", CRON, crontab("two", replicas=11, cronSpec="x"), code=422)
        assert wrong["message"].startswith('CronTab.stable.example.com "two" is invalid: [')
        assert sorted(causes(wrong)) == [
            ("spec.cronSpec", "FieldValueInvalid",
             'Invalid value: "x": spec.cronSpec in body should match \'^(\\S+\\s?){5}$\''),
            ("spec.replicas", "FieldValueInvalid",
             "Invalid value: 11: spec.replicas in body should be less than or equal to 10"),
        ]  # fmt: skip
        wrong = await api("POST", CRON, crontab("two", ports=[{"name": "a"}, {"name": "a"}]),
                          code=422)  # fmt: skip
        assert causes(wrong) == [
            ("spec.ports[1]", "FieldValueDuplicate", 'Duplicate value: {"name":"a"}')
        ]
        wrong = await api("POST", CRON, {**crontab("two"), "spec": {}}, code=422)
        assert causes(wrong) == [("spec.cronSpec", "FieldValueRequired", "Required value")]

    run(scenario)


def test_unknown_fields_are_reported_as_asked():
    async def scenario(server, api):
        await define(api)
        body = crontab(extra=1, ports=[{"name": "a", "more": 1}])
        body["metadata"]["odd"] = 1
        strict = await api("POST", f"{CRON}?fieldValidation=Strict", body, code=400)
        assert strict["message"] == (
            'CronTab in version "v1" cannot be handled as a CronTab: strict decoding error: '
            'unknown field "metadata.odd", unknown field "spec.extra", '
            'unknown field "spec.ports[0].more"'
        )
        await api("POST", f"{CRON}?fieldValidation=Warn", body)
        lower = {key.lower(): value for key, value in api.headers.items()}
        assert 'unknown field \\"spec.extra\\"' in lower["warning"]
        await api("POST", f"{CRON}?fieldValidation=Ignore", {**body, "metadata": {"name": "b"}})

    run(scenario)


def test_the_status_subresource_has_status_to_itself():
    async def scenario(server, api):
        await define(api, version(**STATUS))
        made = await api("POST", CRON, {**crontab(), "status": {"replicas": 7}})
        assert "status" not in made
        made["status"], made["spec"]["image"] = {"replicas": 3}, "x"
        found = await api("PUT", f"{CRON}/one/status", made)
        assert found["status"] == {"replicas": 3}
        assert "image" not in found["spec"]
        assert found["metadata"]["generation"] == 1
        patch = {"spec": {"image": "y"}, "status": {"replicas": 9}}
        found = await api("PATCH", f"{CRON}/one", patch, headers=MERGE)
        assert (found["spec"]["image"], found["status"]["replicas"]) == ("y", 3)
        assert found["metadata"]["generation"] == 2
        patch = {"metadata": {"labels": {"a": "b"}}}
        found = await api("PATCH", f"{CRON}/one", patch, headers=MERGE)
        assert found["metadata"]["generation"] == 2
        wrong = {"status": {"replicas": "many"}}
        answer = await api("PATCH", f"{CRON}/one/status", wrong, headers=MERGE, code=422)
        assert causes(answer)[0][0] == "status.replicas"

    run(scenario)


def test_without_the_subresource_status_is_a_field_like_any_other():
    async def scenario(server, api):
        await define(api)
        await api("POST", CRON, {**crontab(), "status": {"replicas": 7}})
        patch = {"status": {"replicas": 8}}
        found = await api("PATCH", f"{CRON}/one", patch, headers=MERGE)
        assert found["status"] == {"replicas": 8}
        assert found["metadata"]["generation"] == 2
        await api("GET", f"{CRON}/one/status", code=404)

    run(scenario)


def test_the_scale_subresource():
    async def scenario(server, api):
        scale = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.labelSelector",
        }
        await define(api, version(subresources={"status": {}, "scale": scale}))
        await api("POST", CRON, crontab())
        patch = {"status": {"replicas": 1, "labelSelector": "app=x"}}
        await api("PATCH", f"{CRON}/one/status", patch, headers=MERGE)
        found = await api("GET", f"{CRON}/one/scale")
        assert (found["kind"], found["apiVersion"]) == ("Scale", "autoscaling/v1")
        assert found["spec"] == {"replicas": 2}
        assert found["status"] == {"replicas": 1, "selector": "app=x"}
        found["spec"]["replicas"] = 5
        assert (await api("PUT", f"{CRON}/one/scale", found))["spec"] == {"replicas": 5}
        patch = {"spec": {"replicas": 6}}
        await api("PATCH", f"{CRON}/one/scale", patch, headers=MERGE)
        found = await api("GET", f"{CRON}/one")
        assert found["spec"]["replicas"] == 6
        assert found["metadata"]["generation"] == 3
        patch = {"spec": {"replicas": 60}}
        await api("PATCH", f"{CRON}/one/scale", patch, headers=MERGE, code=422)
        for wrong in ({"metadata": 5}, {"spec": "x"}, {"spec": {"replicas": 1.5}}):
            await api("PATCH", f"{CRON}/one/scale", wrong, headers=MERGE, code=422)

    run(scenario)


def test_an_update_says_which_version_it_replaces():
    async def scenario(server, api):
        await define(api)
        await api("POST", CRON, crontab())
        answer = await api("PUT", f"{CRON}/one", crontab(image="x"), code=422)
        assert causes(answer) == [
            ("metadata.resourceVersion", "FieldValueInvalid",
             "Invalid value: 0: must be specified for an update")
        ]  # fmt: skip

    run(scenario)


def test_strategic_merge_patches_are_not_taken():
    async def scenario(server, api):
        await define(api)
        await api("POST", CRON, crontab())
        headers = {"content-type": "application/strategic-merge-patch+json"}
        await api("PATCH", f"{CRON}/one", {}, headers=headers, code=415)

    run(scenario)


def test_watches_see_objects_and_end_with_their_definition():
    async def scenario(server, api):
        await define(api)
        async with api.watch(f"{CRON}?watch=true&resourceVersion=0") as events:
            await api("POST", CRON, crontab())
            assert await events.short() == ("ADDED", "one")
            await api("DELETE", f"{CRON}/one")
            assert await events.short() == ("DELETED", "one")
            await api("DELETE", f"{CRDS}/{NAME}")
            await gone(api, f"{CRDS}/{NAME}")
            try:
                await events.next()
                raise AssertionError("the watch goes on")
            except StopAsyncIteration:
                pass

    run(scenario)


def test_tables_have_the_definitions_columns():
    async def scenario(server, api):
        columns = [
            {"name": "Spec", "type": "string", "jsonPath": ".spec.cronSpec"},
            {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas", "priority": 1},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ]
        await define(api, version(additionalPrinterColumns=columns))
        await api("POST", CRON, crontab())
        table = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
        found = await api("GET", CRON, headers=table)
        assert [(c["name"], c["priority"]) for c in found["columnDefinitions"]] == [
            ("Name", 0), ("Spec", 0), ("Replicas", 1), ("Age", 0)
        ]  # fmt: skip
        assert found["rows"][0]["cells"][:3] == ["one", "* * * * *", 2]

    run(scenario)


def test_field_selectors_over_selectable_fields():
    async def scenario(server, api):
        fields = [{"jsonPath": ".spec.image"}, {"jsonPath": ".spec.replicas"}]
        await define(api, version(selectableFields=fields))
        await api("POST", CRON, crontab("a", image="x"))
        await api("POST", CRON, crontab("b", image="y", replicas=3))
        found = await api("GET", f"{CRON}?fieldSelector=spec.image%3Dx")
        assert [row["metadata"]["name"] for row in found["items"]] == ["a"]
        found = await api("GET", f"{CRON}?fieldSelector=spec.replicas%3D3")
        assert [row["metadata"]["name"] for row in found["items"]] == ["b"]
        refused = await api("GET", f"{CRON}?fieldSelector=spec.cronSpec%3Dx", code=400)
        assert "field label not supported: spec.cronSpec" in refused["message"]

    run(scenario)


def test_a_new_schema_shows_old_objects_anew():
    async def scenario(server, api):
        await define(api)
        await api("POST", CRON, crontab(image="x"))
        found = await api("GET", f"{CRDS}/{NAME}")
        properties = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        del properties["spec"]["properties"]["image"]
        properties["spec"]["properties"]["zone"] = {"type": "string", "default": "here"}
        await api("PUT", f"{CRDS}/{NAME}", found)
        shown = await api("GET", f"{CRON}/one")
        assert shown["spec"]["zone"] == "here"
        assert "image" not in shown["spec"]
        listed = await api("GET", CRON)
        assert listed["items"][0]["spec"] == shown["spec"]

    run(scenario)


def test_what_was_wrong_before_may_stay():
    async def scenario(server, api):
        await define(api)
        await api("POST", CRON, crontab(replicas=9))
        found = await api("GET", f"{CRDS}/{NAME}")
        spec = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        spec["properties"]["replicas"]["maximum"] = 5
        await api("PUT", f"{CRDS}/{NAME}", found)
        patch = {"spec": {"image": "new"}}
        found = await api("PATCH", f"{CRON}/one", patch, headers=MERGE)
        assert found["spec"]["image"] == "new"
        patch = {"spec": {"replicas": 8}}
        await api("PATCH", f"{CRON}/one", patch, headers=MERGE, code=422)

    run(scenario)


def test_an_older_api_has_neither_ratcheting_nor_rules():
    schema = json.loads(json.dumps(SCHEMA))
    spec = schema["properties"]["spec"]
    spec["x-kubernetes-validations"] = [{"rule": "false"}]

    async def scenario(server, api):
        await define(api, version(schema=schema))
        await api("POST", CRON, crontab(replicas=9))  # the rule is a field that it does not know
        found = await api("GET", f"{CRDS}/{NAME}")
        shown = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        assert "x-kubernetes-validations" not in shown
        shown["properties"]["replicas"]["maximum"] = 5
        await api("PUT", f"{CRDS}/{NAME}", found)
        patch = {"spec": {"image": "new"}}
        await api("PATCH", f"{CRON}/one", patch, headers=MERGE, code=422)

    run(scenario, version="1.20")


def test_rules_judge_objects_and_their_changes():
    schema = json.loads(json.dumps(SCHEMA))
    schema["properties"]["spec"]["x-kubernetes-validations"] = [
        {"rule": "self.replicas % 2 == 0", "message": "even only"},
        {"rule": "self.replicas >= oldSelf.replicas", "messageExpression":
         "'not below %d'.format([oldSelf.replicas])", "fieldPath": ".replicas"},
    ]  # fmt: skip

    async def scenario(server, api):
        await define(api, version(schema=schema))
        answer = await api("POST", CRON, crontab(replicas=3), code=422)
        assert causes(answer) == [("spec", "FieldValueInvalid", "Invalid value: even only")]
        await api("POST", CRON, crontab(replicas=4))
        patch = {"spec": {"replicas": 2}}
        answer = await api("PATCH", f"{CRON}/one", patch, headers=MERGE, code=422)
        assert causes(answer) == [
            ("spec.replicas", "FieldValueInvalid", "Invalid value: not below 4")
        ]
        wrong = definition(plural="others", kind="Other")
        rules = [{"rule": "self.nothing"}]
        schema_ = wrong["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        schema_["properties"]["spec"]["x-kubernetes-validations"] = rules
        answer = await api("POST", CRDS, wrong, code=422)
        assert "undefined field 'nothing'" in answer["message"]

    run(scenario)


# -- versions ---------------------------------------------------------------------------------


def test_versions_without_conversion_differ_in_name_only():
    async def scenario(server, api):
        old = version("v1beta1", storage=False, deprecated=True)
        await define(api, old, version())
        beta = CRON.replace("/v1/", "/v1beta1/")
        await api("POST", beta, crontab(api_version=f"{GROUP}/v1beta1"))
        lower = {key.lower(): value for key, value in api.headers.items()}
        assert lower["warning"] == (
            '299 - "stable.example.com/v1beta1 CronTab is deprecated; use stable.example.com/v1 '
            'CronTab"'
        )
        assert (await api("GET", f"{CRON}/one"))["apiVersion"] == f"{GROUP}/v1"
        assert (await api("GET", f"{beta}/one"))["apiVersion"] == f"{GROUP}/v1beta1"
        record = await server.core.store.get(f"/registry/{GROUP}/crontabs/default/one")
        assert b'"apiVersion":"stable.example.com/v1"' in record.value
        async with api.watch(f"{beta}?watch=true") as events:
            found = await events.next()
            assert found["object"]["apiVersion"] == f"{GROUP}/v1beta1"

    run(scenario)


def test_objects_move_to_a_new_storage_version_when_they_are_written():
    async def scenario(server, api):
        await define(api, version("v1beta1"), version(storage=False))
        await api("POST", CRON, crontab())
        found = await api("GET", f"{CRDS}/{NAME}")
        found["spec"]["versions"][0]["storage"] = False
        found["spec"]["versions"][1]["storage"] = True
        found = await api("PUT", f"{CRDS}/{NAME}", found)
        assert found["status"]["storedVersions"] == ["v1beta1", "v1"]
        key = f"/registry/{GROUP}/crontabs/default/one"
        assert (
            b'"apiVersion":"stable.example.com/v1beta1"' in (await server.core.store.get(key)).value
        )
        await api("PUT", f"{CRON}/one", await api("GET", f"{CRON}/one"))
        assert b'"apiVersion":"stable.example.com/v1"' in (await server.core.store.get(key)).value
        found["spec"]["versions"] = found["spec"]["versions"][1:]
        refused = await api("PUT", f"{CRDS}/{NAME}", found, code=422)
        assert "missing from spec.versions" in refused["message"]

    run(scenario)


def test_restricted_users_need_a_role_for_custom_resources():
    async def scenario(server, api):
        await define(api)
        someone = Api(server.user("jane", "devs"))
        refused = await someone("GET", CRON, code=403)
        assert refused["message"] == (
            'crontabs.stable.example.com is forbidden: User "jane" cannot list resource '
            '"crontabs" in API group "stable.example.com" in the namespace "default"'
        )
        rules = [{"apiGroups": [GROUP], "resources": ["crontabs"], "verbs": ["list"]}]
        role = {"metadata": {"name": "reader"}, "rules": rules}
        rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
        await api("POST", f"{rbac}/roles", role)
        subject = {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
        ref = {"kind": "Role", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
        binding = {"metadata": {"name": "reader"}, "subjects": [subject], "roleRef": ref}
        await api("POST", f"{rbac}/rolebindings", binding)
        await someone("GET", CRON)

    run(scenario)


def test_server_side_apply_knows_the_schemas_lists():
    async def scenario(server, api):
        await define(api)
        headers = {"content-type": "application/apply-patch+yaml"}
        one = crontab(ports=[{"name": "a", "port": 1}])
        await api("PATCH", f"{CRON}/one?fieldManager=x", one, headers=headers)
        two = {**crontab(), "spec": {"ports": [{"name": "b", "port": 2}]}}
        found = await api("PATCH", f"{CRON}/one?fieldManager=y", two, headers=headers)
        assert [row["name"] for row in found["spec"]["ports"]] == ["a", "b"]
        theirs = {**crontab(), "spec": {"ports": [{"name": "a", "port": 9}]}}
        answer = await api("PATCH", f"{CRON}/one?fieldManager=y", theirs, headers=headers, code=409)
        assert causes(answer)[0][0] == '.spec.ports[name="a"].port'

    run(scenario)


def test_names_of_built_in_resources_mean_nothing_in_another_group():
    plurals = {
        "pods": "Pod", "services": "Service", "jobs": "Job", "namespaces": "Namespace",
        "roles": "Role", "deployments": "Deployment", "bindings": "Binding",
        "tokenreviews": "TokenReview", "customresourcedefinitions": "CustomResourceDefinition",
    }  # fmt: skip
    open_schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

    async def scenario(server, api):
        for plural, kind in plurals.items():
            made = definition(version(schema=open_schema), plural=plural, kind=kind)
            made["spec"]["names"].pop("shortNames")
            await api("POST", CRDS, made)
            await established(api, f"{plural}.{GROUP}")
            path = f"/apis/{GROUP}/v1/namespaces/default/{plural}"
            body = {
                "apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "one"},
                "spec": {"template": {"a": 1}, "type": "x"}, "status": {"phase": "y"},
                "rules": [],
            }  # fmt: skip
            found = await api("POST", path, body)
            kept = {key: found[key] for key in ("spec", "status", "rules")}
            assert kept == {key: body[key] for key in kept}
            patch = {"spec": {"type": "z"}}
            found = await api("PATCH", f"{path}/one", patch, headers=MERGE)
            assert found["spec"] == {"template": {"a": 1}, "type": "z"}
            found["spec"]["type"] = "w"
            await api("PUT", f"{path}/one", found)
            gone_ = await api("DELETE", f"{path}/one")
            assert gone_["status"] == "Success"
            await api("PUT", f"{path}/none", body | {"metadata": {"name": "none"}}, code=404)

    run(scenario)


def test_objects_of_the_cluster_with_an_object_within():
    template = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    schema = {"type": "object", "properties": {"template": template}}

    async def scenario(server, api):
        await define(api, version(schema=schema), scope="Cluster")
        path = f"/apis/{GROUP}/v1/crontabs"
        inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"x": 1}}
        body = {**crontab(), "template": inner}
        del body["spec"]
        made = await api("POST", path, body)
        assert made["template"] == inner
        assert "namespace" not in made["metadata"]
        await api("GET", CRON, code=404)
        wrong = {**body, "metadata": {"name": "two"}, "template": {"kind": "a b"}}
        answer = await api("POST", path, wrong, code=422)
        assert [row[0] for row in causes(answer)] == ["template.apiVersion", "template.kind"]
        odd = {**inner, "metadata": {"name": "a", "odd": 1}}
        strict = {**body, "metadata": {"name": "two"}, "template": odd}
        answer = await api("POST", f"{path}?fieldValidation=Strict", strict, code=400)
        assert 'unknown field "template.metadata.odd"' in answer["message"]
        strict["template"]["metadata"]["labels"] = {"a": 1}
        await api("POST", path, strict, code=400)

    run(scenario)


def test_metadata_alone():
    async def scenario(server, api):
        await define(api)
        await api("POST", CRON, crontab())
        accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
        found = await api("GET", f"{CRON}/one", headers={**JSON, "accept": accept})
        assert found["kind"] == "PartialObjectMetadata"
        assert "spec" not in found

    run(scenario)


def test_a_patch_cannot_take_away_what_an_object_is():
    async def scenario(server, api):
        await define(api)
        await api("POST", CRON, crontab())
        error = await api("PATCH", f"{CRON}/one", {"kind": None}, headers=MERGE, code=422)
        assert error["details"]["causes"][0]["field"] == "patch"
        assert "Object 'Kind' is missing in '{\"apiVersion\":" in error["message"]
        error = await api("PATCH", f"{CRON}/one", {"apiVersion": None}, headers=MERGE, code=400)
        assert error["message"] == (
            "Object 'apiVersion' is missing in 'object has no apiVersion field'"
        )
        error = await api("POST", CRON, {**crontab("two"), "kind": "Other"}, code=422)
        assert error["details"]["kind"] == "Other"
        assert (await api("GET", f"{CRON}/one"))["kind"] == "CronTab"

    run(scenario)
