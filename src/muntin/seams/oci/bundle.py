"""The ``config.json`` of an OCI runtime bundle, from a few typed values. Pure.

Source: opencontainers/runtime-spec v1.0.2 config.md, config-linux.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muntin.seams.oci import seccomp

VERSION = "1.0.2"
_DEVICE_MOUNTS: tuple[dict[str, Any], ...] = (
    {
        "destination": "/proc",
        "type": "proc",
        "source": "proc",
        "options": ["nosuid", "noexec", "nodev"],
    },
    {
        "destination": "/dev",
        "type": "tmpfs",
        "source": "tmpfs",
        "options": ["nosuid", "strictatime", "mode=755", "size=65536k"],
    },
    {
        "destination": "/dev/pts",
        "type": "devpts",
        "source": "devpts",
        "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
    },
    {
        "destination": "/dev/shm",
        "type": "tmpfs",
        "source": "shm",
        "options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"],
    },
    {
        "destination": "/tmp",
        "type": "tmpfs",
        "source": "tmpfs",
        "options": ["nosuid", "nodev", "mode=1777", "size=262144k"],
    },
)
# Source: containerd v1.7 oci/spec.go (populateDefaultUnixSpec); /sys is not mounted at all.
_MASKED = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/sys/firmware",
]
_READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """The first process, or one that is added by exec."""

    args: Sequence[str]
    env: Mapping[str, str]
    cwd: str = "/"
    uid: int = 0
    terminal: bool = False
    capabilities: Sequence[str] = ()
    open_files: int = 0

    def document(self) -> dict[str, Any]:
        """The ``process`` object; also what ``runc exec --process`` reads."""
        names = list(self.capabilities)
        document: dict[str, Any] = {
            "terminal": self.terminal,
            "user": {"uid": self.uid, "gid": self.uid},
            "args": list(self.args),
            "env": [f"{name}={value}" for name, value in self.env.items()],
            "cwd": self.cwd,
            "noNewPrivileges": True,
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), names),
        }
        if self.open_files:
            limit = {"type": "RLIMIT_NOFILE", "soft": self.open_files, "hard": self.open_files}
            document["rlimits"] = [limit]
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Resources; 0 is no limit."""

    memory_bytes: int = 0
    cpu_quota_us: int = 0
    cpu_period_us: int = 0
    cpu_shares: int = 0
    pids: int = 0

    def document(self) -> dict[str, Any]:
        """The ``resources`` object without devices; also what ``runc update`` reads."""
        document: dict[str, Any] = {}
        if self.memory_bytes:
            document["memory"] = {"limit": self.memory_bytes}
        cpu = {
            name: value
            for name, value in (
                ("shares", self.cpu_shares),
                ("quota", self.cpu_quota_us),
                ("period", self.cpu_period_us),
            )
            if value
        }
        if cpu:
            document["cpu"] = cpu
        if self.pids:
            document["pids"] = {"limit": self.pids}
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A container; its network namespace is that of the process that starts it.

    One with a user namespace could not join another's network later (``runc exec``), but it may
    be started there.
    """

    process: Process
    rootfs: str
    hostname: str
    cgroup: str
    limits: Limits = field(default_factory=Limits)
    mounts: Sequence[Mapping[str, Any]] = ()

    def document(self) -> dict[str, Any]:
        """The content of ``config.json``."""
        namespaces = [{"type": kind} for kind in ("pid", "mount", "ipc", "uts", "cgroup")]
        devices = [{"allow": False, "access": "rwm"}]
        return {
            "ociVersion": VERSION,
            "hostname": self.hostname,
            "root": {"path": self.rootfs, "readonly": True},
            "process": self.process.document(),
            "mounts": [*_DEVICE_MOUNTS, *self.mounts],
            "linux": {
                "namespaces": namespaces,
                "cgroupsPath": self.cgroup,
                "resources": {"devices": devices, **self.limits.document()},
                "seccomp": seccomp.profile(),
                "maskedPaths": _MASKED,
                "readonlyPaths": _READ_ONLY,
            },
        }


def bind(source: str, destination: str, *, readonly: bool) -> dict[str, Any]:
    """A bind mount of a file or folder, with what is mounted below it."""
    options = ["rbind", "ro" if readonly else "rw"]
    return {"destination": destination, "type": "bind", "source": source, "options": options}


def nothing(destination: str) -> dict[str, Any]:
    """A folder that is empty and stays so."""
    options = ["ro", "nosuid", "nodev", "noexec", "size=4k"]
    return {"destination": destination, "type": "tmpfs", "source": "tmpfs", "options": options}


def overlay(lowers: Sequence[str], upper: str, work: str, destination: str) -> dict[str, Any]:
    """An overlay mount; ``lowers`` from the highest down."""
    options = [f"lowerdir={':'.join(lowers)}", f"upperdir={upper}", f"workdir={work}"]
    return {
        "destination": destination,
        "type": "overlay",
        "source": "overlay",
        "options": options,
    }
