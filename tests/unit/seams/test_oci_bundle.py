"""The OCI bundle confines: which system calls, capabilities, paths and namespaces it has."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from muntin.seams.oci import seccomp
from muntin.seams.oci.bundle import Bundle, Limits, Process

ALLOW = "SCMP_ACT_ALLOW"


def _decide(name: str, *arguments: int) -> str | int:
    """What the profile does with a call: ALLOW, or the error number."""
    profile = seccomp.profile()
    for rule in profile["syscalls"]:
        if name in rule["names"] and all(_holds(row, arguments) for row in rule.get("args", ())):
            allowed = rule["action"] == ALLOW
            return ALLOW if allowed else int(rule["errnoRet"])
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    return int(profile["defaultErrnoRet"])


def _holds(condition: dict[str, Any], arguments: tuple[int, ...]) -> bool:
    given = arguments[condition["index"]]
    if condition["op"] == "SCMP_CMP_MASKED_EQ":
        return bool(given & condition["value"] == condition["valueTwo"])
    assert condition["op"] == "SCMP_CMP_EQ"
    return bool(given == condition["value"])


@pytest.mark.parametrize(
    "name",
    [
        "add_key", "bpf", "chroot", "delete_module", "finit_module", "fsconfig", "fsmount",
        "fsopen", "init_module", "io_uring_enter", "io_uring_register", "io_uring_setup", "iopl",
        "kexec_load", "keyctl", "mount", "mount_setattr", "move_mount", "open_by_handle_at",
        "open_tree", "perf_event_open", "pivot_root", "quotactl", "reboot", "request_key",
        "setdomainname", "sethostname", "setns", "settimeofday", "swapon", "syslog", "umount2",
        "unshare", "userfaultfd", "vhangup",
    ],
)  # fmt: skip
def test_calls_that_administer_the_machine_are_refused(name: str) -> None:
    assert _decide(name) == 1


def test_arguments_decide_about_clone_socket_and_personality() -> None:
    sigchld, new_user, new_net, thread = 17, 0x10000000, 0x40000000, 0x3D0F00
    assert _decide("clone", sigchld) == _decide("clone", thread) == ALLOW
    assert _decide("clone", new_user | sigchld) == _decide("clone", new_net | thread) == 1
    assert _decide("clone3", 0) == 38
    families = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
    assert [_decide("socket", family, 1) for family in families] == [ALLOW] * 4
    refused = (socket.AF_PACKET, socket.AF_VSOCK, socket.AF_ALG, socket.AF_BLUETOOTH)
    assert [_decide("socket", family, 1) for family in refused] == [1] * 4
    assert _decide("personality", 0xFFFFFFFF) == ALLOW
    assert _decide("personality", 0x0040000) == 1  # ADDR_NO_RANDOMIZE


def test_a_bundle_has_its_own_namespaces_limits_and_hidden_paths() -> None:
    process = Process(args=["x"], env={}, capabilities=["CAP_KILL"])
    bundle = Bundle(
        process=process, rootfs="/r", hostname="h", cgroup="/c", limits=Limits(pids=7)
    ).document()
    linux = bundle["linux"]
    kinds = {row["type"] for row in linux["namespaces"]}
    assert kinds >= {"pid", "mount", "ipc", "uts", "cgroup"}
    assert linux["resources"]["pids"] == {"limit": 7}
    assert linux["seccomp"] == seccomp.profile()
    assert {"/proc/kcore", "/proc/keys", "/proc/scsi", "/sys/firmware"} <= {*linux["maskedPaths"]}
    assert {"/proc/sys", "/proc/sysrq-trigger", "/proc/fs"} <= {*linux["readonlyPaths"]}
    assert bundle["process"]["noNewPrivileges"] is True
    assert bundle["process"]["capabilities"]["bounding"] == ["CAP_KILL"]
    [proc] = [row for row in bundle["mounts"] if row["destination"] == "/proc"]
    assert set(proc["options"]) == {"nosuid", "noexec", "nodev"}
