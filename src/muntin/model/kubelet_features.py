"""Behaviours of kubelets that depend on the kubelet's version only, on both operating systems.

``windows`` has the differences of Windows nodes, ``features`` those of API servers.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from muntin.model.gates import Version


class KubeletFeature(StrEnum):
    """A behaviour that older kubelets do not have."""

    REJECTIONS_SAID = "rejections-said"
    PREDICATES_DESCRIBED = "predicates-described"
    SANDBOX_CONDITION = "sandbox-condition"
    CREATED_WITH_COLON = "created-with-colon"
    EVENTS_WITHOUT_NAMES = "events-without-names"
    IN_PLACE_RESIZE = "in-place-resize"
    RESIZE_EVENTS = "resize-events"
    POD_PIDS_LIMIT = "pod-pids-limit"
    SECCOMP_FIELDS = "seccomp-fields"
    SECCOMP_FIELDS_ALONE = "seccomp-fields-alone"
    SECCOMP_DEFAULT = "seccomp-default"
    USER_NAMESPACES = "user-namespaces"
    IMAGE_VOLUMES = "image-volumes"


_SINCE: Mapping[KubeletFeature, Version] = {
    # A refused pod's message begins with "Pod was rejected: ", not "Pod ".
    # Source: kubernetes/kubernetes#112644.
    KubeletFeature.REJECTIONS_SAID: (1, 26),
    # It describes the failed predicate. Source: kubernetes/kubernetes#125498.
    KubeletFeature.PREDICATES_DESCRIBED: (1, 31),
    # Pods have the condition PodReadyToStartContainers. Source: KEP 3085, CHANGELOG-1.29.
    KubeletFeature.SANDBOX_CONDITION: (1, 29),
    # Events say "Created container: NAME"; earlier versions have no colon. (Seen in 1.34; the first
    # version is from memory.)
    KubeletFeature.CREATED_WITH_COLON: (1, 32),
    # They say "Container created". Source: kubernetes/kubernetes#134043.
    KubeletFeature.EVENTS_WITHOUT_NAMES: (1, 35),
    # Containers are resized in place. Source: KEP 1287, CHANGELOG-1.33.
    KubeletFeature.IN_PLACE_RESIZE: (1, 33),
    # In-place resizes emit events. Source: KEP 1287.
    KubeletFeature.RESIZE_EVENTS: (1, 35),
    # podPidsLimit works without a feature gate. Source: gate SupportPodPidsLimit, on since 1.14.
    KubeletFeature.POD_PIDS_LIMIT: (1, 14),
    # securityContext.seccompProfile is supported, and annotations still are. Source: KEP 135.
    KubeletFeature.SECCOMP_FIELDS: (1, 19),
    # Seccomp annotations are ignored. Source: KEP 135, CHANGELOG-1.27.
    KubeletFeature.SECCOMP_FIELDS_ALONE: (1, 27),
    # seccompDefault works without a gate. Source: KEP 2413, gate SeccompDefault on since 1.25.
    KubeletFeature.SECCOMP_DEFAULT: (1, 25),
    # hostUsers is supported. Source: KEP 127, gate UserNamespacesSupport on since 1.33.
    KubeletFeature.USER_NAMESPACES: (1, 33),
    # Image volumes are supported. Source: KEP 4639, gate ImageVolume on since 1.35.
    KubeletFeature.IMAGE_VOLUMES: (1, 35),
}


def is_in(feature: KubeletFeature, version: Version) -> bool:
    """Whether a kubelet of that (major, minor) version has the feature."""
    return version >= _SINCE[feature]
