"""``muntin snapshot``."""

from __future__ import annotations

from pathlib import Path

import click

from muntin.cli import options

_HELP = """Write all objects of a cluster into a new FILE, while it runs or stands still.

The file is the state of one moment, checked, and readable by its owner alone: it holds Secrets.
`muntin up --from-snapshot FILE` makes a new cluster of it.

\b
Examples:
  muntin snapshot backup.db
  muntin snapshot --name second /var/backups/second.db
"""


@click.command("snapshot", help=_HELP, short_help="Write all objects of a cluster into a file.")
@click.argument("file", type=click.Path(path_type=Path))
@options.name()
def command(name: str, file: Path) -> None:
    """Say what ``cluster.snapshot.take`` did."""
    from muntin.cli.clusters import require
    from muntin.cluster import snapshot

    revision = snapshot.take(require(name), file)
    click.echo(f"{file} holds the objects of cluster {name} at revision {revision}.")
