"""Rows of the security contexts of pods and containers, and of what a pod for Windows cannot set.

Sources, beside those of the package: handbook.V1.Container and the like stand for the sections
"API" of doc20; K36 = Kubernetes 1.36 pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Severity,
    only,
    row,
    since,
)
from muntin.model.windows.features import Feature

_ALWAYS = Condition()
_CONTEXT = "spec.securityContext"
_OF_CONTAINERS = "spec.containers[*].securityContext"
_HARDENING = "docs/how-to/prepare-windows-nodes.md"


def _both(*fields: str) -> tuple[str, ...]:
    """The fields in the security contexts of the pod and of its containers."""
    return tuple(f"{place}.{field}" for field in fields for place in (_CONTEXT, _OF_CONTAINERS))


def _ignored(
    summary: str,
    applies_to: tuple[str, ...] | str,
    advice: str,
    restates: tuple[str, ...] = (),
    source: str = "doc20, V1.Container and V1.PodSecurityContext",
) -> Gate:
    return row(
        summary,
        applies_to=applies_to,
        otherwise=Otherwise.IGNORE,
        source=source,
        advice=advice,
        restates=restates,
    )


_IGNORED: dict[Feature, Gate] = {
    Feature.RUN_AS_USER: _ignored(
        "Users by number have no meaning: Windows knows its users by name.",
        _both("runAsUser"),
        "Name the user in windowsOptions.runAsUserName.",
        ("ctr-sc-runasuser", "psc-runasuser"),
    ),
    Feature.RUN_AS_GROUP: _ignored(
        "Groups by number have no meaning on Windows.",
        _both("runAsGroup"),
        "Take the field out.",
        ("ctr-sc-runasgroup", "psc-runasgroup"),
    ),
    Feature.SUPPLEMENTAL_GROUPS: _ignored(
        "Supplemental groups have no meaning on Windows.",
        (f"{_CONTEXT}.supplementalGroups", f"{_CONTEXT}.supplementalGroupsPolicy"),
        "Take the fields out.",
        ("psc-supplementalgroups",),
    ),
    Feature.FS_GROUP: _ignored(
        "Volumes are not given to a group: fsGroup has no effect.",
        (f"{_CONTEXT}.fsGroup", f"{_CONTEXT}.fsGroupChangePolicy"),
        "Take the fields out, and restrict files with access control lists (icacls).",
        source="doc20, Storage; K20 pkg/kubelet/kuberuntime/kuberuntime_sandbox.go",
    ),
    Feature.SELINUX_OPTIONS: _ignored(
        "SELinux is not there on Windows: its options have no effect.",
        (*_both("seLinuxOptions"), f"{_CONTEXT}.seLinuxChangePolicy"),
        "Take the fields out.",
        ("ctr-sc-selinuxoptions", "psc-selinuxoptions"),
    ),
    Feature.SECURITY_PROFILES: _ignored(
        "Profiles of AppArmor and seccomp have no effect on Windows.",
        _both("appArmorProfile", "seccompProfile"),
        "Take the fields out.",
        ("selinux-apparmor-seccomp-caps",),
        "doc20, Security",
    ),
    Feature.CAPABILITIES: _ignored(
        "Windows has no capabilities to add or drop.",
        f"{_OF_CONTAINERS}.capabilities",
        "Take the field out, and choose a user with fewer rights in windowsOptions.runAsUserName.",
        ("ctr-sc-capabilities",),
    ),
    Feature.PRIVILEGED: _ignored(
        "There are no privileged containers on Windows.",
        f"{_OF_CONTAINERS}.privileged",
        "Use a HostProcess container (windowsOptions.hostProcess) for what must act on the node.",
        ("ctr-sc-privileged", "privileged-security", "privileged-unsupported"),
        "doc20, Feature Restrictions; Security; V1.Container",
    ),
    Feature.PRIVILEGE_ESCALATION: _ignored(
        "allowPrivilegeEscalation has no effect: it is about capabilities, which Windows lacks.",
        f"{_OF_CONTAINERS}.allowPrivilegeEscalation",
        "Take the field out.",
        ("ctr-sc-allowprivilegeescalation",),
    ),
    Feature.PROC_MOUNT: _ignored(
        "Windows has no /proc that could be mounted in one way or another.",
        f"{_OF_CONTAINERS}.procMount",
        "Take the field out.",
        ("ctr-sc-procmount",),
    ),
    Feature.SYSCTLS: _ignored(
        "Windows has no sysctls.",
        f"{_CONTEXT}.sysctls",
        "Take the field out; set what the network stack needs on the node, with netsh.",
        ("psc-sysctls",),
    ),
    Feature.PSC_NONE_WORK: row(
        "Of the security context of a pod, windowsOptions alone has an effect, says the handbook.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 14)),
        holds=_ALWAYS,
        applies_to=_CONTEXT,
        otherwise=Otherwise.IGNORE,
        source="doc20, V1.PodSecurityContext",
        advice="Keep windowsOptions and runAsNonRoot, and take the rest out.",
    ),
    Feature.RUN_AS_NON_ROOT: row(
        "The kubelet refuses to start a container that must not run as root where its user is "
        "ContainerAdministrator.",
        holds=Condition(kubernetes=since(1, 20)),
        applies_to=_both("runAsNonRoot"),
        otherwise=Otherwise.DIFFER,
        evidence=Evidence.READ_FROM_CODE,
        source="K20 pkg/kubelet/kuberuntime/security_context_windows.go",
        message="container's runAsUserName (ContainerAdministrator) which will be regarded as "
        "root identity and will break non-root policy",
        advice="Set windowsOptions.runAsUserName to ContainerUser beside runAsNonRoot.",
        overrides=Feature.PSC_NONE_WORK,
        severity=Severity.ERROR,
        restates=("ctr-sc-runasnonroot", "psc-runasnonroot"),
    ),
    Feature.NON_ROOT_IN_ANY_CASE: row(
        "runAsNonRoot refuses the name ContainerAdministrator however its letters are cased.",
        scope=Condition(kubernetes=since(1, 20)),
        holds=Condition(kubernetes=since(1, 25)),
        applies_to=_both("windowsOptions.runAsUserName"),
        otherwise=Otherwise.IGNORE,
        evidence=Evidence.READ_FROM_CODE,
        source="CVE-2021-25749; repaired in 1.22.14, 1.23.11, 1.24.5 and 1.25.0",
        advice="Update the kubelet, and refuse other spellings of the name by policy.",
    ),
}

_SINCE_1_24 = Condition(kubernetes=since(1, 24))
_CANNOT = "cannot be set for a windows pod"


def _forbidden(path: str, scope: Condition = _SINCE_1_24, message: str = _CANNOT) -> Gate:
    return row(
        f"A pod that says it is for Windows (spec.os.name) cannot set {path}.",
        scope=scope,
        applies_to=path,
        otherwise=Otherwise.REJECT,
        evidence=Evidence.READ_FROM_CODE,
        source="K36 validateWindows",
        message=f"Forbidden: {message}",
        advice="Take the field out.",
    )


def _gated(minor: int, gate: str) -> Condition:
    """Where the API has a field at all: before, and with the gate closed, it drops the field."""
    return Condition(kubernetes=since(1, minor), feature_gate=gate)


_FORBIDDEN: dict[Feature, Gate] = {
    Feature.FORBIDS_PSC_APPARMORPROFILE: _forbidden(
        f"{_CONTEXT}.appArmorProfile", Condition(kubernetes=since(1, 30))
    ),
    Feature.FORBIDS_PSC_SELINUXOPTIONS: _forbidden(f"{_CONTEXT}.seLinuxOptions"),
    Feature.FORBIDS_HOSTUSERS: _forbidden("spec.hostUsers", _gated(25, "UserNamespacesSupport")),
    Feature.FORBIDS_HOSTPID: _forbidden("spec.hostPID"),
    Feature.FORBIDS_HOSTIPC: _forbidden("spec.hostIPC"),
    Feature.FORBIDS_PSC_SECCOMPPROFILE: _forbidden(f"{_CONTEXT}.seccompProfile"),
    Feature.FORBIDS_PSC_FSGROUP: _forbidden(f"{_CONTEXT}.fsGroup"),
    Feature.FORBIDS_PSC_FSGROUPCHANGEPOLICY: _forbidden(f"{_CONTEXT}.fsGroupChangePolicy"),
    Feature.FORBIDS_PSC_SYSCTLS: _forbidden(f"{_CONTEXT}.sysctls"),
    Feature.FORBIDS_SHAREPROCESSNAMESPACE: _forbidden("spec.shareProcessNamespace"),
    Feature.FORBIDS_PSC_RUNASUSER: _forbidden(f"{_CONTEXT}.runAsUser"),
    Feature.FORBIDS_PSC_RUNASGROUP: _forbidden(f"{_CONTEXT}.runAsGroup"),
    Feature.FORBIDS_PSC_SUPPLEMENTALGROUPS: _forbidden(f"{_CONTEXT}.supplementalGroups"),
    Feature.FORBIDS_PSC_SUPPLEMENTALGROUPSPOLICY: _forbidden(
        f"{_CONTEXT}.supplementalGroupsPolicy", _gated(31, "SupplementalGroupsPolicy")
    ),
    Feature.FORBIDS_PSC_SELINUXCHANGEPOLICY: _forbidden(
        f"{_CONTEXT}.seLinuxChangePolicy", _gated(32, "SELinuxChangePolicy")
    ),
    Feature.FORBIDS_CTR_APPARMORPROFILE: _forbidden(
        f"{_OF_CONTAINERS}.appArmorProfile", Condition(kubernetes=since(1, 30))
    ),
    Feature.FORBIDS_CTR_SELINUXOPTIONS: _forbidden(f"{_OF_CONTAINERS}.seLinuxOptions"),
    Feature.FORBIDS_CTR_SECCOMPPROFILE: _forbidden(f"{_OF_CONTAINERS}.seccompProfile"),
    Feature.FORBIDS_CTR_CAPABILITIES: _forbidden(f"{_OF_CONTAINERS}.capabilities"),
    Feature.FORBIDS_CTR_READONLYROOTFILESYSTEM: _forbidden(
        f"{_OF_CONTAINERS}.readOnlyRootFilesystem"
    ),
    Feature.FORBIDS_CTR_PRIVILEGED: _forbidden(f"{_OF_CONTAINERS}.privileged"),
    Feature.FORBIDS_CTR_ALLOWPRIVILEGEESCALATION: _forbidden(
        f"{_OF_CONTAINERS}.allowPrivilegeEscalation"
    ),
    Feature.FORBIDS_CTR_PROCMOUNT: _forbidden(
        f"{_OF_CONTAINERS}.procMount", _gated(24, "ProcMountType")
    ),
    Feature.FORBIDS_CTR_RUNASUSER: _forbidden(f"{_OF_CONTAINERS}.runAsUser"),
    Feature.FORBIDS_CTR_RUNASGROUP: _forbidden(f"{_OF_CONTAINERS}.runAsGroup"),
}

_HOST_PROCESS = "spec.securityContext.windowsOptions.hostProcess"
_HAS_HOST_PROCESS = Condition(kubernetes=since(1, 22))
_SIX = (("containerd", since(1, 6)),)
_WITH_CONTAINERD = frozenset({"containerd"})

_OPTIONS: dict[Feature, Gate] = {
    Feature.FORBIDS_RESOURCES: _forbidden(
        "spec.resources",
        Condition(kubernetes=since(1, 34)),
        "may not be set for a windows pod",
    ),
    Feature.POD_OS_LINUX_WINDOWSOPTIONS: row(
        "A pod that says it is for Linux (spec.os.name) cannot set windowsOptions.",
        scope=_SINCE_1_24,
        applies_to=_both("windowsOptions"),
        otherwise=Otherwise.REJECT,
        evidence=Evidence.READ_FROM_CODE,
        source="K36 validateLinux",
        message="Forbidden: windows options cannot be set for a linux pod",
        advice="Take windowsOptions out of pods for Linux.",
    ),
    Feature.HOST_PROCESS: row(
        "HostProcess containers run on the node itself, with its network, files and devices.",
        holds=(
            Condition(
                kubernetes=since(1, 23),
                build=since(17763),
                runtime=_WITH_CONTAINERD,
                components=_SIX,
            ),
            Condition(
                kubernetes=only(1, 22),
                build=since(17763),
                runtime=_WITH_CONTAINERD,
                components=_SIX,
                feature_gate="WindowsHostProcessContainers",
            ),
        ),
        applies_to=_both("windowsOptions.hostProcess"),
        otherwise=Otherwise.REJECT,
        source="guide of HostProcess pods: alpha 1.22, beta 1.23, GA 1.26; containerd 1.6",
        message="pod contains HostProcess containers but feature "
        "'WindowsHostProcessContainers' is not enabled",
        advice="Run agents of the node as services of Windows there.",
        restates="hostprocess-containers",
    ),
    Feature.HOSTPROCESS_RUNASNONROOT: row(
        "runAsNonRoot cannot be true for a HostProcess container: its user has rights on the node.",
        kind=Kind.SUPPORT,
        scope=_HAS_HOST_PROCESS,
        applies_to=_both("runAsNonRoot"),
        otherwise=Otherwise.DIFFER,
        severity=Severity.WARNING,
        source="guide of HostProcess pods; neither the API server nor the kubelet checks it",
        advice="Take runAsNonRoot out.",
    ),
    Feature.HOSTPROCESS_PSS: row(
        "The Pod Security levels baseline and restricted refuse HostProcess pods.",
        scope=Condition(kubernetes=since(1, 23)),
        applies_to=_both("windowsOptions.hostProcess"),
        otherwise=Otherwise.REJECT,
        source="guide of HostProcess pods; pod-security-admission check_windowsHostProcess.go",
        message="must not set securityContext.windowsOptions.hostProcess=true",
        advice="Label the namespace pod-security.kubernetes.io/enforce: privileged.",
        severity=Severity.INFO,
    ),
    Feature.HOSTPROCESS_ALLOW_PRIVILEGED: row(
        "An API server that allows no privileged containers refuses HostProcess pods.",
        scope=_HAS_HOST_PROCESS,
        applies_to=("kube-apiserver --allow-privileged", *_both("windowsOptions.hostProcess")),
        otherwise=Otherwise.REJECT,
        evidence=Evidence.READ_FROM_CODE,
        source="K36 validateWindowsHostProcessPod",
        message="hostProcess containers are disallowed by cluster policy",
        advice="Start the API server with --allow-privileged.",
        severity=Severity.INFO,
        not_yet="Muntin's API server always allows privileged containers",
    ),
    Feature.PSS_RESTRICTED_WINDOWS_RELAX: row(
        "The Pod Security level restricted asks pods for Windows for no seccomp profile, dropped "
        "capabilities or allowPrivilegeEscalation.",
        holds=Condition(kubernetes=since(1, 25)),
        applies_to=("spec.os.name", "metadata.labels[pod-security.kubernetes.io/enforce]"),
        otherwise=Otherwise.DIFFER,
        evidence=Evidence.READ_FROM_CODE,
        source="pod-security-admission policy: seccompProfile, capabilities and "
        "allowPrivilegeEscalation of the version 1.25",
        advice="Set spec.os.name to windows.",
    ),
    Feature.SECRETS_FILE_ACL: row(
        "Who runs a node protects the kubelet's files with access control lists: Secrets lie there "
        "in clear text.",
        kind=Kind.PROCEDURE,
        applies_to="C:\\var\\lib\\kubelet\\pods",
        otherwise=Otherwise.DIFFER,
        holds=_ALWAYS,
        source="doc20, Security",
        advice="Let SYSTEM and Administrators alone read C:\\var\\lib\\kubelet.",
        page=_HARDENING,
    ),
    Feature.SECRETS_BITLOCKER: row(
        "Who runs a node encrypts the volume that the kubelet writes to.",
        kind=Kind.PROCEDURE,
        applies_to="manage-bde -status",
        otherwise=Otherwise.DIFFER,
        holds=_ALWAYS,
        source="doc20, Security",
        advice="Turn BitLocker on for that volume.",
        page=_HARDENING,
    ),
}

ROWS: dict[Feature, Gate] = {**_IGNORED, **_FORBIDDEN, **_OPTIONS}
