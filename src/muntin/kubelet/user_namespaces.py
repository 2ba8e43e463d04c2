"""User namespaces of pods on Linux nodes (``hostUsers: false``): id ranges and runtime support.

Source: kubernetes v1.34 pkg/kubelet/userns/userns_manager.go, KEP 127.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import Unsupported
from muntin.kubelet.platform import Platform
from muntin.model.kubelet_features import KubeletFeature
from muntin.seams.cri.enums import NamespaceMode

Object = Mapping[str, Any]

LENGTH = 65_536
_FIRST, _LAST = 1, 0x6FFE
"""Ranges of ids of pods: the first belongs to the node's own users, the last to others' pods."""


def is_asked_for(pod: Object, platform: Platform) -> bool:
    """Whether the pod asks for a user namespace, and this kubelet version supports the field."""
    has_them = platform.kubelet_has(KubeletFeature.USER_NAMESPACES)
    return not platform.is_windows and has_them and pod["spec"].get("hostUsers") is False


def user_namespace(pod: Object, platform: Platform) -> dict[str, Any] | None:
    """The UserNamespace of CRI; None where the pod shares the node's users.

    The ids follow from the pod's uid, so that a kubelet that was restarted gives the same ones.
    """
    if not is_asked_for(pod, platform):
        return None
    digest = hashlib.sha256(pod["metadata"]["uid"].encode()).digest()
    slot = _FIRST + int.from_bytes(digest[:4], "big") % (_LAST - _FIRST + 1)
    ids = {"host_id": slot * LENGTH, "container_id": 0, "length": LENGTH}
    return {"mode": NamespaceMode.POD, "uids": [ids], "gids": [ids]}


def check_runtime(status: Object, handler: str) -> None:
    """``status`` is what the runtime says of itself (CRI's StatusResponse).

    Raises:
        Unsupported: its ``handler`` has no user namespaces, in the kubelet's words.
    """
    for row in status.get("runtime_handlers") or ():
        if row.get("name", "") == handler and (row.get("features") or {}).get("user_namespaces"):
            return
    who = f"RuntimeClass handler {handler!r}" if handler else "runtime"
    who = who.replace("'", '"')
    raise Unsupported(f"can't set `spec.hostUsers: false`, {who} does not support user namespaces")
