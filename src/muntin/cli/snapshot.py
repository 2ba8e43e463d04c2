"""``muntin snapshot``."""

from __future__ import annotations

from pathlib import Path

import click

from muntin.cli import options

_HELP = """Back up all objects of a running or stopped cluster to a new FILE.

The file is a consistent, checked snapshot. It contains Secrets; only its owner can read it.
`muntin up --from-snapshot FILE` creates a new cluster from it.

\b
Examples:
  muntin snapshot backup.db
  muntin snapshot --name second /var/backups/second.db
"""


@click.command("snapshot", help=_HELP, short_help="Back up all objects of a cluster to a file.")
@click.argument("file", type=click.Path(path_type=Path))
@options.name()
def command(name: str, file: Path) -> None:
    """Take a snapshot and print its revision."""
    from muntin.cli.clusters import require
    from muntin.cluster import snapshot

    revision = snapshot.take(require(name), file)
    click.echo(f"{file} contains the objects of cluster {name} at revision {revision}.")
