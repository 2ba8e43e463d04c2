"""The ``muntin`` command. A command's module is imported when the command is asked for."""

from __future__ import annotations

from importlib import import_module

import click

from muntin.cli import errors

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
    "up",
    "down",
    "status",
    "shell",
    "logs",
    "kubeconfig",
    "load",
    "snapshot",
    "cri",
    "lint",
    "diff",
    "versions",
    "explain",
    "webhook",
    "build-base",
    "version",
)


class _Commands(click.Group):
    """``build-base`` is ``command`` of the module ``build_base``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found = import_module(f"muntin.cli.{cmd_name.replace('-', '_')}").command
        assert isinstance(found, click.Command)
        return found


@click.group(cls=_Commands, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Only groups the commands."""


def main() -> None:
    """Run the command line; errors become two lines and an exit code."""
    errors.run(cli)
