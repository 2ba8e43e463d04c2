"""Background jobs: each is a process of its own, with a fresh session, as on Windows.

The process is a fork of this one. What it writes goes into a file in memory, in records of a
length and a pickled pair (kind, value); so a job never waits for its reader.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import signal
import struct
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from . import values as v
from .host import Host

Send = Callable[[str, Any], None]
OUTPUT, HOST, ERROR = "output", "host", "error"
_LENGTH = struct.Struct("<I")
_PR_SET_PDEATHSIG = 1
_READ_BYTES = 1 << 20


class Job(v.PSObject):
    """A job; its properties are up to date whenever they are read."""

    def __init__(self, number: int, name: str, command: str) -> None:
        """Not started yet."""
        self._known: dict[str, Any] = {}
        super().__init__("System.Management.Automation.PSRemotingJob")
        self.shown = ("Id", "Name", "PSJobTypeName", "State", "HasMoreData", "Location", "Command")
        self._known.update(
            Id=number, Name=name, PSJobTypeName="BackgroundJob", State="NotStarted",
            HasMoreData=False, Location="localhost", Command=command,
        )  # fmt: skip
        self.state = "NotStarted"
        self.pid = 0
        self._records = os.memfd_create("job")
        self.close = weakref.finalize(self, os.close, self._records)
        self._read = 0

    @property
    def properties(self) -> dict[str, Any]:
        """What a script sees."""
        if self.pid:
            self.poll()
            more = self.close.alive and os.fstat(self._records).st_size > self._read
            self._known.update(State=self.state, HasMoreData=more or self.state == "Running")
        return self._known

    @properties.setter
    def properties(self, values: dict[str, Any]) -> None:
        self._known = values

    @property
    def finished(self) -> bool:
        """Whether its process has ended."""
        self.poll()
        return self.state not in ("NotStarted", "Running")

    def start(self, run: Callable[[Send], bool]) -> None:
        """Have a new process call ``run``, which gives whether it succeeded."""
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid:
            self.state = "Running"
            return
        code = 1
        try:
            _become_job(parent)
            code = 0 if run(self._send) else 1
        finally:
            os._exit(code)

    def _send(self, kind: str, value: Any) -> None:
        data = pickle.dumps((kind, portable(value)))
        data = _LENGTH.pack(len(data)) + data
        while data:
            data = data[os.write(self._records, data) :]

    def poll(self) -> None:
        """See whether the process has ended."""
        if self.state == "Running":
            with suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.state = "Failed" if status else "Completed"

    def wait(self, seconds: float | None) -> bool:
        """Wait for the end, at most ``seconds``; whether it has come."""
        return bool(wait_any([self], seconds))

    def stop(self) -> None:
        """End its process and what that has started."""
        if self.finished:
            return
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)  # before it has a group of its own
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self.state = "Stopped"

    def receive(self, *, keep: bool) -> list[tuple[str, Any]]:
        """The records since the last call, oldest first; ``keep`` leaves them for the next one."""
        found: list[tuple[str, Any]] = []
        at, file = self._read, self._records
        while self.close.alive and len(head := os.pread(file, _LENGTH.size, at)) == _LENGTH.size:
            (length,) = _LENGTH.unpack(head)
            data = os.pread(file, length, at + _LENGTH.size)
            if len(data) < length:
                break  # it is being written
            found.append(pickle.loads(data))
            at += _LENGTH.size + length
        if not keep:
            self._read = at
        return found


def _become_job(parent: int) -> None:
    """End with the parent, in a group of processes of its own, deaf to Ctrl+C."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)


def wait_any(jobs: Sequence[Job], seconds: float | None) -> list[Job]:
    """The finished ones, once there is one or ``seconds`` have passed."""
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        done = [job for job in jobs if job.finished]
        left = None if end is None else end - time.monotonic()
        if done or not jobs or (left is not None and left <= 0):
            return done
        files = [os.pidfd_open(job.pid) for job in jobs]
        try:
            select.select(files, [], [], left)
        finally:
            for file in files:
                os.close(file)


class JobHost(Host):
    """The host of a job: what is written is sent to the session that started it."""

    def __init__(self, parent: Host, send: Send) -> None:
        """With the environment and location of ``parent``."""
        super().__init__(parent.unix_environ, parent.drive_c)
        self.environ, self.location = dict(parent.environ), parent.location
        self._send = send

    def write(self, text: str) -> None:
        """What Write-Host shows."""
        self._send(HOST, text)

    def write_error(self, text: str) -> None:
        """What is neither output nor an error record."""
        self._send(HOST, text)

    def run(
        self,
        program: str,
        args: list[str],
        *,
        stdin: bytes | None,
        capture: bool,
        merge: bool = False,
    ) -> tuple[int, bytes]:
        """The output of a program is output of the job, line by line."""
        code, output = super().run(program, args, stdin=stdin, capture=True, merge=merge)
        if capture:
            return code, output
        for line in output.decode("utf-8", "replace").splitlines():
            self._send(OUTPUT, line)
        return code, b""


def run_script(host: Host, scripts: Sequence[tuple[str, list[Any]]], send: Send) -> bool:
    """Run texts with their arguments in a fresh session; whether none was ended by an error."""
    from .command import Session
    from .errors import ExitSignal, ParseError, PSError

    job_host = JobHost(host, send)
    session = Session(job_host)
    evaluator = session.evaluator
    evaluator.pipelines.error_sink = lambda record: send(ERROR, _about(record.error))
    try:
        for text, args in scripts:
            session.run_block(text, args, lambda item: send(OUTPUT, item))
    except ExitSignal:
        return True
    except PSError as error:
        send(ERROR, _about(error))
        return False
    except ParseError as error:
        send(ERROR, (str(error), error.error_id, "ParserError", ""))
        return False
    finally:
        session.console.flush()
    return True


def _about(error: Any) -> tuple[str, str, str, str]:
    return error.message, error.error_id, error.category, error.activity


def portable(value: Any) -> Any:
    """``value`` as another process can have it: without methods, and texts for what cannot go."""
    if isinstance(value, v.PSObject):
        names = [f"Deserialized.{name}" for name in value.type_names]
        made = v.PSObject(*names)
        made.properties = {key: portable(one) for key, one in value.properties.items()}
        made.shown, made.text, made.is_text = value.shown, value.text, value.is_text
        return made
    if isinstance(value, list):
        return [portable(one) for one in value]
    if isinstance(value, tuple):
        return tuple(portable(one) for one in value)
    if isinstance(value, v.Hashtable):
        copy = v.Hashtable()
        for key, one in value.items():
            copy.set(portable(key), portable(one))
        return copy
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        return v.to_text(value)
    return value
