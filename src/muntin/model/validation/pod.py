"""Validation of new pods, and of pod specs and templates wherever they stand.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidatePodSpec,
ValidatePodCreate, ValidatePodTemplateSpec).
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.digests import Recent
from muntin.model.spec_keys import spec_key
from muntin.model.validation.amounts import resource_requirements
from muntin.model.validation.containers import Surroundings, containers, untrimmed_image
from muntin.model.validation.dns_config import dns_config
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import annotation_map, label_map, label_name
from muntin.model.validation.placement import affinity, spread_constraints, tolerations
from muntin.model.validation.pod_annotations import matching_profiles, pod_annotations
from muntin.model.validation.pod_resources import pod_resources
from muntin.model.validation.security import host_users, pod_security
from muntin.model.validation.volumes import volumes
from muntin.model.validation.windows_options import (
    host_process,
    operating_system,
    windows_options,
)

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PREEMPTION = ("PreemptLowerPriority", "Never")
MAX_DEADLINE_S = 2**31 - 1
MOST_FINE = 4096
_LONGEST_HOST_NAME = 64
_SUBDOMAINS = ("serviceAccountName", "nodeName")


def pod(obj: Object, found: Findings) -> None:
    """A new pod."""
    pod_content(obj, found)
    spec, meta = obj.get("spec") or {}, obj["metadata"]
    if spec.get("ephemeralContainers"):
        found.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        found.forbidden(
            "spec.nodeName", "cannot be set until all schedulingGates have been cleared"
        )
    if meta.get("annotations"):
        matching_profiles(meta["annotations"], spec, "spec", found)


def pod_content(obj: Object, found: Findings) -> None:
    """What holds for a pod whenever it is written."""
    spec, meta = obj.get("spec") or {}, obj["metadata"]
    if meta.get("annotations"):
        pod_annotations(meta["annotations"], spec, "metadata.annotations", found)
    name = meta.get("name") or ""
    # The name counts only for claims that a pod has of its own, and whether there is one.
    counting: str | bool = bool(name)
    for volume in spec.get("volumes") or ():
        if "ephemeral" in volume:
            counting = name
    known = spec_key(spec) if found.spec_key is None else found.spec_key
    key = known, found.circumstances, counting
    if _fine.get(key):
        return
    before = len(found.causes)
    _spec_of_pod(spec, name, found)
    if len(found.causes) == before:
        _fine.keep(key, True)


_fine: Recent[bool] = Recent(MOST_FINE)  # specs of pods with which nothing was wrong


def _spec_of_pod(spec: Object, name: str, found: Findings) -> None:
    pod_spec(spec, "spec", found, name)
    for index, volume in enumerate(spec.get("volumes") or ()):
        _only_in_pods(volume, spec, f"spec.volumes[{index}]", found)
    for field in ("containers", "initContainers"):
        for index, row in enumerate(spec.get(field) or ()):
            untrimmed_image(row, f"spec.{field}[{index}]", found)


def _only_in_pods(volume: Object, spec: Object, path: str, found: Findings) -> None:
    """Rules of volumes that templates are spared."""
    image = volume.get("image")
    if image is not None and not image.get("reference") and len(volume) == 2:
        found.required(f"{path}.image.reference")
    if volume.get("projected") is None or spec.get("serviceAccountName"):
        return
    for number, source in enumerate(volume["projected"].get("sources") or ()):
        if source.get("serviceAccountToken") is not None:
            found.forbidden(
                f"{path}.projected.sources[{number}].serviceAccountToken",
                "must not be specified when serviceAccountName is not set",
            )


def pod_spec(spec: Object, path: str, found: Findings, pod_name: str = "") -> None:
    """A pod's spec, wherever it stands; ``pod_name`` is empty in templates."""
    grace_s = spec.get("terminationGracePeriodSeconds")
    if grace_s is None:
        found.required(f"{path}.terminationGracePeriodSeconds")
    by_name = volumes(spec, f"{path}.volumes", found, pod_name)
    claims = _resource_claims(spec.get("resourceClaims") or (), f"{path}.resourceClaims", found)
    around = Surroundings(
        volumes=by_name,
        claims=claims,
        grace_s=grace_s,
        restart_policy=spec.get("restartPolicy") or "",
        host_users=spec.get("hostUsers") is not False,
    )
    containers(spec, path, around, found)
    if spec.get("resources") is not None:
        pod_resources(spec, path, found)
    if spec.get("hostNetwork"):
        _host_ports(spec, path, pod_name != "", found)
    if spec.get("restartPolicy") not in _RESTART_POLICIES:
        found.one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), _RESTART_POLICIES)
    if spec.get("dnsPolicy") not in _DNS_POLICIES:
        found.one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy"), _DNS_POLICIES)
    if spec.get("nodeSelector"):
        label_map(spec["nodeSelector"], f"{path}.nodeSelector", found)
    pod_security(spec, path, found)
    windows_options(spec, path, found)
    if spec.get("affinity"):
        affinity(spec["affinity"], f"{path}.affinity", found)
    dns_config(spec, f"{path}.dnsConfig", found)
    _gates(spec, path, found)
    if spec.get("topologySpreadConstraints"):
        rows = spec["topologySpreadConstraints"]
        spread_constraints(rows, f"{path}.topologySpreadConstraints", found)
    _files_of_variables(spec, path, found)
    host_process(spec, path, found)
    host_users(spec, path, found)
    _names(spec, path, found)
    _late(spec, path, found)


