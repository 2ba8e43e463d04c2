"""How bodies are judged, and the words in which they are refused: upstream's.

Sources: sigs.k8s.io/json and apimachinery v1.34 (decoding), pkg/apis/*/validation (fields),
pkg/endpoints/deprecation and pkg/api/pod/warnings.go (warnings).
"""

import json

import pytest
import yaml
from api_in_process import JSON, MAPS, PODS, SERVICES, Api, config_map, pod, run

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
YAML = {"content-type": "application/yaml"}


def deployment(name="web", **spec):
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    return {
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def service(name="web", **spec):
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        (PODS, pod(contaners=[], hostnam="x"), ["spec.contaners", "spec.hostnam"]),
        (
            DEPLOYMENTS,
            deployment(replica=2, strategy={"rollingUpdat": {}}),
            ["spec.replica", "spec.strategy.rollingUpdat"],
        ),
        (SERVICES, service(port=80), ["spec.port"]),
        (
            SERVICES,
            service(ports=[{"port": 80, "targetport": 81}]),
            ["spec.ports[0].targetport"],
        ),
        (MAPS, {**config_map("a"), "datas": {}}, ["datas"]),
    ],
)
def test_unknown_fields_by_kind(path, body, fields):
    async def scenario(server, api):
        strict = await api("POST", f"{path}?fieldValidation=Strict", body, code=400)
        listed = ", ".join(f'unknown field "{name}"' for name in fields)
        assert strict["message"].endswith(f"strict decoding error: {listed}")
        await api("POST", f"{path}?fieldValidation=Warn", body, code=201)
        for name in fields:
            assert f'299 - "unknown field \\"{name}\\""' in api.headers["warning"]

    run(scenario)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "metadata: {name: a}\ndata: {enabled: true}\n",
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
            "bool into Go struct field ConfigMap.data of type string",
        ),
        (
            "metadata: {name: a}\ndata: {count: 3}\n",
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
            "number into Go struct field ConfigMap.data of type string",
        ),
        (
            "metadata: {name: a, labels: {on: yes}}\n",
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
            "bool into Go struct field ObjectMeta.metadata.labels of type string",
        ),
    ],
)
def test_booleans_and_numbers_are_no_strings(text, message):
    async def scenario(server, api):
        for headers, body in ((YAML, text), (JSON, json.dumps(yaml.safe_load(text)))):
            data = body.encode()
            answer = await api.transport.request("POST", MAPS, headers=headers, body=data)
            assert (answer.status, json.loads(answer.body)["message"]) == (400, message)

    run(scenario)


RFC1123 = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        (
            PODS,
            pod("Upper"),
            f'Pod "Upper" is invalid: metadata.name: Invalid value: "Upper": {RFC1123}',
        ),
        (
            SERVICES,
            service(ports=[{"port": 70000}]),
            'Service "web" is invalid: [spec.ports[0].port: Invalid value: 70000: must be between '
            "1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 70000: must be "
            "between 1 and 65535, inclusive]",
        ),
        (
            DEPLOYMENTS,
            deployment(selector={"matchLabels": {"app": "other"}}),
            'Deployment.apps "web" is invalid: spec.template.metadata.labels: Invalid value: '
            '{"app":"web"}: `selector` does not match template `labels`',
        ),
        (
            SERVICES,
            service(type="ClusterIPs"),
            'Service "web" is invalid: spec.type: Unsupported value: "ClusterIPs": supported '
            'values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
        ),
        (
            PODS,
            {"metadata": {"name": "one"}, "spec": {"containers": []}},
            'Pod "one" is invalid: spec.containers: Required value',
        ),
    ],
)
def test_wrong_values_are_named_with_their_path(path, body, message):
    async def scenario(server, api):
        refused = await api("POST", path, body, code=422)
        assert refused["message"] == message

    run(scenario)


