"""For which kind of nodes a pod is bound, by all that can say so, and which pods a Service has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from muntin.lint.places import Path
from muntin.lint.views import Given, Map, Object, Pod, Service, listing, mapping, pod_of, text

WINDOWS, LINUX = "windows", "linux"
OS_LABELS = ("kubernetes.io/os", "beta.kubernetes.io/os")
BUILD_LABEL = "node.kubernetes.io/windows-build"
# Base images of Windows and images that are known to be built on them alone.
_WINDOWS_IMAGE = re.compile(
    r"(mcr\.microsoft\.com/(windows($|[/:@])|dotnet/framework/)"
    r"|((docker\.io|registry-1\.docker\.io|index\.docker\.io)/)?"
    r"(microsoft|stefanscherer|winamd64)/(windowsservercore|nanoserver|iis|aspnet|windows)"
    r"|((docker\.io|registry-1\.docker\.io|index\.docker\.io)/)?winamd64/)"
)
_WINDOWS_TAG = re.compile(
    r"(windowsservercore|nanoserver|servercore)|(^|[-_.])(ltsc20\d\d|windows(-|_|$))", re.IGNORECASE
)


def given(objects: Iterable[Object]) -> Given:
    """All objects with their pods bound and their Services joined to pods."""
    found = Given(list(objects))
    classes = {item.name: item for item in found.objects if item.kind == "RuntimeClass"}
    nodes = {item.name: item for item in found.objects if item.kind == "Node" and not item.group}
    for item in found.objects:
        pod = pod_of(item)
        if pod is not None:
            pod.os, pod.bound_by = os_of(pod, classes, nodes)
            found.pods.append(pod)
    by_namespace: dict[str, list[Pod]] = {}
    for pod in found.pods:
        by_namespace.setdefault(_namespace(pod.object), []).append(pod)
    for item in found.objects:
        if item.kind == "Service" and not item.group:
            found.services.append(_service(item, by_namespace.get(_namespace(item), [])))
        elif item.kind in ("HorizontalPodAutoscaler", "NetworkPolicy"):
            about = _about(item, by_namespace.get(_namespace(item), []))
            item.os = WINDOWS if any(pod.os == WINDOWS for pod in about) else ""
    return found


def _about(item: Object, pods: list[Pod]) -> list[Pod]:
    """Which pods an autoscaler scales, or a policy is for (an empty selector takes all)."""
    spec = mapping(item.data.get("spec"))
    if item.kind == "NetworkPolicy":
        labels = mapping(mapping(spec.get("podSelector")).get("matchLabels"))
        return [pod for pod in pods if _selects(labels, pod.labels)]
    target = mapping(spec.get("scaleTargetRef"))
    wanted = (target.get("kind"), target.get("name"))
    return [pod for pod in pods if (pod.object.kind, pod.object.name) == wanted]


def os_of(pod: Pod, classes: Mapping[str, Object], nodes: Mapping[str, Object]) -> tuple[str, Path]:
    """The kind of nodes, and the path of the field that says so; empty where nothing does."""
    spec = pod.spec
    name = text(mapping(spec.get("os")).get("name"))
    if name:
        return name, pod.at("spec", "os", "name")
    if found := _of_labels(mapping(spec.get("nodeSelector"))):
        return found[0], pod.at("spec", "nodeSelector", found[1])
    if found_os := _of_affinity(spec):
        return found_os, pod.at("spec", "affinity", "nodeAffinity")
    if item := classes.get(text(spec.get("runtimeClassName"))):
        scheduling = mapping(item.data.get("scheduling"))
        if found := _of_labels(mapping(scheduling.get("nodeSelector"))):
            return found[0], pod.at("spec", "runtimeClassName")
        if text(item.data.get("handler")).startswith("runhcs-wcow"):
            return WINDOWS, pod.at("spec", "runtimeClassName")
    if node := nodes.get(text(spec.get("nodeName"))):
        labels = mapping(mapping(node.data.get("metadata")).get("labels"))
        if found := _of_labels(labels):
            return found[0], pod.at("spec", "nodeName")
    return _of_contents(pod)


def _of_contents(pod: Pod) -> tuple[str, Path]:
    """What only Windows has: its images, its options."""
    for path, context in (
        (pod.at("spec"), pod.spec),
        *((item.path, item.data) for item in pod.containers),
    ):
        if mapping(mapping(context.get("securityContext")).get("windowsOptions")):
            return WINDOWS, (*path, "securityContext", "windowsOptions")
    for container in pod.containers:
        if is_windows_image(container.image):
            return WINDOWS, (*container.path, "image")
    return "", ()


def is_windows_image(image: str) -> bool:
    """Whether the name says that it can be for Windows alone."""
    if _WINDOWS_IMAGE.match(image):
        return True
    last = image.partition("@")[0].rpartition("/")[2]
    return bool(_WINDOWS_TAG.search(last.partition(":")[2]))


def _of_labels(labels: Map) -> tuple[str, str] | None:
    for key in OS_LABELS:
        if isinstance(labels.get(key), str):
            return labels[key], key
    return (WINDOWS, BUILD_LABEL) if BUILD_LABEL in labels else None


def _of_affinity(spec: Map) -> str:
    """The one kind that every required term asks for."""
    node = mapping(mapping(spec.get("affinity")).get("nodeAffinity"))
    required = mapping(node.get("requiredDuringSchedulingIgnoredDuringExecution"))
    kinds = {_of_term(mapping(term)) for term in listing(required.get("nodeSelectorTerms"))}
    return kinds.pop() if len(kinds) == 1 else ""


def _of_term(term: Map) -> str:
    for item in listing(term.get("matchExpressions")):
        expression = mapping(item)
        key, operator = expression.get("key"), expression.get("operator")
        values = [value for value in listing(expression.get("values")) if isinstance(value, str)]
        if key in OS_LABELS and operator == "In" and len(values) == 1:
            return values[0]
        if key in OS_LABELS and operator == "NotIn" and values == [WINDOWS]:
            return LINUX
        if key in OS_LABELS and operator == "NotIn" and values == [LINUX]:
            return WINDOWS
        if key == BUILD_LABEL and operator in ("In", "Exists"):
            return WINDOWS
    return ""


def _namespace(item: Object) -> str:
    return item.namespace or "default"


def _service(item: Object, pods: list[Pod]) -> Service:
    spec = mapping(item.data.get("spec"))
    selector = mapping(spec.get("selector"))
    chosen = [pod for pod in pods if selector and _selects(selector, pod.labels)]
    kinds = {pod.os for pod in chosen}
    found = WINDOWS if WINDOWS in kinds else kinds.pop() if len(kinds) == 1 else ""
    return Service(item, item.path, item.data, spec, chosen, found)


def _selects(selector: Map, labels: Map) -> bool:
    return all(_same(labels.get(key), value) for key, value in selector.items())


def _same(value: Any, wanted: Any) -> bool:
    return bool(value is not None and value == wanted)
