"""What the API refuses of the users and the gMSA of Windows pods."""

import pytest
from api_in_process import PODS, pod, run

from muntin.model.windows import Feature

OPTIONS = "spec.securityContext.windowsOptions"


@pytest.mark.reproduces(Feature.RUNASUSERNAME_VALIDATION, Feature.GMSA_CREDSPEC_VALIDATION)
@pytest.mark.parametrize(
    "options, field, words",
    [
        ({"runAsUserName": "A\\b\\c"}, "runAsUserName", "more than one backslash"),
        ({"runAsUserName": "x" * 105}, "runAsUserName", "must not be longer than 104 characters"),
        ({"runAsUserName": "..."}, "runAsUserName", "cannot contain only periods or spaces"),
        ({"gmsaCredentialSpecName": "Web_App"}, "gmsaCredentialSpecName", "RFC 1123 subdomain"),
        ({"gmsaCredentialSpec": "x" * 65537}, "gmsaCredentialSpec", "must be under 64 KiB"),
        ({"gmsaCredentialSpec": ""}, "gmsaCredentialSpec", "cannot be an empty string"),
    ],
)
def test_what_no_windows_pod_can_have(options, field, words):
    async def scenario(server, api):
        body = pod("web")
        body["spec"]["securityContext"] = {"windowsOptions": options}
        error = await api("POST", PODS, body, code=422)
        [cause] = error["details"]["causes"]
        assert cause["field"] == f"{OPTIONS}.{field}"
        assert words in cause["message"]

    run(scenario)


def test_what_one_can_have():
    async def scenario(server, api):
        body = pod("web")
        options = {"runAsUserName": "NT AUTHORITY\\NETWORK SERVICE", "gmsaCredentialSpec": "{}"}
        body["spec"]["securityContext"] = {"windowsOptions": options}
        made = await api("POST", PODS, body, code=201)
        assert made["spec"]["securityContext"]["windowsOptions"] == options

    run(scenario)
