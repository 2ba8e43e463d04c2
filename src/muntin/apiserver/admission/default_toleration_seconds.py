"""Pods stay on a failed node for a while before they are evicted.

Source: kubernetes v1.34 plugin/pkg/admission/defaulttolerationseconds/admission.go.
"""

from __future__ import annotations

from muntin.apiserver.admission.attributes import Attributes, Silent

KEYS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class DefaultTolerationSeconds(Silent):
    """Adds the two tolerations that a pod does not have itself."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE"):
            return
        spec = attributes.obj["spec"]
        tolerations = spec.get("tolerations") or []
        for key in KEYS:
            if not any(_covers(toleration, key) for toleration in tolerations):
                tolerations = [*tolerations, {
                    "key": key, "operator": "Exists", "effect": "NoExecute",
                    "tolerationSeconds": self._seconds,
                }]  # fmt: skip
        spec["tolerations"] = tolerations


def _covers(toleration: dict[str, object], key: str) -> bool:
    return (toleration.get("key") or key) == key and toleration.get("effect") in (
        "NoExecute", None, ""
    )  # fmt: skip
