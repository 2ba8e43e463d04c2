"""From a container's record to what runc starts: the bundle, its files and its process.

Two ways to start a program. A Windows program runs under Wine below ``wcinit.exe``, which is told
what to do in a file. A program that is ours (powershell.exe and others of ``inside``) is started
on the system's Python at once, without Wine; Wine starts in that container when something needs
it, for example ``kubectl exec ... cmd``.
"""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import orjson

from muntin.kit.errors import Unavailable
from muntin.seams.oci.bundle import Bundle, Limits, Process, bind, overlay
from muntin.seams.oci.layers import Folding
from muntin.winruntime import environment as env
from muntin.winruntime.base import Base
from muntin.winruntime.base.contents import OWN_FOLDER
from muntin.winruntime.base.messages import INSTALLED
from muntin.winruntime.base.prefix import WINE
from muntin.winruntime.base.users import USERS, WindowsUser
from muntin.winruntime.command_line import command_line, program_name, split
from muntin.winruntime.image_store import DRIVE
from muntin.winruntime.inside import PROGRAMS as INSIDE_PROGRAMS
from muntin.winruntime.shim.control import CONTROL_FD, START_FD
from muntin.winruntime.shim.stage import FOLDER as STAGE
from muntin.winruntime.shim.stage import PLAN
from muntin.winruntime.user_namespace import IdRange, isolate

_TINI = "/usr/bin/tini"
_PYTHON = ("/usr/bin/python3", "-ISE", "/muntin/inside/__main__.py")
_OWN = "C:\\" + OWN_FOLDER.removeprefix(f"{DRIVE}/").replace("/", "\\")
_WCINIT = _OWN + r"\wcinit.exe"
WCCTL = _OWN + r"\wcctl.exe"
_UNIX_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# What an administrator does to files and processes; low ports and ping are open to every user of
# a pod's network (``sandboxes.py``), and nothing here changes who it is.
_ADMINISTRATOR_CAPABILITIES = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL")
_MOST_OPEN_FILES = 65536
DEFAULT_DIRECTORY = "C:\\"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run in a container, and as whom; ``first_as_is`` as in ``command_line``."""

    words: Sequence[str]
    first_as_is: bool = False
    env: Mapping[str, str]
    directory: str = DEFAULT_DIRECTORY
    user: WindowsUser
    hostname: str
    terminal: bool = False

    @property
    def is_inside(self) -> bool:
        """Whether it is one of our programs, under its plain name or in the Windows folder."""
        word = self.plain_words[0].replace("/", "\\").lower()
        plain = "\\" not in word or word.startswith("c:\\windows\\")
        return plain and program_name(word) in INSIDE_PROGRAMS

    @property
    def plain_words(self) -> list[str]:
        """The words that the program will see as its arguments."""
        if self.first_as_is:
            return split(command_line(self.words, first_as_is=True)) or [""]
        return list(self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A process for runc; ``start_file`` is what wcinit reads from its descriptor START_FD."""

    process: Process
    start_file: bytes = b""


def launch(program: Program, *, is_first: bool) -> Launch:
    """How to start ``program``.

    ``is_first`` is the container's own program, which gets tini as its parent and reports when it
    is ready to run.
    """
    parent = [_TINI, "--"] if is_first else []
    own = {**env.WINE, "PATH": _UNIX_PATH, "USER": program.user.name}
    if program.terminal:
        own["TERM"] = "xterm"
    if program.is_inside:
        words = program.plain_words
        variables = env.merged(
            env.system_environment(program.user, program.hostname, os.cpu_count() or 1),
            program.env,
        )
        variables |= {
            **env.WINE,
            "USER": program.user.name,
            "WINCWD": program.directory,
            "WCINIT_STATUS": str(CONTROL_FD),
        }
        args = [*parent, *_PYTHON, program_name(words[0]), *words[1:]]
        return Launch(process=_process(program, args, variables))
    own["WCINIT_START"] = str(START_FD)
    args = [*parent, WINE, _WCINIT]
    return Launch(process=_process(program, args, own), start_file=_start_file(program, is_first))


def linger_process(user: str, uid: int, seconds: int) -> Process:
    """A process that keeps Wine up for some time, and says so on its control socket."""
    return Process(
        args=[WINE, _OWN + r"\wclinger.exe", str(seconds), str(CONTROL_FD)],
        env={**env.WINE, "PATH": _UNIX_PATH, "USER": user},
        cwd=f"/prefix/{DRIVE}",
        uid=uid,
    )


def _process(program: Program, args: Sequence[str], variables: Mapping[str, str]) -> Process:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Process(
        args=args,
        env=variables,
        cwd=f"/prefix/{DRIVE}",
        uid=program.user.uid,
        terminal=program.terminal,
        capabilities=_ADMINISTRATOR_CAPABILITIES if program.user.uid == 0 else (),
        open_files=min(_MOST_OPEN_FILES, hard) if hard > 0 else _MOST_OPEN_FILES,
    )


