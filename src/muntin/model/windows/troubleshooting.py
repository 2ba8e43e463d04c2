"""Rows about setting nodes up and finding what is wrong with them: mostly steps and checks."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Range,
    Severity,
    row,
    since,
    until,
)
from muntin.model.windows.features import Feature

_ALWAYS = Condition()
_DOCKER = frozenset({"docker"})
_GUIDE = "docs/how-to/windows-node.md"


def _step(
    summary: str,
    applies_to: tuple[str, ...] | str,
    source: str,
    advice: str,
    *,
    page: str = _GUIDE,
    scope: Condition | tuple[Condition, ...] = (),
    holds: Condition = _ALWAYS,
    message: str = "",
    restates: tuple[str, ...] | str = (),
    otherwise: Otherwise = Otherwise.DIFFER,
) -> Gate:
    return row(
        summary,
        kind=Kind.PROCEDURE,
        scope=scope,
        holds=holds,
        applies_to=applies_to,
        otherwise=otherwise,
        source=source,
        message=message,
        advice=advice,
        restates=restates,
        page=page,
    )


_SET_UP: dict[Feature, Gate] = {
    Feature.COMPONENTS_NOT_SERVICES_1_5: _step(
        "Early guides start kubelet and kube-proxy by hand in PowerShell windows: nothing starts "
        "them again.",
        ("kubelet.exe", "kube-proxy.exe"),
        "guides of v1.5 (lines 50-56) and v1.8",
        "Register them as services, with sc.exe or nssm.",
        scope=Condition(kubernetes=until(1, 9)),
    ),
    Feature.BUILD_WINDOWS_BINARIES: _step(
        "kubelet.exe and kube-proxy.exe are built on Linux or macOS with "
        "KUBE_BUILD_PLATFORMS=windows/amd64.",
        "KUBE_BUILD_PLATFORMS",
        "guides of v1.5 (lines 15-25) and v1.8; handbook, downloads",
        "Take the programs of the release where it has them.",
    ),
    Feature.PROXY_ENV_MACHINE_SCOPE: _step(
        "Behind a proxy HTTP_PROXY and HTTPS_PROXY are set for the whole machine, so that "
        "services have them.",
        ("HTTP_PROXY", "HTTPS_PROXY"),
        "guide of v1.9, lines 39-42; doc20, troubleshooting 15",
        "Set NO_PROXY for pods, Services and the API server too, and start the services again.",
        page="WIN-T15",
        restates="t15-proxy",
    ),
    Feature.TLS12_FOR_DOWNLOADS: _step(
        "PowerShell before Windows Server 2019 must be told to use TLS 1.2 for downloads from "
        "GitHub.",
        "[Net.ServicePointManager]::SecurityProtocol",
        "guide of v1.9, line 46",
        "Set SecurityProtocol to Tls12, or use curl.exe.",
        holds=Condition(build=since(17763)),
        otherwise=Otherwise.REJECT,
    ),
    Feature.KUBECTL_LOCALHOST_8080: _step(
        "kubectl without a kubeconfig asks localhost:8080, where nobody answers.",
        "KUBECONFIG",
        "guide of v1.9, Joining the cluster (lines 95-112)",
        "Set KUBECONFIG to C:\\k\\config.",
        message="The connection to the server localhost:8080 was refused - did you specify the "
        "right host or port?",
    ),
    Feature.START_SCRIPTS_ORDER: _step(
        "start-kubelet.ps1 runs before start-kubeproxy.ps1, each in a shell of its own with "
        "administrator rights, and with the cluster's own -ClusterCidr.",
        ("start-kubelet.ps1", "start-kubeproxy.ps1"),
        "guide of v1.9, lines 114-118; handbook, manual steps 5",
        "Let kube-proxy's service depend on the kubelet's.",
        scope=Condition(kubernetes=Range((1, 9), (1, 13)), runtime=_DOCKER),
    ),
    Feature.DOCKER_EE_UPGRADE_SERVICE: _step(
        "After an update of Docker EE its service is started by hand, and after new Windows "
        "features the machine is restarted.",
        "Get-Service docker",
        "handbook, Windows, appendix (lines 338-353)",
        "Check that the service docker is Running.",
        scope=Condition(kubernetes=until(1, 23), runtime=_DOCKER),
    ),
    Feature.T02_NATIVE_SERVICES: _step(
        "kubelet and kube-proxy run as services of Windows, made by sc.exe, when they are given "
        "--windows-service.",
        ("kubelet --windows-service", "kube-proxy --windows-service", "sc.exe create"),
        "doc20, troubleshooting 2 (where the flag is misspelt --service)",
        "Leave a blank after binPath=, and escape quotes inside it.",
        page="WIN-T02",
    ),
    Feature.T02_NSSM: _step(
        "nssm runs flanneld, kubelet and kube-proxy as services; register-svc.ps1 sets it up.",
        ("nssm.exe", "register-svc.ps1"),
        "doc20, troubleshooting 2",
        "Do not give --windows-service to what nssm starts.",
        page="WIN-T02",
    ),
    Feature.T02_REGISTER_SVC_DEFAULTS: _step(
        "register-svc.ps1 takes l2bridge, 10.244.0.0/16, DNS 10.96.0.10 and C:\\k unless told "
        "otherwise; -ManagementIP has no default.",
        "register-svc.ps1",
        "doc20, register-svc.ps1 (lines 402-409)",
        "Compare these with the cluster's own ranges.",
        page="WIN-T02",
    ),
    Feature.T02_NSSM_LOG_REDIRECT: _step(
        "nssm writes what a service says to the files of AppStdout and AppStderr.",
        ("nssm set AppStdout", "nssm set AppStderr"),
        "doc20, troubleshooting 2 (lines 443-447)",
        "Set both, and rotation with AppRotateFiles.",
        page="WIN-T02",
    ),
}

_CHECKS: dict[Feature, Gate] = {
    Feature.VALIDATE_CBR0_INTERFACE: _step(
        "A first test pings nodes and gateways of pod networks from the interface cbr0.",
        "vEthernet (cbr0)",
        "guide of v1.9, Validating your network topology",
        "See that vEthernet (cbr0) is there and has the second address of the pod network.",
        scope=Condition(kubernetes=since(1, 9)),
        page="WIN-T11",
    ),
    Feature.T01_START_PS1_SUCCESS: _step(
        "start.ps1 has succeeded when kubelet, kube-proxy and, with flannel, flanneld run and the "
        "node is Ready.",
        "start.ps1",
        "doc20, troubleshooting 1",
        "Check the processes and the node's condition.",
        page="WIN-T01",
    ),
    Feature.T11_NO_ADAPTER: _step(
        "Without the network cbr0 or an adapter vEthernet (Ethernet...) the node's network was "
        "not made, and the kubelet cannot work.",
        ("start-kubelet.ps1 -InterfaceName", "HNS network cbr0"),
        "doc20, troubleshooting 11",
        "Give the adapter's real name with -InterfaceName.",
        page="WIN-T11",
        otherwise=Otherwise.REJECT,
    ),
    Feature.GUIDE_CONNECTIVITY_LIST: _step(
        "A new node is tested from node to pod, pod to pod, to service addresses and names, to "
        "node ports and to the world.",
        "connectivity",
        "doc20, Getting Started 3 (lines 648-657)",
        "Run the win-webserver sample with its checks.",
        page="examples/win-webserver",
    ),
    Feature.BUG_REPORT_CONTENTS: _step(
        "A report of a problem names versions, cloud, network and runtime, the steps, and has the "
        "logs.",
        "sig/windows",
        "doc20, Reporting Issues and Feature Requests",
        "Collect them before the node is made anew.",
    ),
    Feature.GUIDE_LOGMONITOR: _step(
        "Programs that log to ETW or the event log show nothing in kubectl logs, unless "
        "LogMonitor.exe starts them.",
        ("kubectl logs", "LogMonitor.exe"),
        "doc20, Capturing logs from workloads",
        "Put LogMonitor.exe before the entrypoint of IIS and .NET Framework images.",
    ),
}

_PLATFORM: dict[Feature, Gate] = {
    Feature.VMWARE_FUSION_KUBELET: row(
        "The kubelet starts on VMware Fusion, where it once failed to read the size of memory.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 10)),
        applies_to="kubelet.exe",
        otherwise=Otherwise.REJECT,
        source="handbook, other known issues; kubernetes/kubernetes#57124",
        evidence=Evidence.REPORTED,
        advice="Upgrade the kubelet.",
    ),
    Feature.NPD_PRELIMINARY: row(
        "node-problem-detector has preliminary support for Windows nodes.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 14)),
        holds=Condition(kubernetes=since(1, 23)),
        applies_to="node-problem-detector",
        otherwise=Otherwise.DEGRADE,
        source="documentation, Windows containers; doc20, Feature Restrictions (Linux only)",
        advice="Keep its DaemonSet off Windows nodes.",
        restates="npd-linux-only",
    ),
    Feature.NODE_LOG_QUERY: row(
        "The kubelet answers queries for the node's logs from the Application event log.",
        holds=Condition(kubernetes=since(1, 27), feature_gate="NodeLogQuery"),
        applies_to="/api/v1/nodes/{name}/proxy/logs/?query=",
        otherwise=Otherwise.REJECT,
        source="feature gate NodeLogQuery: alpha 1.27, beta 1.30 (off), GA 1.36; "
        "pkg/kubelet/kubelet_server_journal_windows.go",
        evidence=Evidence.READ_FROM_CODE,
        advice="Turn on the gate NodeLogQuery, enableSystemLogHandler and enableSystemLogQuery.",
        not_yet="emulated nodes have no event log",
    ),
    Feature.SYSTEMUUID_WMIC: row(
        "The kubelet starts without wmic.exe, which Windows Server 2025 has as an option alone.",
        scope=Condition(build=since(26100)),
        holds=Condition(kubernetes=since(1, 32)),
        applies_to="kubelet.exe",
        otherwise=Otherwise.REJECT,
        source="K20 pkg/kubelet/winstats/perfcounter_nodestats.go; the removal as reported",
        evidence=Evidence.REPORTED,
        severity=Severity.WARNING,
        advice="Use a recent kubelet on Windows Server 2025.",
        not_yet="the kubelets here take the machine's own identifier",
    ),
}

ROWS: dict[Feature, Gate] = {**_SET_UP, **_CHECKS, **_PLATFORM}
