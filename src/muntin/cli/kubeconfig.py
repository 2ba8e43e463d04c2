"""``muntin kubeconfig``."""

from __future__ import annotations

import click

from muntin.cli import options

_HELP = """Print a kubeconfig of the cluster's administrator.

\b
Examples:
  muntin kubeconfig > cluster.kubeconfig
  muntin kubeconfig --internal        for use inside: muntin shell master
"""


@click.command("kubeconfig", help=_HELP, short_help="Print a kubeconfig.")
@options.name()
@click.option("--internal", is_flag=True, help="With the address that nodes use.")
def command(name: str, internal: bool) -> None:
    """Data on stdout, nothing else."""
    from muntin.cli import clusters
    from muntin.cluster import admin, kubeconfig, preflight

    preflight.check_root()
    access = admin.access(clusters.require(name), internal=internal)
    click.echo(kubeconfig.dump(kubeconfig.document(access)).decode(), nl=False)