def test_immutable_fields():
    async def scenario(server, api):
        made = await api("POST", DEPLOYMENTS, deployment())
        labels = {"app": "other"}
        made["spec"]["selector"] = {"matchLabels": labels}
        made["spec"]["template"]["metadata"]["labels"] = labels
        refused = await api("PUT", f"{DEPLOYMENTS}/web", made, code=422)
        assert refused["message"] == (
            'Deployment.apps "web" is invalid: spec.selector: Invalid value: '
            '{"matchLabels":{"app":"other"}}: field is immutable'
        )
        first = await api("POST", SERVICES, service())
        first["spec"]["clusterIP"] = "10.96.7.7"
        first["spec"]["clusterIPs"] = ["10.96.7.7"]
        refused = await api("PUT", f"{SERVICES}/web", first, code=422)
        assert "may not change once set" in refused["message"]
        await api("POST", MAPS, {**config_map("fixed"), "immutable": True})
        change = {**config_map("fixed"), "data": {}, "immutable": True}
        refused = await api("PUT", f"{MAPS}/fixed", change, code=422)
        assert refused["message"] == (
            'ConfigMap "fixed" is invalid: data: Forbidden: field is immutable when `immutable` is '
            "set"
        )

    run(scenario)


def test_labels_of_old_and_deprecated_kinds_are_warned_of():
    async def scenario(server, api):
        await api("POST", PODS, pod(nodeSelector={"beta.kubernetes.io/os": "windows"}))
        assert api.headers["warning"] == (
            '299 - "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use '
            '\\"kubernetes.io/os\\" instead"'
        )
        env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
        wanted = deployment()
        wanted["spec"]["template"]["spec"]["containers"][0]["env"] = env
        await api("POST", DEPLOYMENTS, wanted)
        assert "containers[0].env[1]: hides previous definition of" in api.headers["warning"]
        await api("GET", "/api/v1/namespaces/default/endpoints")
        assert api.headers["warning"] == (
            '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
        )
        await api("GET", PODS)
        assert "warning" not in api.headers

    run(scenario)


def test_endpoints_are_not_deprecated_in_older_versions():
    async def scenario(server, api):
        await api("GET", "/api/v1/namespaces/default/endpoints")
        assert "warning" not in api.headers

    run(scenario, version="1.32")


def test_put_creates_only_what_upstream_lets_it_create():
    async def scenario(server, api):
        await api("PUT", f"{MAPS}/new", config_map("new"), code=404)
        lease = {"metadata": {"name": "new"}, "spec": {"holderIdentity": "me"}}
        await api("PUT", f"{LEASES}/new", lease, code=201)
        refused = await api("PUT", f"{LEASES}/new", lease, code=422)
        assert "metadata.resourceVersion" in refused["message"]
        await api("PUT", f"{LEASES}/other", lease, code=400)
        roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
        rules = [{"apiGroups": [""], "resources": ["services"], "verbs": ["update"]}]
        await api("POST", f"{roles}/roles", {"metadata": {"name": "updates"}, "rules": rules})
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "updates"}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}
        binding = {"metadata": {"name": "b"}, "roleRef": reference, "subjects": [subject]}
        await api("POST", f"{roles}/rolebindings", binding)
        jane = Api(server.user("jane"))
        refused = await jane("PUT", f"{SERVICES}/web", service(), code=403)
        assert 'User "jane" cannot create resource "services"' in refused["message"]

    run(scenario)


def test_pods_wait_for_the_account_of_their_namespace():
    async def scenario(server, api):
        await api("POST", "/api/v1/namespaces", {"metadata": {"name": "early"}})
        refused = await api("POST", "/api/v1/namespaces/early/pods", pod(), code=403)
        assert refused["message"] == (
            'pods "one" is forbidden: error looking up service account early/default: '
            'serviceaccount "default" not found'
        )

    run(scenario)


