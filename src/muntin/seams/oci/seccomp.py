"""The system calls that a Windows container may make, as the ``seccomp`` object of OCI. Pure.

The table follows containerd's default profile for a process without capabilities of its own, and
is narrower: Wine and Python need no System V IPC, message queues, asynchronous I/O or protection
keys, and each call costs time at every start; sockets are of the families Unix, IPv4, IPv6 and
netlink only; programs are 64-bit. ``ptrace`` and its kin
are allowed, as there on kernels since 4.8: Wine's server reads and suspends its programs with it,
and the container's own process and user namespaces bound whom it reaches.
Sources: containerd v1.7 contrib/seccomp/seccomp_default.go and docs.docker.com
engine/security/seccomp; opencontainers/runtime-spec v1.0.2 config-linux.md "Seccomp".
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from typing import Any

_ALLOWED = """
    accept accept4 access alarm arch_prctl bind brk capget capset chdir chmod chown clock_getres
    clock_gettime clock_nanosleep close close_range connect copy_file_range creat dup dup2 dup3
    epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd2 execve execveat exit
    exit_group faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown
    fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat
    fstatfs fsync ftruncate futex futex_wait futex_waitv futex_wake get_robust_list getcpu
    getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid
    getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid
    getsockname getsockopt gettid gettimeofday getuid getxattr inotify_add_watch inotify_init1
    inotify_rm_watch ioctl kill lchown lgetxattr link linkat listen listxattr llistxattr
    lremovexattr lseek lsetxattr lstat madvise membarrier memfd_create mincore mkdir mkdirat
    mknod mknodat mlock mlock2 mlockall mmap modify_ldt mprotect mremap msync munlock munlockall
    munmap nanosleep newfstatat open openat openat2 pause pidfd_open pidfd_send_signal pipe
    pipe2 poll ppoll prctl pread64 preadv preadv2 prlimit64 process_vm_readv process_vm_writev
    pselect6 ptrace pwrite64 pwritev pwritev2 read readlink readlinkat readv recvfrom recvmmsg
    recvmsg removexattr rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction
    rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait
    rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity
    sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
    sched_setattr sched_setparam sched_setscheduler sched_yield select sendfile sendmmsg sendmsg
    sendto set_robust_list set_tid_address setgid setgroups setitimer setpgid setpriority
    setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid setxattr shutdown
    sigaltstack signalfd4 socketpair splice stat statfs statx symlink symlinkat sync sysinfo
    tgkill time timer_create timer_delete timer_getoverrun timer_gettime timer_settime
    timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask uname unlink
    unlinkat utimensat utimes vfork wait4 waitid write writev
"""
_SOCKET_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
"""PER_LINUX, PER_LINUX32, each with UNAME26, and the question which one it is."""
_NAMESPACE_FLAGS = 0x7E020000
"""CLONE_NEW: mount, cgroup, uts, ipc, user, pid, network (time's bit is a signal's in clone)."""


def profile() -> dict[str, Any]:
    """The ``seccomp`` object: what is not listed fails with EPERM."""
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.EPERM,
        "architectures": ["SCMP_ARCH_X86_64"],
        "syscalls": [
            _rule(_ALLOWED.split()),
            *(_rule(["personality"], _equal(0, value)) for value in _PERSONALITIES),
            *(_rule(["socket"], _equal(0, family)) for family in _SOCKET_FAMILIES),
            _rule(["clone"], _masked(0, _NAMESPACE_FLAGS, 0)),
            # Its flags stand in memory, where a filter cannot look; the C library takes clone then.
            _rule(["clone3"], action="SCMP_ACT_ERRNO", error=errno.ENOSYS),
        ],
    }


def _rule(
    names: Sequence[str], *conditions: dict[str, int | str], action: str = "SCMP_ACT_ALLOW",
    error: int = 0,
) -> dict[str, Any]:  # fmt: skip
    rule: dict[str, Any] = {"names": list(names), "action": action}
    if conditions:
        rule["args"] = list(conditions)
    if error:
        rule["errnoRet"] = error
    return rule


def _equal(index: int, value: int) -> dict[str, int | str]:
    return {"index": index, "value": value, "op": "SCMP_CMP_EQ"}


def _masked(index: int, mask: int, value: int) -> dict[str, int | str]:
    return {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
