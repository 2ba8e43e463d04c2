"""The checks that level ``restricted`` adds: what a hardened pod says of itself.

Source: pod-security-admission v1.34 policy/check_*.go; Pod Security Standards, section Restricted.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.model.pod_security.baseline import bad_seccomp, seccomp_finding
from muntin.model.pod_security.findings import (
    Check,
    Finding,
    Object,
    has_user_namespace,
    is_windows,
    named,
    plural,
    quoted,
    security_of,
    setters,
    these,
)

_VOLUMES = frozenset(
    {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim",
     "projected", "secret"}
)  # fmt: skip


def unless_windows(check: Check) -> Check:
    """The check for pods that do not say that they are for Windows."""

    def checked(metadata: Object, spec: Object) -> Finding | None:
        return None if is_windows(spec) else check(metadata, spec)

    return checked


def unless_own_users(check: Check) -> Check:
    """The check for pods without a user namespace of their own."""

    def checked(metadata: Object, spec: Object) -> Finding | None:
        return None if has_user_namespace(spec) else check(metadata, spec)

    return checked


def allow_privilege_escalation(metadata: Object, spec: Object) -> Finding | None:
    """Containers that do not rule out set-user-id programs."""
    names = named(spec, lambda row: security_of(row).get("allowPrivilegeEscalation") is not False)
    if not names:
        return None
    return Finding(
        "allowPrivilegeEscalation != false",
        f"{these(names)} must set securityContext.allowPrivilegeEscalation=false",
    )


def capabilities(metadata: Object, spec: Object) -> Finding | None:
    """Containers that keep capabilities, or add any but that of low ports."""
    extra: set[str] = set()

    def keeps(row: Object) -> bool:
        return "ALL" not in ((security_of(row).get("capabilities") or {}).get("drop") or ())

    def adds(row: Object) -> bool:
        added = (security_of(row).get("capabilities") or {}).get("add") or ()
        wrong = set(added) - {"NET_BIND_SERVICE"}
        extra.update(wrong)
        return bool(wrong)

    keeping, adding = named(spec, keeps), named(spec, adds)
    details = []
    if keeping:
        details.append(f'{these(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        details.append(
            f"{these(adding)} must not include {quoted(sorted(extra))} in "
            "securityContext.capabilities.add"
        )
    return Finding("unrestricted capabilities", "; ".join(details)) if details else None


def volumes(metadata: Object, spec: Object) -> Finding | None:
    """Volumes that are not made for the pod or claimed."""
    names, kinds = [], set()
    for row in spec.get("volumes") or ():
        sources = [key for key, value in row.items() if key != "name" and value is not None]
        if not _VOLUMES.intersection(sources):
            names.append(row["name"])
            kinds.add(next(iter(sources), "unknown"))
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    kind = plural("restricted volume type", kinds)
    text = f"{these(names, 'volume')} {uses} {kind} {quoted(sorted(kinds))}"
    return Finding("restricted volume types", text)


def run_as_non_root(metadata: Object, spec: Object) -> Finding | None:
    """Containers for which nobody says that they do not run as root."""
    reason = "runAsNonRoot != true"

    def says_root(holder: Object) -> bool:
        return security_of(holder).get("runAsNonRoot") is False

    who = setters(says_root(spec), named(spec, says_root))
    if who:
        return Finding(reason, f"{who} must not set securityContext.runAsNonRoot=false")
    if security_of(spec).get("runAsNonRoot"):
        return None
    silent = named(spec, lambda row: security_of(row).get("runAsNonRoot") is None)
    return _missing(reason, silent, "must set securityContext.runAsNonRoot=true")


def _missing(reason: str, names: Iterable[str], must: str) -> Finding | None:
    found = list(names)
    return Finding(reason, f"pod or {these(found)} {must}") if found else None


def run_as_user(metadata: Object, spec: Object) -> Finding | None:
    """Root by number."""

    def is_root(holder: Object) -> bool:
        user = security_of(holder).get("runAsUser")
        return user is not None and user == 0

    who = setters(is_root(spec), named(spec, is_root))
    return Finding("runAsUser=0", f"{who} must not set runAsUser=0") if who else None


def seccomp_profile(metadata: Object, spec: Object) -> Finding | None:
    """A wrong filter of system calls, or none said."""
    values: set[str] = set()
    is_bad = bad_seccomp(values)
    who = setters(is_bad(spec), named(spec, is_bad))
    if who:
        return seccomp_finding(who, values)
    if security_of(spec).get("seccompProfile") is not None:
        return None
    silent = named(spec, lambda row: security_of(row).get("seccompProfile") is None)
    must = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return _missing("seccompProfile", silent, must)
