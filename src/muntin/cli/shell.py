"""``muntin shell``."""

from __future__ import annotations

import click

from muntin.cli import options

_HELP = """Run a command, or a shell, in the network of one place.

PLACE is a node's name, master, tor, outside or switch. The command is this machine's; what it
sees of the network is the place's. On master, kubectl is set up.

\b
Examples:
  muntin shell lin01
  muntin shell master -- kubectl get pods -A -o wide
  muntin shell win01 -- ping -c 1 10.244.0.2
  muntin shell --name second tor -- ip route
  muntin shell outside -- curl http://172.31.0.12:30080
"""


@click.command(
    "shell",
    help=_HELP,
    short_help="Run a command in a node's network.",
    context_settings={"allow_interspersed_args": False},  # what follows PLACE is the command's
)
@click.argument("place")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@options.name()
def command(place: str, command: tuple[str, ...], name: str) -> None:
    """Become the command; its exit code is ours."""
    from muntin.cli import clusters
    from muntin.cluster import inside, preflight
    from muntin.cluster.config import PLACES

    preflight.check_root()
    config = clusters.require(name)
    known = [*(node.name for node in config.nodes), *PLACES]
    words = list(command[1:] if command[:1] == ("--",) else command)
    inside.execute(config, clusters.choose("place", place, known), words)
