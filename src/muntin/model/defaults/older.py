"""Defaults of older versions of a kind, where they are not those of the newest.

An object is defaulted in the version that it was sent in, before it is converted; what is still
open then gets the newest version's defaults. Source: kubernetes v1.15 pkg/apis/{apps,extensions}/
v1beta{1,2}/defaults.go; v1.20 pkg/apis/{certificates,networking,policy}/v1beta1/defaults.go;
v1.28 pkg/apis/flowcontrol/v1beta{2,3}/defaults.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.model.conversion.flowcontrol import KEEP_ZERO
from muntin.model.defaults.admission import older_configuration
from muntin.model.defaults.signers import default_signer
from muntin.model.resources import Resource

Object = dict[str, Any]

_UNLIMITED = 2**31 - 1
_ADMISSION = "admissionregistration.k8s.io"


def apply_older(resource: Resource, obj: Object) -> None:
    """Fill in ``obj``, an object of an older version's ``resource``, in place."""
    default = _BY_VERSION.get((resource.api_version, resource.kind))
    if default is not None:
        default(obj)


def _select_template(obj: Object, *, label: bool = True) -> Object:
    """The spec, with selector (and the object's own labels) taken from the template's labels."""
    spec: Object = obj.setdefault("spec", {})
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        if spec.get("selector") is None:
            spec["selector"] = {"matchLabels": dict(labels)}
        metadata = obj.setdefault("metadata", {})
        if label and not metadata.get("labels"):
            metadata["labels"] = dict(labels)
    return spec


def _extensions_deployment(obj: Object) -> None:
    spec = _select_template(obj)
    _rolling(spec, 1)
    spec.setdefault("revisionHistoryLimit", _UNLIMITED)
    spec.setdefault("progressDeadlineSeconds", _UNLIMITED)


def _rolling(spec: Object, amount: int) -> None:
    strategy = spec.setdefault("strategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", amount)
        rolling.setdefault("maxSurge", amount)


def _first_deployment(obj: Object) -> None:
    _select_template(obj).setdefault("revisionHistoryLimit", 2)


def _extensions_daemon_set(obj: Object) -> None:
    _on_delete(_select_template(obj))


def _on_delete(spec: Object) -> None:
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "OnDelete"


def _first_stateful_set(obj: Object) -> None:
    _on_delete(_select_template(obj))


def _replica_set(obj: Object) -> None:
    _select_template(obj)


def _ingress(obj: Object) -> None:
    for rule in (obj.get("spec") or {}).get("rules") or ():
        for path in (rule.get("http") or {}).get("paths") or ():
            path.setdefault("pathType", "ImplementationSpecific")


def _signing_request(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    if not spec.get("usages"):
        spec["usages"] = ["digital signature", "key encipherment"]
    if not spec.get("signerName"):
        spec["signerName"] = default_signer(spec.get("request") or "", spec["usages"])
    for condition in (obj.get("status") or {}).get("conditions") or ():
        condition.setdefault("status", "True")


def _assured_level(obj: Object) -> None:
    limited = (obj.get("spec") or {}).get("limited")
    if limited is not None and not limited.get("assuredConcurrencyShares"):
        limited["assuredConcurrencyShares"] = 30


def _nominal_level(obj: Object) -> None:
    limited = (obj.get("spec") or {}).get("limited")
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    if limited is None or KEEP_ZERO in annotations:
        return
    if not limited.get("nominalConcurrencyShares"):
        limited["nominalConcurrencyShares"] = 30


_LEVEL = "PriorityLevelConfiguration"
_BY_VERSION: Mapping[tuple[str, str], Callable[[Object], None]] = {
    ("extensions/v1beta1", "Deployment"): _extensions_deployment,
    ("extensions/v1beta1", "DaemonSet"): _extensions_daemon_set,
    ("extensions/v1beta1", "ReplicaSet"): _replica_set,
    ("extensions/v1beta1", "Ingress"): _ingress,
    (f"{_ADMISSION}/v1beta1", "MutatingWebhookConfiguration"): older_configuration,
    (f"{_ADMISSION}/v1beta1", "ValidatingWebhookConfiguration"): older_configuration,
    ("apps/v1beta1", "Deployment"): _first_deployment,
    ("apps/v1beta1", "StatefulSet"): _first_stateful_set,
    ("networking.k8s.io/v1beta1", "Ingress"): _ingress,
    ("certificates.k8s.io/v1beta1", "CertificateSigningRequest"): _signing_request,
    ("flowcontrol.apiserver.k8s.io/v1beta1", _LEVEL): _assured_level,
    ("flowcontrol.apiserver.k8s.io/v1beta2", _LEVEL): _assured_level,
    ("flowcontrol.apiserver.k8s.io/v1beta3", _LEVEL): _nominal_level,
}
