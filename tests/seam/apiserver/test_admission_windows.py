"""Pods for Windows before the Pod Security levels, and HostProcess pods before the API."""

import pytest
from api_in_process import pod, run

from muntin.model.windows import Feature

HOST = {"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}
LABEL = "pod-security.kubernetes.io/enforce"


async def namespace(api, level, version="latest"):
    """Where pods are held against that level; gives the path of its pods."""
    labels = {LABEL: level, f"{LABEL}-version": version}
    meta = {"name": "held", "labels": labels}
    await api("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                             "metadata": meta})  # fmt: skip
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    await api("POST", "/api/v1/namespaces/held/serviceaccounts", account)
    return "/api/v1/namespaces/held/pods"


def a_pod(**spec):
    body = pod(**spec)
    body["metadata"].pop("namespace", None)
    return body


@pytest.mark.reproduces(Feature.PSS_RESTRICTED_WINDOWS_RELAX)
@pytest.mark.parametrize("version, code", [("v1.24", 403), ("v1.25", 201), ("latest", 201)])
def test_restricted_asks_pods_for_windows_for_less(version, code):
    async def scenario(server, api):
        pods = await namespace(api, "restricted", version)
        body = a_pod(os={"name": "windows"}, securityContext={"runAsNonRoot": True})
        answer = await api("POST", f"{pods}?dryRun=All", body, code=code)
        if code == 403:
            assert "seccompProfile" in answer["message"]
            assert "unrestricted capabilities" in answer["message"]
        body = a_pod(os={"name": "windows"})
        answer = await api("POST", f"{pods}?dryRun=All", body, code=403)
        assert "runAsNonRoot != true" in answer["message"]

    run(scenario)


@pytest.mark.reproduces(Feature.HOSTPROCESS_PSS)
@pytest.mark.parametrize("level, code", [("privileged", 201), ("baseline", 403)])
def test_levels_below_privileged_refuse_host_process(level, code):
    async def scenario(server, api):
        pods = await namespace(api, level)
        body = a_pod(os={"name": "windows"}, hostNetwork=True, securityContext=HOST)
        answer = await api("POST", f"{pods}?dryRun=All", body, code=code)
        if code == 403:
            assert (
                "must not set securityContext.windowsOptions.hostProcess=true"
                in (answer["message"])
            )

    run(scenario)


@pytest.mark.reproduces(Feature.HOSTPROCESS_NEEDS_HOSTNETWORK)
def test_host_process_needs_the_network_of_the_node():
    async def scenario(server, api):
        pods = await namespace(api, "privileged")
        answer = await api("POST", pods, a_pod(securityContext=HOST), code=422)
        assert [cause["field"] for cause in answer["details"]["causes"]] == ["spec.hostNetwork"]

    run(scenario)
