"""Rules on kinds of workloads: what may run Windows pods, and what counts or guards them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from muntin.lint.places import Fix, Place, Put
from muntin.lint.rule import Profiles, Rule, on_linux_pods, on_objects, on_pods
from muntin.lint.rules.dns import texts
from muntin.lint.views import Object, Pod, listing, mapping
from muntin.model.windows import Feature

_OS_LABEL = "kubernetes.io/os"
_ARCHITECTURE_LABELS, _AMD64 = ("kubernetes.io/arch", "beta.kubernetes.io/arch"), "amd64"
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PING = re.compile(r"(^|[\s;&|'\"\\/])ping(\.exe)?\s", re.IGNORECASE)
_OWN_NODE_PORT = re.compile(r"(?:localhost|127\.0\.0\.1):3(?:[01]\d{3}|2[0-7]\d{2})(?!\d)")
_SERVICE_NAME = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+\.svc\b|\$\(?[A-Z0-9_]+_SERVICE_HOST\b|\.svc\.")


def _stateful(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    if pod.object.kind == "StatefulSet":
        yield Place((*pod.object.path, "kind"))


def _autoscaled(item: Object, profiles: Profiles) -> Iterator[Place]:
    if item.os == "windows":
        yield Place((*item.path, "spec", "scaleTargetRef"))


def _policy(item: Object, profiles: Profiles) -> Iterator[Place]:
    if item.os == "windows":
        yield Place((*item.path, "spec", "podSelector"))


def _without_os(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Nothing says which nodes the DaemonSet is for; its images do not look like Windows'.

    Those for another architecture than that of Windows nodes are kept off them by that.
    """
    labels = mapping(pod.spec.get("nodeSelector"))
    if any(labels.get(key, _AMD64) != _AMD64 for key in _ARCHITECTURE_LABELS):
        return
    if pod.object.kind == "DaemonSet" and not pod.os:
        fix = Fix((Put(pod.at("spec", "nodeSelector", _OS_LABEL), "linux"),))
        yield Place(pod.at("spec", "nodeSelector"), fix)


def _pinging_probes(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for container in pod.containers:
        for name in _PROBES:
            command = mapping(mapping(container.data.get(name)).get("exec")).get("command")
            words = [word for word in listing(command) if isinstance(word, str)]
            if _PING.search(" ".join(words) + " "):
                yield Place((*container.path, name, "exec", "command"))


def _own_node_ports(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Programs on the node itself (HostProcess) that ask its own node ports."""
    for path, value in texts(pod) if pod.host_process() else ():
        if _OWN_NODE_PORT.search(value):
            yield Place(path)


def _services_from_the_node(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Programs on the node itself (HostProcess) that ask services."""
    for path, value in texts(pod) if pod.host_process() else ():
        if _SERVICE_NAME.search(value):
            yield Place(path)


RULES: dict[Feature, Rule] = {
    Feature.STATEFULSET_UNSUPPORTED_EARLY: on_pods(_stateful),
    Feature.CONTAINER_METRICS: on_objects("HorizontalPodAutoscaler", check=_autoscaled),
    Feature.NETWORK_POLICY: on_objects("NetworkPolicy", check=_policy),
    Feature.DAEMONSET_NEEDS_NODESELECTOR: on_linux_pods(_without_os),
    Feature.OUTBOUND_ICMP: on_pods(_pinging_probes),
    Feature.NODE_REACHES_OWN_NODE_PORT: on_pods(_own_node_ports),
    Feature.NODE_REACHES_SERVICE_IP: on_pods(_services_from_the_node),
}
