"""How admission webhooks and policies are shown.

Source: kubernetes v1.36 pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from collections.abc import Callable

from muntin.model.tables.printer import (
    UNSET,
    Cells,
    Object,
    Printer,
    age,
    columns,
    name,
    selector_text,
    spec_of,
)

_GROUP = "admissionregistration.k8s.io"


def _webhooks(obj: Object, now_s: float) -> Cells:
    return [name(obj), len(obj.get("webhooks") or ()), age(obj, now_s)]


def _policy(field: str) -> Callable[[Object, float], Cells]:
    """Of policies whose rules are in ``field``."""

    def cells(obj: Object, now_s: float) -> Cells:
        spec = spec_of(obj)
        kind = spec.get("paramKind")
        shown = UNSET
        if kind is not None:
            shown = f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"
        return [name(obj), len(spec.get(field) or ()), shown, age(obj, now_s)]

    return cells


def _binding(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    param = spec.get("paramRef") or {}
    shown = UNSET
    if param.get("name"):
        shown = f"{param.get('namespace') or '*'}/{param['name']}"
    elif param.get("selector") is not None:
        shown = selector_text(param["selector"])
    return [name(obj), spec.get("policyName", ""), shown, age(obj, now_s)]


_WEBHOOKS = Printer(columns("Name", ("Webhooks", "integer"), "Age"), _webhooks)
_BINDING = Printer(columns("Name", "PolicyName", "ParamRef", "Age"), _binding)

PRINTERS = {
    (_GROUP, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (_GROUP, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (_GROUP, "ValidatingAdmissionPolicy"): Printer(
        columns("Name", ("Validations", "integer"), "ParamKind", "Age"), _policy("validations")
    ),
    (_GROUP, "MutatingAdmissionPolicy"): Printer(
        columns("Name", ("Mutations", "integer"), "ParamKind", "Age"), _policy("mutations")
    ),
    (_GROUP, "ValidatingAdmissionPolicyBinding"): _BINDING,
    (_GROUP, "MutatingAdmissionPolicyBinding"): _BINDING,
}
