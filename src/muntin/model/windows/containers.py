"""Rows of containers: commands, variables, ports, probes and hooks, signals, what they leave."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Severity,
    row,
    since,
)
from muntin.model.windows.features import Feature

_ALWAYS = Condition()
_STABLE = Condition(kubernetes=since(1, 14), build=since(17763))
_CONTAINERD = Condition(runtime=frozenset({"containerd"}))
_COMMANDS = ("spec.containers[*].command", "spec.containers[*].args")

_RUNNING: dict[Feature, Gate] = {
    Feature.DOTNET_ENV_COLON: row(
        "Variables that stand for sections of a .NET configuration have two underscores where the "
        "key has a colon.",
        applies_to="spec.containers[*].env[*].name",
        otherwise=Otherwise.DIFFER,
        source="handbook chapter, other known issues",
        advice="Write __ for : in the name.",
        severity=Severity.WARNING,
        not_yet="programs of .NET read their variables themselves; no node takes part in it",
    ),
    Feature.API_PATH_SEPARATOR: row(
        "The separator of paths is the backslash: programs of Go take both, cmd.exe reads a slash "
        "as the start of an option.",
        applies_to=(*_COMMANDS, "spec.containers[*].workingDir"),
        otherwise=Otherwise.DIFFER,
        source="doc20, API",
        advice="Write backslashes in the paths of commands.",
        not_yet="programs in the container read their arguments themselves",
    ),
    Feature.GUIDE_POWERSHELL_DOLLAR_ESCAPE: row(
        "The kubelet replaces $(NAME) in commands before PowerShell sees it; $$ stands for a "
        "dollar.",
        applies_to=_COMMANDS,
        otherwise=Otherwise.DIFFER,
        source="guide for adding Windows nodes, command of win-webserver",
        advice="Write $$( for PowerShell's $(.",
        not_yet="the kubelet does the same on Linux; only PowerShell's own syntax meets it",
    ),
    Feature.STDIN_TTY_SUPPORTED: row(
        "Containers can have standard input and a terminal.",
        kind=Kind.SUPPORT,
        holds=_ALWAYS,
        applies_to=("spec.containers[*].stdin", "spec.containers[*].tty"),
        otherwise=Otherwise.DEGRADE,
        source="handbook chapter, Volume Support: samples of nanoserver",
    ),
    Feature.HOSTPORT_ONE_POD_PER_NODE: row(
        "A port of a node is mapped to one pod: no more replicas than nodes can have it.",
        kind=Kind.SUPPORT,
        holds=_ALWAYS,
        applies_to="spec.containers[*].ports[*].hostPort",
        otherwise=Otherwise.DIFFER,
        source="guide of v1.5, Port Mapping",
        advice="Use a Service of type NodePort or LoadBalancer.",
    ),
    Feature.GUIDE_PORT_MAPPING: row(
        "Ports of containers can be mapped to ports of the node.",
        kind=Kind.SUPPORT,
        holds=_ALWAYS,
        applies_to="spec.containers[*].ports",
        otherwise=Otherwise.DEGRADE,
        source="guide for adding Windows nodes, note on port mapping",
        advice="Set capabilities: {portMappings: true} in the configuration of the plugin.",
    ),
    Feature.PROBES_SUPPORTED: row(
        "Liveness and readiness probes work.",
        kind=Kind.SUPPORT,
        holds=_STABLE,
        applies_to=("spec.containers[*].livenessProbe", "spec.containers[*].readinessProbe"),
        otherwise=Otherwise.DEGRADE,
        source="doc20, Pods",
        advice="Give probes that run PowerShell a timeoutSeconds of several seconds.",
    ),
    Feature.STARTUP_PROBES: row(
        "Startup probes work.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 18)),
        holds=Condition(kubernetes=since(1, 18), build=since(17763)),
        applies_to="spec.containers[*].startupProbe",
        otherwise=Otherwise.DEGRADE,
        source="documentation of Windows containers; feature gate StartupProbe: beta 1.18",
    ),
    Feature.GRPC_PROBES: row(
        "gRPC probes work.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 23)),
        holds=Condition(kubernetes=since(1, 24)),
        applies_to=(
            "spec.containers[*].livenessProbe.grpc",
            "spec.containers[*].readinessProbe.grpc",
            "spec.containers[*].startupProbe.grpc",
        ),
        otherwise=Otherwise.DEGRADE,
        source="feature gate GRPCContainerProbe: alpha 1.23, beta 1.24",
        advice="Use nodes of Kubernetes 1.24 and newer.",
    ),
    Feature.LIFECYCLE_HOOKS_SUPPORTED: row(
        "The hooks postStart and preStop work.",
        kind=Kind.SUPPORT,
        holds=_STABLE,
        applies_to=(
            "spec.containers[*].lifecycle.postStart",
            "spec.containers[*].lifecycle.preStop",
        ),
        otherwise=Otherwise.DEGRADE,
        source="doc20, Pods",
        advice="Run cmd.exe or powershell.exe in them, not sh.",
    ),
}

_ENDING: dict[Feature, Gate] = {
    Feature.API_SIGNALS: row(
        "There are no signals: console programs are told CTRL_SHUTDOWN_EVENT, windows WM_CLOSE, "
        "services SERVICE_CONTROL_STOP.",
        applies_to="spec.containers[*].lifecycle.preStop",
        otherwise=Otherwise.DIFFER,
        source="doc20, API; hcsshim internal/signals at 7c9ff7f",
        advice="Handle CTRL_SHUTDOWN_EVENT, and do not count on a trap of SIGTERM.",
    ),
    Feature.STOP_SIGNAL_VALUES: row(
        "The stopSignal of a container in a pod for Windows is SIGTERM or SIGKILL.",
        scope=Condition(kubernetes=since(1, 33), feature_gate="ContainerStopSignals"),
        applies_to="spec.containers[*].lifecycle.stopSignal",
        otherwise=Otherwise.REJECT,
        evidence=Evidence.READ_FROM_CODE,
        source="K36 pkg/apis/core/validation/validation.go, validateStopSignal",
        message='Unsupported value: supported values: "SIGKILL", "SIGTERM"',
        advice="Use SIGTERM.",
        not_yet="the gate is closed in Muntin's API server, which drops the field",
    ),
    Feature.API_EXIT_CODES: row(
        "Exit codes tell no signal: a program that was ended leaves 1 or a status of Windows such "
        "as 0xC000013A, not 137 or 143.",
        applies_to="status.containerStatuses[*].state.terminated.exitCode",
        otherwise=Otherwise.DIFFER,
        source="doc20, API",
        advice="Tell success by 0, and nothing by 137 and 143.",
    ),
    Feature.TERMINATION_MESSAGE: row(
        "What a container writes to terminationMessagePath is in its status; that needs a mount of "
        "a single file.",
        holds=_CONTAINERD,
        applies_to="spec.containers[*].terminationMessagePath",
        otherwise=Otherwise.IGNORE,
        evidence=Evidence.READ_FROM_CODE,
        source="K20 pkg/kubelet/kuberuntime/kuberuntime_manager.go, SupportsSingleFileMapping; "
        "doc20, V1.Container",
        advice="Use containerd, or terminationMessagePolicy: FallbackToLogsOnError.",
        restates="terminationmessagepath",
    ),
}

ROWS: dict[Feature, Gate] = {**_RUNNING, **_ENDING}
