"""The ``muntin`` command. Each command's module imports what it needs when it is called."""

from __future__ import annotations

import click

from muntin.cli import (
    build_base,
    cri,
    diff,
    down,
    errors,
    explain,
    kubeconfig,
    lint,
    load,
    logs,
    shell,
    status,
    up,
    version,
    versions,
    webhook,
)

_HELP = """Muntin: a hybrid Linux/Windows Kubernetes on one Linux machine.

\b
Examples:
  sudo muntin up                      one Linux and two Windows nodes
  kubectl get nodes -o wide
  sudo muntin up --windows-nodes 3 --windows 2022
  sudo muntin down                    nothing is left behind

Exit codes: docs/reference/exit-codes.md
"""
COMMANDS = (
    up.command,
    down.command,
    status.command,
    shell.command,
    logs.command,
    kubeconfig.command,
    load.command,
    cri.command,
    lint.command,
    diff.command,
    versions.command,
    explain.command,
    webhook.command,
    build_base.command,
    version.command,
)


@click.group(help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Only groups the commands."""


for _command in COMMANDS:
    cli.add_command(_command)


def main() -> None:
    """Run the command line; errors become two lines and an exit code."""
    errors.run(cli)
