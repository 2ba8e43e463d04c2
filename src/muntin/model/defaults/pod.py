"""Defaults of pods, pod templates, containers, probes and volumes.

Source: kubernetes v1.34 pkg/apis/core/v1/defaults.go, zz_generated.defaults.go;
container images: pkg/util/parsers.
"""

from __future__ import annotations

from typing import Any

from muntin.model.pods import settle_addresses

Object = dict[str, Any]

_FILE_MODE = 0o644
_TOKEN_SECONDS = 3600


def pod(obj: Object) -> None:
    """A pod: requests from limits, and all that its spec needs."""
    spec = obj.setdefault("spec", {})
    for container in _containers(spec):
        if container.get("resources"):
            _requests_from_limits(container["resources"])
    if spec.get("resources"):
        _pod_requests(spec)
    spec.setdefault("enableServiceLinks", True)
    pod_spec(spec)
    host_ports(spec)
    settle_addresses(obj.setdefault("status", {}))


def pod_template(template: Object) -> None:
    """The template of a workload."""
    template.setdefault("metadata", {})
    pod_spec(template.setdefault("spec", {}))


def pod_spec(spec: Object) -> None:
    """A pod's spec, wherever it stands."""
    unless_named(spec, "dnsPolicy", "ClusterFirst")
    unless_named(spec, "restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    unless_named(spec, "schedulerName", "default-scheduler")
    _service_account(spec)
    for container in _containers(spec):
        _container(container)
    for volume in spec.get("volumes") or ():
        _volume(volume)


def unless_named(holder: Object, field: str, value: str) -> None:
    """Set a text that upstream takes for unset when it is empty."""
    if not holder.get(field):
        holder[field] = value


def host_ports(spec: Object) -> None:
    """On the node's own network, ports of containers are ports of the node."""
    if not spec.get("hostNetwork"):
        return
    for container in _containers(spec):
        for port in container.get("ports") or ():
            if not port.get("hostPort") and port.get("containerPort"):
                port["hostPort"] = port["containerPort"]


def _containers(spec: Object) -> list[Object]:
    found: list[Object] = []
    for field in ("initContainers", "containers", "ephemeralContainers"):
        if spec.get(field):
            found += spec[field]
    return found


def _service_account(spec: Object) -> None:
    """``serviceAccount`` is the old name of ``serviceAccountName``; both are kept equal."""
    name = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if name:
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def _requests_from_limits(resources: Object) -> None:
    limits = resources.get("limits")
    if limits:
        resources["requests"] = {**limits, **(resources.get("requests") or {})}


def _pod_requests(spec: Object) -> None:
    resources = spec["resources"]
    limits = resources.get("limits")
    if limits and not resources.get("requests"):
        resources["requests"] = dict(limits)


def _container(container: Object) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = _pull_policy(container.get("image") or "")
    unless_named(container, "terminationMessagePath", "/dev/termination-log")
    unless_named(container, "terminationMessagePolicy", "File")
    container.setdefault("resources", {})
    for port in container.get("ports") or ():
        unless_named(port, "protocol", "TCP")
    for variable in container.get("env") or ():
        if variable.get("valueFrom"):
            _field_sources(variable["valueFrom"])
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(name):
            _probe(container[name])
    if container.get("lifecycle"):
        for name in ("postStart", "preStop"):
            _http_get((container["lifecycle"].get(name) or {}).get("httpGet"))


def _pull_policy(image: str) -> str:
    """Always for images whose tag may move: ``latest``, or no tag and no digest."""
    if "@" in image:
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


_PROBE = (
    ("timeoutSeconds", 1),
    ("periodSeconds", 10),
    ("successThreshold", 1),
    ("failureThreshold", 3),
)


def _probe(probe: Object) -> None:
    for field, value in _PROBE:
        if not probe.get(field):
            probe[field] = value
    _http_get(probe.get("httpGet"))
    if probe.get("grpc") is not None:
        probe["grpc"].setdefault("service", "")


def _http_get(action: Object | None) -> None:
    if action is None:
        return
    if not action.get("path"):
        action["path"] = "/"
    unless_named(action, "scheme", "HTTP")


def _field_sources(source: Object) -> None:
    """What ``valueFrom`` or a downward API file reads."""
    if source.get("fieldRef") is not None:
        unless_named(source["fieldRef"], "apiVersion", "v1")
    if source.get("resourceFieldRef") is not None:
        source["resourceFieldRef"].setdefault("divisor", "0")


_PLAIN = (["emptyDir"], ["persistentVolumeClaim"])  # sources of which nothing is by default
_MODES = ("secret", "configMap", "downwardAPI", "projected")


def _volume(volume: Object) -> None:
    sources = [name for name, value in volume.items() if value is not None and name != "name"]
    if sources in _PLAIN:
        return
    if not sources:
        volume["emptyDir"] = {}
    for name in _MODES:
        if volume.get(name) is not None:
            volume[name].setdefault("defaultMode", _FILE_MODE)
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        _field_sources(item)
    for source in (volume.get("projected") or {}).get("sources") or ():
        _projection(source)
    if volume.get("hostPath") is not None:
        volume["hostPath"].setdefault("type", "")
    if volume.get("iscsi") is not None:
        volume["iscsi"].setdefault("iscsiInterface", "default")
    if volume.get("azureDisk") is not None:
        for field, value in _AZURE_DISK.items():
            volume["azureDisk"].setdefault(field, value)
    if volume.get("rbd") is not None:
        for field, value in _RBD.items():
            volume["rbd"].setdefault(field, value)
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = _pull_policy(image.get("reference") or "")
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        template.setdefault("metadata", {})
        template.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")


_AZURE_DISK = {"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared", "readOnly": False}
_RBD = {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}


def _projection(source: Object) -> None:
    token = source.get("serviceAccountToken")
    if token is not None:
        token.setdefault("expirationSeconds", _TOKEN_SECONDS)
    for item in (source.get("downwardAPI") or {}).get("items") or ():
        _field_sources(item)