def test_the_oldest_api_serves_its_own_versions():
    async def scenario(server, api):
        cases = {
            "/apis/discovery.k8s.io/v1beta1/namespaces/default/endpointslices": {
                "metadata": {"name": "a"},
                "addressType": "IPv4",
                "endpoints": [{"addresses": ["10.1.1.1"], "topology": {"zone": "z"}}],
            },
            "/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets": {
                "metadata": {"name": "a"},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}},
            },
            "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers": {
                "metadata": {"name": "a"},
                "spec": {
                    "maxReplicas": 3,
                    "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                    "targetCPUUtilizationPercentage": 50,
                },
            },
        }
        for path, obj in cases.items():
            made = await api("POST", path, obj, code=201)
            read = await api("GET", f"{path}/a")
            assert read == made
            for key, value in obj.get("spec", {}).items():
                assert read["spec"][key] == value or isinstance(value, dict)
        job = {"template": {"spec": {**pod()["spec"], "restartPolicy": "Never"}}}
        cron = {"metadata": {"name": "a"}, "spec": {"schedule": "* * * * *",
                "jobTemplate": {"spec": job}}}  # fmt: skip
        await api("POST", "/apis/batch/v1beta1/namespaces/default/cronjobs", cron, code=201)

    run(scenario, version="1.20")


def test_a_body_too_deep_is_a_bad_request():
    async def scenario(server, api):
        deep = b'{"metadata":{"name":"a"},"data":' + b'{"a":' * 900 + b"1" + b"}" * 901
        for how in ("", "?fieldValidation=Strict"):
            path = f"{MAPS}{how}"
            answer = await api.transport.request("POST", path, headers=JSON, body=deep)
            assert answer.status == 400
        text = b"a: " + b"[" * 20000
        answer = await api.transport.request("POST", MAPS, headers=YAML, body=text)
        assert answer.status == 400

    run(scenario)


def test_keys_of_yaml_maps_are_strings_as_in_json():
    async def scenario(server, api):
        text = b"metadata: {name: a}\ndata: {on: 'x', 3: 'y', 2.5: 'z'}\n"
        answer = await api.transport.request("POST", MAPS, headers=YAML, body=text)
        assert json.loads(answer.body)["data"] == {"true": "x", "3": "y", "2.5": "z"}

    run(scenario)


def test_base64_that_is_no_ascii():
    async def scenario(server, api):
        path = "/api/v1/namespaces/default/secrets"
        body = {"metadata": {"name": "a"}, "data": {"a": "Zeé"}}
        refused = await api("POST", path, body, code=400)
        assert "illegal base64 data at input byte 2" in refused["message"]

    run(scenario)


def test_a_patched_scale_is_still_a_scale():
    """Words and codes as kube-apiserver 1.36 gave them."""
    merge = {"content-type": "application/merge-patch+json"}
    strategic = {"content-type": "application/strategic-merge-patch+json"}

    async def scenario(server, api):
        await api("POST", DEPLOYMENTS, deployment(replicas=3))
        path = f"{DEPLOYMENTS}/web/scale"

        async def refused(patch, headers=strategic, code=422):
            return (await api("PATCH", path, patch, headers=headers, code=code))["message"]

        prefix = ' "" is invalid: patch: Invalid value: "map'
        for patch, why in (
            ({"metadata": 1}, '[metadata:1]": cannot restore struct from: int64'),
            ({"metadata": []}, '[metadata:[]]": cannot restore struct from: slice'),
            ({"spec": 3}, '[spec:3]": cannot restore struct from: int64'),
            ({"spec": {"replicas": "x"}}, '[spec:map[replicas:x]]": unrecognized type: int32'),
            ({"metadata": {"resourceVersion": 1}},
             '[metadata:map[resourceVersion:1]]": cannot convert int64 to string'),
        ):  # fmt: skip
            assert await refused(patch) == prefix + why
        for patch, why in (
            ({"metadata": "x"}, "string into Go struct field Scale.metadata of type v1.ObjectMeta"),
            ({"spec": {"replicas": 1.5}},
             "number 1.5 into Go struct field ScaleSpec.spec.replicas of type int32"),
            ({"spec": {"replicas": 2**33}},
             "number 8589934592 into Go struct field ScaleSpec.spec.replicas of type int32"),
            ({"status": 3}, "number into Go struct field Scale.status of type v1.ScaleStatus"),
        ):  # fmt: skip
            assert (await refused(patch, merge)).endswith(f": json: cannot unmarshal {why}")
        nameless = "the name of the object (web based on URL) was undeterminable: name must be"
        assert (await refused({"metadata": None}, code=400)).startswith(nameless)
        other = "the name of the object (x) does not match the name on the URL (web)"
        assert await refused({"metadata": {"name": "x"}}, merge, 400) == other
        body = {"metadata": {"name": "x"}, "spec": {"replicas": 1}}
        assert (await api("PUT", path, body, code=400))["message"] == other
        assert (await api("GET", path))["spec"] == {"replicas": 3}

    run(scenario)


