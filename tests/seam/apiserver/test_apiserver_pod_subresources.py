"""The narrow ways to change a pod: resize and ephemeral containers, with upstream's refusals.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go.
"""

import json

import pytest
from api_in_process import PODS, pod, run

from muntin.model.windows import Feature

STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}
RUNNING = {"containerStatuses": [{"name": "main", "state": {"running": {}}, "resources": {}}]}


def sized(cpu, memory="64Mi", **spec):
    resources = {"requests": {"cpu": cpu}, "limits": {"memory": memory}}
    container = {"name": "main", "image": "busybox", "resources": resources}
    return pod(containers=[container], **spec)


async def resize(api, resources, code, **fields):
    container = {"name": "main", "resources": resources, **fields}
    patch = {"spec": {"containers": [container]}}
    return await api("PATCH", f"{PODS}/one/resize", patch, headers=STRATEGIC, code=code)


def test_resize_changes_resources_and_nothing_else():
    async def scenario(server, api):
        await api("POST", PODS, sized("100m"))
        after = await resize(api, {"requests": {"cpu": "200m"}}, 200, image="other")
        container = after["spec"]["containers"][0]
        assert container["resources"]["requests"]["cpu"] == "200m"
        assert container["resources"]["limits"] == {"memory": "64Mi"}
        assert container["image"] == "busybox"
        assert after["metadata"]["generation"] == 2
        plain = await api("PUT", f"{PODS}/one", {**after, **sized("300m")}, code=422)
        assert "pod updates may not change fields other than" in plain["message"]

    run(scenario)


@pytest.mark.reproduces(Feature.POD_RESIZE)
def test_windows_pods_cannot_be_resized():
    async def scenario(server, api):
        await api("POST", PODS, sized("100m", os={"name": "windows"}))
        refused = await resize(api, {"requests": {"cpu": "200m"}}, 422)
        assert refused["message"] == (
            'Pod "one" is invalid: []: Forbidden: windows pods cannot be resized'
        )

    run(scenario)


def test_what_else_resize_refuses():
    async def scenario(server, api):
        await api("POST", PODS, sized("100m"))
        cases = {
            "resource requests cannot be removed": {"requests": {"cpu": None, "memory": "1Mi"}},
            "only cpu and memory resources are mutable": {"requests": {"ephemeral-storage": "1Gi"}},
            "memory limits cannot be decreased unless resizePolicy is RestartContainer": {
                "limits": {"memory": "32Mi"},
            },
            "Pod QOS Class may not change as a result of resizing": {
                "requests": {"cpu": "1", "memory": "64Mi"},
                "limits": {"cpu": "1", "memory": "64Mi"},
            },
        }
        for text, resources in cases.items():
            assert text in (await resize(api, resources, 422))["message"], text
        running = {"status": {"containerStatuses": [{**RUNNING["containerStatuses"][0]}]}}
        del running["status"]["containerStatuses"][0]["resources"]
        status = {"content-type": "application/merge-patch+json"}
        await api("PATCH", f"{PODS}/one/status", running, headers=status)
        refused = await resize(api, {"requests": {"cpu": "200m"}}, 422)
        assert "Pod running on node without support for resize" in refused["message"]

    run(scenario, version="1.33")  # later versions let limits of memory be decreased


async def debug(api, *containers, code=200):
    patch = {"spec": {"ephemeralContainers": list(containers)}}
    path = f"{PODS}/one/ephemeralcontainers"
    return await api("PATCH", path, patch, headers=STRATEGIC, code=code)


def test_ephemeral_containers_are_added_and_stay_as_they_are():
    async def scenario(server, api):
        await api("POST", PODS, pod())
        debugger = {"name": "debug", "image": "busybox", "targetContainerName": "main"}
        after = await debug(api, debugger)
        (row,) = after["spec"]["ephemeralContainers"]
        assert row["terminationMessagePolicy"] == "File"
        refused = await debug(api, {"name": "debug", "image": "other"}, code=422)
        assert 'existing ephemeral containers "debug" may not be changed' in refused["message"]
        gone = {**after, "spec": {**after["spec"], "ephemeralContainers": []}}
        refused = await api("PUT", f"{PODS}/one/ephemeralcontainers", gone, code=422)
        assert 'existing ephemeral containers "debug" may not be removed' in refused["message"]

    run(scenario)


def test_ephemeral_containers_have_rules_of_their_own():
    async def scenario(server, api):
        await api("POST", PODS, pod())
        wrong = {
            "name": "main",
            "image": "busybox",
            "targetContainerName": "nobody",
            "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "1"}},
        }
        found = (await debug(api, wrong, code=422))["details"]["causes"]
        at = "spec.ephemeralContainers[0]"
        expected = {
            (f"{at}.name", 'Duplicate value: "main"'),
            (f"{at}.targetContainerName", 'Not found: "nobody"'),
            (f"{at}.ports", "Forbidden: cannot be set for an Ephemeral Container"),
            (f"{at}.resources", "Forbidden: cannot be set for an Ephemeral Container"),
        }
        assert expected <= {(cause["field"], cause["message"]) for cause in found}

    run(scenario)


def test_a_broken_protobuf_body_is_a_bad_request():
    async def scenario(server, api):
        headers = {"content-type": "application/vnd.kubernetes.protobuf"}
        for body in (b"", b"k8s\x00", b"k8s\x00\xff\xff\xff", b"nothing", b"k8s\x00\x0a\x7fv1"):
            answer = await api.transport.request("POST", PODS, headers=headers, body=body)
            assert answer.status == 400, body
            assert json.loads(answer.body)["reason"] == "BadRequest"

    run(scenario)
