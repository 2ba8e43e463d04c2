"""``muntin down``."""

from __future__ import annotations

import click

from muntin.cli import options

_HELP = """Remove a cluster and everything it made.

Works on a cluster that is up, half up or broken; one that is not there is fine.

\b
Examples:
  muntin down
  muntin down --name second
"""


@click.command("down", help=_HELP, short_help="Remove a cluster.")
@options.name()
def command(name: str) -> None:
    """Say what ``cluster.up.down`` did."""
    import time

    from muntin.cluster.up import down

    began = time.monotonic()
    if down(name):
        click.echo(f"Cluster {name} is gone ({time.monotonic() - began:.2f} s).")
    else:
        click.echo(f"There is no cluster {name}.")