NO_INTEGERS = ("1.0", "1e3", "-9223372036854775809", "9223372036854775808", "1.5")


@pytest.mark.parametrize("number", NO_INTEGERS)
def test_integers_in_json_are_written_as_such(number):
    """As kube-apiserver 1.20 and 1.36 refuse them, in bodies and in patches that are JSON."""

    async def scenario(server, api):
        await api("POST", DEPLOYMENTS, deployment())
        text = json.dumps(deployment(name="other", minReadySeconds=4711))

        async def asked(method, path, body, media):
            return await api.transport.request(
                method, path, headers={"content-type": media}, body=body.encode()
            )

        body = text.replace("4711", number)
        assert (await asked("POST", DEPLOYMENTS, body, "application/json")).status == 400
        patch = f'{{"spec": {{"minReadySeconds": {number}}}}}'
        path = f"{DEPLOYMENTS}/web"
        answer = await asked("PATCH", path, patch, "application/merge-patch+json")
        assert answer.status == 422
        patch = f'[{{"op": "add", "path": "/spec/minReadySeconds", "value": {number}}}]'
        assert (await asked("PATCH", path, patch, "application/json-patch+json")).status == 422

    run(scenario)


@pytest.mark.parametrize(("number", "found"), [("2.0", 2), ("3.0e+0", 3)])
def test_whole_numbers_in_other_forms_are_integers(number, found):
    """As kube-apiserver 1.20 and 1.36 read them."""

    async def scenario(server, api):
        text = json.dumps(deployment(minReadySeconds=4711)).replace("4711", number)
        answer = await api.transport.request("POST", DEPLOYMENTS, headers=YAML, body=text.encode())
        assert answer.status == 201, answer.body
        made = json.loads(answer.body)
        assert made["spec"]["minReadySeconds"] == found
        changed = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                   "spec": {"revisionHistoryLimit": 4711}}  # fmt: skip
        patch = json.dumps(changed).replace("4711", number)
        for media in ("strategic-merge-patch+json", "apply-patch+yaml"):
            force = "&force=true" if media.startswith("apply") else ""
            answer = await api.transport.request(
                "PATCH", f"{DEPLOYMENTS}/web?fieldManager=me{force}",
                headers={"content-type": f"application/{media}"}, body=patch.encode(),
            )  # fmt: skip
            assert answer.status == 200, answer.body
            assert json.loads(answer.body)["spec"]["revisionHistoryLimit"] == found

    run(scenario)


def test_text_that_looks_like_something_else_comes_back_from_yaml_as_text():
    odd = ["y", "off", "1e3", "0o7", "08", "1_0", ".5e1", "~", "", "2001-01-01", "0x1f", "a: b"]

    async def scenario(server, api):
        data = {f"k{index}": text for index, text in enumerate(odd)}
        await api("POST", MAPS, {"metadata": {"name": "odd"}, "data": data})
        asked = server.user("admin", "system:masters").request
        shown = await asked("GET", f"{MAPS}/odd", headers={"accept": "application/yaml"})
        await asked("PUT", f"{MAPS}/odd", headers=YAML, body=shown.body)
        assert (await api("GET", f"{MAPS}/odd"))["data"] == data
        answer = await asked("PUT", f"{MAPS}/odd", headers=YAML, body=shown.body)
        assert answer.status == 200

    run(scenario)
