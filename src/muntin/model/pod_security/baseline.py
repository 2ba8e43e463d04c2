"""The checks of level ``baseline``: no known way to the host.

Source: pod-security-admission v1.34 policy/check_*.go; Pod Security Standards, section Baseline.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from muntin.model.pod_security.findings import (
    Check,
    Finding,
    Object,
    containers,
    has_user_namespace,
    named,
    plural,
    quoted,
    security_of,
    setters,
    these,
)
from muntin.model.windows import Feature, gate

_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_PROFILES = ("RuntimeDefault", "Localhost")
_CAPABILITIES = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
     "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
)  # fmt: skip
SELINUX_TYPES = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
SYSCTLS = frozenset(
    {"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
     "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start"}
)  # fmt: skip


def app_armor_profile(metadata: Object, spec: Object) -> Finding | None:
    """Profiles other than the runtime's and the node's own."""
    values: set[str] = set()

    def is_bad(holder: Object) -> bool:
        profile = security_of(holder).get("appArmorProfile")
        if profile is None or profile.get("type") in _PROFILES:
            return False
        values.add(profile.get("type") or "")
        return True

    who = setters(is_bad(spec), named(spec, is_bad))
    annotations = sorted(
        f"{key}={json.dumps(value)}"
        for key, value in (metadata.get("annotations") or {}).items()
        if key.startswith(_APP_ARMOR) and not _is_known_profile(value)
    )
    if annotations:
        who = " and ".join(filter(None, (who, plural("annotation", annotations))))
    if not who:
        return None
    wrong = [*sorted(values), *annotations]
    return Finding(
        plural("forbidden AppArmor profile", wrong),
        f"{who} must not set AppArmor profile type to {quoted(wrong)}",
    )


def _is_known_profile(value: str) -> bool:
    return value in ("", "runtime/default") or value.startswith("localhost/")


def capabilities(metadata: Object, spec: Object) -> Finding | None:
    """Capabilities beyond those that containers have anyway."""
    extra: set[str] = set()

    def is_bad(row: Object) -> bool:
        added = (security_of(row).get("capabilities") or {}).get("add") or ()
        wrong = set(added) - _CAPABILITIES
        extra.update(wrong)
        return bool(wrong)

    names = named(spec, is_bad)
    if not names:
        return None
    return Finding(
        "non-default capabilities",
        f"{these(names)} must not include {quoted(sorted(extra))} in "
        "securityContext.capabilities.add",
    )


def host_namespaces(metadata: Object, spec: Object) -> Finding | None:
    """The host's network, processes or IPC."""
    shared = [f"{key}=true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    return Finding("host namespaces", ", ".join(shared)) if shared else None


def host_path_volumes(metadata: Object, spec: Object) -> Finding | None:
    """Directories of the host."""
    rows = [row["name"] for row in spec.get("volumes") or () if row.get("hostPath") is not None]
    return Finding("hostPath volumes", these(rows, "volume")) if rows else None


def host_ports(metadata: Object, spec: Object) -> Finding | None:
    """Ports of the host."""
    ports: set[str] = set()

    def is_bad(row: Object) -> bool:
        taken = {str(port["hostPort"]) for port in row.get("ports") or () if port.get("hostPort")}
        ports.update(taken)
        return bool(taken)

    names = named(spec, is_bad)
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    shown = ", ".join(sorted(ports))
    return Finding("hostPort", f"{these(names)} {uses} {plural('hostPort', ports)} {shown}")


def host_probes(metadata: Object, spec: Object) -> Finding | None:
    """Probes and lifecycle handlers that reach for another host."""
    hosts: set[str] = set()

    def is_bad(row: Object) -> bool:
        found = set(_handler_hosts(row))
        hosts.update(found)
        return bool(found)

    names = sorted(set(named(spec, is_bad)))
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    kind = plural("probe or lifecycle host", hosts)
    detail = f"{these(names)} {uses} {kind} {quoted(sorted(hosts))}"
    return Finding("probe or lifecycle host", detail)


def _handler_hosts(row: Object) -> Iterator[str]:
    lifecycle = row.get("lifecycle") or {}
    for handler in (
        *(row.get(f"{name}Probe") for name in ("liveness", "readiness", "startup")),
        lifecycle.get("postStart"),
        lifecycle.get("preStop"),
    ):
        for kind in ("httpGet", "tcpSocket"):
            host = ((handler or {}).get(kind) or {}).get("host")
            if host:
                yield host


def privileged(metadata: Object, spec: Object) -> Finding | None:
    """Containers that are as free as the host's own processes."""
    names = named(spec, lambda row: bool(security_of(row).get("privileged")))
    if not names:
        return None
    return Finding("privileged", f"{these(names)} must not set securityContext.privileged=true")


def proc_mount(metadata: Object, spec: Object) -> Finding | None:
    """A ``/proc`` without its masks."""
    kinds: set[str] = set()

    def is_bad(row: Object) -> bool:
        kind = security_of(row).get("procMount")
        if kind in (None, "Default"):
            return False
        kinds.add(kind)
        return True

    names = named(spec, is_bad)
    if not names:
        return None
    shown = quoted(sorted(kinds))
    return Finding("procMount", f"{these(names)} must not set securityContext.procMount to {shown}")


def proc_mount_unless_own_users(metadata: Object, spec: Object) -> Finding | None:
    """As `proc_mount`, but free to pods with a user namespace."""
    return None if has_user_namespace(spec) else proc_mount(metadata, spec)


def se_linux_options(allowed: frozenset[str]) -> Check:
    """Options other than these types; users and roles at all."""

    def check(metadata: Object, spec: Object) -> Finding | None:
        wrong: dict[str, set[str]] = {"type": set(), "user": set(), "role": set()}

        def is_bad(holder: Object) -> bool:
            options = security_of(holder).get("seLinuxOptions")
            if options is None:
                return False
            found = {
                key: value
                for key in wrong
                if (value := options.get(key) or "") and (key != "type" or value not in allowed)
            }
            for key, value in found.items():
                wrong[key].add(value)
            return bool(found)

        who = setters(is_bad(spec), named(spec, is_bad))
        if not who:
            return None
        types = sorted(wrong["type"])
        what = [f"{plural('type', types)} {quoted(types)}"] if types else []
        what += [f"{key} may not be set" for key in ("user", "role") if wrong[key]]
        text = f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(what)}"
        return Finding("seLinuxOptions", text)

    return check


