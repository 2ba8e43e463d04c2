"""Manifests of old documents: applied as they stand, converted, and answered with a warning."""

import json

import pytest
from api_in_process import MERGE, run

OLD = {"extensions/v1beta1": True, "apps/v1beta1": True, "apps/v1beta2": True}
YAML = {"content-type": "application/yaml"}
APPS = "/apis/apps/v1/namespaces/default"

# As a document of 2018 has them, for Windows containers.
DEPLOYMENT = b"""
apiVersion: extensions/v1beta1
kind: Deployment
metadata:
  name: iis
spec:
  replicas: 1
  template:
    metadata:
      labels:
        app: iis
    spec:
      nodeSelector:
        beta.kubernetes.io/os: windows
      containers:
      - name: iis
        image: microsoft/iis
        resources:
          limits:
            memory: "128Mi"
            cpu: 2
        ports:
        - containerPort: 80
"""
DAEMON_SET = b"""
apiVersion: extensions/v1beta1
kind: DaemonSet
metadata:
  name: my-daemonset
  labels:
    app: foo
spec:
  template:
    metadata:
      labels:
        app: foo
    spec:
      containers:
      - name: foo
        image: microsoft/windowsservercore:1709
      nodeSelector:
        beta.kubernetes.io/os: windows
"""


async def applied(api, plural, manifest, group="extensions/v1beta1"):
    path = f"/apis/{group}/namespaces/default/{plural}"
    answer = await api.transport.request("POST", path, headers=YAML, body=manifest)
    assert answer.status == 201, answer.body
    return answer.headers.get("warning", ""), json.loads(answer.body)


@pytest.mark.parametrize("version", ["1.20", "1.34", "1.37"])
def test_a_deployment_of_an_old_document(version):
    async def scenario(_, api):
        warning, shown = await applied(api, "deployments", DEPLOYMENT)
        assert (
            "extensions/v1beta1 Deployment is deprecated in v1.8+, unavailable in v1.16+; "
            "use apps/v1 Deployment"
        ) in warning
        assert shown["apiVersion"] == "extensions/v1beta1"
        new = await api("GET", f"{APPS}/deployments/iis")
        assert new["apiVersion"] == "apps/v1"
        assert new["spec"]["selector"] == {"matchLabels": {"app": "iis"}}
        assert new["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 1}
        assert new["metadata"]["labels"] == {"app": "iis"}
        old = "/apis/extensions/v1beta1/namespaces/default/deployments/iis"
        patched = await api("PATCH", old, {"spec": {"rollbackTo": {"revision": 2}}}, headers=MERGE)
        assert patched["spec"]["rollbackTo"] == {"revision": 2}
        new = await api("GET", f"{APPS}/deployments/iis")
        assert new["metadata"]["annotations"] == {"deprecated.deployment.rollback.to": "2"}

    run(scenario, version=version, runtime_config=OLD)


def test_a_daemon_set_counts_its_templates():
    async def scenario(_, api):
        _, shown = await applied(api, "daemonsets", DAEMON_SET)
        assert shown["spec"]["templateGeneration"] == 1
        assert shown["spec"]["updateStrategy"] == {"type": "OnDelete"}
        path = f"{APPS}/daemonsets/my-daemonset"
        new = await api("GET", path)
        assert new["metadata"]["annotations"] == {"deprecated.daemonset.template.generation": "1"}
        await api("PUT", path, {**new, "metadata": {"name": "my-daemonset"}})
        assert (await api("GET", path))["metadata"]["annotations"] == new["metadata"]["annotations"]
        image = {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}
        changed = await api("PATCH", path, image, headers=MERGE)
        count = changed["metadata"]["annotations"]["deprecated.daemonset.template.generation"]
        assert count == "2"

    run(scenario, runtime_config=OLD)


@pytest.mark.parametrize("group", ["extensions/v1beta1", "apps/v1beta1", "apps/v1beta2"])
def test_a_scale_of_the_beta_groups(group):
    async def scenario(_, api):
        await applied(api, "deployments", DEPLOYMENT)
        path = f"/apis/{group}/namespaces/default/deployments/iis/scale"
        scale = await api("GET", path)
        assert (scale["apiVersion"], scale["kind"]) == (group, "Scale")
        assert scale["status"] == {
            "replicas": 0,
            "selector": {"app": "iis"},
            "targetSelector": "app=iis",
        }
        scale["spec"]["replicas"] = 3
        assert (await api("PUT", path, scale))["spec"] == {"replicas": 3}
        await api("PATCH", path, {"spec": {"replicas": 4}}, headers=MERGE)
        assert (await api("GET", f"{APPS}/deployments/iis"))["spec"]["replicas"] == 4

    run(scenario, runtime_config=OLD)


def test_a_server_without_the_configuration_serves_what_upstream_does():
    async def scenario(_, api):
        path = "/apis/extensions/v1beta1/namespaces/default/deployments"
        answer = await api.transport.request("POST", path, headers=YAML, body=DEPLOYMENT)
        assert answer.status == 404

    run(scenario)


def test_lists_and_watches_of_one_version_show_what_another_stored():
    async def scenario(_, api):
        await applied(api, "deployments", DEPLOYMENT)
        path = "/apis/apps/v1beta2/namespaces/default/deployments"
        found = await api("GET", path)
        assert (found["kind"], found["apiVersion"]) == ("DeploymentList", "apps/v1beta2")
        assert "apiVersion" not in found["items"][0]  # the list says it for all of them
        async with api.watch(f"{path}?watch=true") as events:
            event = await events.next()
            assert event["object"]["apiVersion"] == "apps/v1beta2"

    run(scenario, runtime_config=OLD)


def test_an_access_review_of_the_beta_version():
    async def scenario(_, api):
        body = {
            "spec": {
                "user": "jane",
                "group": ["system:masters"],
                "resourceAttributes": {"verb": "get", "resource": "pods"},
            }
        }
        path = "/apis/authorization.k8s.io/v1beta1/subjectaccessreviews"
        found = await api("POST", path, body)
        assert found["status"]["allowed"] is True
        assert found["spec"]["group"] == ["system:masters"]
        assert found["apiVersion"] == "authorization.k8s.io/v1beta1"

    run(scenario, version="1.20")