def _start_file(program: Program, is_first: bool) -> bytes:
    records = [
        command_line(program.words, first_as_is=program.first_as_is),
        program.directory,
        str(CONTROL_FD) if is_first else "",
        str(CONTROL_FD),
        *(f"{name}={value}" for name, value in program.env.items() if name),
    ]
    return b"".join(record.encode("utf-8", "surrogateescape") + b"\0" for record in records)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """The layers of a container's prefix, the highest first."""

    lowers: Sequence[Path]

    def fold(self, path: PurePosixPath) -> PurePosixPath:
        """A path on C: with the case of what is in the image."""
        return Folding([lower / DRIVE for lower in self.lowers]).fold(path)

    def with_layer(self, layer: Path) -> Drive:
        """This drive with ``layer``, which has nothing on C:, above all others."""
        return Drive(lowers=[layer, *self.lowers])


def drive(base: Base, build: int, user: WindowsUser, layers: Sequence[Path]) -> Drive:
    """C: of a container: application layers, the user's registry and profile, the base."""
    return Drive(lowers=[*reversed(layers), base.hives(build, user), base.prefix])


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFiles:
    """What a container's ``/etc`` says of its pod."""

    hostname: str
    ips: Sequence[str]
    dns_servers: Sequence[str]
    dns_search: str
    dns_options: Sequence[str]


def write_folder(folder: Path, user: WindowsUser, pod: PodFiles, ids: IdRange | None) -> None:
    """The container's own files: writable layer and ``/etc``."""
    for name in ("upper", "work", "etc/fonts", "etc/ssl/certs", STAGE):
        (folder / name).mkdir(parents=True)
    owner = user.uid + (ids.first if ids else 0)
    os.chown(folder / "upper", owner, owner)
    etc = folder / "etc"
    passwd = [f"{u.name}:x:{u.uid}:{u.uid}::/prefix:/bin/sh" for u in _users_first(user)]
    group = [f"{u.name}:x:{u.uid}:" for u in _users_first(user)]
    (etc / "passwd").write_text("\n".join(passwd) + "\n")
    (etc / "group").write_text("\n".join(group) + "\n")
    (etc / "hostname").write_text(f"{pod.hostname}\n")
    (etc / "hosts").write_text(_hosts(pod))
    (etc / "resolv.conf").write_text(_resolv_conf(pod))
    (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    (etc / "fonts/fonts.conf").write_text(_NO_FONTS)
    (etc / "mtab").symlink_to("/proc/mounts")
    for name in ("ld.so.cache", "ssl/openssl.cnf"):
        with suppress(FileNotFoundError):
            shutil.copyfile(f"/etc/{name}", etc / name)


_NO_FONTS = (
    '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
    "<fontconfig><cachedir>/tmp/fontconfig</cachedir></fontconfig>\n"
)


def _users_first(user: WindowsUser) -> list[WindowsUser]:
    """All accounts, ``user`` before others with the same number."""
    return [user, *(other for other in USERS if other != user)]


def _hosts(pod: PodFiles) -> str:
    """Without the pod's own name Wine would ask the network for it at every start."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{ip} {pod.hostname}" for ip in pod.ips or ["127.0.1.1"]]
    return "\n".join(lines) + "\n"


def _resolv_conf(pod: PodFiles) -> str:
    """What the C library of the programs below Wine reads."""
    lines = [f"nameserver {server}" for server in pod.dns_servers]
    if pod.dns_search:
        lines.append(f"search {pod.dns_search}")
    if pod.dns_options:
        lines.append(f"options {' '.join(pod.dns_options)}")
    return "\n".join(lines) + "\n"


def write_bundle(
    folder: Path,
    base: Base,
    process: Process,
    layers: Drive,
    *,
    hostname: str,
    cgroup: str,
    limits: Limits,
    mounts: Sequence[Mapping[str, object]],
    ids: IdRange | None,
) -> None:
    """``config.json`` of the container in ``folder``, in a user namespace with ``ids``.

    Raises:
        Unavailable: the base image has been removed.
    """
    if not base.rootfs.is_dir():
        raise Unavailable(f"the Windows base image {base.path} is gone: run `muntin up`")
    lowers = [str(lower) for lower in layers.lowers]
    system_mounts = [
        bind("/usr", "/usr", readonly=True),
        bind(str(folder / "etc"), "/etc", readonly=True),
        bind(str(base.inside), "/muntin/inside", readonly=True),
        overlay(lowers, str(folder / "upper"), str(folder / "work"), "/prefix"),
    ]
    if base.message_library.is_file():
        library = bind(str(base.message_library), INSTALLED, readonly=True)
        system_mounts.insert(1, library)
    if Path("/etc/ssl/certs").is_dir():  # and not the host's keys beside it
        system_mounts.insert(-2, bind("/etc/ssl/certs", "/etc/ssl/certs", readonly=True))
    bundle = Bundle(
        process=process,
        rootfs=str(base.rootfs),
        hostname=hostname,
        cgroup=cgroup,
        limits=limits,
        mounts=[*system_mounts, *mounts],
    )
    document = bundle.document()
    if ids:
        document, plan = isolate(bundle, ids, folder, mounts)
        (folder / PLAN).write_bytes(orjson.dumps(plan))
    (folder / "config.json").write_bytes(orjson.dumps(document))
