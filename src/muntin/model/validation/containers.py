"""Validation of containers: image, ports, environment, mounts, probes, resources.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validateContainers and kin).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.model import names
from muntin.model.pods import is_sidecar
from muntin.model.validation.amounts import resource_requirements
from muntin.model.validation.findings import Findings, Object

PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_TERMINATION_POLICIES = ("FallbackToLogsOnError", "File")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_SCHEMES = ("HTTP", "HTTPS")
_FIELD_PATHS = frozenset(
    {
        "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
        "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP",
        "status.podIPs", "metadata.labels", "metadata.annotations",
    }
)  # fmt: skip
_NOT_EPHEMERAL = ("lifecycle", *_PROBES, "ports", "resizePolicy", "resources", "restartPolicy")
_NO_EPHEMERAL = "cannot be set for an Ephemeral Container"
_SOURCES = ("configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef")


def containers(spec: Object, path: str, volumes: Mapping[str, Any], found: Findings) -> None:
    """All containers of a pod spec; ``volumes`` are its volumes by name."""
    if not spec.get("containers"):
        found.required(f"{path}.containers")
    seen: set[Any] = set()
    host_ports: set[Any] = set()
    for index, row in enumerate(spec.get("containers") or ()):
        here = f"{path}.containers[{index}]"
        _container(row, here, volumes, seen, found)
        _host_ports(row, here, host_ports, found)
        if row.get("restartPolicy") and not row.get("restartPolicyRules"):
            found.forbidden(f"{here}.restartPolicy", "may not be set for non-init containers")
        _handlers(row, here, found)
    for index, row in enumerate(spec.get("initContainers") or ()):
        here = f"{path}.initContainers[{index}]"
        _container(row, here, volumes, seen, found)
        if is_sidecar(row):
            _handlers(row, here, found)
        else:
            _no_handlers(row, here, found)

    _ephemeral(spec, path, volumes, seen, found)


def _ephemeral(
    spec: Object, path: str, volumes: Mapping[str, Any], seen: set[Any], found: Findings
) -> None:
    targets = {row.get("name") for row in spec.get("containers") or ()}
    for index, row in enumerate(spec.get("ephemeralContainers") or ()):
        here = f"{path}.ephemeralContainers[{index}]"
        _container(row, here, volumes, seen, found)
        target = row.get("targetContainerName")
        if target and target not in targets:
            found.not_found(f"{here}.targetContainerName", target)
        for field in _NOT_EPHEMERAL:
            if row.get(field):
                found.forbidden(f"{here}.{field}", _NO_EPHEMERAL)
        for number, mount in enumerate(row.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    where = f"{here}.volumeMounts[{number}].{field}"
                    found.forbidden(where, _NO_EPHEMERAL)


def _no_handlers(row: Object, path: str, found: Findings) -> None:
    for field in ("lifecycle", *_PROBES):
        if row.get(field) is not None:
            found.forbidden(
                f"{path}.{field}", "may not be set for init containers without restartPolicy=Always"
            )


def _container(
    row: Object, path: str, volumes: Mapping[str, Any], seen: set[Any], found: Findings
) -> None:
    name, image = row.get("name"), row.get("image")
    if not name:
        found.required(f"{path}.name")
    else:
        found.each_invalid(f"{path}.name", name, names.dns1123_label(name))
        found.unique(f"{path}.name", name, seen)
    if not image:
        found.required(f"{path}.image")
    elif image != image.strip():
        found.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")
    found.one_of(f"{path}.imagePullPolicy", row.get("imagePullPolicy"), _PULL_POLICIES)
    policy = row.get("terminationMessagePolicy")
    found.one_of(f"{path}.terminationMessagePolicy", policy, _TERMINATION_POLICIES)
    _ports(row.get("ports") or (), f"{path}.ports", found)
    _environment(row.get("env") or (), f"{path}.env", found)
    _environment_sources(row.get("envFrom") or (), f"{path}.envFrom", found)
    _mounts(row.get("volumeMounts") or (), f"{path}.volumeMounts", volumes, found)
    _devices(row.get("volumeDevices") or (), f"{path}.volumeDevices", volumes, found)
    resource_requirements(row.get("resources") or {}, f"{path}.resources", found)


def _ports(ports: Iterable[Object], path: str, found: Findings) -> None:
    seen: set[Any] = set()
    for index, port in enumerate(ports):
        here = f"{path}[{index}]"
        if port.get("name"):
            problems = names.port_name(port["name"])
            found.each_invalid(f"{here}.name", port["name"], problems)
            if not problems:
                found.unique(f"{here}.name", port["name"], seen)
        if not port.get("containerPort"):
            found.required(f"{here}.containerPort")
        else:
            number = port["containerPort"]
            found.each_invalid(f"{here}.containerPort", number, names.port_number(number))
        if port.get("hostPort"):
            number = port["hostPort"]
            found.each_invalid(f"{here}.hostPort", number, names.port_number(number))
        found.one_of(f"{here}.protocol", port.get("protocol"), PROTOCOLS)
        if port.get("hostIP"):
            found.each_invalid(f"{here}.hostIP", port["hostIP"], names.ip_address(port["hostIP"]))


def _host_ports(row: Object, path: str, seen: set[Any], found: Findings) -> None:
    for index, port in enumerate(row.get("ports") or ()):
        if port.get("hostPort"):
            key = f"{port.get('protocol')}/{port.get('hostIP', '')}/{port['hostPort']}"
            found.unique(f"{path}.ports[{index}].hostPort", key, seen)


def _environment(rows: Iterable[Object], path: str, found: Findings) -> None:
    for index, row in enumerate(rows):
        here, name = f"{path}[{index}]", row.get("name")
        if not name:
            found.required(f"{here}.name")
        else:
            found.each_invalid(f"{here}.name", name, names.environment_name(name))
        if row.get("valueFrom") is not None:
            _value_source(row, f"{here}.valueFrom", found)


def _value_source(row: Object, path: str, found: Findings) -> None:
    source = row["valueFrom"]
    given = [field for field in _SOURCES if source.get(field) is not None]
    if not given:
        known = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        found.invalid(path, "", f"must specify one of: {known}")
    elif row.get("value"):
        found.invalid(path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        found.invalid(path, "", "may not have more than one field specified at a time")
    field = source.get("fieldRef")
    if field is not None:
        _field_reference(field, f"{path}.fieldRef", found)
    for name in ("configMapKeyRef", "secretKeyRef"):
        if source.get(name) is not None:
            _key_reference(source[name], f"{path}.{name}", found)
    if source.get("resourceFieldRef") is not None and not source["resourceFieldRef"].get(
        "resource"
    ):
        found.required(f"{path}.resourceFieldRef.resource")


def _field_reference(field: Object, path: str, found: Findings) -> None:
    where = field.get("fieldPath")
    if not field.get("apiVersion"):
        found.required(f"{path}.apiVersion")
    if not where:
        found.required(f"{path}.fieldPath")
        return
    stem, bracket, rest = where.partition("['")
    if bracket and stem in ("metadata.labels", "metadata.annotations") and rest.endswith("']"):
        found.each_invalid(f"{path}.fieldPath", where, names.qualified_name(rest[:-2].lower()))
    elif where not in _FIELD_PATHS:
        found.invalid(
            f"{path}.fieldPath", where, "error converting fieldPath: field label not supported"
        )


def _key_reference(source: Object, path: str, found: Findings) -> None:
    if not source.get("name"):
        found.required(f"{path}.name")
    if not source.get("key"):
        found.required(f"{path}.key")
    else:
        found.each_invalid(f"{path}.key", source["key"], names.config_key(source["key"]))


def _environment_sources(rows: Iterable[Object], path: str, found: Findings) -> None:
    for index, row in enumerate(rows):
        given = [name for name in ("configMapRef", "secretRef") if row.get(name) is not None]
        here = f"{path}[{index}]"
        if not given:
            found.invalid(here, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            found.invalid(here, "", "may not have more than one field specified at a time")
        for name in given:
            if not row[name].get("name"):
                found.required(f"{here}.{name}.name")
        if row.get("prefix"):
            problems = names.environment_name(row["prefix"])
            found.each_invalid(f"{here}.prefix", row["prefix"], problems)


def _mounts(rows: Iterable[Object], path: str, volumes: Mapping[str, Any], found: Findings) -> None:
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        here = f"{path}[{index}]"
        if not row.get("name"):
            found.required(f"{here}.name")
        elif row["name"] not in volumes:
            found.not_found(f"{here}.name", row["name"])
        if not row.get("mountPath"):
            found.required(f"{here}.mountPath")
        elif row["mountPath"] in seen:
            found.invalid(f"{here}.mountPath", row["mountPath"], "must be unique")
        seen.add(row.get("mountPath"))
        for field in ("subPath", "subPathExpr"):
            if row.get(field):
                local_path(row[field], f"{here}.{field}", found)
        if row.get("subPath") and row.get("subPathExpr"):
            found.invalid(
                f"{here}.subPathExpr",
                row["subPathExpr"],
                "subPathExpr and subPath are mutually exclusive",
            )


def _devices(
    rows: Iterable[Object], path: str, volumes: Mapping[str, Any], found: Findings
) -> None:
    for index, row in enumerate(rows):
        if row.get("name") not in volumes:
            found.not_found(f"{path}[{index}].name", row.get("name"))
        if not row.get("devicePath"):
            found.required(f"{path}[{index}].devicePath")


def local_path(value: str, path: str, found: Findings) -> None:
    """A relative path that stays below where it starts."""
    if value.startswith("/"):
        found.invalid(path, value, "must be a relative path")
    no_back_steps(value, path, found)


def no_back_steps(value: str, path: str, found: Findings) -> None:
    """A path without ``..``, in either spelling of separators."""
    if ".." in value.replace("\\", "/").split("/"):
        found.invalid(path, value, "must not contain '..'")


def _handlers(row: Object, path: str, found: Findings) -> None:
    for field in _PROBES:
        probe = row.get(field)
        if probe is not None:
            _probe(probe, f"{path}.{field}", found, field)
    lifecycle = row.get("lifecycle") or {}
    for field in ("postStart", "preStop"):
        if lifecycle.get(field) is not None:
            kinds = ("exec", "httpGet", "tcpSocket", "sleep")
            _handler(lifecycle[field], f"{path}.lifecycle.{field}", found, kinds)


def _probe(probe: Object, path: str, found: Findings, kind: str) -> None:
    _handler(probe, path, found, _HANDLERS)
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "failureThreshold"):
        found.not_negative(f"{path}.{field}", probe.get(field))
    found.not_negative(f"{path}.successThreshold", probe.get("successThreshold"))
    if kind != "readinessProbe" and probe.get("successThreshold", 1) != 1:
        found.invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1")
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and kind == "readinessProbe":
        found.invalid(
            f"{path}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes"
        )
    elif grace is not None and grace <= 0:
        found.invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")


def _handler(handler: Object, path: str, found: Findings, kinds: Iterable[str]) -> None:
    given = [kind for kind in kinds if handler.get(kind) is not None]
    if not given:
        found.required(path, "must specify a handler type")
    for extra in given[1:]:
        found.forbidden(f"{path}.{extra}", "may not specify more than 1 handler type")
    for kind in given[:1]:
        action, here = handler[kind], f"{path}.{kind}"
        if kind == "exec" and not action.get("command"):
            found.required(f"{here}.command")
        if kind == "httpGet":
            _http_get(action, here, found)
        if kind in ("tcpSocket", "grpc"):
            port(action.get("port"), f"{here}.port", found)


def _http_get(action: Object, path: str, found: Findings) -> None:
    if not action.get("path"):
        found.required(f"{path}.path")
    port(action.get("port"), f"{path}.port", found)
    found.one_of(f"{path}.scheme", action.get("scheme"), _SCHEMES)
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        found.each_invalid(f"{path}.httpHeaders", name, names.http_header_name(name))


def port(value: int | str | None, path: str, found: Findings) -> None:
    """A port by number or by name."""
    if isinstance(value, str):
        found.each_invalid(path, value, names.port_name(value))
    else:
        found.each_invalid(path, value or 0, names.port_number(value or 0))
