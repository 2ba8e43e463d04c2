"""``muntin logs``."""

from __future__ import annotations

import click

from muntin.cli import options

_HELP = """Print the log of one of the cluster's processes.

COMPONENT is supervisor, control-plane, egress, a node's name, or containerd-NODE.
Logs of pods: kubectl logs.

\b
Examples:
  muntin logs control-plane
  muntin logs win01 -f
  muntin logs --tail 20 containerd-lin01
"""
_POLL_S = 0.2


@click.command("logs", help=_HELP, short_help="Print a component's log.")
@click.argument("component")
@options.name()
@click.option("--follow", "-f", is_flag=True, help="Go on with what is written from now on.")
@click.option("--tail", type=int, default=-1, metavar="LINES", help="Only the last lines.")
def command(component: str, name: str, follow: bool, tail: int) -> None:
    """Copy the log file to stdout."""
    import sys
    import time

    from muntin.cli import clusters
    from muntin.cluster import preflight
    from muntin.cluster.paths import ClusterPaths

    preflight.check_root()
    clusters.require(name)
    place = ClusterPaths(name)
    known = sorted(path.stem for path in place.logs.glob("*.log"))
    path = place.log(clusters.choose("log of", component, known))
    with path.open("rb") as file:
        data = file.read()
        if tail >= 0:
            data = b"".join(data.splitlines(keepends=True)[-tail:] if tail else [])
        while True:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            if not follow:
                return
            time.sleep(_POLL_S)
            if path.stat().st_size < file.tell():
                file.seek(0)  # the supervisor shortened it
            data = file.read()
