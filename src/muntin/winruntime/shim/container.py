"""The shim of one container: from `runc run` to the exit code on disk.

``folder/shim.json`` says what to do (:class:`Task`); ``folder/exit.json`` is written at the end,
atomically. The connection on which the start was asked for gets one line, ``{"pid": N}`` or
``{"error": text}`` (``{"windows_error": N}`` when the program itself could not be started), and
is then kept open: its end tells the node process that the container is gone.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import termios
import time
from contextlib import suppress
from typing import Any

from muntin.winruntime.shim import kernel, memory
from muntin.winruntime.shim.attach import Attached
from muntin.winruntime.shim.control import Control, sealed, spawn
from muntin.winruntime.shim.frames import line
from muntin.winruntime.shim.log import CriLog
from muntin.winruntime.shim.stage import staged

READ_BYTES = 64 * 1024
START_LIMIT_S = 60.0
LAST_OUTPUT_S = 2.0


def run(folder: str, connection: socket.socket) -> None:
    """Start the container of ``folder`` and stay until it has ended."""
    kernel.set_name("muntin-shim")
    kernel.become_subreaper()
    _drop_standard_streams()
    with open(folder + "/shim.json", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs memory
        task: dict[str, Any] = json.load(file)
    Shim(folder, task, connection).run()


class Shim:
    """The container's life; ``task`` is what ``shims.py`` of the node process wrote."""

    def __init__(self, folder: str, task: dict[str, Any], connection: socket.socket) -> None:
        self._folder = folder
        self._task = task
        self._connection = connection
        self._log = CriLog(task["log_root"], task["log_path"], task["log_max_bytes"])
        self._wakeup, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._control = Control()
        self._outputs: dict[int, str] = {}
        self._attached = Attached(task["socket"], self._log)
        self._pid = 0
        self._status: int | None = None
        self._is_held = bool(task["start_file"])
        """Whether wcinit still waits for permission to run the program."""

    def run(self) -> None:
        error = self._start()
        if error:
            self._tell({"error": error})
            return
        failure = self._wait_for_program()
        if failure:
            self._tell({"windows_error": failure})
        else:
            self._tell({"pid": self._pid})
        while self._status is None:
            if self._is_held:
                self._look_at_program()
            else:
                self._turn(None)
        self._drain()
        self._finish()

    def _tell(self, message: dict[str, object]) -> None:
        with suppress(OSError):  # the node process is being restarted; it will find the folder
            self._connection.sendall(line(message))

    def _start(self) -> str:
        """Run runc; gives an error text, empty when the container runs."""
        task = self._task
        pid_file, log_file = self._folder + "/init.pid", self._folder + "/runc.log"
        command = [task["runc"], "--root", task["runc_root"], "--log", log_file]
        command += ["--log-format", "json", "run", "--detach", "--pid-file", pid_file]
        command += ["--bundle", self._folder]
        inherited = [self._control.theirs.fileno()]
        if task["start_file"]:
            inherited.append(sealed(_read_whole(task["start_file"])))
        command += ["--preserve-fds", str(len(inherited))]
        start = self._start_with_terminal if task["terminal"] else self._start_with_pipes
        with kernel.network_namespace(task["netns"]), staged(self._folder):
            returncode = start(command, inherited)
        self._control.theirs.close()
        for fd in inherited[1:]:
            os.close(fd)
        if returncode:
            return _last_error(log_file) or f"runc failed with exit code {returncode}"
        with open(pid_file, encoding="ascii") as file:  # noqa: PTH123 - as above
            self._pid = int(file.read())
        return ""

    def _start_with_pipes(self, command: list[str], inherited: list[int]) -> int:
        stdout, stdout_end = os.pipe2(os.O_CLOEXEC)
        stderr, stderr_end = os.pipe2(os.O_CLOEXEC)
        if self._task["stdin"]:
            stdin_end, stdin = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(stdin, False)
            self._attached.take_input(stdin, once=self._task["stdin_once"])
        else:
            stdin_end = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        standard = [stdin_end, stdout_end, stderr_end]
        pid = spawn([*command, self._task["id"]], [*standard, *inherited])
        for fd in standard:
            os.close(fd)
        self._outputs = {stdout: "stdout", stderr: "stderr"}
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def _start_with_terminal(self, command: list[str], inherited: list[int]) -> int:
        path = self._task["socket"] + ".tty"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)
        command = [*command, "--console-socket", path, self._task["id"]]
        pid = spawn(command, [0, 1, 2, *inherited])  # these are /dev/null
        ended = 0
        try:
            while not ended and not select.select([listener], [], [], 0.05)[0]:
                ended, status = os.waitpid(pid, os.WNOHANG)
            if select.select([listener], [], [], 0)[0]:
                peer, _ = listener.accept()
                with peer:
                    _, fds, _, _ = socket.recv_fds(peer, 4096, 1)
                self._take_terminal(fds[0])
            if not ended:
                _, status = os.waitpid(pid, 0)
            return os.waitstatus_to_exitcode(status)
        finally:
            listener.close()
            os.unlink(path)  # noqa: PTH108 - as above

    def _take_terminal(self, fd: int) -> None:
        attributes = termios.tcgetattr(fd)
        attributes[1] &= ~termios.ONLCR  # Wine ends lines with CR LF itself
        if self._task["start_file"]:
            attributes[0] &= ~termios.ICRNL  # a CR typed before Wine is up stays one
        termios.tcsetattr(fd, termios.TCSANOW, attributes)
        self._outputs = {fd: "stdout"}
        self._attached.take_input(os.dup(fd), once=False, terminal=True)

    def _wait_for_program(self) -> int:
        """Wait until the program itself can run; returns the Windows error number if it cannot.

        One that takes longer than ``START_LIMIT_S`` counts as started, and is let run later.
        """
        end = time.monotonic() + START_LIMIT_S
        failure = 0
        while self._is_held and self._status is None and time.monotonic() < end:
            failure = self._look_at_program()
        return failure

    def _look_at_program(self) -> int:
        """Let the program run if it is ready now; returns the Windows error number if it is not."""
        if self._control.fileno() not in self._turn(self._control.fileno()):
            return 0
        try:
            failure = self._control.take_started()
        except EOFError:  # it has ended, or the container floods the socket
            failure = 0
        if failure is None:
            return 0
        self._is_held = False
        memory.settle(self._folder, self._task["memory_limit"], self._task["memory_files"])
        self._control.go_on()
        return failure

    def _turn(self, extra: int | None) -> list[int]:
        """Wait for something to do and do it; gives the ready descriptors."""
        wanted = [self._wakeup, *self._outputs, *self._attached.readers()]
        if extra is not None:
            wanted.append(extra)
        timeout_s = 1.0 if extra is not None else None
        ready, writable, _ = select.select(wanted, self._attached.writers(), [], timeout_s)
        for fd in ready:
            if fd == self._wakeup:
                self._reap()
            elif fd in self._outputs:
                self._take_output(fd)
        self._attached.serve(ready, writable)
        return ready

    def _take_output(self, fd: int) -> None:
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""  # a terminal whose last user has gone
        if not data:
            del self._outputs[fd]
            os.close(fd)
            return
        stream = "stdout" if self._outputs[fd] == "stdout" else "stderr"
        self._log.write(stream, data)
        self._attached.broadcast(stream, data)

    def _reap(self) -> None:
        try:
            os.read(self._wakeup, 4096)
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._pid:
                    self._status = status
        except (BlockingIOError, ChildProcessError):
            return

    def _drain(self) -> None:
        end = time.monotonic() + LAST_OUTPUT_S
        while self._outputs and (left := end - time.monotonic()) > 0:
            for fd in select.select(list(self._outputs), [], [], left)[0]:
                self._take_output(fd)
        self._log.close()

    def _finish(self) -> None:
        assert self._status is not None
        result = {
            "finished_at": time.time_ns(),
            "wait_status": self._status,
            "status": self._control.status(),
            "oom_kills": _oom_kills(self._task["oom_files"]),
        }
        temporary = self._folder + "/.exit.json"
        with open(temporary, "w", encoding="utf-8") as file:  # noqa: PTH123 - as above
            json.dump(result, file)
        os.rename(temporary, self._folder + "/exit.json")  # noqa: PTH104 - as above
        self._attached.close()
        self._connection.close()
        quiet = subprocess.DEVNULL
        command = [self._task["runc"], "--root", self._task["runc_root"], "delete", "--force"]
        subprocess.call([*command, self._task["id"]], stdin=quiet, stdout=quiet, stderr=quiet)


def _drop_standard_streams() -> None:
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def _read_whole(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file.read()


def _oom_kills(paths: list[str]) -> int:
    """The count behind ``oom_kill`` in the first file that is there (cgroup v1 or v2)."""
    for path in paths:
        for text in _read_all(path).splitlines():
            name, _, value = text.partition(" ")
            if name == "oom_kill":
                return int(value)
    return 0


def _read_all(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return ""


def _last_error(path: str) -> str:
    error = ""
    for text in _read_all(path).splitlines():
        try:
            entry = json.loads(text)
        except ValueError:
            continue
        if entry.get("level") in ("error", "fatal"):
            error = str(entry.get("msg", ""))
    return error
