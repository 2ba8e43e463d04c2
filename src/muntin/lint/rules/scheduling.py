"""Rules on where pods go: selectors, taints, classes."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.lint.binding import BUILD_LABEL, LINUX, OS_LABELS, WINDOWS
from muntin.lint.places import Fix, Place, Put, Remove
from muntin.lint.rule import Profiles, Rule, on_linux_pods, on_objects, on_pods
from muntin.lint.views import Object, Pod, listing, mapping, text
from muntin.model.windows import Feature

_STABLE, _BETA = OS_LABELS
_BETA_LABELS = {
    _BETA: _STABLE,
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
_CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd")
_ISOLATION = "experimental.windows.kubernetes.io/isolation-type"
_HYPERVISOR = "runhcs-wcow-hypervisor"


def _selected(pod: Pod) -> bool:
    """Whether scheduling has a word on the nodes' system, and not only what the pod holds.

    A class or a node that is named may bind the pod in a way that is not to be seen here.
    """
    spec = pod.spec
    if any(label in mapping(spec.get("nodeSelector")) for label in (*OS_LABELS, BUILD_LABEL)):
        return True
    node = mapping(mapping(spec.get("affinity")).get("nodeAffinity"))
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution")
    return bool(required or spec.get("runtimeClassName") or spec.get("nodeName"))


def _selector(pod: Pod, label: str, os: str) -> Place:
    path = pod.at("spec", "nodeSelector", label)
    return Place(path, Fix((Put(path, os),)))


def _unselected(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    if not _selected(pod):
        yield _selector(pod, _STABLE, WINDOWS)


def _unselected_before(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Only the older label is there: a selector by the newer one fits no node."""
    selector = mapping(pod.spec.get("nodeSelector"))
    if not _selected(pod) or (_STABLE in selector and _BETA not in selector):
        yield _selector(pod, _BETA, WINDOWS)


def _not_kept_away(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Pods of which nothing says where they go; a rule of their own speaks of DaemonSets."""
    if not pod.os and pod.containers and pod.object.kind != "DaemonSet":
        yield _selector(pod, _STABLE, LINUX)


def _beta_labels(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    selector = mapping(pod.spec.get("nodeSelector"))
    renamed = {_BETA_LABELS.get(label, label): value for label, value in selector.items()}
    renamed |= {label: value for label, value in selector.items() if label in renamed}
    fix = Fix((Put(pod.at("spec", "nodeSelector"), renamed),))
    for label in selector:
        if label in _BETA_LABELS:
            yield Place(pod.at("spec", "nodeSelector", label), fix)
    node = mapping(mapping(pod.spec.get("affinity")).get("nodeAffinity"))
    required = mapping(node.get("requiredDuringSchedulingIgnoredDuringExecution"))
    base = pod.at(
        "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    )  # fmt: skip
    for number, term in enumerate(listing(required.get("nodeSelectorTerms"))):
        for index, item in enumerate(listing(mapping(term).get("matchExpressions"))):
            key = mapping(item).get("key")
            if isinstance(key, str) and key in _BETA_LABELS:
                path = (*base, number, "matchExpressions", index, "key")
                yield Place(path, Fix((Put(path, _BETA_LABELS[key]),)))


def _build_label(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    if BUILD_LABEL in mapping(pod.spec.get("nodeSelector")):
        yield Place(pod.at("spec", "nodeSelector", BUILD_LABEL))


def _control_plane(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for container in pod.containers:
        if _name(container.image) in _CONTROL_PLANE:
            yield Place((*container.path, "image"))


def _problem_detector(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for container in pod.containers:
        if _name(container.image) == "node-problem-detector":
            yield Place((*container.path, "image"))


def _name(image: str) -> str:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _hyper_v(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    if pod.annotations.get(_ISOLATION) == "hyperv":
        path = pod.at("metadata", "annotations", _ISOLATION)
        yield Place(path, Fix((Remove(path),)))


def _class_scheduling(item: Object, profiles: Profiles) -> Iterator[Place]:
    if mapping(item.data.get("scheduling")):
        yield Place((*item.path, "scheduling"))


def _docker_handler(item: Object, profiles: Profiles) -> Iterator[Place]:
    if item.data.get("handler") == "docker":
        yield Place((*item.path, "handler"))


def _containerd_handler(item: Object, profiles: Profiles) -> Iterator[Place]:
    handler = text(item.data.get("handler"))
    if handler.startswith("runhcs-wcow"):
        yield Place((*item.path, "handler"), values={"handler": handler})


def _hypervisor(item: Object, profiles: Profiles) -> Iterator[Place]:
    if item.data.get("handler") == _HYPERVISOR:
        yield Place((*item.path, "handler"))


RULES: dict[Feature, Rule] = {
    Feature.GUIDE_NODESELECTOR_OS: on_pods(_unselected),
    Feature.NODESELECTOR_BETA_OS: on_pods(_unselected_before),
    Feature.GUIDE_TAINT_WINDOWS: on_linux_pods(_not_kept_away),
    Feature.BETA_LABELS_DEPRECATED: on_pods(_beta_labels),
    Feature.WINDOWS_BUILD_LABEL: on_pods(_build_label),
    Feature.PREEMPTION_SUPPORTED: on_pods(),
    Feature.CONTROL_PLANE_LINUX_ONLY: on_pods(_control_plane),
    Feature.NPD_PRELIMINARY: on_pods(_problem_detector),
    Feature.HYPERV_GATE_REMOVED: on_pods(_hyper_v),
    Feature.GUIDE_RUNTIMECLASS: on_objects("RuntimeClass", check=_class_scheduling),
    Feature.GUIDE_RUNTIMECLASS_HANDLER_DOCKER: on_objects("RuntimeClass", check=_docker_handler),
    Feature.RUNTIMECLASS_CONTAINERD_HANDLERS: on_objects("RuntimeClass", check=_containerd_handler),
    Feature.PROCESS_ISOLATION_ONLY: on_objects("RuntimeClass", check=_hypervisor),
}
