"""``muntin cri``."""

from __future__ import annotations

import click

from muntin.cli import options

_HELP = """Call an RPC of a node's container runtime (CRI v1) and print its answer as JSON.

The socket is /run/muntin/CLUSTER/NODE/cri.sock; any other CRI client can use it too.

\b
Examples:
  muntin cri win01 Version
  muntin cri win01 ListPodSandbox '{"filter": {"state": {"state": 0}}}'
  muntin cri lin01 ListContainers
"""


@click.command("cri", help=_HELP, short_help="Ask a node's container runtime.")
@click.argument("node")
@click.argument("rpc")
@click.argument("request", default="{}")
@options.name()
def command(node: str, rpc: str, request: str, name: str) -> None:
    """Data on stdout, nothing else."""
    import asyncio
    import json

    from muntin.cli import clusters
    from muntin.cluster import preflight
    from muntin.cluster.paths import ClusterPaths
    from muntin.kit.errors import Invalid
    from muntin.seams.cri.client import CriClient
    from muntin.seams.cri.tables import tables

    preflight.check_root()
    config = clusters.require(name)
    clusters.choose("node", node, [row.name for row in config.nodes])
    clusters.choose(
        "unary RPC", rpc, sorted(row for row in tables().rpcs if hasattr(CriClient, row))
    )
    try:
        message = json.loads(request)
    except ValueError as err:
        raise Invalid(f"request {request!r} is not JSON: {err}") from err

    async def call() -> object:
        client = CriClient(str(ClusterPaths(name).node_run(node) / "cri.sock"))
        try:
            return await getattr(client, rpc)(message, timeout_s=30)
        finally:
            client.close()

    click.echo(json.dumps(asyncio.run(call()), indent=2, default=_text))


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
