"""A new node takes no pods until the node controller has seen it ready.

Source: kubernetes v1.34 plugin/pkg/admission/nodetaint/admission.go.
"""

from __future__ import annotations

from muntin.apiserver.admission.attributes import Attributes, Silent

NOT_READY = "node.kubernetes.io/not-ready"


class TaintNodesByCondition(Silent):
    """Adds the not-ready taint at creation."""

    resources = frozenset({"nodes"})

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("nodes", "CREATE"):
            return
        spec = attributes.obj.setdefault("spec", {})
        taints = spec.get("taints") or []
        if not any(t.get("key") == NOT_READY and t.get("effect") == "NoSchedule" for t in taints):
            spec["taints"] = [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]
