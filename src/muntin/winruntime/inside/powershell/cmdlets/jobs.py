"""Start-Job, Get-Job, Wait-Job, Receive-Job, Stop-Job and Remove-Job."""

from __future__ import annotations

import time
from typing import Any

from .. import values as v
from ..errors import PSError
from ..jobs import HOST, OUTPUT, Job, run_script, wait_any
from ..stages import Call
from ..textformat import wildcard
from .files import read_text

_STEP = 2
"""Between the numbers of two jobs: on Windows each has a child job that takes one."""


def start_job(call: Call, _item: Any, _has_input: bool) -> None:
    """Run a block or a script file in a process of its own."""
    block = call.get("scriptblock")
    text = v.to_text(block) if block is not None else ""
    if call.has("filepath"):
        text = read_text(call.host, call.get("filepath"))
    elif block is None:
        raise call.failure(
            "Parameter set cannot be resolved using the specified named parameters.",
            "AmbiguousParameterSet", "InvalidArgument", exception="ParameterBindingException",
        )  # fmt: skip
    scripts = [(text, list(call.get("argumentlist", [])))]
    if call.has("initializationscript"):
        scripts.insert(0, (v.to_text(call.get("initializationscript")), []))
    number = 1 + _STEP * call.host.jobs_started
    call.host.jobs_started += 1
    job = Job(number, call.get("name", f"Job{number}"), text)
    job.start(lambda send: run_script(call.host, scripts, send))
    call.host.jobs.append(job)
    call.write(job)


def get_job(call: Call, _item: Any, _has_input: bool) -> None:
    """All jobs, or those of an id, a name or a state."""
    wanted = [v.to_text(one).lower() for one in call.get("state", [])]
    for job in _jobs(call, [], everything=True):
        if not wanted or v.to_text(job.properties["State"]).lower() in wanted:
            call.write(job)


def wait_job(call: Call, items: list[Any], _has_input: bool) -> None:
    """Wait for all jobs, or with -Any for one; writes those that have finished."""
    waiting = _jobs(call, items)
    seconds = call.get("timeout", -1)
    end = time.monotonic() + seconds if seconds >= 0 else None
    while waiting:
        done = wait_any(waiting, None if end is None else max(0, end - time.monotonic()))
        if not done:
            return
        for job in done[:1] if call.get("any") else done:
            waiting.remove(job)
            call.write(job)
        if call.get("any"):
            return


def receive_job(call: Call, items: list[Any], _has_input: bool) -> None:
    """What jobs have written since the last call, or with -Keep also before the next one."""
    for job in _jobs(call, items):
        if call.get("wait"):
            job.wait(None)
        for kind, value in job.receive(keep=bool(call.get("keep"))):
            if kind == OUTPUT:
                call.write(value)
            elif kind == HOST:
                call.host.write(value)
            else:
                message, error_id, category, activity = value
                call.stage.complain(PSError(message, error_id, category, activity=activity))
        if call.get("autoremovejob") and job.finished:
            _forget(call, job)


def stop_job(call: Call, items: list[Any], _has_input: bool) -> None:
    """End the processes of jobs."""
    for job in _jobs(call, items):
        job.stop()
        if call.get("passthru"):
            call.write(job)


def remove_job(call: Call, items: list[Any], _has_input: bool) -> None:
    """Forget jobs; running ones only with -Force."""
    for job in _jobs(call, items):
        if not job.finished and not call.get("force"):
            call.error(
                f"The command cannot remove the job with the job ID {job.properties['Id']} because "
                "the job is not finished. To remove the job, first stop the job, or use the Force "
                "parameter.",
                "JobObjectNotFinishedCannotBeRemoved", "InvalidOperation", job.properties["Id"],
                exception="System.ArgumentException",
            )  # fmt: skip
            continue
        job.stop()
        _forget(call, job)


def _forget(call: Call, job: Job) -> None:
    if job in call.host.jobs:
        call.host.jobs.remove(job)
    job.close()


def _jobs(call: Call, items: list[Any], *, everything: bool = False) -> list[Job]:
    """The jobs that come in or are named, each once; an error for each that is not there."""
    given = [*items, *call.get("job", [])]
    selected = [one for one in given if isinstance(one, Job)]
    names = [*call.get("name", []), *(one for one in given if isinstance(one, str))]
    ids = [*call.get("id", []), *(one for one in given if isinstance(one, int))]
    for name in map(v.to_text, names):
        pattern = wildcard(name)
        matching = [job for job in call.host.jobs if pattern.match(job.properties["Name"])]
        if not matching and not any(c in name for c in "*?["):
            call.error(
                f"The command cannot find the job because the job name {name} was not found. "
                "Verify the value of the Name parameter, and then try the command again.",
                "JobWithSpecifiedNameNotFound", "ObjectNotFound", name,
                exception="PSArgumentException",
            )  # fmt: skip
        selected += matching
    for number in map(v.to_int, ids):
        matching = [job for job in call.host.jobs if job.properties["Id"] == number]
        if not matching:
            call.error(
                f"The command cannot find a job with the job ID {number}. Verify the value of the "
                "Id parameter and then try the command again.",
                "JobWithSpecifiedSessionNotFound", "ObjectNotFound", number,
                exception="PSArgumentException",
            )  # fmt: skip
        selected += matching
    if everything and not names and not ids:
        selected += call.host.jobs
    return list(dict.fromkeys(selected))
