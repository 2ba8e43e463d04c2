"""``muntin status``."""

from __future__ import annotations

import click

from muntin.cli import options

_HELP = """Show a cluster's processes and nodes.

Exit code 0 when all processes run, the API server answers and all nodes are Ready; 10 otherwise.

\b
Examples:
  muntin status
  muntin status --output json
"""


@click.command("status", help=_HELP, short_help="Show processes and nodes.")
@options.name()
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text")
def command(name: str, output: str) -> None:
    """Print what ``cluster.status`` found."""
    import dataclasses
    import json

    from muntin.cli import clusters, tables
    from muntin.cluster import preflight
    from muntin.cluster.status import status
    from muntin.kit.errors import Unavailable

    preflight.check_root()
    config = clusters.require(name)
    found = status(config)
    if output == "json":
        click.echo(json.dumps(dataclasses.asdict(found), indent=2))
    else:
        rows = [
            (row.name, row.state, str(row.pid or "-"), str(row.restarts), f"{row.memory_mib:.0f}")
            for row in found.components
        ]
        head = ("COMPONENT", "STATE", "PID", "RESTARTS", "PSS-MIB")
        click.echo(f"Cluster {name}, API server {config.host_url}\n")
        click.echo(tables.columns(head, rows) + "\n")
        if found.nodes:
            click.echo(tables.nodes(found.nodes))
    if not found.healthy:
        raise Unavailable(f"{found.trouble}\nmuntin logs COMPONENT says more; muntin up mends it")
