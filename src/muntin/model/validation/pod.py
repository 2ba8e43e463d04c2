"""Validation of pods and of pod specs in templates.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidatePodSpec,
ValidatePodUpdate).
"""

from __future__ import annotations

import copy
from typing import Any

from muntin.model import names
from muntin.model.validation.amounts import resource_list, resource_requirements
from muntin.model.validation.containers import containers
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.metadata import annotation_map, label_map
from muntin.model.validation.placement import affinity, spread_constraints, tolerations
from muntin.model.validation.volumes import volumes
from muntin.model.validation.windows_options import (
    each_container,
    operating_system,
    windows_options,
)

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION = ("Never", "PreemptLowerPriority")
_NAMESERVERS, _SEARCHES, _SEARCH_CHARS = 3, 32, 2048
_MAX_DEADLINE = 2**31 - 1
_UPDATE_RULE = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions"
    " to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it"
    " was previously negative)"
)


def pod(obj: Object, found: Findings) -> None:
    """A new pod."""
    spec = obj.get("spec") or {}
    pod_spec(spec, "spec", found)
    if spec.get("ephemeralContainers"):
        found.forbidden("spec.ephemeralContainers", "cannot be set on create")


def pod_spec(spec: Object, path: str, found: Findings) -> None:
    """A pod's spec, wherever it stands."""
    by_name = volumes(spec, f"{path}.volumes", found)
    containers(spec, path, by_name, found)
    found.one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), _RESTART_POLICIES)
    found.one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy"), _DNS_POLICIES)
    label_map(spec.get("nodeSelector"), f"{path}.nodeSelector", found)
    _security(spec, path, found)
    _names(spec, path, found)
    affinity(spec.get("affinity") or {}, f"{path}.affinity", found)
    tolerations(spec.get("tolerations") or (), f"{path}.tolerations", found)
    constraints = spec.get("topologySpreadConstraints") or ()
    spread_constraints(constraints, f"{path}.topologySpreadConstraints", found)
    _dns_config(spec, f"{path}.dnsConfig", found)
    _numbers(spec, path, found)
    operating_system(spec, path, found)
    windows_options(spec, path, found)
    resource_list(spec.get("overhead"), f"{path}.overhead", found)
    resource_requirements(spec.get("resources") or {}, f"{path}.resources", found)
    if spec.get("preemptionPolicy"):
        found.one_of(f"{path}.preemptionPolicy", spec["preemptionPolicy"], _PREEMPTION)


def _names(spec: Object, path: str, found: Findings) -> None:
    for field in ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"):
        if spec.get(field):
            problems = names.dns1123_subdomain(spec[field])
            found.each_invalid(f"{path}.{field}", spec[field], problems)
    for field in ("hostname", "subdomain"):
        if spec.get(field):
            found.each_invalid(f"{path}.{field}", spec[field], names.dns1123_label(spec[field]))
    if not spec.get("schedulerName"):
        found.required(f"{path}.schedulerName")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        ip = alias.get("ip", "")
        found.each_invalid(f"{path}.hostAliases[{index}].ip", ip, names.ip_address(ip))
        for name in alias.get("hostnames") or ():
            problems = names.dns1123_subdomain(name)
            found.each_invalid(f"{path}.hostAliases[{index}].hostnames", name, problems)
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        kind = gate.get("conditionType", "")
        where = f"{path}.readinessGates[{index}].conditionType"
        found.each_invalid(where, kind, names.qualified_name(kind))


def _numbers(spec: Object, path: str, found: Findings) -> None:
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MAX_DEADLINE:
        found.invalid(
            f"{path}.activeDeadlineSeconds",
            deadline,
            f"must be between 1 and {_MAX_DEADLINE}, inclusive",
        )
    where = f"{path}.terminationGracePeriodSeconds"
    found.not_negative(where, spec.get("terminationGracePeriodSeconds"))


def _dns_config(spec: Object, path: str, found: Findings) -> None:
    config = spec.get("dnsConfig")
    servers = (config or {}).get("nameservers") or ()
    if spec.get("dnsPolicy") == "None":
        if config is None:
            found.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        elif not servers:
            found.required(
                f"{path}.nameservers",
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            )
    if config is None:
        return
    if len(servers) > _NAMESERVERS:
        where = f"{path}.nameservers"
        found.invalid(where, list(servers), f"must not have more than {_NAMESERVERS} nameservers")
    for index, server in enumerate(servers):
        found.each_invalid(f"{path}.nameservers[{index}]", server, names.ip_address(server))
    searches = config.get("searches") or ()
    where = f"{path}.searches"
    if len(searches) > _SEARCHES:
        found.invalid(where, list(searches), f"must not have more than {_SEARCHES} search paths")
    if len(" ".join(searches)) > _SEARCH_CHARS:
        found.invalid(
            where,
            list(searches),
            f"must not have more than {_SEARCH_CHARS} characters (including spaces) in the search "
            "list",
        )
    for index, search in enumerate(searches):
        problems = names.dns1123_subdomain(search.removesuffix(".").replace("_", "x"))
        found.each_invalid(f"{path}.searches[{index}]", search, problems if search != "." else ())
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            found.required(f"{path}.options[{index}]", "must not be empty")


