"""Pods stay on a failed node for a while before they are evicted.

Source: kubernetes v1.34 plugin/pkg/admission/defaulttolerationseconds/admission.go.
"""

from __future__ import annotations

from muntin.apiserver.admission.attributes import Attributes, Silent

_EFFECTS = ("NoExecute", None, "")
KEYS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class DefaultTolerationSeconds(Silent):
    """Adds the two tolerations that a pod does not have itself."""

    resources = frozenset({"pods"})

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE", "UPDATE"):
            return
        spec = attributes.obj["spec"]
        have = spec.get("tolerations") or []
        missing = [key for key in KEYS if not _is_covered(have, key)] if have else KEYS
        if missing:
            added = [
                {"key": key, "operator": "Exists", "effect": "NoExecute",
                 "tolerationSeconds": self._seconds}
                for key in missing
            ]  # fmt: skip
            spec["tolerations"] = [*have, *added]


def _is_covered(tolerations: list[dict[str, object]], key: str) -> bool:
    for row in tolerations:
        if (row.get("key") or key) == key and row.get("effect") in _EFFECTS:
            return True
    return False