def _late(spec: Object, path: str, found: Findings) -> None:
    """What upstream looks at last."""
    for name in ("priorityClassName", "runtimeClassName"):
        value = spec.get(name)
        if value or (value is not None and name == "runtimeClassName"):
            found.each_invalid(f"{path}.{name}", value, names.dns1123_subdomain(value))
    policy = spec.get("preemptionPolicy")
    if policy is not None and policy not in PREEMPTION:
        found.one_of(f"{path}.preemptionPolicy", policy, PREEMPTION)
    if spec.get("overhead") is not None:
        resource_requirements({"limits": spec["overhead"]}, f"{path}.overhead", found)
    operating_system(spec, path, found)


def _resource_claims(rows: Any, path: str, found: Findings) -> frozenset[str]:
    """Claims of devices; gives their names."""
    taken: set[str] = set()
    for index, row in enumerate(rows):
        here, name = f"{path}[{index}]", row.get("name")
        if not name:
            found.required(f"{here}.name")
        elif name in taken:
            found.duplicate(f"{here}.name", name)
        else:
            found.each_invalid(f"{here}.name", name, names.dns1123_label(name))
            taken.add(name)
        fields = ("resourceClaimName", "resourceClaimTemplateName")
        given = [field for field in fields if row.get(field) is not None]
        if len(given) == 2:
            found.invalid(
                here,
                row,
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                "specified",
            )
        if not given:
            known = "`resourceClaimName`, `resourceClaimTemplateName`"
            found.invalid(here, row, f"must specify one of: {known}")
        for field in given:
            problems = names.dns1123_subdomain(row[field])
            found.each_invalid(f"{here}.{field}", row[field], problems)
    return frozenset(taken)


def _host_ports(spec: Object, path: str, is_pod: bool, found: Findings) -> None:
    for index, row in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(row.get("ports") or ()):
            of_host = port.get("hostPort") or 0
            if (is_pod or of_host) and of_host != port.get("containerPort"):
                found.invalid(
                    f"{path}.containers[{index}].ports[{number}].hostPort",
                    of_host,
                    "must match `containerPort` when `hostNetwork` is true",
                )


def _files_of_variables(spec: Object, path: str, found: Findings) -> None:
    """Files that hold variables are in volumes that live as long as the pod."""
    kinds = None
    for field in ("initContainers", "containers"):
        for index, row in enumerate(spec.get(field) or ()):
            for number, variable in enumerate(row.get("env") or ()):
                if "valueFrom" not in variable:
                    continue
                source = (variable["valueFrom"] or {}).get("fileKeyRef")
                if source is None:
                    continue
                if kinds is None:
                    kinds = {v.get("name"): v for v in spec.get("volumes") or ()}
                name = source.get("volumeName") or ""
                at = f"{path}.{field}[{index}].env[{number}].valueFrom.fileKeyRef.volumeName"
                if name not in kinds:
                    found.not_found(at, name)
                elif kinds[name].get("emptyDir") is None:
                    found.invalid(at, name, "referenced volume must be of type emptyDir")


def _gates(spec: Object, path: str, found: Findings) -> None:
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        where = f"{path}.readinessGates[{index}].conditionType"
        label_name(gate.get("conditionType") or "", where, found)
    seen: set[Any] = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        where, name = f"{path}.schedulingGates[{index}]", gate.get("name") or ""
        label_name(name, where, found)
        found.unique(where, name, seen)


def _names(spec: Object, path: str, found: Findings) -> None:
    for field in _SUBDOMAINS:
        value = spec.get(field)
        if value:
            problems = names.dns1123_subdomain(value)
            if problems:
                found.each_invalid(f"{path}.{field}", value, problems)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None:
        problems = names.in_range(deadline, 1, MAX_DEADLINE_S)
        found.each_invalid(f"{path}.activeDeadlineSeconds", deadline, problems)
    if spec.get("hostnameOverride") is not None:
        _host_name(spec, f"{path}.hostnameOverride", found)
    for field in ("hostname", "subdomain"):
        value = spec.get(field)
        if value:
            found.each_invalid(f"{path}.{field}", value, names.dns1123_label(value))
    if spec.get("tolerations"):
        tolerations(spec["tolerations"], f"{path}.tolerations", found)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        here, ip = f"{path}.hostAliases[{index}]", alias.get("ip") or ""
        is_placed = found.has("selectors-of-pods-by-name")
        if not is_placed:
            here = f"{path}.hostAliases"
        found.each_invalid(f"{here}.ip", ip, names.ip_address(ip))
        for number, name in enumerate(alias.get("hostnames") or ()):
            problems = names.dns1123_subdomain(name)
            at = f"{here}.hostnames[{number}]" if is_placed else f"{here}.hostnames"
            found.each_invalid(at, name, problems)


def _host_name(spec: Object, path: str, found: Findings) -> None:
    name = spec["hostnameOverride"]
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(field):
            found.forbidden(path, f"may not be specified when {field} is true")
    if len(name.encode()) > _LONGEST_HOST_NAME:
        found.too_long(path, _LONGEST_HOST_NAME)
    found.each_invalid(path, name, names.dns1123_subdomain(name))


def pod_template(template: Object, path: str, found: Findings) -> None:
    """The template of a workload, without its restart policy."""
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    label_map(meta.get("labels"), f"{path}.labels", found)
    annotations = meta.get("annotations")
    if annotations:
        annotation_map(annotations, f"{path}.annotations", found)
        pod_annotations(annotations, spec, f"{path}.annotations", found)
    pod_spec(spec, f"{path}.spec", found)
    if annotations:
        matching_profiles(annotations, spec, f"{path}.spec", found)
    if spec.get("ephemeralContainers"):
        found.forbidden(
            f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template"
        )


def pod_template_object(obj: Object, found: Findings) -> None:
    """A PodTemplate."""
    pod_template(obj.get("template") or {}, "template", found)
