"""Rows about identities: users in containers, gMSA, HostProcess users, and how nodes join."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Range,
    Severity,
    only,
    row,
    since,
)
from muntin.model.windows.features import Feature

_CONTAINERD = frozenset({"containerd"})
_HOST_PROCESS = Condition(kubernetes=since(1, 22), runtime=_CONTAINERD)
_GUIDE = "docs/how-to/windows-node.md"
_USER_NAME = (
    "spec.securityContext.windowsOptions.runAsUserName",
    "spec.containers[*].securityContext.windowsOptions.runAsUserName",
)
_SPEC_NAME = (
    "spec.securityContext.windowsOptions.gmsaCredentialSpecName",
    "spec.containers[*].securityContext.windowsOptions.gmsaCredentialSpecName",
)
_SPEC = (
    "spec.securityContext.windowsOptions.gmsaCredentialSpec",
    "spec.containers[*].securityContext.windowsOptions.gmsaCredentialSpec",
)

_USERS: dict[Feature, Gate] = {
    Feature.RUN_AS_USER_NAME: row(
        "Containers run as the user that windowsOptions.runAsUserName names; the container's "
        "wins over the pod's.",
        holds=(
            Condition(kubernetes=since(1, 17)),
            Condition(kubernetes=only(1, 16), feature_gate="WindowsRunAsUserName"),
        ),
        applies_to=_USER_NAME,
        otherwise=Otherwise.IGNORE,
        source="doc20, Security and Using configurable Container usernames; feature gate "
        "WindowsRunAsUserName: alpha 1.16, beta 1.17, GA 1.18",
        advice="Set the user in the image for older kubelets.",
        restates=("runasusername", "guide-runasusername-1-16"),
    ),
    Feature.RUNASUSERNAME_VALIDATION: row(
        "runAsUserName is USER or DOMAIN\\USER, with at most 104 characters for USER, none of "
        'them a control character or one of "/\\:;|=,+*?<>@[].',
        scope=Condition(kubernetes=since(1, 16)),
        applies_to=_USER_NAME,
        otherwise=Otherwise.REJECT,
        source="K20 pkg/apis/core/validation/validation.go",
        evidence=Evidence.READ_FROM_CODE,
        message="{problem}",
        advice="Write ContainerUser, or NT AUTHORITY\\NETWORK SERVICE.",
    ),
    Feature.RUNASUSERNAME_UNKNOWN_USER: row(
        "A user that the image does not have is noticed when the container starts, and not before.",
        applies_to=_USER_NAME,
        otherwise=Otherwise.DEGRADE,
        source="kubernetes v1.36 test/e2e/windows/security_context.go",
        evidence=Evidence.READ_FROM_CODE,
        message="The user name or password is incorrect.",
        advice="Name ContainerUser, ContainerAdministrator, or a user that the image makes.",
    ),
    Feature.DEFAULT_USER_SERVERCORE: row(
        "Images of servercore run as ContainerAdministrator unless told otherwise, those of "
        "nanoserver as ContainerUser.",
        applies_to=(*_USER_NAME, "spec.containers[*].image"),
        otherwise=Otherwise.DIFFER,
        source="Microsoft's pages of the base images",
        evidence=Evidence.REPORTED,
        advice="Set runAsUserName on pods whose image is made from servercore.",
    ),
    Feature.API_IDENTITY_SID: row(
        "Users and groups are SIDs of a container's own SAM, no numbers, and are shared with "
        "neither node nor other containers.",
        kind=Kind.SUPPORT,
        applies_to=("spec.securityContext.runAsUser", "spec.securityContext.runAsGroup"),
        otherwise=Otherwise.DIFFER,
        source="doc20, API",
        advice="Never compare numeric users of Linux and Windows containers.",
    ),
    Feature.NO_HOST_IDENTITY_IN_CONTAINER: row(
        "A container cannot have an identity of its node, unless it is a HostProcess container.",
        kind=Kind.SUPPORT,
        holds=Condition(
            kubernetes=since(1, 22),
            runtime=_CONTAINERD,
            feature_gate="WindowsHostProcessContainers",
        ),
        applies_to="spec.containers[*].securityContext.privileged",
        otherwise=Otherwise.REJECT,
        source="doc20, Resource Handling (line 190)",
        advice="Use gMSA for a domain's identity.",
    ),
}

_HOST_USERS: dict[Feature, Gate] = {
    Feature.HOSTPROCESS_USER_REQUIRED: row(
        "HostProcess containers run as NT AUTHORITY\\SYSTEM, LOCAL SERVICE or NETWORK SERVICE, or "
        "as a new member of a local group.",
        scope=_HOST_PROCESS,
        applies_to="spec.securityContext.windowsOptions.runAsUserName",
        otherwise=Otherwise.REJECT,
        source="documentation, Create a Windows HostProcess Pod; hcsshim jobcontainers/logon.go",
        message="empty username or group name passed",
        advice="Set runAsUserName of every HostProcess pod.",
        not_yet="HostProcess containers are refused here",
    ),
    Feature.HOSTPROCESS_CONTAINERD_ACCOUNT: row(
        "HostProcess containers need a containerd that runs as LocalSystem or LocalService.",
        kind=Kind.SUPPORT,
        scope=_HOST_PROCESS,
        holds=Condition(),
        applies_to="containerd's service account",
        otherwise=Otherwise.REJECT,
        source="documentation, Create a Windows HostProcess Pod",
        message="failed to create user process token: failed to logon user: Access is denied.: "
        "unknown",
        advice="Run containerd as LocalSystem.",
    ),
}

_GMSA: dict[Feature, Gate] = {
    Feature.GUIDE_GMSA_1_14: row(
        "Containers get the domain identity of a gMSA credential spec.",
        holds=(
            Condition(kubernetes=since(1, 16), build=since(17763)),
            Condition(
                kubernetes=Range((1, 14), (1, 15)), build=since(17763), feature_gate="WindowsGMSA"
            ),
        ),
        applies_to=(*_SPEC_NAME, *_SPEC),
        otherwise=Otherwise.IGNORE,
        source="doc20, Managing Workload Identity with gMSA; feature gate WindowsGMSA: alpha "
        "1.14, beta 1.16, GA 1.18",
        advice="Upgrade the nodes; the custom resource, webhooks and the domain are needed too.",
    ),
    Feature.GMSA_CREDSPEC_VALIDATION: row(
        "gmsaCredentialSpec has 1 byte to 64 KiB, gmsaCredentialSpecName is a DNS-1123 subdomain.",
        scope=Condition(kubernetes=since(1, 14)),
        applies_to=(*_SPEC, *_SPEC_NAME),
        otherwise=Otherwise.REJECT,
        source="K20 pkg/apis/core/validation/validation.go",
        evidence=Evidence.READ_FROM_CODE,
        message="gmsaCredentialSpec size must be under 64 KiB",
        advice="Name the credential spec and let the webhook inline it.",
    ),
    Feature.GMSA_CRD_WEBHOOKS: row(
        "gmsaCredentialSpecName has an effect only where windows-gmsa's custom resource and "
        "webhooks are installed, and the ServiceAccount may use the spec.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 14), build=since(17763)),
        applies_to=_SPEC_NAME,
        otherwise=Otherwise.IGNORE,
        source="documentation, Configure GMSA for Windows Pods and containers",
        severity=Severity.INFO,
        advice="Install the webhooks, and a role with verb use on gmsacredentialspecs.",
    ),
    Feature.GMSA_CONTAINERD_NETWORK_SHARES: row(
        "With containerd, gMSA opens network shares from Windows Server 2004 on; Windows Server "
        "2019 needs an update of 2021.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 20), runtime=_CONTAINERD),
        holds=Condition(build=since(19041)),
        applies_to=(*_SPEC_NAME, *_SPEC),
        otherwise=Otherwise.DEGRADE,
        source="doc20, CRI-ContainerD, caution",
        advice="Update the nodes, or use Docker there.",
    ),
}

_NODES: dict[Feature, Gate] = {
    Feature.NODE_CREDENTIAL_COPY: row(
        "Early guides copy the administrator's kubeconfig to the node, which lets the node do "
        "everything.",
        kind=Kind.PROCEDURE,
        scope=Condition(kubernetes=Range((1, 8), (1, 13))),
        applies_to="C:\\k\\config",
        otherwise=Otherwise.DIFFER,
        source="guides of v1.8 (host setup 3) and v1.9; handbook, manual steps 3",
        severity=Severity.WARNING,
        advice="Give the node an identity of its own, with kubeadm join.",
        page=_GUIDE,
    ),
    Feature.KUBEADM_JOIN_WINDOWS: row(
        "Windows nodes join with kubeadm.exe, a bootstrap token and the hash of the authority.",
        kind=Kind.PROCEDURE,
        holds=Condition(kubernetes=since(1, 9)),
        applies_to="kubeadm join",
        otherwise=Otherwise.REJECT,
        source="handbook, Windows, kubeadm (lines 80-82)",
        advice="Give --token and --discovery-token-ca-cert-hash.",
        page=_GUIDE,
    ),
    Feature.KUBEADM_WINDOWS_WIP: row(
        "The documentation of 1.20 calls kubeadm's support for Windows nodes work in progress.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 18)),
        holds=Condition(kubernetes=since(1, 23)),
        applies_to="kubeadm join",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Deployment with kubeadm and cluster API",
        severity=Severity.INFO,
        advice="Follow the guides of sig-windows-tools.",
    ),
}

ROWS: dict[Feature, Gate] = {**_USERS, **_HOST_USERS, **_GMSA, **_NODES}
