"""``muntin load``."""

from __future__ import annotations

from pathlib import Path

import click

from muntin.cli import options

_HELP = """Load image archives (OCI layouts, `docker save`) into the nodes that can run them.

Layers of Microsoft's base images in an archive are left out: Muntin's own base stands for them.

\b
Examples:
  muntin load app.tar
  skopeo copy --override-os windows docker://example.com/app:1 oci-archive:app.tar
  muntin load app.tar --node win01
"""


@click.command("load", help=_HELP, short_help="Load image archives into nodes.")
@click.argument("archives", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--node", "nodes", multiple=True, help="Only this node; may be given again.")
@options.name()
def command(archives: tuple[Path, ...], nodes: tuple[str, ...], name: str) -> None:
    """One line for each archive and node."""
    import asyncio

    from muntin.cli import clusters
    from muntin.cluster import preflight
    from muntin.cluster.load import load

    preflight.check_root()
    config = clusters.require(name)
    for node in nodes:
        clusters.choose("node", node, [row.name for row in config.nodes])
    for archive in archives:
        for one in asyncio.run(load(config, archive, nodes)):
            click.echo(f"{archive.name}: {one.node}: {one.why_not or 'loaded'}")
