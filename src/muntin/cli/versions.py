"""``muntin versions``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from muntin.model.version_matrix import Supported

_HELP = """Print which Kubernetes supports which Windows, with which runtimes and network plugins.

The newest comes first. `API` is the version that serves where a cluster is asked for that version.

\b
Examples:
  muntin versions
  muntin versions --kubernetes-version 1.20
  muntin versions -o json
"""
_HEAD = ("KUBERNETES", "API", "WINDOWS", "BUILD", "RUNTIMES", "NETWORK-PLUGINS")


@click.command("versions", help=_HELP, short_help="Print which versions go together.")
@click.option("--kubernetes-version", "wanted", metavar="X.Y", help="Only of that one.")
@click.option("--output", "-o", type=click.Choice(["human", "json", "yaml"]), default="human")
def command(wanted: str | None, output: str) -> None:
    """The matrix, from the table of gates."""
    from muntin.cli.output import show
    from muntin.cli.tables import columns
    from muntin.model.version_matrix import matrix
    from muntin.model.windows_releases import parse_kubernetes

    rows = matrix()
    if wanted:
        version = parse_kubernetes(wanted)
        rows = [row for row in rows if row.kubernetes == version]
    if output != "human":
        show({"versions": [_document(row) for row in rows]}, output)
        return
    click.echo(columns(_HEAD, (_cells(row) for row in rows)))
    click.echo("\nmuntin up emulates the network plugin win-bridge; `muntin lint` knows all.")


def _cells(row: Supported) -> tuple[str, ...]:
    return (
        _dots(row.kubernetes),
        _dots(row.api),
        row.windows.names[0],
        row.windows.version,
        ", ".join(row.runtimes) or "-",
        ", ".join(row.network_plugins) or "-",
    )


def _document(row: Supported) -> dict[str, Any]:
    return {
        "kubernetes": _dots(row.kubernetes),
        "api": _dots(row.api),
        "apiServed": row.is_served,
        "windows": {
            "name": row.windows.names[0],
            "build": row.windows.build,
            "productName": row.windows.product_name,
            "imageTags": list(row.windows.tags),
        },
        "runtimes": list(row.runtimes),
        "networkPlugins": list(row.network_plugins),
    }


def _dots(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
