"""The exit codes of ``muntin``: one table; docs/reference/exit-codes.md is checked against it."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.kit.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    Invalid,
    MuntinError,
    NotFound,
    TimedOut,
    Unavailable,
    Unsupported,
)


@dataclass(frozen=True, slots=True)
class ExitCode:
    """One row: ``error`` is the class that ends in this code, None where none does."""

    code: int
    meaning: str
    error: type[MuntinError] | None = None


EXIT_CODES = (
    ExitCode(0, "done; for `up` also: the cluster was up already, for `down`: none was there"),
    ExitCode(1, "something unexpected failed"),
    ExitCode(2, "the command line is wrong"),
    ExitCode(3, "the Cluster file, a flag's value or the kubeconfig is wrong", Invalid),
    ExitCode(4, "root is needed", Forbidden),
    ExitCode(5, "this machine lacks a package or a feature of the kernel", Unsupported),
    ExitCode(6, "a port is taken by another program", AlreadyExists),
    ExitCode(7, "the cluster exists with other settings, or another muntin works on it", Conflict),
    ExitCode(8, "no such file, cluster, node or component", NotFound),
    ExitCode(9, "not ready within the time given", TimedOut),
    ExitCode(10, "the cluster does not answer, or a tool it needs failed", Unavailable),
    ExitCode(130, "interrupted by Ctrl-C"),
)
UNEXPECTED, USAGE, INTERRUPTED = 1, 2, 130


def exit_code(error: MuntinError) -> int:
    """The code of ``error``'s class."""
    for row in EXIT_CODES:
        if row.error is not None and isinstance(error, row.error):
            return row.code
    return UNEXPECTED


def page() -> str:
    """The page docs/reference/exit-codes.md."""
    rows = [f"| {row.code} | {row.meaning} |" for row in EXIT_CODES]
    head = (
        "# Exit codes of `muntin`\n\n"
        "Errors are at most two lines on stderr: what is wrong, and what to do next. "
        "`muntin shell` ends with the code of the command it ran; `muntin lint` with 1 when it "
        "found something at or above `--fail-on`, and with 2 when something could not be "
        "linted.\n\n"
        "| code | meaning |\n|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"
