"""What an API refuses of pods for Windows, and one of before lets pass: 1.34 beside 1.20.

One list of pods, one wrong thing in each, is sent to both with kubectl.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from profile_lab import ProfileLab
from whole_cluster import Cluster

from muntin.model.windows import Feature

WINDOWS = {"os": {"name": "windows"}}
SET = "cannot be set for a windows pod"


def in_pod(**context: Any) -> Any:
    return {**WINDOWS, "securityContext": context}


def in_container(**context: Any) -> Any:
    return {**WINDOWS, "containers": [{"name": "c", "image": "i", "securityContext": context}]}


HOST = {"windowsOptions": {"hostProcess": True}}
UNCONFINED = {"type": "RuntimeDefault"}
LEVEL = {"level": "s0:c1"}
# Row: the pod's spec, the field that is named, and what is said of it.
REFUSED: dict[Feature, tuple[Any, str, str]] = {
    Feature.FORBIDS_HOSTPID: ({**WINDOWS, "hostPID": True}, "spec.hostPID", SET),
    Feature.FORBIDS_HOSTIPC: ({**WINDOWS, "hostIPC": True}, "spec.hostIPC", SET),
    Feature.FORBIDS_HOSTUSERS: ({**WINDOWS, "hostUsers": False}, "spec.hostUsers", SET),
    Feature.FORBIDS_SHAREPROCESSNAMESPACE: (
        {**WINDOWS, "shareProcessNamespace": True},
        "spec.shareProcessNamespace",
        SET,
    ),
    Feature.FORBIDS_PSC_APPARMORPROFILE: (
        in_pod(appArmorProfile=UNCONFINED),
        "spec.securityContext.appArmorProfile",
        SET,
    ),
    Feature.FORBIDS_PSC_SELINUXOPTIONS: (
        in_pod(seLinuxOptions=LEVEL),
        "spec.securityContext.seLinuxOptions",
        SET,
    ),
    Feature.FORBIDS_PSC_SECCOMPPROFILE: (
        in_pod(seccompProfile=UNCONFINED),
        "spec.securityContext.seccompProfile",
        SET,
    ),
    Feature.FORBIDS_PSC_FSGROUP: (in_pod(fsGroup=1), "spec.securityContext.fsGroup", SET),
    Feature.FORBIDS_PSC_FSGROUPCHANGEPOLICY: (
        in_pod(fsGroupChangePolicy="Always"),
        "spec.securityContext.fsGroupChangePolicy",
        SET,
    ),
    Feature.FORBIDS_PSC_SYSCTLS: (
        in_pod(sysctls=[{"name": "kernel.shm_rmid_forced", "value": "1"}]),
        "spec.securityContext.sysctls",
        SET,
    ),
    Feature.FORBIDS_PSC_RUNASUSER: (in_pod(runAsUser=1), "spec.securityContext.runAsUser", SET),
    Feature.FORBIDS_PSC_RUNASGROUP: (in_pod(runAsGroup=1), "spec.securityContext.runAsGroup", SET),
    Feature.FORBIDS_PSC_SUPPLEMENTALGROUPS: (
        in_pod(supplementalGroups=[1]),
        "spec.securityContext.supplementalGroups",
        SET,
    ),
    Feature.FORBIDS_PSC_SUPPLEMENTALGROUPSPOLICY: (
        in_pod(supplementalGroupsPolicy="Merge"),
        "spec.securityContext.supplementalGroupsPolicy",
        SET,
    ),
    Feature.FORBIDS_PSC_SELINUXCHANGEPOLICY: (
        in_pod(seLinuxChangePolicy="Recursive"),
        "spec.securityContext.seLinuxChangePolicy",
        SET,
    ),
    Feature.FORBIDS_CTR_APPARMORPROFILE: (
        in_container(appArmorProfile=UNCONFINED),
        "spec.containers[0].securityContext.appArmorProfile",
        SET,
    ),
    Feature.FORBIDS_CTR_SELINUXOPTIONS: (
        in_container(seLinuxOptions=LEVEL),
        "spec.containers[0].securityContext.seLinuxOptions",
        SET,
    ),
    Feature.FORBIDS_CTR_SECCOMPPROFILE: (
        in_container(seccompProfile=UNCONFINED),
        "spec.containers[0].securityContext.seccompProfile",
        SET,
    ),
    Feature.FORBIDS_CTR_CAPABILITIES: (
        in_container(capabilities={"drop": ["ALL"]}),
        "spec.containers[0].securityContext.capabilities",
        SET,
    ),
    Feature.FORBIDS_CTR_READONLYROOTFILESYSTEM: (
        in_container(readOnlyRootFilesystem=True),
        "spec.containers[0].securityContext.readOnlyRootFilesystem",
        SET,
    ),
    Feature.FORBIDS_CTR_PRIVILEGED: (
        in_container(privileged=True),
        "spec.containers[0].securityContext.privileged",
        SET,
    ),
    Feature.FORBIDS_CTR_ALLOWPRIVILEGEESCALATION: (
        in_container(allowPrivilegeEscalation=False),
        "spec.containers[0].securityContext.allowPrivilegeEscalation",
        SET,
    ),
    Feature.FORBIDS_CTR_PROCMOUNT: (
        in_container(procMount="Default"),
        "spec.containers[0].securityContext.procMount",
        SET,
    ),
    Feature.FORBIDS_CTR_RUNASUSER: (
        in_container(runAsUser=1),
        "spec.containers[0].securityContext.runAsUser",
        SET,
    ),
    Feature.FORBIDS_CTR_RUNASGROUP: (
        in_container(runAsGroup=1),
        "spec.containers[0].securityContext.runAsGroup",
        SET,
    ),
    Feature.FORBIDS_RESOURCES: (
        {**WINDOWS, "resources": {"limits": {"cpu": "1"}}},
        "spec.resources",
        "may not be set for a windows pod",
    ),
    Feature.POD_OS_LINUX_WINDOWSOPTIONS: (
        {
            "os": {"name": "linux"},
            "securityContext": {"windowsOptions": {"runAsUserName": "ContainerUser"}},
        },
        "spec.securityContext.windowsOptions",
        "windows options cannot be set for a linux pod",
    ),
    Feature.HOSTPROCESS_NEEDS_HOSTNETWORK: (
        {"securityContext": HOST},
        "spec.hostNetwork",
        "hostNetwork must be true if pod contains any hostProcess containers",
    ),
    Feature.HOSTPROCESS_ALL_OR_NONE: (
        {
            "hostNetwork": True,
            "containers": [
                {"name": "c", "image": "i", "securityContext": HOST},
                {"name": "d", "image": "i"},
            ],
        },
        "spec",
        "If pod contains any hostProcess containers then all containers must be HostProcess",
    ),
}


def pods() -> str:
    items = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": feature.name.lower().replace("_", "-")},
            "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
        }
        for feature, (spec, _, _) in REFUSED.items()
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def refusals(cluster: Cluster) -> dict[str, str]:
    """What kubectl is told of each pod that is not taken, by the pod's name."""
    arguments = ("create", "--dry-run=server", "--validate=false", "-f", "-")
    done = cluster.kubectl(*arguments, input=pods(), check=False)
    found = re.split(r'\n?Error from server[^:]*: error when creating "STDIN": ', done.stderr)
    named = [(re.match(r'Pod "([\w-]+)" is invalid', text), text) for text in found]
    return {match[1]: text for match, text in named if match}