def _security(spec: Object, path: str, found: Findings) -> None:
    of_pod = spec.get("securityContext") or {}
    where = f"{path}.securityContext"
    for field in ("runAsUser", "runAsGroup", "fsGroup"):
        found.not_negative(f"{where}.{field}", of_pod.get(field))
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        found.invalid(
            f"{path}.shareProcessNamespace",
            True,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        )
    for here, row in each_container(spec, path):
        security, where = row.get("securityContext") or {}, f"{here}.securityContext"
        for field in ("runAsUser", "runAsGroup"):
            found.not_negative(f"{where}.{field}", security.get(field))
        if security.get("allowPrivilegeEscalation") is False:
            if security.get("privileged"):
                found.invalid(
                    where,
                    security,
                    "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
                )
            added = (security.get("capabilities") or {}).get("add") or ()
            if "CAP_SYS_ADMIN" in added:
                found.invalid(
                    where,
                    security,
                    "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                    "CAP_SYS_ADMIN",
                )


def pod_template(template: Object, path: str, found: Findings) -> None:
    """The template of a workload, without its restart policy."""
    meta = template.get("metadata") or {}
    label_map(meta.get("labels"), f"{path}.metadata.labels", found)
    annotation_map(meta.get("annotations"), f"{path}.metadata.annotations", found)
    spec = template.get("spec") or {}
    pod_spec(spec, f"{path}.spec", found)
    if spec.get("ephemeralContainers"):
        where = f"{path}.spec.ephemeralContainers"
        found.forbidden(where, "ephemeral containers not allowed in pod template")


def pod_update(new: Object, old: Object, found: Findings) -> None:
    """A changed pod: images, tolerations and little else may change."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    if len(after.get("containers") or ()) != len(before.get("containers") or ()):
        found.forbidden("spec.containers", "pod updates may not add or remove containers")
        return
    if len(after.get("initContainers") or ()) != len(before.get("initContainers") or ()):
        found.forbidden("spec.initContainers", "pod updates may not add or remove containers")
        return
    _images(after, found)
    _deadline(after, before, found)
    _more_tolerations(after, before, found)
    if _frozen(after, before) != before:
        found.forbidden("spec", _UPDATE_RULE)


def _images(spec: Object, found: Findings) -> None:
    for path, row in each_container(spec, "spec"):
        image = row.get("image")
        if not image:
            found.required(f"{path}.image")
        elif image != image.strip():
            found.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _deadline(after: Object, before: Object, found: Findings) -> None:
    new, old = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    path = "spec.activeDeadlineSeconds"
    if new is not None and not 0 <= new <= _MAX_DEADLINE:
        found.invalid(path, new, f"must be between 0 and {_MAX_DEADLINE}, inclusive")
    elif old is not None and new is None:
        found.invalid(path, new, "must not update from a positive integer to nil value")
    elif old is not None and new > old:
        found.invalid(path, new, f"must be less than or equal to previous value {old}")


def _more_tolerations(after: Object, before: Object, found: Findings) -> None:
    rows = after.get("tolerations") or []
    if any(row not in rows for row in before.get("tolerations") or ()):
        found.forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        )
    tolerations(rows, "spec.tolerations", found)


_MAY_CHANGE = ("activeDeadlineSeconds", "tolerations")


def _frozen(after: Object, before: Object) -> Any:
    """``after`` with the fields that may change as they were."""
    result = copy.deepcopy(dict(after))
    for field in _MAY_CHANGE:
        _restore(result, before, field)
    for kind in ("containers", "initContainers"):
        rows = zip(result.get(kind) or (), before.get(kind) or (), strict=True)
        for row, old in rows:
            _restore(row, old, "image")
    if (before.get("terminationGracePeriodSeconds") or 0) < 0 and (
        after.get("terminationGracePeriodSeconds") == 1
    ):
        _restore(result, before, "terminationGracePeriodSeconds")
    gates = after.get("schedulingGates") or []
    if before.get("schedulingGates") and all(gate in before["schedulingGates"] for gate in gates):
        _restore(result, before, "schedulingGates")
        if not before.get("nodeName"):
            _restore(result, before, "nodeSelector")
            _restore(result, before, "affinity")
    return result


def _restore(into: dict[str, Any], source: Object, field: str) -> None:
    if field in source:
        into[field] = source[field]
    else:
        into.pop(field, None)
