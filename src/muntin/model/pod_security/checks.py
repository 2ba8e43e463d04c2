"""The table of checks: level, from which minor release of Kubernetes on, and what each replaces.

``since`` is the minor release of Kubernetes 1 whose policy has the check in this form.
Source: pod-security-admission v1.34 policy/check_*.go (Versions), policy/registry.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from muntin.model.pod_security import baseline, restricted
from muntin.model.pod_security.findings import Check
from muntin.model.pod_security.levels import BASELINE, RESTRICTED
from muntin.model.windows import Feature, since_minor


@dataclass(frozen=True, slots=True)
class Row:
    """One form of a check; the newest that is not newer than the policy's version counts."""

    name: str
    level: str
    since: int
    check: Check
    overrides: str = ""


_27 = baseline.SYSCTLS | {"net.ipv4.ip_local_reserved_ports"}
_29 = _27 | {
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
}
_32 = _29 | {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}
_37 = _32 | {"net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"}

_selinux = baseline.se_linux_options
_engine = baseline.SELINUX_TYPES | {"container_engine_t"}
_relaxed = since_minor(Feature.PSS_RESTRICTED_WINDOWS_RELAX)
_windows, _users = restricted.unless_windows, restricted.unless_own_users

ROWS: tuple[Row, ...] = (
    Row("appArmorProfile", BASELINE, 0, baseline.app_armor_profile),
    Row("capabilities_baseline", BASELINE, 0, baseline.capabilities),
    Row("hostNamespaces", BASELINE, 0, baseline.host_namespaces),
    Row("hostPathVolumes", BASELINE, 0, baseline.host_path_volumes),
    Row("hostPorts", BASELINE, 0, baseline.host_ports),
    Row("hostProbesAndHostLifecycle", BASELINE, 34, baseline.host_probes),
    Row("privileged", BASELINE, 0, baseline.privileged),
    Row("procMount", BASELINE, 0, baseline.proc_mount),
    Row("procMount", BASELINE, 35, baseline.proc_mount_unless_own_users),
    Row("seLinuxOptions", BASELINE, 0, _selinux(baseline.SELINUX_TYPES)),
    Row("seLinuxOptions", BASELINE, 31, _selinux(_engine)),
    Row("seccompProfile_baseline", BASELINE, 0, baseline.seccomp_annotations),
    Row("seccompProfile_baseline", BASELINE, 19, baseline.seccomp_profile),
    Row("sysctls", BASELINE, 0, baseline.sysctls(baseline.SYSCTLS)),
    Row("sysctls", BASELINE, 27, baseline.sysctls(_27)),
    Row("sysctls", BASELINE, 29, baseline.sysctls(_29)),
    Row("sysctls", BASELINE, 32, baseline.sysctls(_32)),
    Row("sysctls", BASELINE, 37, baseline.sysctls(_37)),
    Row("windowsHostProcess", BASELINE, 0, baseline.windows_host_process),
    Row("allowPrivilegeEscalation", RESTRICTED, 8, restricted.allow_privilege_escalation),
    Row(
        "allowPrivilegeEscalation",
        RESTRICTED,
        _relaxed,
        _windows(restricted.allow_privilege_escalation),
    ),
    Row("capabilities_restricted", RESTRICTED, 22, restricted.capabilities,
        "capabilities_baseline"),
    Row("capabilities_restricted", RESTRICTED, _relaxed, _windows(restricted.capabilities),
        "capabilities_baseline"),
    Row("procMount_restricted", RESTRICTED, 35, baseline.proc_mount, "procMount"),
    Row("restrictedVolumes", RESTRICTED, 0, restricted.volumes, "hostPathVolumes"),
    Row("runAsNonRoot", RESTRICTED, 0, restricted.run_as_non_root),
    Row("runAsNonRoot", RESTRICTED, 35, _users(restricted.run_as_non_root)),
    Row("runAsUser", RESTRICTED, 23, restricted.run_as_user),
    Row("runAsUser", RESTRICTED, 35, _users(restricted.run_as_user)),
    Row("seccompProfile_restricted", RESTRICTED, 19, restricted.seccomp_profile,
        "seccompProfile_baseline"),
    Row("seccompProfile_restricted", RESTRICTED, _relaxed, _windows(restricted.seccomp_profile),
        "seccompProfile_baseline"),
)  # fmt: skip


@lru_cache(maxsize=64)
def checks(level: str, minor: int) -> tuple[Check, ...]:
    """The checks of a level as of that minor release: baseline's first, each in order of names."""
    newest: dict[str, Row] = {}
    for row in ROWS:
        if row.since <= minor and (row.level == BASELINE or level == RESTRICTED):
            newest[row.name] = row
    replaced = {row.overrides for row in newest.values()}
    rows = [row for row in newest.values() if row.name not in replaced]
    rows.sort(key=lambda row: (row.level, row.name))
    return tuple(row.check for row in rows)
