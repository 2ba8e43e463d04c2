"""What kubectl, old and new, meets of quotas, limit ranges, pod security and disruption budgets."""

import asyncio
import shutil

import pytest
from control_plane import control_plane
from kubectl_user import PATIENCE_S, kubectl_for
from test_control_plane import complete, workload

from muntin.model.resources import DEPLOYMENTS, NODES, PODS, RESOURCE_QUOTAS

BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 3, selector: {matchLabels: {app: web}}}
"""
LIMITS = """
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec:
  limits:
  - {type: Container, default: {cpu: 500m}, defaultRequest: {cpu: 100m}, max: {cpu: "1"}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{containers: [{{name: main, image: busybox, {more}}}]}}
"""


@pytest.fixture(params=["on PATH", "1.20"])
def binary(request):
    if request.param == "1.20":
        return request.getfixturevalue("old_kubectl")
    found = shutil.which("kubectl")
    assert found, "there is no kubectl on PATH"
    return found


def run(scenario, binary, home):
    async def main():
        async with control_plane() as plane:
            await scenario(plane, await kubectl_for(plane, binary, home))

    asyncio.run(asyncio.wait_for(main(), 2 * PATIENCE_S))


async def filled(plane, name):
    async def check():
        found = await plane.admin.get(RESOURCE_QUOTAS, name, "default")
        return (found.get("status") or {}).get("used")

    return await plane.until(check, f"the status of quota {name}")


def test_a_quota_refuses(binary, tmp_path):
    async def scenario(plane, kubectl):
        await kubectl("create", "quota", "small", "--hard=configmaps=2,secrets=5")
        await filled(plane, "small")
        await kubectl("create", "configmap", "one")
        error = await kubectl.fails("create", "configmap", "two")
        assert error.endswith(  # each age of kubectl begins in its own words
            ': configmaps "two" is forbidden: exceeded quota: small, requested: configmaps=1, '
            "used: configmaps=2, limited: configmaps=2\n"
        )
        table = await kubectl("describe", "quota", "small")
        assert [line.split() for line in table.splitlines()[-2:]] == [
            ["configmaps", "2", "2"],
            ["secrets", "0", "5"],
        ]

    run(scenario, binary, tmp_path)


def test_a_limit_range_fills_in_and_refuses(binary, tmp_path):
    async def scenario(plane, kubectl):
        await kubectl("create", "-f", "-", stdin=LIMITS)
        await kubectl("create", "-f", "-", stdin=POD.format(name="one", more=""))
        shown = await kubectl("get", "pod", "one", "-o", "jsonpath={.spec.containers[0].resources}")
        assert '"cpu":"500m"' in shown
        assert '"cpu":"100m"' in shown
        big = POD.format(name="two", more='resources: {limits: {cpu: "2"}}')
        assert await kubectl.fails("create", "-f", "-", stdin=big) == (
            'Error from server (Forbidden): error when creating "STDIN": pods "two" is forbidden: '
            "maximum cpu usage per Container is 1, but limit is 2\n"
        )

    run(scenario, binary, tmp_path)


def test_pod_security_refuses_and_warns(binary, tmp_path):
    async def scenario(plane, kubectl):
        privileged = POD.format(name="one", more="securityContext: {privileged: true}")
        await kubectl("create", "-f", "-", stdin=privileged)
        level = "pod-security.kubernetes.io/enforce=restricted"
        said = await kubectl("label", "namespace", "default", level)
        assert (
            'Warning: existing pods in namespace "default" violate the new PodSecurity enforce '
            'level "restricted:latest"'
        ) in said
        assert "Warning: one: privileged, allowPrivilegeEscalation != false" in said
        other = POD.format(name="two", more="securityContext: {privileged: true}")
        error = await kubectl.fails("create", "-f", "-", stdin=other)
        assert error.startswith(
            'Error from server (Forbidden): error when creating "STDIN": pods "two" is forbidden: '
            'violates PodSecurity "restricted:latest": privileged (container "main" must not set '
            "securityContext.privileged=true), allowPrivilegeEscalation != false (container "
            '"main" must set securityContext.allowPrivilegeEscalation=false), unrestricted '
            "capabilities"
        )
        said = await kubectl("create", "deployment", "web", "--image=busybox")
        assert 'Warning: would violate PodSecurity "restricted:latest"' in said

    run(scenario, binary, tmp_path)


def test_a_drain_waits_for_the_budget_and_ends(binary, tmp_path):
    async def scenario(plane, kubectl):
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=4))
        await complete(plane, 4)
        await kubectl("create", "-f", "-", stdin=BUDGET)
        table = await _allowed(plane, kubectl)
        assert table.split()[-5:-1] == ["web", "3", "N/A", "1"]
        pods = (await plane.admin.list(PODS, "default")).items
        node = pods[0]["spec"]["nodeName"]
        victims = {p["metadata"]["name"] for p in pods if p["spec"]["nodeName"] == node}
        said = await kubectl("drain", node, "--ignore-daemonsets", "--timeout=50s")
        for name in victims:
            assert f"evicting pod default/{name}" in said
        left = (await plane.admin.list(PODS, "default")).items
        assert not [p for p in left if p["spec"].get("nodeName") == node]
        assert (await plane.admin.get(NODES, node))["spec"]["unschedulable"]
        await complete(plane, 4)

    run(scenario, binary, tmp_path)


async def _allowed(plane, kubectl):
    for _ in range(200):
        table = await kubectl("get", "pdb", "web", "--no-headers")
        if table.split()[3] == "1":
            return table
        await asyncio.sleep(0.05)
    raise AssertionError(table)
