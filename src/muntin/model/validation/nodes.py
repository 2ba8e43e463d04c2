"""Validation of nodes and namespaces.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateNode*,
ValidateNamespace*).
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.validation.addresses import cidr, dual_stack
from muntin.model.validation.amounts import resource_quantity
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.metadata import standard_finalizer
from muntin.model.validation.placement import taints

_ONCE = 'except from "" to valid'


def node(obj: Object, found: Findings) -> None:
    """A new node."""
    spec = obj.get("spec") or {}
    taints(spec.get("taints") or (), "metadata.taints", found)
    _resources(obj, found)
    blocks, path = spec.get("podCIDRs") or (), "spec.podCIDRs"
    for index, block in enumerate(blocks):
        cidr(block, f"{path}[{index}]", found)
    if len(blocks) < 2:
        return
    if len(blocks) > 2 or not dual_stack(blocks):
        found.invalid(path, blocks, "may specify no more than one CIDR for each IP family")


def _resources(obj: Object, found: Findings) -> None:
    status = obj.get("status") or {}
    for field in ("capacity", "allocatable"):
        for name, text in (status.get(field) or {}).items():
            resource_quantity(name, text, f"status.{field}.{name}", found)


def node_update(new: Object, old: Object, found: Findings) -> None:
    """A changed node: addresses and identity are given once."""
    _resources(new, found)
    seen: list[Any] = []
    for index, address in enumerate((new.get("status") or {}).get("addresses") or ()):
        if address in seen:
            found.duplicate(f"status.addresses[{index}]", address)
        seen.append(address)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    was, now = before.get("podCIDRs") or [], after.get("podCIDRs") or []
    for index, block in enumerate(now):
        cidr(block, f"spec.podCIDRs[{index}]", found)
    text = f"node updates may not change podCIDR {_ONCE}"
    if was and len(was) != len(now):
        found.forbidden("spec.podCIDRs", text)
    else:
        for index, block in enumerate(was):
            if block != now[index]:
                found.forbidden("spec.podCIDRs", text)
    if before.get("providerID") and after.get("providerID") != before["providerID"]:
        found.forbidden("spec.providerID", f"node updates may not change providerID {_ONCE}")
    taints(after.get("taints") or (), "metadata.taints", found)
    if (after.get("externalID") or "") != (before.get("externalID") or ""):
        found.forbidden("spec.externalID", "may not be updated")


def namespace(obj: Object, found: Findings) -> None:
    """A new namespace: what must be gone before it is."""
    for finalizer in (obj.get("spec") or {}).get("finalizers") or ():
        _finalizer(finalizer, "spec.finalizers", found)


def _finalizer(name: str, path: str, found: Findings) -> None:
    found.each_invalid(path, name, names.qualified_name(name))
    standard_finalizer(name, path, found)


def namespace_update(new: Object, old: Object, found: Findings) -> None:
    """A changed namespace has metadata only."""


def namespace_finalize(new: Object, old: Object, found: Findings) -> None:
    """A namespace whose finalizers were to change."""
    for index, finalizer in enumerate((new.get("spec") or {}).get("finalizers") or ()):
        _finalizer(finalizer, f"spec.finalizers[{index}]", found)


def namespace_status(new: Object, old: Object, found: Findings) -> None:
    """A namespace's phase follows its deletion."""
    phase, path = (new.get("status") or {}).get("phase") or "", "status.Phase"
    # Without one it is active: that is the default.
    deleting = bool(new["metadata"].get("deletionTimestamp"))
    if not deleting and phase not in ("", "Active"):
        found.invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty")
    if deleting and phase != "Terminating":
        found.invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
