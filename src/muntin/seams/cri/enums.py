"""The CRI enums that our code reads or writes, by their wire numbers.

Source: k8s.io/cri-api v0.36.3 api.proto; a test compares them with ``runtime_v1.tsv``.
"""

from __future__ import annotations

from enum import IntEnum


class ContainerState(IntEnum):
    """Where a container is in its life."""

    CONTAINER_CREATED = 0
    CONTAINER_RUNNING = 1
    CONTAINER_EXITED = 2
    CONTAINER_UNKNOWN = 3


class PodSandboxState(IntEnum):
    """Whether a sandbox can run containers."""

    SANDBOX_READY = 0
    SANDBOX_NOTREADY = 1


class Protocol(IntEnum):
    """The protocol of a port mapping."""

    TCP = 0
    UDP = 1
    SCTP = 2


class NamespaceMode(IntEnum):
    """Whose namespace a container joins."""

    POD = 0
    CONTAINER = 1
    NODE = 2
    TARGET = 3


class MountPropagation(IntEnum):
    """How mounts travel between host and container."""

    PROPAGATION_PRIVATE = 0
    PROPAGATION_HOST_TO_CONTAINER = 1
    PROPAGATION_BIDIRECTIONAL = 2


class ProfileType(IntEnum):
    """The kind of a seccomp or AppArmor profile."""

    RuntimeDefault = 0
    Unconfined = 1
    Localhost = 2


class SupplementalGroupsPolicy(IntEnum):
    """How groups of the image and of the pod combine."""

    Merge = 0
    Strict = 1


class ContainerEventType(IntEnum):
    """What happened to a container."""

    CONTAINER_CREATED_EVENT = 0
    CONTAINER_STARTED_EVENT = 1
    CONTAINER_STOPPED_EVENT = 2
    CONTAINER_DELETED_EVENT = 3