def seccomp_annotations(metadata: Object, spec: Object) -> Finding | None:
    """Seccomp as it was said before it had a field."""
    annotations = metadata.get("annotations") or {}
    keys = [_SECCOMP_POD, *(_SECCOMP_CONTAINER + row["name"] for row in containers(spec))]
    wrong = sorted(
        {
            f"{key}={json.dumps(annotations[key])}"
            for key in keys
            if key in annotations and not _is_known_seccomp(annotations[key])
        }
    )
    if not wrong:
        return None
    text = f"forbidden {plural('annotation', wrong)} {', '.join(wrong)}"
    return Finding("seccompProfile", text)


def _is_known_seccomp(value: str) -> bool:
    return value in ("runtime/default", "docker/default") or value.startswith("localhost/")


def seccomp_profile(metadata: Object, spec: Object) -> Finding | None:
    """No filter of system calls."""
    values: set[str] = set()
    is_bad = bad_seccomp(values)
    who = setters(is_bad(spec), named(spec, is_bad))
    return seccomp_finding(who, values) if who else None


def bad_seccomp(values: set[str]) -> Any:
    """Whether a holder names a forbidden profile, whose type is then in ``values``."""

    def is_bad(holder: Object) -> bool:
        profile = security_of(holder).get("seccompProfile")
        if profile is None or profile.get("type") in _PROFILES:
            return False
        values.add(profile.get("type") or "")
        return True

    return is_bad


def seccomp_finding(who: str, values: set[str]) -> Finding:
    """The finding about types that were named."""
    shown = quoted(sorted(values))
    text = f"{who} must not set securityContext.seccompProfile.type to {shown}"
    return Finding("seccompProfile", text)


def sysctls(allowed: frozenset[str]) -> Check:
    """Kernel parameters other than these."""

    def check(metadata: Object, spec: Object) -> Finding | None:
        rows = security_of(spec).get("sysctls") or ()
        wrong = [row["name"] for row in rows if row["name"] not in allowed]
        return Finding("forbidden sysctls", ", ".join(wrong)) if wrong else None

    return check


def windows_host_process(metadata: Object, spec: Object) -> Finding | None:
    """HostProcess containers."""

    def is_bad(holder: Object) -> bool:
        return bool((security_of(holder).get("windowsOptions") or {}).get("hostProcess"))

    who = setters(is_bad(spec), named(spec, is_bad))
    if not who:
        return None
    text = f"{who} {gate(Feature.HOSTPROCESS_PSS).message}"
    return Finding("hostProcess", text)
