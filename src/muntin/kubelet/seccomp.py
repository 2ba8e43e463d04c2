"""The seccomp profile of a container on a Linux node, as CRI's SecurityProfile. Pure.

Source: kubernetes v1.34 pkg/kubelet/kuberuntime/helpers.go getSeccompProfile; the annotations are
those of v1.20 there and of v1.18 getSeccompProfile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.kubelet.config import KubeletConfig
from muntin.model.kubelet_features import KubeletFeature
from muntin.seams.cri.enums import ProfileType

Object = Mapping[str, Any]

FOLDER = "seccomp"
"""Below the kubelet's own folder: where profiles of the type Localhost are."""
_POD = "seccomp.security.alpha.kubernetes.io/pod"
_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_LOCALHOST = "localhost/"
_DEFAULTS = ("runtime/default", "docker/default")


def seccomp(pod: Object, container: Object, config: KubeletConfig) -> dict[str, Any]:
    """The SecurityProfile of one container: from the container, the pod or the kubelet's default.

    Raises:
        Invalid: a profile of type Localhost that names none.
    """
    said = next(_said(pod, container, config), None)
    if said is None:
        has_default = config.platform.kubelet_has(KubeletFeature.SECCOMP_DEFAULT)
        said = {"type": "RuntimeDefault" if config.seccomp_default and has_default else ""}
    kind = said.get("type")
    if kind == "RuntimeDefault":
        return {"profile_type": ProfileType.RuntimeDefault, "localhost_ref": ""}
    if kind != "Localhost":
        return {"profile_type": ProfileType.Unconfined, "localhost_ref": ""}
    if not said.get("localhostProfile"):
        raise Invalid("localhostProfile must be set if seccompProfile type is Localhost.")
    platform = config.platform
    path = platform.join(platform.root_dir, FOLDER, said["localhostProfile"])
    return {"profile_type": ProfileType.Localhost, "localhost_ref": config.files.runtime(path)}


def _said(pod: Object, container: Object, config: KubeletConfig) -> Iterator[Object]:
    """The profiles that apply to the container, by descending precedence."""
    has_fields = config.platform.kubelet_has(KubeletFeature.SECCOMP_FIELDS)
    has_notes = not config.platform.kubelet_has(KubeletFeature.SECCOMP_FIELDS_ALONE)
    notes = pod["metadata"].get("annotations") or {}
    for holder, key in ((container, _CONTAINER + container["name"]), (pod["spec"], _POD)):
        profile = (holder.get("securityContext") or {}).get("seccompProfile")
        if has_fields and profile:
            yield profile
        if has_notes and notes.get(key):
            yield _of_note(notes[key])


def _of_note(text: str) -> Object:
    if text.startswith(_LOCALHOST):
        return {"type": "Localhost", "localhostProfile": text.removeprefix(_LOCALHOST)}
    return {"type": "RuntimeDefault" if text in _DEFAULTS else "Unconfined"}