@pytest.fixture(scope="module")
def answers(
    profiles: ProfileLab, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """The refusals of 1.34 and those of 1.20."""
    old = Cluster(f"x{profiles.cluster.name}", tmp_path_factory.mktemp("old"))
    try:
        old.up("--kubernetes-version", "1.20", "--linux-nodes", "1", "--windows-nodes", "0")
        yield refusals(profiles.cluster), refusals(old)
    finally:
        old.down()


@pytest.mark.reproduces(
    Feature.FORBIDS_HOSTPID,
    Feature.FORBIDS_HOSTIPC,
    Feature.FORBIDS_HOSTUSERS,
    Feature.FORBIDS_SHAREPROCESSNAMESPACE,
    Feature.FORBIDS_PSC_APPARMORPROFILE,
    Feature.FORBIDS_PSC_SELINUXOPTIONS,
    Feature.FORBIDS_PSC_SECCOMPPROFILE,
    Feature.FORBIDS_PSC_FSGROUP,
    Feature.FORBIDS_PSC_FSGROUPCHANGEPOLICY,
    Feature.FORBIDS_PSC_SYSCTLS,
    Feature.FORBIDS_PSC_RUNASUSER,
    Feature.FORBIDS_PSC_RUNASGROUP,
    Feature.FORBIDS_PSC_SUPPLEMENTALGROUPS,
    Feature.FORBIDS_PSC_SUPPLEMENTALGROUPSPOLICY,
    Feature.FORBIDS_PSC_SELINUXCHANGEPOLICY,
    Feature.FORBIDS_CTR_APPARMORPROFILE,
    Feature.FORBIDS_CTR_SELINUXOPTIONS,
    Feature.FORBIDS_CTR_SECCOMPPROFILE,
    Feature.FORBIDS_CTR_CAPABILITIES,
    Feature.FORBIDS_CTR_READONLYROOTFILESYSTEM,
    Feature.FORBIDS_CTR_PRIVILEGED,
    Feature.FORBIDS_CTR_ALLOWPRIVILEGEESCALATION,
    Feature.FORBIDS_CTR_PROCMOUNT,
    Feature.FORBIDS_CTR_RUNASUSER,
    Feature.FORBIDS_CTR_RUNASGROUP,
    Feature.FORBIDS_RESOURCES,
    Feature.POD_OS_LINUX_WINDOWSOPTIONS,
    Feature.HOSTPROCESS_NEEDS_HOSTNETWORK,
    Feature.HOSTPROCESS_ALL_OR_NONE,
)
@pytest.mark.parametrize("feature", REFUSED, ids=str)
def test_what_an_api_refuses_of_pods_for_windows(answers, feature: Feature):
    new, old = answers
    _, field, words = REFUSED[feature]
    name = feature.name.lower().replace("_", "-")
    assert f"{field}: " in new[name]
    assert words in new[name]
    assert name not in old, "1.20 does not know whether a pod is for Windows"


def test_the_mark_names_all_of_them():
    (mark,) = [
        one
        for one in test_what_an_api_refuses_of_pods_for_windows.pytestmark
        if one.name == "reproduces"
    ]
    assert set(mark.args) == set(REFUSED)
