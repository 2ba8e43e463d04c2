"""What the pods of each node refer to: a graph that is kept from the first question on.

Source: kubernetes v1.34 plugin/pkg/auth/authorizer/node/graph.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from muntin.apiserver.cache import Cache, Event
from muntin.apiserver.items import Item
from muntin.model.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    Resource,
    known,
)

VOLUME_ATTACHMENTS = known("storage.k8s.io/v1", "VolumeAttachment")
Object = Mapping[str, Any]
Reference = tuple[str, str, str]
MIRROR = "kubernetes.io/config.mirror"
CLAIMS, VOLUMES, SECRETS = "persistentvolumeclaims", "persistentvolumes", "secrets"


class NodeGraph:
    """Answers whether an object is referred to by a pod that is bound to a node.

    References are (plural, namespace, name). Each pod is read once, when it changes.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._pods: dict[str, tuple[str, frozenset[Reference]]] | None = None
        self._counts: dict[str, Counter[Reference]] = {}
        cache.of(PODS).observers.append(self._observe)

    def leads(self, node: str, wanted: Reference) -> bool:
        """Whether a pod of ``node`` refers to ``wanted``, itself or through its volumes."""
        counts = self._of(node)
        if wanted in counts:
            return True
        plural, namespace, name = wanted
        if plural == VOLUMES:
            return self._claimed(counts, name)
        if plural == "volumeattachments":
            found = self._object(VOLUME_ATTACHMENTS, "", name) or {}
            return bool((found.get("spec") or {}).get("nodeName") == node)
        if plural == SECRETS:
            return any((SECRETS, namespace, name) in _secrets(pv) for pv in self._volumes(counts))
        return False

    def _of(self, node: str) -> Counter[Reference]:
        if self._pods is None:
            self._pods = {}
            for item in self._cache.of(PODS).select():
                self._put(item)
        return self._counts.get(node) or Counter()

    def _claimed(self, counts: Counter[Reference], name: str) -> bool:
        ref = ((self._object(PERSISTENT_VOLUMES, "", name) or {}).get("spec") or {}).get("claimRef")
        claim = (CLAIMS, (ref or {}).get("namespace", ""), (ref or {}).get("name", ""))
        return claim in counts

    def _volumes(self, counts: Counter[Reference]) -> Iterator[Object]:
        for plural, namespace, name in counts:
            if plural == CLAIMS:
                claim = self._object(PERSISTENT_VOLUME_CLAIMS, namespace, name) or {}
                volume = (claim.get("spec") or {}).get("volumeName")
                if volume and (found := self._object(PERSISTENT_VOLUMES, "", volume)):
                    yield found

    def _object(self, resource: Resource, namespace: str, name: str) -> Object | None:
        item = self._cache.get(resource, namespace, name)
        return None if item is None else item.object()

    def _observe(self, event: Event) -> None:
        if self._pods is None:
            return
        key = f"{event.item.namespace}/{event.item.name}"
        node, references_ = self._pods.pop(key, ("", frozenset()))
        if node:
            counts = self._counts[node]
            counts.subtract(references_)
            self._counts[node] = +counts
            if not self._counts[node]:
                del self._counts[node]
        if event.type != "DELETED":
            self._put(event.item)

    def _put(self, item: Item) -> None:
        pod = item.object()
        node = (pod.get("spec") or {}).get("nodeName") or ""
        if not node or self._pods is None:
            return
        found = frozenset(references(pod))
        self._pods[f"{item.namespace}/{item.name}"] = (node, found)
        self._counts.setdefault(node, Counter()).update(found)


def references(pod: Object) -> Iterator[Reference]:
    """The pod itself, and what it refers to."""
    meta, spec = pod["metadata"], pod.get("spec") or {}
    namespace = meta["namespace"]
    yield "pods", namespace, meta["name"]
    if MIRROR in (meta.get("annotations") or {}):
        return  # whoever may write mirror pods must not reach other objects by them
    yield "serviceaccounts", namespace, spec.get("serviceAccountName") or "default"
    for secret in spec.get("imagePullSecrets") or ():
        yield SECRETS, namespace, secret.get("name", "")
    for volume in spec.get("volumes") or ():
        yield from _volume(volume, namespace, meta["name"])
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(kind) or ():
            yield from _container(container, namespace)
    statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or ()
    named = {row.get("name"): row.get("resourceClaimName") for row in statuses}
    for claim in spec.get("resourceClaims") or ():
        if name := claim.get("resourceClaimName") or named.get(claim.get("name")):
            yield "resourceclaims", namespace, name


def _volume(volume: Object, namespace: str, pod: str) -> Iterator[Reference]:
    for source in [volume, *((volume.get("projected") or {}).get("sources") or ())]:
        if name := _named(source, "secret", "secretName"):
            yield SECRETS, namespace, name
        if name := _named(source, "configMap", "name"):
            yield "configmaps", namespace, name
    for field in volume:
        reference = volume[field] if isinstance(volume[field], dict) else {}
        for key in ("secretRef", "nodePublishSecretRef"):
            if ref := reference.get(key):
                yield SECRETS, ref.get("namespace") or namespace, ref.get("name", "")
        if field == "azureFile":
            yield SECRETS, namespace, reference.get("secretName", "")
    if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
        yield CLAIMS, namespace, claim
    if "ephemeral" in volume:
        yield CLAIMS, namespace, f"{pod}-{volume.get('name', '')}"


def _named(source: Object, field: str, key: str) -> str:
    found = source.get(field) or {}
    return str(found.get(key) or found.get("name") or "")


def _container(container: Object, namespace: str) -> Iterator[Reference]:
    sources = [item.get("valueFrom") or {} for item in container.get("env") or ()]
    for source in sources:
        if ref := source.get("secretKeyRef"):
            yield SECRETS, namespace, ref.get("name", "")
        if ref := source.get("configMapKeyRef"):
            yield "configmaps", namespace, ref.get("name", "")
    for source in container.get("envFrom") or ():
        if ref := source.get("secretRef"):
            yield SECRETS, namespace, ref.get("name", "")
        if ref := source.get("configMapRef"):
            yield "configmaps", namespace, ref.get("name", "")


def _secrets(volume: Object) -> set[Reference]:
    """The secrets that a persistent volume's source names."""
    spec = volume.get("spec") or {}
    claim = (spec.get("claimRef") or {}).get("namespace", "")
    found = set()
    for source in (value for value in spec.values() if isinstance(value, dict)):
        for key, ref in source.items():
            if key.endswith("SecretRef") or key == "secretRef":
                found.add((SECRETS, ref.get("namespace") or claim, ref.get("name", "")))
        if "secretName" in source:
            found.add((SECRETS, source.get("secretNamespace") or claim, source["secretName"]))
    return found
