"""Validation of containers: all that init, regular and ephemeral ones have in common, and what
sets them apart.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validateContainers,
validateInitContainers, validateEphemeralContainers, validateContainerCommon).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.model import names
from muntin.model.pods import is_sidecar
from muntin.model.validation.amounts import resource_requirements
from muntin.model.validation.environment import environment, environment_sources
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.mounts import mounts_and_devices
from muntin.model.validation.probes import PROBES, handlers
from muntin.model.validation.security import container_security
from muntin.model.validation.windows_options import windows_options

PROTOCOLS = ("SCTP", "TCP", "UDP")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_TERMINATION_POLICIES = ("FallbackToLogsOnError", "File")
_RESIZE_RESOURCES = ("cpu", "memory")
_RESIZE_POLICIES = ("NotRequired", "RestartContainer")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS = ("Restart", "RestartAllContainers")
_RESTART_RULES, _EXIT_CODES = 20, 255
_NOT_EPHEMERAL = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe",
    "readinessProbe", "startupProbe", "lifecycle",
)  # fmt: skip
_NO_EPHEMERAL = "cannot be set for an Ephemeral Container"
_NEEDS_POLICY = "must specify restartPolicy when restart rules are used"
_NO_HANDLERS = "may not be set for init containers without restartPolicy=Always"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a container's validation needs to know of its pod.

    ``volumes`` are its volumes by name, ``claims`` the names of its resource claims.
    """

    volumes: Mapping[str, Any]
    claims: frozenset[str]
    grace_s: int | None
    restart_policy: str
    host_users: bool


def containers(spec: Object, path: str, pod: Surroundings, found: Findings) -> None:
    """All containers of a pod spec."""
    regular = spec.get("containers") or ()
    if not regular:
        found.required(f"{path}.containers")
    taken: set[Any] = set()
    for index, row in enumerate(regular):
        here = f"{path}.containers[{index}]"
        _container(row, here, pod, found)
        found.unique(f"{here}.name", row.get("name") or "", taken)
        handlers(row, here, pod.grace_s, found)
        if row.get("restartPolicy") is not None or row.get("restartPolicyRules"):
            _own_restart_policy(row, here, found)
    _host_ports(regular, f"{path}.containers", found)
    if spec.get("initContainers"):
        _init(spec["initContainers"], f"{path}.initContainers", pod, taken, found)
    if spec.get("ephemeralContainers"):
        _ephemeral(spec["ephemeralContainers"], path, pod, taken, found)


def _own_restart_policy(row: Object, path: str, found: Findings) -> None:
    """Rules by exit code; a policy without rules is refused where a container cannot have one."""
    policy, rules = row.get("restartPolicy"), row.get("restartPolicyRules") or ()
    if not found.has("container-restart-rules"):
        if policy is not None:
            found.forbidden(f"{path}.restartPolicy", "may not be set for non-init containers")
        return
    if policy is None:
        found.required(f"{path}.restartPolicy", _NEEDS_POLICY)
    elif policy not in _RESTART_POLICIES:
        found.not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES)
    if len(rules) > _RESTART_RULES:
        found.too_many(f"{path}.restartPolicyRules", len(rules), _RESTART_RULES)
    known = _RESTART_ACTIONS if found.has("restart-all-containers") else _RESTART_ACTIONS[:1]
    for index, rule in enumerate(rules):
        here = f"{path}.restartPolicyRules[{index}]"
        if rule.get("action") not in known:
            found.not_supported(f"{here}.action", rule.get("action") or "", known)
        codes = rule.get("exitCodes")
        if codes is None:
            found.required(f"{here}.exitCodes", "must be specified")
        elif codes.get("operator") not in ("In", "NotIn"):
            found.not_supported(
                f"{here}.exitCodes.operator", codes.get("operator") or "", ("In", "NotIn")
            )
        elif len(codes.get("values") or ()) > _EXIT_CODES:
            found.too_many(f"{here}.exitCodes.values", len(codes["values"]), _EXIT_CODES)


def _init(rows: Any, path: str, pod: Surroundings, taken: set[Any], found: Findings) -> None:
    for index, row in enumerate(rows):
        here = f"{path}[{index}]"
        _container(row, here, pod, found)
        _init_restart_policy(row, here, found)
        name = row.get("name") or ""
        if name in taken:
            found.duplicate(f"{here}.name", name)
        elif name:
            taken.add(name)
        _host_ports((row,), path, found)
        if is_sidecar(row):
            handlers(row, here, pod.grace_s, found)
        else:
            for field in ("lifecycle", *PROBES):
                if row.get(field) is not None:
                    found.forbidden(f"{here}.{field}", _NO_HANDLERS)
        if row.get("resizePolicy") and not is_sidecar(row):
            _init_resize_policy(row["resizePolicy"], f"{here}.resizePolicy", found)


def _init_restart_policy(row: Object, path: str, found: Findings) -> None:
    policy, rules = row.get("restartPolicy"), row.get("restartPolicyRules")
    if policy is None:
        if rules:
            found.required(f"{path}.restartPolicy", _NEEDS_POLICY)
    elif not found.has("container-restart-rules"):
        if policy != "Always":
            found.not_supported(f"{path}.restartPolicy", policy, ("Always",))
    elif policy != "Always" or found.has("restart-all-containers"):
        _own_restart_policy(row, path, found)
    elif rules:
        text = "restartPolicyRules are not allowed for init containers with restart policy Always"
        found.forbidden(f"{path}.restartPolicyRules", text)


def _init_resize_policy(rows: Any, path: str, found: Findings) -> None:
    if not found.has("init-resize-policies"):
        found.invalid(path, rows, "must not be set for init containers")
        return
    for index, row in enumerate(rows):
        policy = row.get("restartPolicy")
        if policy == "RestartContainer":
            text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            found.invalid(f"{path}[{index}].restartPolicy", policy, text)


def _ephemeral(rows: Any, path: str, pod: Surroundings, taken: set[Any], found: Findings) -> None:
    targets = frozenset(taken)
    for index, row in enumerate(rows):
        here = f"{path}.ephemeralContainers[{index}]"
        _container(row, here, pod, found)
        untrimmed_image(row, here, found)
        found.unique(f"{here}.name", row.get("name") or "", taken)
        target = row.get("targetContainerName")
        if target and target not in targets:
            found.not_found(f"{here}.targetContainerName", target)
        for field in _NOT_EPHEMERAL:
            if row.get(field):
                found.forbidden(f"{here}.{field}", _NO_EPHEMERAL)
        for number, mount in enumerate(row.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    found.forbidden(f"{here}.volumeMounts[{number}].{field}", _NO_EPHEMERAL)


def untrimmed_image(row: Object, path: str, found: Findings) -> None:
    """Spaces around an image, which templates may have and pods may not."""
    image = row.get("image") or ""
    if image != image.strip():
        found.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _container(row: Object, path: str, pod: Surroundings, found: Findings) -> None:
    name = row.get("name")
    if not name:
        found.required(f"{path}.name")
    else:
        problems = names.dns1123_label(name)
        if problems:
            found.each_invalid(f"{path}.name", name, problems)
    if not row.get("image"):
        found.required(f"{path}.image")
    policy = row.get("terminationMessagePolicy")
    if policy not in _TERMINATION_POLICIES:
        known = ("File", "FallbackToLogsOnError")
        if policy and not found.has("supported-message-policies"):
            text = "must be 'File' or 'FallbackToLogsOnError'"
            found.invalid(f"{path}.terminationMessagePolicy", policy, text)
            policy = known[0]
    if policy not in _TERMINATION_POLICIES:
        found.one_of(f"{path}.terminationMessagePolicy", policy, known)
    if row.get("ports"):
        _ports(row["ports"], f"{path}.ports", found)
    if row.get("env"):
        environment(row["env"], f"{path}.env", found)
    if row.get("envFrom"):
        environment_sources(row["envFrom"], f"{path}.envFrom", found)
    mounts_and_devices(row, path, pod.volumes, found)
    pull_policy(row.get("imagePullPolicy"), f"{path}.imagePullPolicy", found)
    if row.get("resources"):
        resource_requirements(row["resources"], f"{path}.resources", found, pod.claims)
    if row.get("resizePolicy"):
        _resize_policy(row["resizePolicy"], f"{path}.resizePolicy", pod.restart_policy, found)
    container_security(row, path, pod.host_users, found)
    windows_options(row, path, found)


def pull_policy(policy: str | None, path: str, found: Findings) -> None:
    """When an image is pulled."""
    if policy not in PULL_POLICIES:
        found.one_of(path, policy, PULL_POLICIES)


def _ports(ports: Iterable[Object], path: str, found: Findings) -> None:
    seen: set[Any] = set()
    for index, port in enumerate(ports):
        name = port.get("name")
        if name:
            problems = names.port_name(name)
            found.each_invalid(f"{path}[{index}].name", name, problems)
            if not problems:
                found.unique(f"{path}[{index}].name", name, seen)
        number = port.get("containerPort")
        if not number:
            found.required(f"{path}[{index}].containerPort")
        elif names.port_number(number):
            found.each_invalid(f"{path}[{index}].containerPort", number, names.port_number(number))
        number = port.get("hostPort")
        if number:
            found.each_invalid(f"{path}[{index}].hostPort", number, names.port_number(number))
        if port.get("protocol") not in PROTOCOLS:
            found.one_of(f"{path}[{index}].protocol", port.get("protocol"), PROTOCOLS)


def _host_ports(rows: Iterable[Object], path: str, found: Findings) -> None:
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        for number, port in enumerate(row.get("ports") or ()):
            if port.get("hostPort"):
                key = f"{port.get('protocol')}/{port.get('hostIP') or ''}/{port['hostPort']}"
                found.unique(f"{path}[{index}].ports[{number}].hostPort", key, seen)


def _resize_policy(rows: Any, path: str, restart_policy: str, found: Findings) -> None:
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        name, policy = row.get("resourceName") or "", row.get("restartPolicy") or ""
        found.unique(f"{path}[{index}]", name, seen)
        found.one_of(path, name, _RESIZE_RESOURCES)
        found.one_of(path, policy, _RESIZE_POLICIES)
        if restart_policy == "Never" and policy != "NotRequired":
            found.invalid(path, policy, "must be 'NotRequired' when `restartPolicy` is 'Never'")
